"""Binary codes of vectors, one bit per component, for a first pass that reads a sixteenth of the memory.

A bit says whether a component is above its mean over all vectors (which for sentences is far from zero in
some components). Vectors that differ in few bits are likely to be near; the final selection uses the exact
vectors. Charikar introduced sign random projections ("Similarity estimation techniques from rounding
algorithms", 2002); here the components themselves serve as projections.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_WORD_BITS = 64
_MIN_CAPACITY = 256
_MEAN_SAMPLE_SIZE = 5_000
_BATCH_ROWS = 10_000
# The mean is recomputed each time the number of vectors has grown by this factor.
_RECENTER_FACTOR = 4

Rows = npt.NDArray[np.intp]
HalfFloats = npt.NDArray[np.float16]


class BinaryCodes:
    """The binary codes of vectors with `dimension` components, by row. Not thread-safe."""

    def __init__(self, dimension: int) -> None:
        self._mean = np.zeros(dimension, dtype=np.float32)
        self._mean_count = 0
        # One column per 64 components, so that each step of a search reads memory sequentially.
        self._columns = np.zeros((-(-dimension // _WORD_BITS), _MIN_CAPACITY), dtype=np.uint64)

    def put(self, vectors: HalfFloats, start: int) -> None:
        """Encode the rows of `vectors` from `start` on, or all rows if the mean is recomputed."""
        count = len(vectors)
        if count > self._columns.shape[1]:
            padding = max(count, self._columns.shape[1] * 3 // 2) - self._columns.shape[1]
            self._columns = np.pad(self._columns, ((0, 0), (0, padding)))
        if count >= max(1, _RECENTER_FACTOR * self._mean_count):
            self._mean, self._mean_count = _sample_mean(vectors), count
            start = 0
        for offset in range(start, count, _BATCH_ROWS):
            batch = vectors[offset : offset + _BATCH_ROWS]
            self._columns[:, offset : offset + len(batch)] = self._bits(batch.astype(np.float32)).T

    def move(self, row: int, target: int) -> None:
        """Copy the code of `row` to the row `target`."""
        self._columns[:, target] = self._columns[:, row]

    def nearest(self, query: npt.NDArray[np.float32], rows: int, count: int) -> Rows:
        """Return the `count` of the first `rows` rows that differ least from the query, in row order."""
        if count >= rows:
            return np.arange(rows)
        differing = np.zeros(rows, dtype=np.uint16)
        for column, bits in zip(self._columns, self._bits(query.reshape(1, -1))[0], strict=True):
            differing += np.bitwise_count(column[:rows] ^ bits)
        return np.sort(np.argpartition(differing, count)[:count])

    def _bits(self, vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.uint64]:
        """Return the code of each vector as a row of 64-bit words."""
        packed = np.packbits(vectors > self._mean, axis=1)
        padding = 8 * len(self._columns) - packed.shape[1]
        return np.ascontiguousarray(np.pad(packed, ((0, 0), (0, padding)))).view(np.uint64)


def _sample_mean(vectors: HalfFloats) -> npt.NDArray[np.float32]:
    """Return the mean of an even sample of the vectors."""
    sample = vectors[:: max(1, len(vectors) // _MEAN_SAMPLE_SIZE)]
    mean: npt.NDArray[np.float32] = sample.astype(np.float32).mean(axis=0)
    return mean
