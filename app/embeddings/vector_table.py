"""The vectors in memory: searched exactly, by an approximate index once there are very many.

A search looks at one bit of each number first (so 100,000 rows take a millisecond), takes many times as many
as are wanted, and weighs those by the 16-bit vectors: the best ten are those of an exact product, in 99 of
100. Up to `MAX_EXACT_ROWS` rows the bits of all are looked at; beyond, a `AnnIndex` names those to weigh.
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

# To look at all takes 10 ms (p95, of processor time) at so many rows.
MAX_EXACT_ROWS = 400_000
_MIN_CAPACITY = 256
# The largest number in a unit vector of a sentence is under 0.3; what is larger is cut off in the code.
_CODE_SCALE = 127 / 0.3
_OVERSAMPLING = 4
# So many are weighed at least, and of more rows one of so many: near ones may differ in many bits. The index
# compares more closely.
_MIN_CANDIDATES, _CANDIDATE_DIVISOR, _MIN_INDEX_CANDIDATES = 2000, 100, 64
_NOTE_BATCH_SIZE = 2048

Halves = npt.NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class ChunkLocation:
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


@dataclass(frozen=True)
class NoteVectors:
    """One unit vector for each note, the mean of its chunks': row i of `matrix` is that of `paths[i]`."""

    paths: tuple[NotePath, ...]
    matrix: Vectors


