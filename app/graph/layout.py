"""The layout behind one small interface: from scratch, from saved places, and live while a node is held."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from app.graph.builder import place_missing
from app.graph.drag import LocalPhysics
from app.graph.model import Graph, Positions
from app.graph.multilevel import arrange


class Layout(Protocol):
    """Computes positions in steps. Not thread-safe: one thread calls it, and takes copies out.

    One layout unit is about half the distance between neighbouring notes; y points down.
    """

    @property
    def positions(self) -> Positions:
        """float32 (n, 2), as of the last tick."""
        ...

    @property
    def settled(self) -> bool:
        """Whether the next tick would change nothing."""
        ...

    def start(
        self, graph: Graph, positions: Positions | None = None, seed: int = 0, aspect: float = 1.0
    ) -> None:
        """Begin with `graph`: from scratch, or from `positions`, where nan rows find a free place.

        With positions there is nothing to arrange: it is settled at once. `aspect` is the width by the
        height of the page that a layout from scratch is to fill.
        """
        ...

    def tick(self) -> Positions:
        """Go on a little (some milliseconds); the new positions."""
        ...

    def pin(self, row: int, x: float, y: float) -> None:
        """Hold a node at a place; its surroundings follow at each tick."""
        ...

    def release(self, row: int) -> None:
        """Let a held node go; its surroundings come to rest."""
        ...


class NumpyLayout:
    """The layout in numpy and scipy: multilevel from scratch, local physics around a held node."""

    def __init__(self) -> None:
        self._graph: Graph | None = None
        self._positions: Positions = np.empty((0, 2), dtype=np.float32)
        self._plan: Iterator[Positions] | None = None
        self._hand: LocalPhysics | None = None

    @property
    def positions(self) -> Positions:
        """float32 (n, 2), as of the last tick."""
        return self._positions

    @property
    def settled(self) -> bool:
        """Whether the next tick would change nothing."""
        return self._plan is None and self._hand is None

    def start(
        self, graph: Graph, positions: Positions | None = None, seed: int = 0, aspect: float = 1.0
    ) -> None:
        """Begin with `graph`: from scratch, or from `positions`, where nan rows find a free place."""
        self._graph = graph
        self._hand = None
        if positions is None:
            self._positions = np.zeros((len(graph), 2), dtype=np.float32)
            self._plan = arrange(graph, seed, aspect)
        else:
            self._plan = None
            self._positions = place_missing(graph, np.ascontiguousarray(positions, dtype=np.float32))

    def tick(self) -> Positions:
        """Go on a little; the new positions."""
        if self._plan is not None:
            following = next(self._plan, None)
            if following is None:
                self._plan = None
            else:
                self._positions = following
        elif self._hand is not None:
            self._hand.tick()
            if self._hand.settled:
                self._hand = None
        return self._positions

    def pin(self, row: int, x: float, y: float) -> None:
        """Hold a node at a place; an arrangement that is under way is finished first, in one go."""
        if self._graph is None or not 0 <= row < len(self._graph):
            return
        if self._plan is not None:
            for following in self._plan:
                self._positions = following
            self._plan = None
        if self._hand is None or self._hand.held != row:
            self._positions = self._positions.copy()
            self._hand = LocalPhysics(self._graph, self._positions, row)
        self._hand.hold(x, y)

    def release(self, row: int) -> None:
        """Let a held node go; its surroundings come to rest."""
        if self._hand is not None and self._hand.held == row:
            self._hand.release()


def new_layout() -> Layout:
    """The best layout there is on this machine."""
    return NumpyLayout()


def laid_out(graph: Graph, seed: int = 0, aspect: float = 1.0) -> Positions:
    """The finished layout of `graph` from scratch; blocks until it is done."""
    layout = new_layout()
    layout.start(graph, seed=seed, aspect=aspect)
    while not layout.settled:
        layout.tick()
    return layout.positions
