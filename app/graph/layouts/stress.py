"""Lay out a small graph at distances that follow its links, and make room for its labels.

Uses stress majorization (Gansner, Koren, North: "Graph drawing by stress majorization", 2004) with links that
are longer between communities than inside them. The matrices are dense, so this suits graphs
of a few hundred nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph
from numpy.typing import NDArray

from app.graph.coarsen import communities
from app.graph.model import Positions

MAX_STRESS_NODES = 420
_STRESS_ROUNDS = 60
_BETWEEN_GROUPS_FACTOR = 1.45
_AREA_PER_NODE = 7.5
_MAX_LINK_LENGTH = 4.5
_PAIR_LINK_LENGTH = 2.6
_SHAPE_ROUNDS = 60
_LABEL_HEIGHT = 0.75


def stress_layout(
    weights: scipy.sparse.csr_matrix, radii: NDArray[np.float32], seed: int
) -> Iterator[NDArray[np.float64]]:
    """Yield float64 (n, 2) positions after each step; the graph must be connected."""
    size = len(radii)
    distances = _distances(weights, radii, seed)
    positions = _classical_scaling(distances, seed)
    links = weights.tocoo()
    max_link_length = _MAX_LINK_LENGTH if size > 3 else _PAIR_LINK_LENGTH
    pull = np.zeros_like(distances)
    is_pair = ~np.eye(size, dtype=bool)
    pull[is_pair] = distances[is_pair] ** -2.0
    inverse = np.linalg.inv(np.diag(pull.sum(axis=1)) - pull + 1.0 / size)
    strain = pull * distances
    for _ in range(_STRESS_ROUNDS):
        offsets = positions[:, None] - positions[None]
        length = np.sqrt((offsets * offsets).sum(axis=2)) + 1e-9
        ratio = strain / length
        positions = inverse @ (positions * ratio.sum(axis=1)[:, None] - ratio @ positions)
        offsets = positions[links.row] - positions[links.col]
        mean_link_length = float(np.sqrt((offsets * offsets).sum(axis=1)).mean())
        yield positions * min(
            np.sqrt(_AREA_PER_NODE * size) / _extent(positions), max_link_length / mean_link_length
        )


def _distances(
    weights: scipy.sparse.csr_matrix, radii: NDArray[np.float32], seed: int
) -> NDArray[np.float64]:
    """Return each pair's target distance along links, which are longer for large nodes and between groups."""
    links = weights.tocoo()
    pairs = np.stack([links.row, links.col], axis=1).astype(np.int32)
    group = communities(pairs[pairs[:, 0] < pairs[:, 1]], len(radii), seed)
    length = 1.0 + 0.35 * (radii[links.row] + radii[links.col])
    length *= np.where(group[links.row] == group[links.col], 1.0, _BETWEEN_GROUPS_FACTOR)
    distance_graph = scipy.sparse.csr_matrix((length, (links.row, links.col)), shape=weights.shape)
    return np.asarray(scipy.sparse.csgraph.shortest_path(distance_graph, directed=False), dtype=np.float64)


def _classical_scaling(distances: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return a 2-D classical scaling of the distances, with noise that separates coincident nodes."""
    squared = distances**2
    centered = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    values, vectors = np.linalg.eigh(-0.5 * centered)
    positions = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-9))
    positions *= np.sign(positions[np.abs(positions).argmax(axis=0), [0, 1]] + 1e-12)
    scatter = np.random.default_rng(seed).standard_normal(positions.shape)
    return np.asarray(positions + 0.15 * scatter, dtype=np.float64)


def _extent(positions: NDArray[np.float64]) -> float:
    """Return the side of a square with the area of the nodes' bounding box; 1 for a single node."""
    return float(np.sqrt(np.prod(np.maximum(np.ptp(positions, axis=0), 1e-6)))) if len(positions) > 1 else 1.0


def separate_labels(
    positions: Positions, radii: NDArray[np.float32], widths: NDArray[np.float32]
) -> Positions:
    """Push nodes apart until the boxes of their discs and labels are disjoint, or the rounds run out.

    Args:
        positions: float32 (n, 2).
        radii: float32 (n,).
        widths: float32 (n,), the widths of the labels in layout units.
    """
    positions = positions.astype(np.float64)
    half_widths = np.maximum(widths / 2, radii + 0.2)
    half_heights = radii + 0.15 + _LABEL_HEIGHT / 2
    reach_x = half_widths[:, None] + half_widths[None]
    reach_y = half_heights[:, None] + half_heights[None]
    is_pair = ~np.eye(len(positions), dtype=bool)
    for turn in range(_SHAPE_ROUNDS):
        x = positions[:, None, 0] - positions[None, :, 0]
        y = positions[:, None, 1] - positions[None, :, 1]
        over_x, over_y = reach_x - np.abs(x), reach_y - np.abs(y)
        overlaps = (over_x > 0) & (over_y > 0) & is_pair
        if not overlaps.any():
            break
        is_vertical = over_y < over_x
        side_x, side_y = np.where(x >= 0, 1.0, -1.0), np.where(y >= 0, 1.0, -1.0)
        side_y = np.where(
            y == 0, np.sign(np.arange(len(positions))[:, None] - np.arange(len(positions))), side_y
        )
        push_x = np.where(overlaps & ~is_vertical, over_x * side_x, 0.0).sum(axis=1)
        push_y = np.where(overlaps & is_vertical, over_y * side_y, 0.0).sum(axis=1)
        crowd = np.maximum(overlaps.sum(axis=1), 1)
        rate = 0.7 * (1 - 0.5 * turn / _SHAPE_ROUNDS)
        positions[:, 0] += rate * push_x / crowd
        positions[:, 1] += rate * push_y / crowd
    return positions.astype(np.float32)


def label_widths(names: tuple[str, ...], radii: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Return each label's estimated width in layout units when `count` nodes fill a window.

    Long names are assumed to be shortened. In a larger graph, small nodes get no width, because they are not
    labeled.
    """
    per_letter = 0.23 * max(1.0, count / 90) ** 0.5
    width = np.array([min(_display_width(name), 24) for name in names], dtype=np.float32) * np.float32(
        per_letter
    )
    if count > 140:
        width[radii < 0.45] = 0.0
    return np.asarray(width, dtype=np.float32)


def _display_width(name: str) -> int:
    """Return the approximate width of a name in Latin letters; characters above U+2E7F count as two."""
    return sum(2 if ord(letter) > 0x2E7F else 1 for letter in name)