class VectorTable:
    """Unit vectors with their places, in no order. Belongs to one thread.

    A row has a key, made of its note, line and vector, by which a `AnnIndex` that was kept from another
    run knows it again.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._vectors: Halves = np.zeros((_MIN_CAPACITY, dimension), dtype=np.float16)
        self._signs = BinaryCodes(dimension)
        self._keys: Keys = np.zeros(_MIN_CAPACITY, dtype=np.uint64)
        self._places: list[ChunkLocation] = []
        self._rows: dict[NotePath, set[int]] = {}
        self._near: AnnIndex | None = None
        self._row_of: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._places)

    # Rows

    def add(self, places: Sequence[ChunkLocation], vectors: Vectors) -> None:
        """Add rows; `vectors` has shape (len(places), dimension)."""
        start = len(self._places)
        end = start + len(places)
        self._reserve(end)
        self._vectors[start:end] = vectors
        self._signs.put(self._vectors[:end], start)
        for row, place in enumerate(places, start):
            self._places.append(place)
            self._rows.setdefault(place.path, set()).add(row)
            self._keys[row] = _chunk_key(place, self._vectors[row])
        if self._near is not None:
            self._row_of.update(zip(self._keys[start:end].tolist(), range(start, end), strict=True))
            self._near.add(self._keys[start:end], quantize(vectors))

    def remove(self, path: NotePath) -> None:
        """Remove every row of a note; nothing happens if it has none."""
        # From the end, so that the row that fills a gap is never one that goes too.
        for row in sorted(self._rows.pop(path, ()), reverse=True):
            last = len(self._places) - 1
            if self._near is not None:
                self._row_of.pop(int(self._keys[row]), None)
                self._near.remove([int(self._keys[row])])
            if row != last:
                self._move(last, row)
            self._places.pop()

    def vectors_of(self, path: NotePath) -> Vectors:
        """The vectors of a note's chunks, shape (chunks, dimension); no rows if it has none."""
        return self._vectors[sorted(self._rows.get(path, ()))].astype(np.float32)

    def notes(self) -> NoteVectors:
        """One vector for each note, ordered by path."""
        paths = sorted(self._rows)
        matrix = np.zeros((len(paths), self.dimension), dtype=np.float32)
        for at in range(0, len(paths), _NOTE_BATCH_SIZE):
            sets = [self._rows[path] for path in paths[at : at + _NOTE_BATCH_SIZE]]
            rows = np.fromiter((row for some in sets for row in some), dtype=np.intp)
            starts = np.cumsum([0, *(len(some) for some in sets[:-1])])
            matrix[at : at + len(sets)] = np.add.reduceat(self._vectors[rows].astype(np.float32), starts)
        matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
        return NoteVectors(tuple(paths), matrix)

    # The approximate index

    def snapshot(self) -> tuple[Keys, Halves]:
        """The rows as they are now, to make an index of in another thread."""
        count = len(self._places)
        return self._keys[:count].copy(), self._vectors[:count].copy()

    def attach(self, near: AnnIndex | None) -> None:
        """Let `near` name the candidates from now on, after bringing it in line with the rows."""
        self._near, self._row_of = near, {}
        if near is None:
            return
        count = len(self._places)
        self._row_of = dict(zip(self._keys[:count].tolist(), range(count), strict=True))
        there = near.keys
        near.remove(there - self._row_of.keys())
        missing = [row for key, row in self._row_of.items() if key not in there]
        near.add(self._keys[missing], quantize(self._vectors[missing]))

    @property
    def ann_index(self) -> AnnIndex | None:
        """The approximate index in use; None while every row is looked at."""
        return self._near

    # Search

    def search(
        self, vector: npt.ArrayLike, limit: int, min_similarity: float, *, per_note: bool
    ) -> tuple[VectorHit, ...]:
        """The `limit` best rows whose cosine with `vector` is at least `min_similarity`, best first.

        With `per_note` a note counts once, by its best chunk. Equal scores keep the order of their paths.
        """
        count = len(self._places)
        if not count or limit < 1:
            return ()
        wish = np.asarray(vector, dtype=np.float32).reshape(-1)
        fewest = (
            max(_MIN_CANDIDATES, count // _CANDIDATE_DIVISOR) if self._near is None else _MIN_INDEX_CANDIDATES
        )
        wanted = min(count, max(fewest, limit * _OVERSAMPLING))
        while True:
            rows = self._candidates(wish, wanted)
            # No matrix product: BLAS divides even so small a one among threads, and then waits for them.
            scores = np.einsum("ij,j->i", self._vectors[rows].astype(np.float32), wish)
            near = scores >= min_similarity
            hits = self._best(rows[near], scores[near], limit, per_note=per_note)
            # Not all of them are near enough: nor are those that follow.
            if len(hits) >= limit or np.count_nonzero(near) < len(rows) or wanted >= count:
                return tuple(hits)
            wanted = min(count, wanted * _OVERSAMPLING)

    def _candidates(self, wish: Vectors, wanted: int) -> npt.NDArray[np.intp]:
        if self._near is None:
            return self._signs.nearest(wish, len(self._places), wanted)
        known = (self._row_of.get(key) for key in self._near.search(quantize(wish), wanted).tolist())
        return np.array([row for row in known if row is not None], dtype=np.intp)

    def _best(
        self, rows: npt.NDArray[np.intp], scores: Vectors, limit: int, *, per_note: bool
    ) -> list[VectorHit]:
        """The best of these rows, in order."""
        take = limit
        while True:
            some = slice(None)
            if take < len(rows):
                # With all that are as good as the last: the order of their paths decides.
                some = scores >= np.partition(scores, -take)[-take]
            hits = self._hits(rows[some], scores[some])
            found = _one_per_note(hits) if per_note else hits
            if len(found) >= limit or take >= len(rows):
                return found[:limit]
            take *= _OVERSAMPLING

    def _hits(self, rows: npt.NDArray[np.intp], scores: Vectors) -> list[VectorHit]:
        places = self._places
        close = zip(scores.tolist(), rows.tolist(), strict=True)
        ranked = sorted((-score, places[row].path, places[row].line, row) for score, row in close)
        # Rounding can take the cosine of a text with itself a little over 1.
        return [
            VectorHit(path, places[row].heading, line, min(1.0, -score)) for score, path, line, row in ranked
        ]

    def _move(self, row: int, to: int) -> None:
        """Let a row fill a gap."""
        place = self._places[row]
        self._vectors[to] = self._vectors[row]
        self._signs.move(row, to)
        self._keys[to] = self._keys[row]
        self._places[to] = place
        self._rows[place.path].remove(row)
        self._rows[place.path].add(to)
        if self._near is not None:
            self._row_of[int(self._keys[to])] = to

    def _reserve(self, rows: int) -> None:
        there, used = len(self._vectors), len(self._places)
        if rows <= there:
            return
        more = max(rows, there * 3 // 2) - used
        self._vectors = np.concatenate([self._vectors[:used], np.zeros((more, self.dimension), np.float16)])
        self._keys = np.concatenate([self._keys[:used], np.zeros(more, np.uint64)])


def quantize(vectors: Vectors | Halves) -> Codes:
    """The vectors as 8-bit numbers that are compared with one another."""
    codes: Codes = np.clip(np.rint(vectors * _CODE_SCALE), -127, 127).astype(np.int8)
    return codes


def _chunk_key(place: ChunkLocation, vector: Halves) -> int:
    said = f"{place.path}\0{place.line}\0".encode("utf-8", "surrogatepass") + vector.tobytes()
    return int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "little")


def _one_per_note(hits: list[VectorHit]) -> list[VectorHit]:
    best: dict[NotePath, VectorHit] = {}
    for hit in hits:
        best.setdefault(hit.path, hit)
    return list(best.values())
