"""The interface of the layout engine, implemented in numpy and by the C core."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from app.graph.coarsen import CoarseLevel
from app.graph.model import Positions


@dataclass(frozen=True, slots=True)
class ForceSchedule:
    """The schedule of the bounded forces on a level.

    Links pull with d·(a + b/(1+d²)). A large a draws the ends of long links together, which reduces
    crossings. It decreases over time, so that finally b dominates, which keeps neighbors together.

    Args:
        ticks: The number of ticks.
        rate: The rate of the first tick; the last has a tenth of it.
        linear: a in the first tick.
        linear_after: a after three fifths of the ticks.
    """

    ticks: int
    rate: float
    linear: float
    linear_after: float

    def at(self, tick: int) -> tuple[float, float]:
        """Return the rate and a of a tick."""
        share = tick / self.ticks
        turned = min(1.0, share / 0.6)
        return self.rate * (1 - 0.9 * share), self.linear ** (1 - turned) * self.linear_after**turned


class ForceField(Protocol):
    """The attraction of links and the repulsion of bodies at given positions."""

    def __call__(self, at: Positions, attraction: float, repulsion: float) -> Positions:
        """Return a new array float32 (n, 2): the force on each body, both parts times their factors."""
        ...


class Engine(Protocol):
    """The expensive steps of a layout. Deterministic; iterators yield after some ticks.

    Positions are float32 (n, 2) in layout units.
    """

    def build_levels(self, weights: scipy.sparse.csr_matrix, seed: int) -> list[CoarseLevel]:
        """Return levels from the finest to the coarsest."""
        ...

    def charge_layout(
        self, level: CoarseLevel, at: Positions, ticks: int, alpha: float
    ) -> Iterator[Positions]:
        """Lay out by d3-force's model, cooling from `alpha`, which determines the overall shape."""
        ...

    def charge_threshold(self) -> int:
        """Return the number of bodies below which a level is laid out by charges."""
        ...

    def refine(self, level: CoarseLevel, at: Positions, pace: ForceSchedule) -> Iterator[Positions]:
        """Refine by bounded forces with a decreasing rate, which keep neighbors together.

        Args:
            level: The bodies; links pull by their weights.
            at: The positions in widths of a body of mean mass.
            pace: The schedule of the forces.
        """
        ...

    def force_field(self, weights: scipy.sparse.csr_matrix) -> ForceField:
        """Return the bounded forces of all nodes, for the simulation."""
        ...

    def separate_steps(self, at: Positions, radii: NDArray[np.float32]) -> Iterator[Positions]:
        """Push overlapping nodes apart until none overlap or the iteration limit is reached."""
        ...

    def separate_once(self, at: Positions, radii: NDArray[np.float32], gap: float) -> None:
        """Push overlapping nodes apart once, in place; `gap` is the distance between rims."""
        ...

    def repel(self, at: Positions, others: Positions) -> Positions:
        """Return the bounded repulsion of `others` on each body in `at`."""
        ...
