"""Fit a layout to the page: rotate and stretch it, and even out its density.

Also computes the disc that every layout starts from. Does not import scipy, since the view needs this module
before it needs a layout.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.graph.model import Positions

_MAX_STRETCH = 1.35


def align_to_page(positions: Positions, aspect: float) -> Positions:
    """Rotate a layout so that its longest axis lies along the page's longer side, and stretch it a little.

    Args:
        positions: float32 (n, 2), around any center.
        aspect: The page's width divided by its height.

    Returns:
        The positions, centered at the origin; fewer than three are returned unchanged.
    """
    if len(positions) < 3:
        return positions
    centered = positions - positions.mean(axis=0)
    _, axes = np.linalg.eigh(np.cov(centered.T.astype(np.float64)))
    long_axis = axes[:, 1] * np.sign(axes[0, 1] + 1e-9)
    short_axis = axes[:, 0] * np.sign(axes[1, 0] + 1e-9)
    basis = (long_axis, short_axis) if aspect >= 1 else (short_axis, long_axis)
    rotated = centered @ np.stack(basis, axis=1)
    low, high = np.quantile(rotated, 0.01, axis=0), np.quantile(rotated, 0.99, axis=0)
    span = np.maximum(high - low, 1e-6)
    stretch = np.sqrt(np.clip(aspect / (span[0] / span[1]), _MAX_STRETCH**-2, _MAX_STRETCH**2))
    return np.asarray(rotated * [stretch, 1 / stretch], dtype=np.float32)


def widen(positions: Positions, aspect: float) -> Positions:
    """Stretch a layout along the side on which the page has room left; no distance decreases.

    Fewer than three positions are returned unchanged.
    """
    if len(positions) < 3:
        return positions
    span = np.maximum(np.ptp(positions, axis=0), 1e-6)
    factor = aspect / float(span[0] / span[1])
    stretch = [min(factor, _MAX_STRETCH), 1.0] if factor > 1 else [1.0, min(1 / factor, _MAX_STRETCH)]
    return np.asarray(positions * np.array(stretch, dtype=np.float32), dtype=np.float32)


def ease_density(positions: Positions, radii: NDArray[np.float32], share: float) -> Positions:
    """Spread nodes more evenly between the center and the rim; angles are unchanged.

    Fewer than eight positions are returned unchanged.

    Args:
        positions: float32 (n, 2).
        radii: float32 (n,); a large node gets more room.
        share: 0 changes nothing, 1 gives every node the same room.
    """
    if len(positions) < 8:
        return positions
    middle = np.median(positions, axis=0)
    offsets = positions - middle
    distance = np.sqrt((offsets * offsets).sum(axis=1)) + 1e-6
    order = np.argsort(distance, kind="stable")
    area = radii[order].astype(np.float64) ** 2 + 0.15
    even_distance = np.empty(len(positions))
    even_distance[order] = np.sqrt((np.cumsum(area) - area / 2) / area.sum())
    rim = float(np.quantile(distance, 0.97))
    target_distance = (1 - share) * np.minimum(distance, 1.15 * rim) + share * rim * even_distance
    return np.asarray(middle + offsets * (target_distance / distance)[:, None], dtype=np.float32)


def sunflower_positions(count: int, step: float) -> Positions:
    """Return `count` points in a disc in a sunflower pattern, at a distance of about `step`."""
    index = np.arange(count) + 0.5
    radius = step * np.sqrt(index / np.pi) * 1.05
    angle = index * np.pi * (3 - np.sqrt(5))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype(np.float32)
