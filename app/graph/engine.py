"""What the layout computes with: one interface, in numpy and by the C core."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from app.graph.coarsen import Level
from app.graph.model import Positions

SPREAD = 0.18


@dataclass(frozen=True, slots=True)
class Forces:
    """What the sliders of the graph set; 1 is as the layout from scratch has it.

    Args:
        spacing: Distance between notes, as a factor.
        attraction: How hard links pull, as a factor.
        repulsion: How hard notes push, as a factor.
        gravity: Pull to the middle per unit of distance; 0 for none.
    """

    spacing: float = 1.0
    attraction: float = 1.0
    repulsion: float = 1.0
    gravity: float = 0.0


class Engine(Protocol):
    """The heavy steps of a layout. The same input gives the same output; iterators yield after some ticks.

    Positions are float32 (n, 2) in layout units.
    """

    def ladder(self, weights: scipy.sparse.csr_matrix, seed: int) -> list[Level]:
        """Levels from the finest to the coarsest."""
        ...

    def charged(self, level: Level, at: Positions, ticks: int, alpha: float) -> Iterator[Positions]:
        """d3-force's model with cooling from `alpha`: it gives the large shape."""
        ...

    def charged_below(self) -> int:
        """Levels with fewer bodies are laid out by charges."""
        ...

    def refined(self, level: Level, at: Positions, size: int, *, finest: bool) -> Iterator[Positions]:
        """Bounded forces with a falling rate: they keep neighbours together.

        Args:
            level: Whose bodies move.
            at: Where they are; on coarse levels the scale does not matter.
            size: Nodes of the whole graph.
            finest: Whether the bodies are the nodes themselves.
        """
        ...

    def relaxed(
        self, weights: scipy.sparse.csr_matrix, at: Positions, forces: Forces
    ) -> Iterator[Positions]:
        """All nodes find their balance under `forces`, slower and slower; yields after every tick."""
        ...

    def separated(self, at: Positions, radii: NDArray[np.float32]) -> Iterator[Positions]:
        """Overlaps pushed apart until none is left or the patience is."""
        ...

    def repel(self, at: Positions, others: Positions) -> Positions:
        """The bounded push of `others` on each body in `at`."""
        ...
