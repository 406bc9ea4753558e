"""The vectors in memory: one matrix, searched exactly.

An exact product over 100,000 rows takes some 15 ms, so there is no approximate index to keep true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.embeddings.onnx_model import Vectors
from app.vault.path import NotePath

_SMALLEST = 256


@dataclass(frozen=True, slots=True)
class Place:
    """Where a chunk stands: its note, the heading above it (or empty), its first line (from 1)."""

    path: NotePath
    heading: str
    line: int


@dataclass(frozen=True, slots=True)
class VectorHit:
    """A chunk that is like what was asked for; `score` is the cosine, 1 for the same meaning."""

    path: NotePath
    heading: str
    line: int
    score: float


class VectorTable:
    """Unit vectors with their places, in no order. Belongs to one thread."""

    def __init__(self, dimension: int) -> None:
        self._matrix: Vectors = np.zeros((_SMALLEST, dimension), dtype=np.float32)
        self._places: list[Place] = []
        self._rows: dict[NotePath, set[int]] = {}

    def __len__(self) -> int:
        return len(self._places)

    def add(self, places: Sequence[Place], vectors: Vectors) -> None:
        """Add rows; `vectors` has shape (len(places), dimension)."""
        start = len(self._places)
        self._reserve(start + len(places))
        self._matrix[start : start + len(places)] = vectors
        for row, place in enumerate(places, start):
            self._places.append(place)
            self._rows.setdefault(place.path, set()).add(row)

    def remove(self, path: NotePath) -> None:
        """Remove every row of a note; nothing happens if it has none."""
        # From the end, so that the row that fills a gap is never one that goes too.
        for row in sorted(self._rows.pop(path, ()), reverse=True):
            last = len(self._places) - 1
            if row != last:
                moved = self._places[last]
                self._matrix[row] = self._matrix[last]
                self._places[row] = moved
                self._rows[moved.path].remove(last)
                self._rows[moved.path].add(row)
            self._places.pop()

    def of(self, path: NotePath) -> Vectors:
        """The vectors of a note's chunks, shape (chunks, dimension); no rows if it has none."""
        return self._matrix[sorted(self._rows.get(path, ()))]

    def search(
        self, vector: npt.ArrayLike, limit: int, min_similarity: float, *, per_note: bool
    ) -> tuple[VectorHit, ...]:
        """The `limit` best rows whose cosine with `vector` is at least `min_similarity`, best first.

        With `per_note` a note counts once, by its best chunk. Equal scores keep the order of their paths.
        """
        count = len(self._places)
        if not count or limit < 1:
            return ()
        scores = self._matrix[:count] @ np.asarray(vector, dtype=np.float32).reshape(-1)
        wanted = limit
        while True:
            hits = self._best(scores, wanted, min_similarity)
            found = _one_per_note(hits) if per_note else hits
            if len(found) >= limit or len(hits) < wanted or wanted >= count:
                return tuple(found[:limit])
            wanted = min(count, wanted * 4)

    def _best(self, scores: npt.NDArray[np.float32], wanted: int, lowest: float) -> list[VectorHit]:
        rows = np.flatnonzero(scores >= lowest)
        if len(rows) > wanted:
            rows = rows[np.argpartition(scores[rows], len(rows) - wanted)[-wanted:]]
        places = self._places
        ranked = sorted((-float(scores[row]), places[row].path, places[row].line, row) for row in rows)
        # Rounding can take the cosine of a text with itself a little over 1.
        return [
            VectorHit(path, places[row].heading, line, min(1.0, -score))
            for score, path, line, row in ranked
        ]

    def _reserve(self, rows: int) -> None:
        if rows > len(self._matrix):
            grown = np.zeros((max(rows, len(self._matrix) * 3 // 2), self._matrix.shape[1]), dtype=np.float32)
            grown[: len(self._places)] = self._matrix[: len(self._places)]
            self._matrix = grown


def _one_per_note(hits: list[VectorHit]) -> list[VectorHit]:
    best: dict[NotePath, VectorHit] = {}
    for hit in hits:
        best.setdefault(hit.path, hit)
    return list(best.values())
