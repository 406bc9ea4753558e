"""The layout behind one small interface: from scratch, from saved places, and live while a node is held."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from app.graph import native
from app.graph.builder import place_missing
from app.graph.coarsen import adjacency
from app.graph.drag import LocalPhysics
from app.graph.engine import Engine, Forces
from app.graph.model import Graph, Positions, node_radii
from app.graph.multilevel import arrange
from app.graph.native_engine import NativeEngine
from app.graph.numpy_engine import NumpyEngine


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

    def stir(self, forces: Forces) -> None:
        """Let all nodes find their balance under other forces; positions change at each tick until then."""
        ...


class MultilevelLayout:
    """Multilevel from scratch, all nodes live under other forces, local physics around a held node.

    Args:
        engine: What computes the heavy steps.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
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
            self._plan = arrange(graph, self._engine, seed, aspect)
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
            self._hand = LocalPhysics(self._graph, self._positions, row, self._engine)
        self._hand.hold(x, y)

    def release(self, row: int) -> None:
        """Let a held node go; its surroundings come to rest."""
        if self._hand is not None and self._hand.held == row:
            self._hand.release()

    def stir(self, forces: Forces) -> None:
        """Let all nodes find their balance under other forces; a node in the hand is let go."""
        if self._graph is not None and len(self._graph):
            self._hand = None
            self._plan = self._relaxed(self._graph, self._positions, forces)

    def _relaxed(self, graph: Graph, at: Positions, forces: Forces) -> Iterator[Positions]:
        for step in self._engine.relaxed(adjacency(graph.edges, len(graph)), at, forces):
            at = step
            yield at
        yield from self._engine.separated(at, node_radii(graph))


class NumpyLayout(MultilevelLayout):
    """The layout in numpy and scipy."""

    def __init__(self) -> None:
        super().__init__(NumpyEngine())


class NativeLayout(MultilevelLayout):
    """The layout by the C core: some thirty times faster, and the only one that is fluid at 10,000 nodes.

    Args:
        threads: How many threads share a tick; by default the machine's, at most four.
    """

    def __init__(self, threads: int | None = None) -> None:
        super().__init__(NativeEngine(threads))


def new_layout() -> Layout:
    """The best layout there is on this machine."""
    return NativeLayout() if native.available() else NumpyLayout()


def laid_out(graph: Graph, seed: int = 0, aspect: float = 1.0) -> Positions:
    """The finished layout of `graph` from scratch; blocks until it is done."""
    layout = new_layout()
    layout.start(graph, seed=seed, aspect=aspect)
    while not layout.settled:
        layout.tick()
    return layout.positions
