"""Where the nodes of the next graph stand: known ones where they were, new ones beside their neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from app.graph.model import Graph, Positions
from app.graph.renames import effective_renames

_CLEARANCE = 1.3
_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
_SPOTS = 160
_FEW = 64

Distances = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def carry(
    old: Graph, positions: Positions, new: Graph, renamed: Mapping[str, str] | None = None
) -> tuple[Positions, NDArray[np.bool_]]:
    """Positions for `new`: every known node stays where it is, new ones get a free place nearby.

    Args:
        old: The graph that `positions` belong to.
        positions: float32 (n, 2).
        new: The graph to place.
        renamed: New path by old path.

    Returns:
        float32 (n', 2) positions, and a mask of the rows that are new.
    """
    places = np.full((len(new), 2), np.nan, dtype=np.float32)
    if not renamed and new.paths[: len(old)] == old.paths:
        places[: len(old)] = positions
    else:
        before: Mapping[str, int] = old.rows
        if moved := effective_renames((renamed or {}).items(), old.rows):
            before = {moved.get(path, path): row for path, row in old.rows.items()}
        rows = np.array([before.get(path, -1) for path in new.paths], dtype=np.int64)
        places[rows >= 0] = positions[rows[rows >= 0]]
    fresh = np.isnan(places[:, 0])
    return place_missing(new, places), fresh


def place_missing(graph: Graph, positions: Positions) -> Positions:
    """`positions` with every nan row put beside its neighbours, or on the rim when it has none.

    Rows that have a place keep it to the bit.
    """
    places = positions.copy()
    missing = set(np.flatnonzero(np.isnan(places[:, 0])).tolist())
    while missing:
        ready = [row for row in sorted(missing) if not np.isnan(places[graph.neighbours(row), 0]).all()]
        if not ready:
            ready = [min(missing, key=lambda row: (-int(graph.degree[row]), row))]
        known = places[~np.isnan(places[:, 0])]
        nearest = _among_few if len(ready) <= _FEW else _among_many
        distances = nearest(known)
        placed: list[NDArray[np.float32]] = []
        for row in ready:
            near = places[graph.neighbours(row)]
            near = near[~np.isnan(near[:, 0])]
            places[row] = _free_place(distances, near, known, placed, row)
            placed.append(places[row])
        missing.difference_update(ready)
    return places


def _among_many(known: Positions) -> Distances:
    """How far spots are from the nearest of `known`, for many questions."""
    from scipy.spatial import cKDTree  # takes longer to load than a small vault to show

    tree = cKDTree(known) if len(known) else None
    return lambda spots: np.asarray(tree.query(spots)[0]) if tree else np.full(len(spots), np.inf)


def _among_few(known: Positions) -> Distances:
    """As `_among_many`, for few questions: what is farther off than the clearance is as good as nothing."""

    def distances(spots: NDArray[np.float64]) -> NDArray[np.float64]:
        low, high = spots.min(axis=0) - _CLEARANCE, spots.max(axis=0) + _CLEARANCE
        x, y = known[:, 0], known[:, 1]
        local = known[(x >= low[0]) & (x <= high[0]) & (y >= low[1]) & (y <= high[1])]
        if not len(local):
            return np.full(len(spots), np.inf)
        squares = np.full(len(spots), np.inf)
        for start in range(0, len(local), 4096):
            apart = spots[:, None] - local[None, start : start + 4096]
            np.minimum(squares, (apart * apart).sum(axis=2).min(axis=1), out=squares)
        return np.asarray(np.sqrt(squares))

    return distances


def _free_place(
    distances: Distances, near: Positions, known: Positions, placed: list[NDArray[np.float32]], row: int
) -> NDArray[np.float32]:
    """The first place with clearance on a spiral from the neighbours' middle, or from the rim."""
    if not len(known):
        return np.zeros(2, dtype=np.float32)
    if len(near):
        middle, start = near.mean(axis=0), 1.5
    else:
        centre = np.median(known, axis=0)
        reach = float(np.sqrt(((known - centre) ** 2).sum(axis=1)).max()) + 2.0
        angle = row * _GOLDEN_ANGLE
        middle, start = centre + reach * np.array([np.cos(angle), np.sin(angle)]), 0.0
    steps = np.arange(_SPOTS)
    spread, angles = start + 0.5 * np.sqrt(steps), row + steps * _GOLDEN_ANGLE
    spots = middle + np.stack([spread * np.cos(angles), spread * np.sin(angles)], axis=1)
    distance = distances(spots.astype(np.float64))
    if placed:
        apart = np.linalg.norm(spots[:, None] - np.array(placed)[None], axis=2).min(axis=1)
        distance = np.minimum(distance, apart)
    clear = np.flatnonzero(distance >= _CLEARANCE)
    best = int(clear[0]) if len(clear) else int(distance.argmax())
    return np.asarray(spots[best], dtype=np.float32)
