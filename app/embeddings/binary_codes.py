"""Which vectors may be near, by one bit of each number: a sixteenth of the memory of the vectors to read.

A bit says whether a number is above the middle of that number in all vectors (which for sentences is far
from zero in some places). Vectors with few different bits are likely to be near; how near they are, their
numbers must say. Random projections by signs are Charikar's ("Similarity estimation techniques from
rounding algorithms", 2002); here the numbers themselves serve as projections.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_WORD_BITS = 64
_MIN_CAPACITY = 256
_MEAN_SAMPLE_SIZE = 5_000
_BATCH_ROWS = 10_000
# The middle is found anew each time that there are so many times as many vectors.
_RECENTER_FACTOR = 4

Rows = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.float16]


class BinaryCodes:
    """The bits of vectors of `dimension` numbers, by row. Belongs to one thread."""

    def __init__(self, dimension: int) -> None:
        self._middle = np.zeros(dimension, dtype=np.float32)
        self._middle_of = 0
        # A column for each 64 numbers, so that each step of a search reads memory from end to end.
        self._columns = np.zeros((-(-dimension // _WORD_BITS), _MIN_CAPACITY), dtype=np.uint64)

    def put(self, vectors: Numbers, start: int) -> None:
        """Take in the rows of `vectors` from `start` on; the rows before are known."""
        count = len(vectors)
        if count > self._columns.shape[1]:
            room = max(count, self._columns.shape[1] * 3 // 2) - self._columns.shape[1]
            self._columns = np.pad(self._columns, ((0, 0), (0, room)))
        if count >= max(1, _RECENTER_FACTOR * self._middle_of):
            self._middle, self._middle_of = _sample_mean(vectors), count
            start = 0
        for at in range(start, count, _BATCH_ROWS):
            some = vectors[at : at + _BATCH_ROWS]
            self._columns[:, at : at + len(some)] = self._bits(some.astype(np.float32)).T

    def move(self, row: int, to: int) -> None:
        """Let a row take the place of another."""
        self._columns[:, to] = self._columns[:, row]

    def nearest(self, wish: npt.NDArray[np.float32], rows: int, count: int) -> Rows:
        """Those `count` of the first `rows` rows that differ from `wish` in the fewest bits."""
        if count >= rows:
            return np.arange(rows)
        differing = np.zeros(rows, dtype=np.uint16)
        for column, bits in zip(self._columns, self._bits(wish.reshape(1, -1))[0], strict=True):
            differing += np.bitwise_count(column[:rows] ^ bits)
        return np.sort(np.argpartition(differing, count)[:count])

    def _bits(self, vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.uint64]:
        """A row of words for each vector."""
        packed = np.packbits(vectors > self._middle, axis=1)
        missing = 8 * len(self._columns) - packed.shape[1]
        return np.ascontiguousarray(np.pad(packed, ((0, 0), (0, missing)))).view(np.uint64)


def _sample_mean(vectors: Numbers) -> npt.NDArray[np.float32]:
    """The mean of some vectors from all over."""
    some = vectors[:: max(1, len(vectors) // _MEAN_SAMPLE_SIZE)]
    mean: npt.NDArray[np.float32] = some.astype(np.float32).mean(axis=0)
    return mean
