"""Positions for the next graph: known nodes keep theirs, new ones are placed near their neighbors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from app.graph.model import Graph, Positions
from app.graph.renames import effective_renames

_CLEARANCE = 1.3
_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
_SPIRAL_SPOTS = 160
_MAX_DIRECT_QUERIES = 64
# The radius of a spiral; if it is full, another one begins at that radius, up to `_MAX_TURNS` in all.
_TURN_RADIUS = 0.5 * math.sqrt(_SPIRAL_SPOTS)
_MAX_TURNS = 12

Distances = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def transfer_positions(
    old_graph: Graph, positions: Positions, new_graph: Graph, renamed: Mapping[str, str] | None = None
) -> tuple[Positions, NDArray[np.bool_]]:
    """Return positions for `new_graph`: known nodes keep theirs, new ones get a free place nearby.

    Args:
        old_graph: The graph of `positions`.
        positions: float32 (n, 2).
        new_graph: The graph to place.
        renamed: New path by old path.

    Returns:
        float32 (n', 2) positions, and a mask of the new rows.
    """
    placed = np.full((len(new_graph), 2), np.nan, dtype=np.float32)
    if not renamed and new_graph.paths[: len(old_graph)] == old_graph.paths:
        placed[: len(old_graph)] = positions
    else:
        previous_rows: Mapping[str, int] = old_graph.rows
        if renames := effective_renames((renamed or {}).items(), old_graph.rows):
            previous_rows = {renames.get(path, path): row for path, row in old_graph.rows.items()}
        rows = np.array([previous_rows.get(path, -1) for path in new_graph.paths], dtype=np.int64)
        placed[rows >= 0] = positions[rows[rows >= 0]]
    is_new = np.isnan(placed[:, 0])
    return place_missing(new_graph, placed), is_new


def place_missing(graph: Graph, positions: Positions) -> Positions:
    """Return `positions` with every nan row placed near its neighbors, or on the rim if it has none.

    All other rows stay bit-identical. A component without any position starts on the rim with its most
    connected row.
    """
    placed = positions.copy()
    missing = np.flatnonzero(np.isnan(placed[:, 0])).tolist()
    if missing:
        _NodePlacer(graph, placed, missing).place()
    return placed


class _NodePlacer:
    """Places rows in rounds: first those next to placed ones, then their neighbors; each row once.

    Args:
        graph: The graph of the rows.
        positions: float32 (n, 2), completed in place.
        missing: The rows without a position.
    """

    def __init__(self, graph: Graph, positions: Positions, missing: list[int]) -> None:
        self._graph = graph
        self._positions = positions
        self._missing = set(missing)
        known = positions[~np.isnan(positions[:, 0])]
        self._distances = (
            _distances_by_lookup if len(missing) <= _MAX_DIRECT_QUERIES else _distances_by_tree
        )(known)
        self._occupied = _OccupiedPositions()
        self._has_any = len(known) > 0
        self._known = known
        self._center: NDArray[np.float64] | None = None
        self._rim = 0.0

    def place(self) -> None:
        """Place all missing rows."""
        ready = [row for row in sorted(self._missing) if len(self._placed_neighbors(row))]
        # A component without a placed node begins with its most connected row.
        seeds = iter(sorted(self._missing, key=lambda row: (-int(self._graph.degree[row]), row)))
        while self._missing:
            ready = ready or [next(row for row in seeds if row in self._missing)]
            for row in ready:
                self._positions[row] = self._find_spot(row)
                self._occupied.add(self._positions[row])
                self._has_any = True
            self._missing.difference_update(ready)
            next_rows = {neighbor for row in ready for neighbor in self._graph.neighbors(row).tolist()}
            ready = sorted(next_rows & self._missing)

    def _placed_neighbors(self, row: int) -> Positions:
        neighbors = self._positions[self._graph.neighbors(row)]
        return neighbors[~np.isnan(neighbors[:, 0])]

    def _find_spot(self, row: int) -> NDArray[np.float32]:
        if not self._has_any:
            return np.zeros(2, dtype=np.float32)
        neighbors = self._placed_neighbors(row)
        if len(neighbors):
            return self._clear_spot_near(neighbors.mean(axis=0), row)
        if self._center is None:
            self._center = np.median(self._known, axis=0) if len(self._known) else np.zeros(2)
            distances = np.sqrt(((self._known - self._center) ** 2).sum(axis=1))
            self._rim = float(distances.max(initial=0.0)) + 2.0
        angle = row * _GOLDEN_ANGLE
        while True:
            rim = self._center + self._rim * np.array([np.cos(angle), np.sin(angle)])
            point, is_clear = self._first_clear(_spiral_points(rim, 0.0, row))
            if is_clear:
                return point
            self._rim += _CLEARANCE  # this ring is full; try the next

    def _clear_spot_near(self, middle: NDArray[np.float64], row: int) -> NDArray[np.float32]:
        """Return a spot near `middle`, farther away only if other new nodes fill the area around it."""
        point, is_clear = self._first_clear(_spiral_points(middle, 1.5, row))
        for turn in range(1, _MAX_TURNS):
            if is_clear or self._occupied.is_clear(point):
                break
            point, is_clear = self._first_clear(_spiral_points(middle, 1.5 + turn * _TURN_RADIUS, row))
        return point

    def _first_clear(self, points: NDArray[np.float64]) -> tuple[NDArray[np.float32], bool]:
        """Return the first clear spot, or else the one with the most room, and whether it is clear."""
        distance = self._distances(points)
        for point in points[distance >= _CLEARANCE].astype(np.float32):
            if self._occupied.is_clear(point):
                return point, True
        return points[int(distance.argmax())].astype(np.float32), False


class _OccupiedPositions:
    """Positions of the new nodes placed so far, in grid cells as wide as the clearance."""

    def __init__(self) -> None:
        self._squares: dict[tuple[int, int], list[tuple[float, float]]] = {}

    def add(self, position: NDArray[np.float32]) -> None:
        """Occupy a position."""
        x, y = position.tolist()
        square = (int(x // _CLEARANCE), int(y // _CLEARANCE))
        self._squares.setdefault(square, []).append((x, y))

    def is_clear(self, position: NDArray[np.float32]) -> bool:
        """Return whether all occupied positions are outside the clearance."""
        x, y = position.tolist()
        column, row = int(x // _CLEARANCE), int(y // _CLEARANCE)
        cells = ((column + right, row + down) for right in (-1, 0, 1) for down in (-1, 0, 1))
        return all(
            math.hypot(x - other[0], y - other[1]) >= _CLEARANCE
            for square in cells
            for other in self._squares.get(square, ())
        )


def _spiral_points(middle: NDArray[np.float64], start: float, row: int) -> NDArray[np.float64]:
    """Return spots around `middle`, nearest first, float64 (k, 2); rotated by the row for variety."""
    steps = np.arange(_SPIRAL_SPOTS)
    spread, angles = start + 0.5 * np.sqrt(steps), row + steps * _GOLDEN_ANGLE
    points = middle + np.stack([spread * np.cos(angles), spread * np.sin(angles)], axis=1)
    return np.asarray(points, dtype=np.float64)


def _distances_by_tree(known: Positions) -> Distances:
    """Return a function that computes the distance of each of many spots to the nearest of `known`."""
    from scipy.spatial import cKDTree  # loading it takes longer than displaying a small vault

    tree = cKDTree(known) if len(known) else None
    return lambda points: np.asarray(tree.query(points)[0]) if tree else np.full(len(points), np.inf)


def _distances_by_lookup(known: Positions) -> Distances:
    """Return a function like that of `_distances_by_tree`, but for a small number of spots.

    It may overestimate distances beyond the clearance.
    """

    def distances(points: NDArray[np.float64]) -> NDArray[np.float64]:
        low, high = points.min(axis=0) - _CLEARANCE, points.max(axis=0) + _CLEARANCE
        x, y = known[:, 0], known[:, 1]
        local = known[(x >= low[0]) & (x <= high[0]) & (y >= low[1]) & (y <= high[1])]
        if not len(local):
            return np.full(len(points), np.inf)
        squared_distances = np.full(len(points), np.inf)
        for start in range(0, len(local), 4096):
            offsets = points[:, None] - local[None, start : start + 4096]
            np.minimum(squared_distances, (offsets * offsets).sum(axis=2).min(axis=1), out=squared_distances)
        return np.asarray(np.sqrt(squared_distances))

    return distances
