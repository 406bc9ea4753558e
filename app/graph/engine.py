"""What the layout computes with: one interface, in numpy and by the C core."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from app.graph.coarsen import Level
from app.graph.model import Positions

SPREAD = 0.18


class Field(Protocol):
    """The pull of links and the push of bodies, at any places."""

    def __call__(self, at: Positions, attraction: float, repulsion: float) -> Positions:
        """float32 (n, 2), a new array: the force on each body, both parts times their factors."""
        ...


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

    def field(self, weights: scipy.sparse.csr_matrix) -> Field:
        """The bounded forces of all nodes, for live physics."""
        ...

    def separated(self, at: Positions, radii: NDArray[np.float32]) -> Iterator[Positions]:
        """Overlaps pushed apart until none is left or the patience is."""
        ...

    def repel(self, at: Positions, others: Positions) -> Positions:
        """The bounded push of `others` on each body in `at`."""
        ...
