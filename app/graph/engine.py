"""What the layout computes with: one interface, in numpy and by the C core."""

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
    """How bounded forces act on a level.

    Links pull with d·(a + b/(1+d²)). A large a draws the ends of long links together: fewer cross. It is
    lowered on the way, so that in the end b decides, which keeps neighbours side by side.

    Args:
        ticks: How many.
        rate: Of the first tick; a tenth of it in the last.
        linear: a in the first tick.
        linear_after: a from when three in five ticks are over.
    """

    ticks: int
    rate: float
    linear: float
    linear_after: float

    def at(self, tick: int) -> tuple[float, float]:
        """Rate and a of a tick."""
        share = tick / self.ticks
        turned = min(1.0, share / 0.6)
        return self.rate * (1 - 0.9 * share), self.linear ** (1 - turned) * self.linear_after**turned


class ForceField(Protocol):
    """The pull of links and the push of bodies, at any places."""

    def __call__(self, at: Positions, attraction: float, repulsion: float) -> Positions:
        """float32 (n, 2), a new array: the force on each body, both parts times their factors."""
        ...


class Engine(Protocol):
    """The heavy steps of a layout. The same input gives the same output; iterators yield after some ticks.

    Positions are float32 (n, 2) in layout units.
    """

    def build_levels(self, weights: scipy.sparse.csr_matrix, seed: int) -> list[CoarseLevel]:
        """Levels from the finest to the coarsest."""
        ...

    def charge_layout(
        self, level: CoarseLevel, at: Positions, ticks: int, alpha: float
    ) -> Iterator[Positions]:
        """d3-force's model with cooling from `alpha`: it gives the large shape."""
        ...

    def charge_threshold(self) -> int:
        """Levels with fewer bodies are laid out by charges."""
        ...

    def refine(self, level: CoarseLevel, at: Positions, pace: ForceSchedule) -> Iterator[Positions]:
        """Bounded forces with a falling rate: they keep neighbours together.

        Args:
            level: Whose bodies move; links pull by their weights.
            at: Where they are, in widths of a body of mean mass.
            pace: How long, and how hard.
        """
        ...

    def force_field(self, weights: scipy.sparse.csr_matrix) -> ForceField:
        """The bounded forces of all nodes, for live physics."""
        ...

    def separate_steps(self, at: Positions, radii: NDArray[np.float32]) -> Iterator[Positions]:
        """Overlaps pushed apart until none is left or the patience is."""
        ...

    def separate_once(self, at: Positions, radii: NDArray[np.float32], gap: float) -> None:
        """Push overlapping nodes apart once, in place; `gap` is kept between rims."""
        ...

    def repel(self, at: Positions, others: Positions) -> Positions:
        """The bounded push of `others` on each body in `at`."""
        ...
