"""What has happened in the index since the graph was last brought up to date."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from app.graph.model import Graph

_MIN_REBUILD_PATHS = 500
_REBUILD_SHARE = 0.1


def unresolved_neighbors(graph: Graph, touched: Iterable[str]) -> tuple[str, ...]:
    """The unresolved names that these notes link to; their spelling or meaning may change with the notes."""
    rows = [graph.rows[path] for path in touched if path in graph.rows]
    flagged = np.zeros(len(graph), dtype=bool)
    flagged[rows] = True
    ends = np.unique(graph.links[flagged[graph.links[:, 0]], 1]).tolist()
    return tuple(graph.paths[row] for row in ends if graph.kinds[row] == "unresolved")


class PendingUpdates:
    """Paths that the index has touched and notes that were renamed, gathered until somebody takes them.

    `is_much` says that a rebuild is cheaper than a delta, or needed because everything may be different.
    """

    def __init__(self) -> None:
        self._touched: set[str] = set()
        self._renamed: list[tuple[str, str]] = []
        self._all = False

    @property
    def touched(self) -> frozenset[str]:
        """The paths, both ends of renames included."""
        return frozenset(self._touched)

    @property
    def renamed(self) -> tuple[tuple[str, str], ...]:
        """Pairs of the path that the graph knows and the path of today."""
        return tuple(self._renamed)

    def __bool__(self) -> bool:
        return self._all or bool(self._touched)

    def add_paths(self, paths: Iterable[str]) -> None:
        """These paths changed, are gone, or link elsewhere."""
        self._touched.update(paths)

    def mark_all(self) -> None:
        """Nothing is known of what changed."""
        self._all = True

    def add_rename(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Notes that were renamed at one time, by old and new path; later renames follow earlier ones."""
        latest = {new: old for old, new in self._renamed}
        moved = [(latest.get(old, old), new, old in latest) for old, new in pairs]
        followed = {first for first, _, known in moved if known}
        self._renamed = [pair for pair in self._renamed if pair[0] not in followed]
        self._renamed += [(first, new) for first, new, _ in moved]
        self._touched.update(path for first, new, _ in moved for path in (first, new))

    def needs_rebuild(self, size: int) -> bool:
        """Whether to read the whole graph anew, for one of `size` nodes."""
        return self._all or len(self._touched) > max(_MIN_REBUILD_PATHS, _REBUILD_SHARE * size)

    def add_back(self, earlier: PendingUpdates) -> None:
        """What was taken and could not be used comes before what has come since."""
        later = self._renamed
        self._touched |= earlier._touched
        self._all |= earlier._all
        self._renamed = list(earlier._renamed)
        self.add_rename(later)
