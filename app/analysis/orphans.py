"""Orphans: nodes without links, and link targets without a note."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.graph.model import Graph


@dataclass(frozen=True, eq=False)
class Orphans:
    """Rows (int32) of notes and attachments without links, and of unresolved names, most linked first."""

    notes: NDArray[np.int32]
    attachments: NDArray[np.int32]
    unresolved: NDArray[np.int32]


def find_orphans(graph: Graph) -> Orphans:
    """Return the orphans of a graph; a link to an unresolved name counts as a link."""
    alone = graph.degree == 0
    is_unresolved = np.array([kind == "unresolved" for kind in graph.kinds], dtype=bool)
    unresolved = np.flatnonzero(is_unresolved)
    return Orphans(
        np.flatnonzero(alone & graph.is_note).astype(np.int32),
        np.flatnonzero(alone & ~graph.is_note & ~is_unresolved).astype(np.int32),
        unresolved[np.argsort(-graph.degree[unresolved], kind="stable")].astype(np.int32),
    )
