"""The expensive steps of a layout, computed by the C core."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from app.graph import core_bindings
from app.graph.coarsen import CoarseLevel, coarsen_level, damp_hubs
from app.graph.core_bindings import (
    BOUNDED,
    CHARGE,
    BarnesHutTree,
    CsrGraph,
    Repulsion,
    Springs,
    WorkerThreads,
)
from app.graph.model import Positions

MAX_CHARGED_LEVEL_SIZE = 1500
"""Levels with fewer bodies than this are laid out with charges."""
_MIN_LEVEL_SIZE = 150
_COARSENING_FACTOR = 4.0
_MAX_LEVEL_RATIO = 0.85
_REPULSION = 16.0
_LINEAR_ATTRACTION = 0.1
_NEAR_ATTRACTION = 8.0
_MAX_SEPARATION_ROUNDS = 60
_MIN_SEPARATION_ROUNDS = 20
_SEPARATION_BODY_BUDGET = 1_000_000
_BODIES_PER_FRAME = 20_000


@dataclass(frozen=True, slots=True)
class ForceSchedule:
    """The schedule of the bounded forces on a level.

    Links pull with d·(a + b/(1+d²)). A large a draws the ends of long links together, which reduces
    crossings. It decreases over time, so that b, which keeps neighbors together, eventually dominates.

    Args:
        ticks: The number of ticks.
        rate: The rate at the first tick; it falls to a tenth by the last.
        linear: a in the first tick.
        linear_after: a after three fifths of the ticks.
    """

    ticks: int
    rate: float
    linear: float
    linear_after: float

    def values_at(self, tick: int) -> tuple[float, float]:
        """Return the rate and a for a tick."""
        share = tick / self.ticks
        progress = min(1.0, share / 0.6)
        return self.rate * (1 - 0.9 * share), self.linear ** (1 - progress) * self.linear_after**progress


class ForceField(Protocol):
    """The attraction of links and the repulsion of bodies at given positions."""

    def __call__(self, positions: Positions, attraction: float, repulsion: float) -> Positions:
        """Return the force on each body as a new float32 array (n, 2), both parts scaled by their factors."""
        ...


class Engine:
    """The expensive steps of a layout. Deterministic; iterators yield after some ticks.

    Positions are float32 (n, 2) in layout units.

    Args:
        threads: The number of threads for each tick; by default one per processor, at most four.
    """

    def __init__(self, threads: int | None = None) -> None:
        self._workers = WorkerThreads(threads)

    def build_levels(self, weights: scipy.sparse.csr_matrix, seed: int) -> list[CoarseLevel]:
        """Return levels, starting with the finest, each about four times coarser, down to about 150 bodies.

        Coarsening stops earlier if clustering merges hardly any bodies.
        """
        levels = [CoarseLevel(weights, np.ones(weights.shape[0], dtype=np.float32))]
        while len(levels[-1]) > _MIN_LEVEL_SIZE:
            fine = levels[-1]
            distinct_labels, parent = np.unique(self._cluster_labels(fine, seed), return_inverse=True)
            if len(distinct_labels) > _MAX_LEVEL_RATIO * len(fine):
                break
            levels[-1] = CoarseLevel(fine.weights, fine.mass, parent)
            levels.append(coarsen_level(fine, parent, len(distinct_labels)))
        return levels

    def _cluster_labels(self, level: CoarseLevel, seed: int) -> core_bindings.Ints:
        """Merge bodies into clusters of about four times the mean mass.

        The weight of a link is divided by the geometric mean of its ends' total weights, so that hubs do not
        attract all bodies.
        """
        rng = np.random.default_rng(seed)
        links = CsrGraph.from_matrix(level.weights)
        degree = links.degree()
        strength = np.sqrt(np.asarray(level.weights.sum(axis=1)).ravel() + 1e-9)
        ties = links.weight / (np.repeat(strength, degree) * strength[links.neighbors])
        ties = ties * (1 + 1e-3 * rng.random(len(ties)))
        order = np.argsort(degree + rng.random(len(degree)), kind="stable").astype(np.int32)
        scaled = CsrGraph(links.starts, links.neighbors, ties.astype(np.float32))
        return core_bindings.cluster(
            scaled, level.mass, order, float(level.mass.mean()) * _COARSENING_FACTOR * 2
        )

    def charge_layout(
        self, level: CoarseLevel, positions: Positions, ticks: int, alpha: float
    ) -> Iterator[Positions]:
        """Lay out the level with d3-force's model, cooling from `alpha`, and yield positions.

        This determines the overall shape. Uses velocity Verlet integration; charges are proportional to mass,
        and springs are as long as bodies are wide.
        """
        links = CsrGraph.from_matrix(level.weights)
        if len(links.weight):
            weight = np.minimum(links.weight / np.median(links.weight), 3).astype(np.float32)
            links = CsrGraph(links.starts, links.neighbors, weight)
        springs = Springs.of(links, np.sqrt(level.mass))
        softness = 0.01 * float(level.mass.mean())
        positions = np.array(positions, dtype=np.float32, order="C")
        velocity, tree = np.zeros_like(positions), BarnesHutTree()
        cooling = 1 - (0.001 / alpha) ** (1 / ticks)
        for tick in range(ticks):
            alpha -= alpha * cooling
            tree.build(positions, level.mass)
            next_positions = positions + velocity
            core_bindings.spring(links, springs, next_positions, alpha, velocity, self._workers)
            tree.add_repulsion(Repulsion(CHARGE, alpha, softness), velocity, self._workers)
            core_bindings.step(positions, velocity, gravity=0.1 * alpha, damping=0.6, max_displacement=1e6)
            if _is_shown(tick, len(positions)):
                yield positions.copy()
        yield positions

    def refine(
        self, level: CoarseLevel, positions: Positions, schedule: ForceSchedule
    ) -> Iterator[Positions]:
        """Refine the layout with bounded forces at a decreasing rate; they keep neighbors together.

        Args:
            level: The bodies; links pull in proportion to their weights.
            positions: The positions, in units of the width of a body with the mean mass.
            schedule: The schedule of the forces.
        """
        links = CsrGraph.from_matrix(level.weights)
        mass = (level.mass / level.mass.mean()).astype(np.float32)
        positions = np.array(positions, dtype=np.float32, order="C")
        velocity, tree = np.zeros_like(positions), BarnesHutTree()
        for tick in range(schedule.ticks):
            rate, linear = schedule.values_at(tick)
            tree.build(positions, mass)
            core_bindings.attract(links, positions, linear, _NEAR_ATTRACTION, rate, velocity, self._workers)
            tree.add_repulsion(Repulsion(BOUNDED, _REPULSION * rate), velocity, self._workers)
            core_bindings.step(positions, velocity)
            if _is_shown(tick, len(positions)):
                yield positions.copy()
        yield positions

    def force_field(self, weights: scipy.sparse.csr_matrix) -> ForceField:
        """Return a function that computes the bounded forces on all nodes, for the simulation."""
        links, tree = CsrGraph.from_matrix(damp_hubs(weights)), BarnesHutTree()

        def force(positions: Positions, attraction: float, repulsion: float) -> Positions:
            total = np.zeros_like(positions)
            tree.build(positions)
            core_bindings.attract(
                links, positions, _LINEAR_ATTRACTION, _NEAR_ATTRACTION, attraction, total, self._workers
            )
            tree.add_repulsion(Repulsion(BOUNDED, _REPULSION * repulsion), total, self._workers)
            return total

        return force

    def separate_steps(self, positions: Positions, radii: NDArray[np.float32]) -> Iterator[Positions]:
        """Push overlapping nodes apart until hardly any overlap, or up to an iteration limit."""
        positions = np.array(positions, dtype=np.float32, order="C")
        radii = np.ascontiguousarray(radii, dtype=np.float32)
        rounds = _SEPARATION_BODY_BUDGET // max(len(positions), 1)
        for turn in range(min(max(rounds, _MIN_SEPARATION_ROUNDS), _MAX_SEPARATION_ROUNDS)):
            if core_bindings.separate(positions, radii) < 0.02:
                break
            if _is_shown(turn, len(positions)):
                yield positions.copy()
        yield positions

    def separate_once(self, positions: Positions, radii: NDArray[np.float32], gap: float) -> None:
        """Push overlapping nodes apart once, in place; `gap` is the distance between rims."""
        core_bindings.separate(positions, radii, gap)

    def repel(self, positions: Positions, others: Positions) -> Positions:
        """Return the bounded repulsion of `others` on each body at `positions`."""
        tree, force = BarnesHutTree(), np.zeros_like(positions)
        tree.build(np.ascontiguousarray(others))
        tree.add_repulsion_at(Repulsion(BOUNDED), np.ascontiguousarray(positions), force)
        return force


def _is_shown(tick: int, bodies: int) -> bool:
    """Return whether to yield positions after this tick: less often if ticks are short."""
    return tick % max(1, min(20, _BODIES_PER_FRAME // max(bodies, 1))) == 0
