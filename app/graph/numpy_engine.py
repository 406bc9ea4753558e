"""The layout's heavy steps in numpy and scipy, for machines where the C core is missing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from app.graph.coarsen import Level, ladder
from app.graph.engine import SPREAD, Field
from app.graph.forces import Repulsion, RestingSprings, Springs, bounded, charge, dense_repulsion
from app.graph.model import Positions
from app.graph.packing import separate

_REPULSION = 16.0
_MESH_SPACING = 0.45
_SEPARATIONS = 24


class NumpyEngine:
    """See `Engine`."""

    def ladder(self, weights: scipy.sparse.csr_matrix, seed: int) -> list[Level]:
        """Levels from the finest to the coarsest."""
        return ladder(weights, seed)

    def charged_below(self) -> int:
        """Levels with fewer bodies are laid out by charges."""
        return 700

    def charged(self, level: Level, at: Positions, ticks: int, alpha: float) -> Iterator[Positions]:
        """Velocity Verlet, charges by mass, springs as long as bodies are wide."""
        edges, data = level.edges()
        weight: NDArray[np.float32] = data
        if len(data):
            weight = np.minimum(data / np.median(data), 3).astype(np.float32)
        width = np.sqrt(level.mass)
        rest = np.asarray((width[edges[:, 0]] + width[edges[:, 1]]) / 2, dtype=np.float32)
        springs = RestingSprings(edges, len(level), weight, rest)
        repulsion = Repulsion(charge, level.mass, 0.0)
        speed = np.zeros_like(at)
        cooling = 1 - (0.001 / alpha) ** (1 / ticks)
        for tick in range(ticks):
            alpha -= alpha * cooling
            speed += springs.resting(at + speed) * np.float32(alpha)
            speed += repulsion(at) * np.float32(alpha)
            speed -= at * np.float32(0.1 * alpha)
            speed *= np.float32(0.6)
            at = at + speed
            if tick % 4 == 3:
                yield at
        yield at

    def refined(self, level: Level, at: Positions, size: int, *, finest: bool) -> Iterator[Positions]:
        """Bounded forces with a falling rate."""
        edges, data = level.edges()
        unit = np.float32(np.sqrt(level.mass.mean()))
        weight = data if finest else data * np.float32(6 * len(level) / (2 * data.sum()))
        springs = Springs(edges, len(level), np.minimum(weight, 3).astype(np.float32))
        repulsion = Repulsion(bounded, level.mass / np.float32(unit * unit), _MESH_SPACING)
        if not finest:
            at = at * np.float32(SPREAD * np.sqrt(size) / max(float(at.std()), 1e-9)) / unit
        speed = np.zeros_like(at)
        ticks = 80 if finest else 60
        for tick in range(ticks):
            rate = np.float32(0.2 * (1 - 0.9 * tick / ticks))
            speed += rate * (springs.bounded(at) + np.float32(_REPULSION) * repulsion(at))
            at, speed = _moved(at, speed)
            yield at * unit

    def field(self, weights: scipy.sparse.csr_matrix) -> Field:
        """The bounded forces of all nodes, for live physics."""
        level = Level(weights, np.ones(weights.shape[0], dtype=np.float32))
        edges, data = level.edges()
        springs = Springs(edges, len(level), np.minimum(data, 3).astype(np.float32))
        pushed = Repulsion(bounded, level.mass, _MESH_SPACING)

        def force(at: Positions, attraction: float, repulsion: float) -> Positions:
            pull = np.float32(attraction) * springs.bounded(at)
            return np.asarray(pull + np.float32(_REPULSION * repulsion) * pushed(at), dtype=np.float32)

        return force

    def separated(self, at: Positions, radii: NDArray[np.float32]) -> Iterator[Positions]:
        """Overlaps pushed apart until none is left or the patience is."""
        at = at.copy()
        for _ in range(_SEPARATIONS):
            if separate(at, radii) < 0.02:
                break
            yield at.copy()
        yield at

    def repel(self, at: Positions, others: Positions) -> Positions:
        """The bounded push of `others` on each body in `at`."""
        return dense_repulsion(bounded, at, others, np.ones(len(others), dtype=np.float32))


def _moved(at: Positions, speed: Positions) -> tuple[Positions, Positions]:
    """One step with damped speed; no body goes farther than three units."""
    speed *= np.float32(0.5)
    length = np.sqrt((speed * speed).sum(axis=1, keepdims=True))
    speed *= np.minimum(1.0, 3.0 / np.maximum(length, 1e-6)).astype(np.float32)
    return at + speed, speed
