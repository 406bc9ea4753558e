"""The vectors in memory, searched by binary codes and, if there are very many, by an approximate index.

A search compares binary codes first (100,000 rows take a millisecond), keeps several times as many candidates
as requested, and scores those by their 16-bit vectors: on average, 99% of the top ten rows match those of an
exact search. Up to `MAX_EXACT_ROWS` rows, all codes are compared; above that, an `AnnIndex` selects the
candidates.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.embeddings.ann_index import AnnIndex, Codes, Keys
from app.embeddings.binary_codes import BinaryCodes
from app.embeddings.onnx_model import Vectors
from app.vault.path import NotePath

# Comparing this many rows takes 10 ms (p95, CPU time).
MAX_EXACT_ROWS = 400_000
_MIN_CAPACITY = 256
# Components of sentence vectors are below 0.3; larger ones are clipped in the code.
_CODE_SCALE = 127 / 0.3
_OVERSAMPLING = 4
# The minimum number of candidates, and the maximum number of rows per candidate: the codes of similar vectors
# may differ in many bits.
_MIN_CANDIDATES, _CANDIDATE_DIVISOR = 2000, 100
# The approximate index ranks more precisely than the codes, so fewer candidates suffice.
_MIN_INDEX_CANDIDATES = 64
_NOTE_BATCH_SIZE = 2048

HalfFloats = npt.NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class ChunkLocation:
    """The location of a chunk: its note, the heading above it (or ""), and its first line (from 1)."""

    path: NotePath
    heading: str
    line: int


@dataclass(frozen=True, slots=True)
class VectorHit:
    """A chunk similar to the query; `score` is the cosine, 1 for the same meaning."""

    path: NotePath
    heading: str
    line: int
    score: float


@dataclass(frozen=True)
class NoteVectors:
    """The normalized mean vector of each note's chunks: row i of `matrix` belongs to `paths[i]`."""

    paths: tuple[NotePath, ...]
    matrix: Vectors


