"""Exact t-SNE for a few hundred vectors: a map on which similar vectors are close to each other.

As in van der Maaten and Hinton, "Visualizing data using t-SNE" (2008), but initialized with the two principal
directions, so that the result is deterministic and its overall shape is meaningful.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.graph.static_layout import Report, no_progress

_PERPLEXITY = 20.0
_MAX_ITERATIONS = 320
_EARLY_ITERATIONS = 100
_EXAGGERATION = 6.0
_PERPLEXITY_SEARCH_STEPS = 30


def tsne_embedding(vectors: NDArray[np.float32], report: Report = no_progress) -> NDArray[np.float32]:
    """Return positions float32 (n, 2) around the origin, at an arbitrary scale.

    Args:
        vectors: float32 (n, d), unit vectors; memory and time grow with the square of n.
        report: Receives the progress.
    """
    size = len(vectors)
    if size < 3:
        return np.stack([np.arange(size) - (size - 1) / 2, np.zeros(size)], axis=1).astype(np.float32)
    gradient_of = _Gradient(_affinities(vectors))
    positions = _initial_positions(vectors)
    speed, gain = np.zeros_like(positions), np.ones_like(positions)
    rate = max(50.0, size / _EXAGGERATION / 4)
    for turn in range(_MAX_ITERATIONS):
        if turn % 20 == 0:
            report(turn / _MAX_ITERATIONS, "Laying out by meaning")
        is_early = turn < _EARLY_ITERATIONS
        gradient = gradient_of(positions, _EXAGGERATION if is_early else 1.0)
        gain = np.where(gradient * speed > 0, np.maximum(gain * 0.8, 0.01), gain + 0.2).astype(np.float32)
        speed = np.float32(0.5 if is_early else 0.8) * speed - np.float32(rate) * gain * gradient
        positions = positions + speed
        positions -= positions.mean(axis=0)
    return np.asarray(positions)


class _Gradient:
    """The gradient of the loss.

    All pairwise tables are reused: allocating new ones would take longer than filling them.
    """

    def __init__(self, affinities: NDArray[np.float32]) -> None:
        self._affinities = affinities
        self._nearness = np.empty_like(affinities)
        self._pull = np.empty_like(affinities)

    def __call__(self, positions: NDArray[np.float32], exaggeration: float) -> NDArray[np.float32]:
        nearness, pull = self._nearness, self._pull
        np.subtract.outer(positions[:, 0], positions[:, 0], out=nearness)
        nearness *= nearness
        np.subtract.outer(positions[:, 1], positions[:, 1], out=pull)
        pull *= pull
        nearness += pull
        nearness += 1
        np.reciprocal(nearness, out=nearness)
        np.fill_diagonal(nearness, 0)
        np.multiply(self._affinities, exaggeration, out=pull)
        pull *= nearness
        total = np.float32(nearness.sum(dtype=np.float64))
        nearness *= nearness
        nearness /= total
        pull -= nearness
        return np.asarray(4 * (pull.sum(axis=1)[:, None] * positions - pull @ positions))


def _initial_positions(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a small projection onto the two principal directions, with deterministic signs."""
    centered = vectors - vectors.mean(axis=0)
    _, axes = np.linalg.eigh((centered.T @ centered).astype(np.float64))
    axes = axes[:, :-3:-1]
    axes *= np.sign(np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0))
    projection = centered @ axes
    return np.asarray(projection * (1e-2 / max(float(projection[:, 0].std()), 1e-12)), dtype=np.float32)


def _affinities(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the affinity of each pair, float32 (n, n), sum 1, with about equal perplexity for each."""
    size = len(vectors)
    squared_distances = np.maximum(2.0 - 2.0 * (vectors @ vectors.T).astype(np.float64), 0)
    np.fill_diagonal(squared_distances, np.inf)
    squared_distances -= squared_distances.min(axis=1, keepdims=True)
    target = np.log(min(_PERPLEXITY, (size - 1) / 2))
    low, high = np.zeros(size), np.full(size, np.inf)
    precision = np.full(size, 10.0)
    shares = np.zeros((size, size))
    for _ in range(_PERPLEXITY_SEARCH_STEPS):
        shares = np.exp(-precision[:, None] * squared_distances)
        total = shares.sum(axis=1)
        spread = np.where(
            shares > 0, shares * np.where(np.isfinite(squared_distances), squared_distances, 0), 0
        ).sum(axis=1)
        entropy = np.log(total) + precision * spread / total
        is_too_broad = entropy > target
        low, high = np.where(is_too_broad, precision, low), np.where(is_too_broad, high, precision)
        precision = np.where(np.isinf(high), precision * 2, (low + high) / 2)
    shares /= shares.sum(axis=1, keepdims=True)
    return np.maximum((shares + shares.T) / (2 * size), 1e-12).astype(np.float32)
