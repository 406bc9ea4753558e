"""The layout's heavy steps by the C core."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from app.graph import native
from app.graph.coarsen import Level, eased_at_hubs, merged
from app.graph.engine import Field, Pace
from app.graph.model import Positions
from app.graph.native import BOUNDED, CHARGE, Links, Push, Rest, Tree, Workers

_SMALLEST = 150
_FACTOR = 4.0
_SHRINKS = 0.85
_REPULSION = 16.0
_LINEAR = 0.1
_NEAR = 8.0
_MOST_SEPARATIONS = 60
_LEAST_SEPARATIONS = 20
_SEPARATED_BODIES = 1_000_000
_BODIES_PER_PICTURE = 20_000


class NativeEngine:
    """See `Engine`.

    Args:
        threads: How many threads share a tick; by default the machine's, at most four.
    """

    def __init__(self, threads: int | None = None) -> None:
        self._workers = Workers(threads)

    def ladder(self, weights: scipy.sparse.csr_matrix, seed: int) -> list[Level]:
        """Levels from the finest to one of about 150 bodies, each about four times coarser."""
        levels = [Level(weights, np.ones(weights.shape[0], dtype=np.float32))]
        while len(levels[-1]) > _SMALLEST:
            fine = levels[-1]
            used, parent = np.unique(self._labels(fine, seed), return_inverse=True)
            if len(used) > _SHRINKS * len(fine):
                break
            levels[-1] = Level(fine.weights, fine.mass, parent)
            levels.append(merged(fine, parent, len(used)))
        return levels

    def _labels(self, level: Level, seed: int) -> native.Ints:
        """Groups of bodies with about four times the mean mass; ties count less at heavy ends."""
        rng = np.random.default_rng(seed)
        links = Links.of(level.weights)
        degree = links.degree()
        strength = np.sqrt(np.asarray(level.weights.sum(axis=1)).ravel() + 1e-9)
        ties = links.weight / (np.repeat(strength, degree) * strength[links.neighbours])
        ties = ties * (1 + 1e-3 * rng.random(len(ties)))
        order = np.argsort(degree + rng.random(len(degree)), kind="stable").astype(np.int32)
        scaled = Links(links.starts, links.neighbours, ties.astype(np.float32))
        return native.cluster(scaled, level.mass, order, float(level.mass.mean()) * _FACTOR * 2)

    def charged_below(self) -> int:
        """Levels with fewer bodies are laid out by charges."""
        return 1500

    def charged(self, level: Level, at: Positions, ticks: int, alpha: float) -> Iterator[Positions]:
        """Velocity Verlet, charges by mass, springs as long as bodies are wide."""
        links = Links.of(level.weights)
        if len(links.weight):
            weight = np.minimum(links.weight / np.median(links.weight), 3).astype(np.float32)
            links = Links(links.starts, links.neighbours, weight)
        rest = Rest.of(links, np.sqrt(level.mass))
        softness = 0.01 * float(level.mass.mean())
        at = np.array(at, dtype=np.float32, order="C")
        velocity, tree = np.zeros_like(at), Tree()
        cooling = 1 - (0.001 / alpha) ** (1 / ticks)
        for tick in range(ticks):
            alpha -= alpha * cooling
            tree.build(at, level.mass)
            ahead = at + velocity
            native.spring(links, rest, ahead, alpha, velocity, self._workers)
            tree.push(Push(CHARGE, alpha, softness), velocity, self._workers)
            native.step(at, velocity, gravity=0.1 * alpha, damping=0.6, longest=1e6)
            if _is_shown(tick, len(at)):
                yield at.copy()
        yield at

    def refined(self, level: Level, at: Positions, pace: Pace) -> Iterator[Positions]:
        """Bounded forces with a falling rate."""
        links = Links.of(level.weights)
        mass = (level.mass / level.mass.mean()).astype(np.float32)
        at = np.array(at, dtype=np.float32, order="C")
        velocity, tree = np.zeros_like(at), Tree()
        for tick in range(pace.ticks):
            rate, linear = pace.at(tick)
            tree.build(at, mass)
            native.attract(links, at, linear, _NEAR, rate, velocity, self._workers)
            tree.push(Push(BOUNDED, _REPULSION * rate), velocity, self._workers)
            native.step(at, velocity)
            if _is_shown(tick, len(at)):
                yield at.copy()
        yield at

    def field(self, weights: scipy.sparse.csr_matrix) -> Field:
        """The bounded forces of all nodes, for live physics."""
        links, tree = Links.of(eased_at_hubs(weights)), Tree()

        def force(at: Positions, attraction: float, repulsion: float) -> Positions:
            total = np.zeros_like(at)
            tree.build(at)
            native.attract(links, at, _LINEAR, _NEAR, attraction, total, self._workers)
            tree.push(Push(BOUNDED, _REPULSION * repulsion), total, self._workers)
            return total

        return force

    def separated(self, at: Positions, radii: NDArray[np.float32]) -> Iterator[Positions]:
        """Overlaps pushed apart until none is left or the patience is."""
        at = np.array(at, dtype=np.float32, order="C")
        radii = np.ascontiguousarray(radii, dtype=np.float32)
        rounds = _SEPARATED_BODIES // max(len(at), 1)
        for turn in range(min(max(rounds, _LEAST_SEPARATIONS), _MOST_SEPARATIONS)):
            if native.separate(at, radii) < 0.02:
                break
            if _is_shown(turn, len(at)):
                yield at.copy()
        yield at

    def part(self, at: Positions, radii: NDArray[np.float32], gap: float) -> None:
        """Push overlapping nodes apart once, in place."""
        native.separate(at, radii, gap)

    def repel(self, at: Positions, others: Positions) -> Positions:
        """The bounded push of `others` on each body in `at`."""
        tree, force = Tree(), np.zeros_like(at)
        tree.build(np.ascontiguousarray(others))
        tree.push_places(Push(BOUNDED), np.ascontiguousarray(at), force)
        return force


def _is_shown(tick: int, bodies: int) -> bool:
    """Whether positions are worth a picture after this tick: more rarely where ticks are short."""
    return tick % max(1, min(20, _BODIES_PER_PICTURE // max(bodies, 1))) == 0