class VectorTable:
    """Unit vectors with their locations, unordered. Not thread-safe.

    Each row has a key derived from its note, line and vector, by which an `AnnIndex` saved in an earlier run
    identifies it.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._vectors: HalfFloats = np.zeros((_MIN_CAPACITY, dimension), dtype=np.float16)
        self._binary_codes = BinaryCodes(dimension)
        self._keys: Keys = np.zeros(_MIN_CAPACITY, dtype=np.uint64)
        self._locations: list[ChunkLocation] = []
        self._rows: dict[NotePath, set[int]] = {}
        self._ann_index: AnnIndex | None = None
        self._row_by_key: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._locations)

    # Rows

    def add(self, locations: Sequence[ChunkLocation], vectors: Vectors) -> None:
        """Add rows; `vectors` has shape (len(locations), dimension)."""
        start = len(self._locations)
        end = start + len(locations)
        self._reserve(end)
        self._vectors[start:end] = vectors
        self._binary_codes.put(self._vectors[:end], start)
        for row, location in enumerate(locations, start):
            self._locations.append(location)
            self._rows.setdefault(location.path, set()).add(row)
            self._keys[row] = _chunk_key(location, self._vectors[row])
        if self._ann_index is not None:
            self._row_by_key.update(zip(self._keys[start:end].tolist(), range(start, end), strict=True))
            self._ann_index.add(self._keys[start:end], quantize(vectors))

    def remove(self, path: NotePath) -> None:
        """Remove all rows of a note, if any."""
        # From the end, so that the row moved into a gap is never about to be removed itself.
        for row in sorted(self._rows.pop(path, ()), reverse=True):
            last = len(self._locations) - 1
            if self._ann_index is not None:
                self._row_by_key.pop(int(self._keys[row]), None)
                self._ann_index.remove([int(self._keys[row])])
            if row != last:
                self._move(last, row)
            self._locations.pop()

    def vectors_of(self, path: NotePath) -> Vectors:
        """Return the vectors of a note's chunks, shape (chunks, dimension)."""
        return self._vectors[sorted(self._rows.get(path, ()))].astype(np.float32)

    def note_vectors(self) -> NoteVectors:
        """Return one vector for each note, ordered by path."""
        paths = sorted(self._rows)
        matrix = np.zeros((len(paths), self.dimension), dtype=np.float32)
        for start in range(0, len(paths), _NOTE_BATCH_SIZE):
            sets = [self._rows[path] for path in paths[start : start + _NOTE_BATCH_SIZE]]
            rows = np.fromiter((row for note_rows in sets for row in note_rows), dtype=np.intp)
            starts = np.cumsum([0, *(len(note_rows) for note_rows in sets[:-1])])
            matrix[start : start + len(sets)] = np.add.reduceat(
                self._vectors[rows].astype(np.float32), starts
            )
        matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
        return NoteVectors(tuple(paths), matrix)

    # The approximate index

    def snapshot(self) -> tuple[Keys, HalfFloats]:
        """Return a copy of the rows' keys and vectors, to build an index in another thread."""
        count = len(self._locations)
        return self._keys[:count].copy(), self._vectors[:count].copy()

    def attach(self, ann_index: AnnIndex | None) -> None:
        """Synchronize `ann_index` with the rows and select candidates with it; None compares every row."""
        self._ann_index, self._row_by_key = ann_index, {}
        if ann_index is None:
            return
        count = len(self._locations)
        self._row_by_key = dict(zip(self._keys[:count].tolist(), range(count), strict=True))
        indexed_keys = ann_index.keys
        ann_index.remove(indexed_keys - self._row_by_key.keys())
        missing = [row for key, row in self._row_by_key.items() if key not in indexed_keys]
        ann_index.add(self._keys[missing], quantize(self._vectors[missing]))

    @property
    def ann_index(self) -> AnnIndex | None:
        """The approximate index in use, or None while every row is compared."""
        return self._ann_index

    # Search

    def search(
        self, vector: npt.ArrayLike, limit: int, min_similarity: float, *, per_note: bool
    ) -> tuple[VectorHit, ...]:
        """Return the best rows, up to `limit`, with a cosine of at least `min_similarity`, best first.

        With `per_note`, each note appears once, with its best chunk. Ties are ordered by path and line.
        """
        count = len(self._locations)
        if not count or limit < 1:
            return ()
        query = np.asarray(vector, dtype=np.float32).reshape(-1)
        min_candidates = (
            max(_MIN_CANDIDATES, count // _CANDIDATE_DIVISOR)
            if self._ann_index is None
            else _MIN_INDEX_CANDIDATES
        )
        candidate_count = min(count, max(min_candidates, limit * _OVERSAMPLING))
        while True:
            rows = self._candidates(query, candidate_count)
            # No matrix product: BLAS would split even a small one among threads and wait for them.
            scores = np.einsum("ij,j->i", self._vectors[rows].astype(np.float32), query)
            is_near = scores >= min_similarity
            hits = self._best(rows[is_near], scores[is_near], limit, per_note=per_note)
            # If some candidates are not similar enough, further ones hardly ever are.
            if len(hits) >= limit or np.count_nonzero(is_near) < len(rows) or candidate_count >= count:
                return tuple(hits)
            candidate_count = min(count, candidate_count * _OVERSAMPLING)

    def _candidates(self, query: Vectors, count: int) -> npt.NDArray[np.intp]:
        if self._ann_index is None:
            return self._binary_codes.nearest(query, len(self._locations), count)
        rows = (self._row_by_key.get(key) for key in self._ann_index.search(quantize(query), count).tolist())
        return np.array([row for row in rows if row is not None], dtype=np.intp)

    def _best(
        self, rows: npt.NDArray[np.intp], scores: Vectors, limit: int, *, per_note: bool
    ) -> list[VectorHit]:
        """Return the best of these rows, in order."""
        count = limit
        while True:
            selected = slice(None)
            if count < len(rows):
                # Include all rows tied with the last one, because ties are ordered by path.
                selected = scores >= np.partition(scores, -count)[-count]
            hits = self._hits(rows[selected], scores[selected])
            best = _one_per_note(hits) if per_note else hits
            if len(best) >= limit or count >= len(rows):
                return best[:limit]
            count *= _OVERSAMPLING

    def _hits(self, rows: npt.NDArray[np.intp], scores: Vectors) -> list[VectorHit]:
        locations = self._locations
        scored_rows = zip(scores.tolist(), rows.tolist(), strict=True)
        ranked = sorted((-score, locations[row].path, locations[row].line, row) for score, row in scored_rows)
        # Rounding can raise the cosine of a text with itself slightly above 1.
        return [
            VectorHit(path, locations[row].heading, line, min(1.0, -score))
            for score, path, line, row in ranked
        ]

    def _move(self, row: int, target: int) -> None:
        """Move a row into a gap."""
        location = self._locations[row]
        self._vectors[target] = self._vectors[row]
        self._binary_codes.move(row, target)
        self._keys[target] = self._keys[row]
        self._locations[target] = location
        self._rows[location.path].remove(row)
        self._rows[location.path].add(target)
        if self._ann_index is not None:
            self._row_by_key[int(self._keys[target])] = target

    def _reserve(self, rows: int) -> None:
        capacity, used = len(self._vectors), len(self._locations)
        if rows <= capacity:
            return
        added_rows = max(rows, capacity * 3 // 2) - used
        self._vectors = np.concatenate(
            [self._vectors[:used], np.zeros((added_rows, self.dimension), np.float16)]
        )
        self._keys = np.concatenate([self._keys[:used], np.zeros(added_rows, np.uint64)])


def quantize(vectors: Vectors | HalfFloats) -> Codes:
    """Quantize vectors to 8-bit integers for comparison with one another."""
    codes: Codes = np.clip(np.rint(vectors * _CODE_SCALE), -127, 127).astype(np.int8)
    return codes


def _chunk_key(location: ChunkLocation, vector: HalfFloats) -> int:
    content = f"{location.path}\0{location.line}\0".encode("utf-8", "surrogatepass") + vector.tobytes()
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


def _one_per_note(hits: list[VectorHit]) -> list[VectorHit]:
    best_hits: dict[NotePath, VectorHit] = {}
    for hit in hits:
        best_hits.setdefault(hit.path, hit)
    return list(best_hits.values())
