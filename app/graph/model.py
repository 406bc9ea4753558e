"""The vault as a graph: frozen arrays that are shared between threads, and the values that change it.

A node is a note, an attachment or an unresolved name. Outside this package, nodes are identified by their
path, inside it by their row; a row is valid only for one `Graph`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from app.graph.neighborhood import Neighborhood
from app.index.graph_values import PLAIN_LINK as PLAIN_LINK
from app.index.graph_values import GraphDelta as GraphDelta
from app.index.graph_values import GraphEdge as GraphEdge
from app.index.graph_values import GraphNode as GraphNode

Positions = NDArray[np.float32]
Rows = NDArray[np.int32]

SUGGESTED = "SUGGESTED"
_MAX_DRAG_DEPTH = 3
_MAX_DRAGGED_NODES = 260


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes and typed links of a vault; immutable.

    Args:
        paths: The key of every node, unique.
        names: The display names.
        types: `note`, `concept`, …: the note's `type` property.
        kinds: `note`, `unresolved` or `attachment`.
        tags: Tags per node.
        folders: Folder per node, empty at the root.
        modified: float64 (n,), Unix seconds, 0 if unknown.
        edges: int32 (m, 2), rows of source and target; no self-links, no duplicates of one type.
        edge_types: The table of relation types.
        edge_codes: int16 (m,), index into `edge_types`.
        confidence: float32 (m,), nan if not stated.
        created: float64 (n,), Unix seconds, 0 if unknown; by default all are unknown.
        suggested: bool (m,), true for a suggested link; by default none is. Suggested links come last.
            They are only drawn: neighbors, degrees and layouts use `links` alone.
    """

    paths: tuple[str, ...]
    names: tuple[str, ...]
    types: tuple[str, ...]
    kinds: tuple[str, ...]
    tags: tuple[tuple[str, ...], ...]
    folders: tuple[str, ...]
    modified: NDArray[np.float64]
    edges: NDArray[np.int32]
    edge_types: tuple[str, ...]
    edge_codes: NDArray[np.int16]
    confidence: NDArray[np.float32]
    created: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    suggested: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def __post_init__(self) -> None:
        if len(self.created) != len(self.paths):
            object.__setattr__(self, "created", np.zeros(len(self.paths)))
        if len(self.suggested) != len(self.edges):
            object.__setattr__(self, "suggested", np.zeros(len(self.edges), dtype=bool))

    def __len__(self) -> int:
        return len(self.paths)

    def precompute(self) -> Graph:
        """Compute the cached properties used for display, so that later callers need not wait for them.

        Returns:
            The graph itself.
        """
        _ = self.rows, self.degree, self.is_note
        return self

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each path."""
        return dict(zip(self.paths, range(len(self.paths)), strict=True))

    @cached_property
    def links(self) -> NDArray[np.int32]:
        """The edges that are not suggestions, int32 (k, 2): a view of `edges`."""
        return self.edges[: len(self.edges) - int(np.count_nonzero(self.suggested))]

    @cached_property
    def is_note(self) -> NDArray[np.bool_]:
        """The mask of nodes that are existing notes, bool (n,)."""
        return np.array([kind == "note" for kind in self.kinds], dtype=bool)

    @cached_property
    def degree(self) -> NDArray[np.int32]:
        """The number of distinct nodes that each node is linked with, in either direction, int32 (n,)."""
        return self.neighborhood.counts().astype(np.int32)

    @cached_property
    def neighborhood(self) -> Neighborhood:
        """The neighbors of every row."""
        return Neighborhood.from_links(self.links, len(self))

    def neighbors(self, row: int) -> NDArray[np.int32]:
        """Return the rows linked with `row` in either direction, ascending."""
        return self.neighborhood.neighbors_of(row)

    def rows_around(self, row: int, depth: int, limit: int | None = None) -> NDArray[np.int32]:
        """Return at most `limit` rows within `depth` links of `row`, nearest first, starting with `row`."""
        seen = np.zeros(len(self), dtype=bool)
        seen[row] = True
        rings = [np.array([row], dtype=np.int32)]
        count = 1
        for _ in range(depth):
            reached = [self.neighbors(int(outer)) for outer in rings[-1]]
            ring = np.unique(np.concatenate(reached))
            ring = ring[~seen[ring]]
            if limit is not None:
                ring = ring[: max(0, limit - count)]
            if not len(ring):
                break
            seen[ring] = True
            rings.append(ring.astype(np.int32))
            count += len(ring)
        return np.concatenate(rings)


def affected_rows(graph: Graph, dragged: int) -> NDArray[np.int64]:
    """Return the rows that move when the node in the row `dragged` is dragged, starting with `dragged`."""
    return graph.rows_around(dragged, _MAX_DRAG_DEPTH, _MAX_DRAGGED_NODES).astype(np.int64)


def node_radii(graph: Graph) -> NDArray[np.float32]:
    """Return each node's radius in layout units.

    It grows with the node's links, up to a limit, and is smaller for attachments and unresolved names.
    """
    radii = 0.24 + 0.11 * np.sqrt(graph.degree.astype(np.float32))
    radii[~graph.is_note] *= 0.8
    return np.minimum(radii, 2.2).astype(np.float32)
