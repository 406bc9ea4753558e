"""Nearest neighbors of each vector, by blocked matrix products.

Up to `_MAX_EXACT_ROWS` vectors, the neighbors are exact. For more, candidates are selected in the 64
directions of largest variance and then compared exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.graph.static_layout import Report, no_progress

_BLOCK_ROWS = 1024
_MAX_EXACT_ROWS = 20_000
_DIRECTION_COUNT = 64
_OVERSAMPLING = 4


def nearest(
    vectors: NDArray[np.float32], count: int, report: Report = no_progress
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the `count` nearest neighbors of each vector, best first, with their cosines.

    Args:
        vectors: float32 (n, d), unit vectors.
        count: The number of neighbors, or fewer if there are fewer other vectors.
        report: Receives the progress.

    Returns:
        int32 (n, count) rows and float32 (n, count) cosines.
    """
    size = len(vectors)
    count = max(0, min(count, size - 1))
    rows = np.empty((size, count), dtype=np.int32)
    scores = np.empty((size, count), dtype=np.float32)
    if not count:
        return rows, scores
    is_exact = size <= _MAX_EXACT_ROWS
    compared = vectors if is_exact else principal_components(vectors, _DIRECTION_COUNT)
    candidate_count = count if is_exact else min(size - 1, count * _OVERSAMPLING)
    for start in range(0, size, _BLOCK_ROWS):
        report(start / size, "Comparing meanings")
        block = slice(start, min(start + _BLOCK_ROWS, size))
        similarities = compared[block] @ compared.T
        own_rows = np.arange(block.start, block.stop)
        similarities[own_rows - start, own_rows] = -np.inf
        best = np.argpartition(similarities, size - candidate_count, axis=1)[:, size - candidate_count :]
        if is_exact:
            cosines = np.take_along_axis(similarities, best, axis=1)
        else:
            cosines = np.einsum("ij,ikj->ik", vectors[block], vectors[best])
        order = np.lexsort((best, -cosines), axis=1)[:, :count]
        rows[block] = np.take_along_axis(best, order, axis=1)
        scores[block] = np.take_along_axis(cosines, order, axis=1)
    return rows, scores


def principal_components(vectors: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Project the vectors onto the `count` directions of largest variance, without centering.

    The sign of a direction is chosen so that its largest component is positive, for a deterministic result.
    """
    count = min(count, vectors.shape[1])
    _, axes = np.linalg.eigh((vectors.T @ vectors).astype(np.float64))
    axes = axes[:, ::-1][:, :count]
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0)
    return np.asarray(vectors @ (axes * np.sign(largest)).astype(np.float32))
