"""Pack discs tightly without overlaps, push overlapping discs apart, and find an enclosing disc."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.graph import core_bindings

_TOUCH_TOLERANCE = 1e-5
_SPOT_BATCH_SIZE = 24
_PRUNE_INTERVAL = 24
_MAX_ROUNDS = 400
_MAX_MISSING_GAP_SHARE = 0.6


def pack_circles(radii: NDArray[np.float64], aspect: float = 1.0) -> NDArray[np.float64]:
    """Return the centers float64 (k, 2) of discs packed around the origin without overlaps.

    The largest is in the middle; the others follow by size, each touching earlier discs as close to the
    middle as possible.

    Args:
        radii: float64 (k,).
        aspect: The width of the page to fill, divided by its height.
    """
    centers = np.zeros((len(radii), 2))
    order = np.argsort(-np.asarray(radii, dtype=np.float64), kind="stable")
    centers[order] = _CirclePacking(np.asarray(radii, dtype=np.float64)[order], aspect).centers()
    return centers


class _CirclePacking:
    """One packing; the discs are sorted from large to small."""

    def __init__(self, radii: NDArray[np.float64], aspect: float) -> None:
        self._radii = radii
        self._page = np.array([np.sqrt(aspect), 1 / np.sqrt(aspect)])
        self._centers = np.zeros((len(radii), 2))
        self._pairs = np.empty((0, 2), dtype=np.int64)

    def centers(self) -> NDArray[np.float64]:
        """Place the discs one after the other and return their centers."""
        for index in range(1, len(self._radii)):
            self._centers[index] = self._find_center(index)
            self._add_pairs(index)
            if index % _PRUNE_INTERVAL == 0:
                self._prune(index)
        return self._centers

    def _find_center(self, index: int) -> NDArray[np.float64]:
        radius = self._radii[index]
        if index == 1:
            return np.array([self._radii[0] + radius, 0.0])
        positions, _ = self._positions(radius)
        distances = ((positions / self._page) ** 2).sum(axis=1)
        order = np.argsort(distances, kind="stable")
        for start in range(0, len(order), _SPOT_BATCH_SIZE):
            batch = positions[order[start : start + _SPOT_BATCH_SIZE]]
            free = np.flatnonzero(self._is_free(batch, radius, index))
            if len(free):
                return np.asarray(batch[free[0]])
        # Rounding may close every gap; there is always room beyond all other discs.
        reach = float((self._centers[:index, 0] + self._radii[:index]).max())
        return np.array([reach + radius, 0.0])

    def _positions(self, radius: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return centers at which a disc of this radius touches a pair's discs, and the pairs' indexes."""
        first, second = self._pairs[:, 0], self._pairs[:, 1]
        first_distance, second_distance = self._radii[first] + radius, self._radii[second] + radius
        across = self._centers[second] - self._centers[first]
        length = np.sqrt((across * across).sum(axis=1))
        along = (first_distance**2 - second_distance**2 + length**2) / (2 * length)
        height = first_distance**2 - along**2
        pairs = np.flatnonzero(height >= 0)
        unit = across[pairs] / length[pairs, None]
        foot = self._centers[first[pairs]] + unit * along[pairs, None]
        aside = np.stack([-unit[:, 1], unit[:, 0]], axis=1) * np.sqrt(height[pairs])[:, None]
        return np.concatenate([foot + aside, foot - aside]), np.concatenate([pairs, pairs])

    def _is_free(self, positions: NDArray[np.float64], radius: float, placed_count: int) -> NDArray[np.bool_]:
        offsets = positions[:, None] - self._centers[None, :placed_count]
        min_distances = (self._radii[:placed_count] + radius - _TOUCH_TOLERANCE) ** 2
        return np.asarray(((offsets * offsets).sum(axis=2) >= min_distances).all(axis=1))

    def _add_pairs(self, index: int) -> None:
        """Pair this disc with each earlier disc that is close enough for a later disc to touch both."""
        offsets = self._centers[:index] - self._centers[index]
        gap = np.sqrt((offsets * offsets).sum(axis=1)) - self._radii[:index] - self._radii[index]
        next_radius = self._radii[index + 1] if index + 1 < len(self._radii) else 0.0
        partners = np.flatnonzero(gap < 2 * next_radius)
        self._pairs = np.concatenate(
            [self._pairs, np.stack([partners, np.full(len(partners), index)], axis=1)]
        )

    def _prune(self, index: int) -> None:
        """Remove pairs that not even the smallest disc can touch."""
        positions, pairs = self._positions(float(self._radii[-1]))
        is_usable = np.zeros(len(self._pairs), dtype=bool)
        for start in range(0, len(positions), 256):
            is_free = self._is_free(positions[start : start + 256], float(self._radii[-1]), index + 1)
            is_usable[pairs[start : start + 256][is_free]] = True
        self._pairs = self._pairs[is_usable]


def enclosing_circle(
    centers: NDArray[np.float64], radii: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return the center and radius of a small disc that encloses all discs.

    Bădoiu and Clarkson's steps toward the farthest point ("Smaller core-sets for balls", 2003) come
    within one percent of the smallest enclosing disc.
    """
    middle = (centers.min(axis=0) + centers.max(axis=0)) / 2
    for step in range(1, 120):
        offsets = centers - middle
        distance = np.sqrt((offsets * offsets).sum(axis=1)) + radii
        farthest = int(distance.argmax())
        length = max(1e-12, float(distance[farthest] - radii[farthest]))
        point = offsets[farthest] * (distance[farthest] / length)
        middle = middle + point / (step + 1)
    offsets = centers - middle
    return middle, float((np.sqrt((offsets * offsets).sum(axis=1)) + radii).max())


def separate_circles(
    positions: NDArray[np.float32], radii: NDArray[np.float32], gap: float
) -> NDArray[np.float32]:
    """Return the positions float32 (n, 2) of discs after pushing them apart.

    Pushing stops when the discs have at least 40% of `gap` between them, or after a limited number of rounds.
    """
    placed = np.array(positions, dtype=np.float32, order="C")
    radii = np.ascontiguousarray(radii, dtype=np.float32)
    for _ in range(_MAX_ROUNDS):
        if core_bindings.separate(placed, radii, gap) <= _MAX_MISSING_GAP_SHARE * gap:
            break
    return placed
