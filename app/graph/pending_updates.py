"""Changes in the index since the last update of the graph."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from app.graph.model import Graph

_MIN_REBUILD_PATHS = 500
_REBUILD_SHARE = 0.1


def unresolved_neighbors(graph: Graph, touched: Iterable[str]) -> tuple[str, ...]:
    """Return the unresolved names that these notes link to, whose spelling or target may change."""
    rows = [graph.rows[path] for path in touched if path in graph.rows]
    is_touched = np.zeros(len(graph), dtype=bool)
    is_touched[rows] = True
    ends = np.unique(graph.links[is_touched[graph.links[:, 0]], 1]).tolist()
    return tuple(graph.paths[row] for row in ends if graph.kinds[row] == "unresolved")


class PendingUpdates:
    """Changed paths and renamed notes, collected until the next update of the graph.

    `needs_rebuild` decides whether a rebuild is cheaper than a delta, or required.
    """

    def __init__(self) -> None:
        self._touched: set[str] = set()
        self._renamed: list[tuple[str, str]] = []
        self._is_all_changed = False

    @property
    def touched(self) -> frozenset[str]:
        """The changed paths, including both ends of renames."""
        return frozenset(self._touched)

    @property
    def renamed(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a path in the graph and the note's current path."""
        return tuple(self._renamed)

    def __bool__(self) -> bool:
        return self._is_all_changed or bool(self._touched)

    def add_paths(self, paths: Iterable[str]) -> None:
        """Record that these paths changed or were removed, or that their links changed."""
        self._touched.update(paths)

    def mark_all(self) -> None:
        """Record that anything may have changed."""
        self._is_all_changed = True

    def add_rename(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Record notes that were renamed together, by old and new path; renames may continue earlier ones."""
        original_paths = {new: old for old, new in self._renamed}
        renames = [(original_paths.get(old, old), new, old in original_paths) for old, new in pairs]
        continued = {first for first, _, known in renames if known}
        self._renamed = [pair for pair in self._renamed if pair[0] not in continued]
        self._renamed += [(first, new) for first, new, _ in renames]
        self._touched.update(path for first, new, _ in renames for path in (first, new))

    def needs_rebuild(self, size: int) -> bool:
        """Return whether to rebuild a graph of `size` nodes."""
        return self._is_all_changed or len(self._touched) > max(_MIN_REBUILD_PATHS, _REBUILD_SHARE * size)

    def add_back(self, earlier: PendingUpdates) -> None:
        """Merge `earlier` updates, which could not be applied, before these."""
        later = self._renamed
        self._touched |= earlier._touched
        self._is_all_changed |= earlier._is_all_changed
        self._renamed = list(earlier._renamed)
        self.add_rename(later)
