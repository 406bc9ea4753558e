"""A compressed undirected adjacency, and its incremental update for a few changed links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """The distinct neighbors of every row, ascending: those of row i are `rows[starts[i] : starts[i + 1]]`.

    Args:
        starts: int64 (n + 1,).
        rows: int32, one entry for each end of each pair of linked rows.
    """

    starts: NDArray[np.int64]
    rows: NDArray[np.int32]

    @classmethod
    def from_links(cls, links: NDArray[np.int32], size: int) -> Neighborhood:
        """Build the adjacency from links int32 (m, 2) among `size` rows."""
        pairs = np.concatenate([links, links[:, ::-1]]).astype(np.int64)
        keys = np.sort(pairs[:, 0] * max(size, 1) + pairs[:, 1])
        keys = keys[np.diff(keys, prepend=-1) > 0]
        counts = np.bincount(keys // max(size, 1), minlength=size)
        return cls(_starts(counts), (keys % max(size, 1)).astype(np.int32))

    def neighbors_of(self, row: int) -> NDArray[np.int32]:
        """Return the neighbors of a row."""
        return self.rows[self.starts[row] : self.starts[row + 1]]

    def counts(self) -> NDArray[np.int64]:
        """Return the number of neighbors of each row."""
        return np.diff(self.starts)

    def with_changed_links(
        self, links: NDArray[np.int32], changed: NDArray[np.int64], size: int
    ) -> Neighborhood:
        """Return the adjacency for `links`, which differ from the previous ones only at rows in `changed`.

        Args:
            links: All links, int32 (m, 2).
            changed: The rows at either end of an added or removed link, ascending, without repeats.
            size: The new number of rows; new rows are last.
        """
        is_changed = np.zeros(size, dtype=bool)
        is_changed[changed] = True
        changed_links = links[is_changed[links[:, 0]] | is_changed[links[:, 1]]].astype(np.int64)
        pairs = np.concatenate([changed_links, changed_links[:, ::-1]])
        pairs = pairs[is_changed[pairs[:, 0]]]
        keys = np.unique(pairs[:, 0] * size + pairs[:, 1])
        sources, targets = keys // size, (keys % size).astype(np.int32)
        counts = np.zeros(size, dtype=np.int64)
        counts[: len(self.starts) - 1] = self.counts()
        counts[changed] = np.bincount(sources, minlength=size)[changed]
        bounds = (
            np.searchsorted(sources, changed, side="left"),
            np.searchsorted(sources, changed, side="right"),
        )
        return Neighborhood(_starts(counts), self._splice(changed, targets, bounds))

    def _splice(
        self,
        changed: NDArray[np.int64],
        new_neighbors: NDArray[np.int32],
        bounds: tuple[NDArray[np.int64], NDArray[np.int64]],
    ) -> NDArray[np.int32]:
        """Return the rows with slices of `new_neighbors` for the changed ones; the rest is copied."""
        last = len(self.starts) - 1
        pieces: list[NDArray[np.int32]] = []
        copied_to = 0
        for row, low, high in zip(changed.tolist(), bounds[0].tolist(), bounds[1].tolist(), strict=True):
            pieces += [self.rows[copied_to : self.starts[min(row, last)]], new_neighbors[low:high]]
            copied_to = int(self.starts[min(row + 1, last)])
        return np.concatenate([*pieces, self.rows[copied_to:]])

    def without_rows(self, is_kept: NDArray[np.bool_], new_rows: NDArray[np.int32]) -> Neighborhood:
        """Return the adjacency without the rows that `is_kept` excludes, which must have no neighbors.

        `new_rows` contains the new index of each kept row.
        """
        return Neighborhood(_starts(self.counts()[is_kept]), new_rows[self.rows])


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts
