"""The layout engine in numpy and scipy, for machines without the C core."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from app.graph.coarsen import CoarseLevel, build_levels, damp_hubs
from app.graph.component_packing import separate
from app.graph.engine import ForceField, ForceSchedule
from app.graph.forces import Repulsion, RestingSprings, Springs, bounded, charge, dense_repulsion
from app.graph.model import Positions

_REPULSION = 16.0
_MESH_SPACING = 0.45
_SEPARATION_ROUNDS = 24


class NumpyEngine:
    """The engine in numpy; see `Engine`."""

    def build_levels(self, weights: scipy.sparse.csr_matrix, seed: int) -> list[CoarseLevel]:
        """Return levels from the finest to the coarsest."""
        return build_levels(weights, seed)

    def charge_threshold(self) -> int:
        """Return the number of bodies below which a level is laid out by charges."""
        return 700

    def charge_layout(
        self, level: CoarseLevel, at: Positions, ticks: int, alpha: float
    ) -> Iterator[Positions]:
        """Integrate by velocity Verlet: charges by mass, springs as long as bodies are wide."""
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

    def refine(self, level: CoarseLevel, at: Positions, pace: ForceSchedule) -> Iterator[Positions]:
        """Refine by bounded forces with a decreasing rate."""
        springs = _springs(level)
        mass = np.asarray(level.mass / level.mass.mean(), dtype=np.float32)
        repulsion = Repulsion(bounded, mass, _MESH_SPACING)
        speed = np.zeros_like(at)
        for tick in range(pace.ticks):
            rate, linear = pace.at(tick)
            force = springs.bounded(at, linear) + np.float32(_REPULSION) * repulsion(at)
            speed += np.float32(rate) * force
            at, speed = _damped_step(at, speed)
            yield at

    def force_field(self, weights: scipy.sparse.csr_matrix) -> ForceField:
        """Return the bounded forces of all nodes, for the simulation."""
        level = CoarseLevel(damp_hubs(weights), np.ones(weights.shape[0], dtype=np.float32))
        springs = _springs(level)
        pushed = Repulsion(bounded, level.mass, _MESH_SPACING)

        def force(at: Positions, attraction: float, repulsion: float) -> Positions:
            pull = np.float32(attraction) * springs.bounded(at)
            return np.asarray(pull + np.float32(_REPULSION * repulsion) * pushed(at), dtype=np.float32)

        return force

    def separate_steps(self, at: Positions, radii: NDArray[np.float32]) -> Iterator[Positions]:
        """Push overlapping nodes apart until none overlap or the iteration limit is reached."""
        at = at.copy()
        for _ in range(_SEPARATION_ROUNDS):
            if separate(at, radii) < 0.02:
                break
            yield at.copy()
        yield at

    def separate_once(self, at: Positions, radii: NDArray[np.float32], gap: float) -> None:
        """Push overlapping nodes apart once, in place."""
        separate(at, radii, gap)

    def repel(self, at: Positions, others: Positions) -> Positions:
        """Return the bounded repulsion of `others` on each body in `at`."""
        return dense_repulsion(bounded, at, others, np.ones(len(others), dtype=np.float32))


def _springs(level: CoarseLevel) -> Springs:
    edges, weight = level.edges()
    return Springs(edges, len(level), weight)


def _damped_step(at: Positions, speed: Positions) -> tuple[Positions, Positions]:
    """Compute one step with damped speed; no body moves more than three units."""
    speed *= np.float32(0.5)
    length = np.sqrt((speed * speed).sum(axis=1, keepdims=True))
    speed *= np.minimum(1.0, 3.0 / np.maximum(length, 1e-6)).astype(np.float32)
    return at + speed, speed
