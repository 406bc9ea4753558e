"""An approximate index over very many vectors: derived from the table, kept beside it, made anew at will.

usearch was chosen among HNSW libraries because it has wheels for Linux, macOS and Windows, searches 8-bit
codes, and takes rows in and out one by one; its results are looked up in the table and weighed anew there, so
that an error of it can only lose a hit, never change a score.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from usearch.index import Index

log = logging.getLogger(__name__)

Codes = npt.NDArray[np.int8]
Keys = npt.NDArray[np.uint64]

# Measured on vectors of real notes: with these, the best ten are those of the exact search in over 98 %.
_CONNECTIVITY = 24
_EXPANSION_ADD = 128
_EXPANSION_SEARCH = 2048


class AnnIndex:
    """Keys of rows by their codes. Not for several threads at once."""

    def __init__(self, dimension: int) -> None:
        self._index = _empty(dimension)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def keys(self) -> set[int]:
        """The keys of all rows."""
        return {int(key) for key in np.asarray(self._index.keys)}

    def add(self, keys: Keys, codes: Codes) -> None:
        """Add rows; of rows with the same key, which have the same vector, one is kept."""
        _, rows = np.unique(keys, return_index=True)
        fresh = [row for row in rows if int(keys[row]) not in self._index]
        if fresh:
            self._index.add(keys[fresh], codes[fresh], threads=1)

    def remove(self, keys: Iterable[int]) -> None:
        """Remove rows; unknown keys are passed over."""
        gone = np.array([key for key in keys if key in self._index], dtype=np.uint64)
        if len(gone):
            self._index.remove(gone)

    def search(self, code: Codes, count: int) -> Keys:
        """The keys of about the `count` rows whose product with `code` is highest, best first."""
        found: Any = self._index.search(code, min(count, len(self._index)), threads=1)
        return np.asarray(found.keys, dtype=np.uint64)

    def save(self, file: Path) -> None:
        """Write it, in one step."""
        fresh = file.with_suffix(".new")
        self._index.save(str(fresh))
        fresh.replace(file)

    @classmethod
    def load(cls, file: Path, dimension: int) -> AnnIndex | None:
        """The index that was written to `file`; None if it is not there, or is damaged."""
        if not file.exists():
            return None
        made = cls(dimension)
        try:
            made._index.load(str(file))
        except Exception as error:
            # The library raises what its C++ throws; whatever it is, the index is made anew.
            log.warning("the index of vectors is damaged (%s); it is made anew", error)
            return None
        return made if made._index.ndim == dimension else None


def _empty(dimension: int) -> Index:
    # Loaded with the first search, not with the app.
    from usearch.index import Index

    return Index(
        ndim=dimension,
        metric="ip",
        dtype="i8",
        connectivity=_CONNECTIVITY,
        expansion_add=_EXPANSION_ADD,
        expansion_search=_EXPANSION_SEARCH,
    )
