"""The layout behind one small interface: from scratch, from saved places, and live while a node is held."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from app.graph import core_bindings
from app.graph.builder import place_missing
from app.graph.coarsen import adjacency
from app.graph.drag import LocalPhysics
from app.graph.engine import Engine
from app.graph.force_params import ForceParams
from app.graph.model import Graph, Positions, node_radii
from app.graph.multilevel import multilevel_layout
from app.graph.native_engine import NativeEngine
from app.graph.numpy_engine import NumpyEngine
from app.graph.simulation import Simulation

DEFAULT_FORCES = ForceParams()


class Layout(Protocol):
    """Computes positions in steps. Not thread-safe: one thread calls it, and takes copies out.

    One layout unit is about half the distance between neighbouring notes; y points down.
    """

    @property
    def positions(self) -> Positions:
        """float32 (n, 2), as of the last tick."""
        ...

    @property
    def is_settled(self) -> bool:
        """Whether the next tick would change nothing."""
        ...

    @property
    def is_arranging(self) -> bool:
        """Whether a layout from scratch is under way."""
        ...

    def start(
        self,
        graph: Graph,
        positions: Positions | None = None,
        seed: int = 0,
        aspect: float = 1.0,
        forces: ForceParams = DEFAULT_FORCES,
    ) -> None:
        """Begin with `graph`: from scratch, or from `positions`, where nan rows find a free place.

        With positions there is nothing to arrange: it is settled at once.

        Args:
            graph: What to lay out.
            positions: float32 (n, 2) in layout units.
            seed: Of all that is random.
            aspect: Width by height of the page that a layout from scratch is to fill.
            forces: What `positions` were laid out with; what a layout from scratch is to end with.
        """
        ...

    def tick(self) -> Positions:
        """Go on a little (some milliseconds); the new positions. While paused only the hand moves a node."""
        ...

    def pin(self, row: int, x: float, y: float) -> None:
        """Hold a node at a place; at each tick its surroundings follow, or all nodes where all are live."""
        ...

    def release(self, row: int) -> None:
        """Let a held node go; what followed it comes to rest."""
        ...

    def set_forces(self, forces: ForceParams) -> None:
        """Let all nodes glide to their balance under other forces, from where they are.

        As often as a slider moves: speeds are kept, nothing jumps. A layout from scratch that is under way
        goes on, and has these forces at its end.
        """
        ...

    def pause(self) -> None:
        """Nothing moves by itself any more; a node in the hand moves alone."""
        ...

    def resume(self) -> None:
        """Go on where it was paused."""
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
        self._live: Simulation | None = None
        self._hand: LocalPhysics | None = None
        self._forces = self._wanted = DEFAULT_FORCES
        self._paused = False

    @property
    def positions(self) -> Positions:
        """float32 (n, 2), as of the last tick."""
        return self._positions

    @property
    def is_settled(self) -> bool:
        """Whether the next tick would change nothing."""
        if self._paused:
            return True
        still = self._live is None or self._live.is_settled
        return still and self._plan is None and self._hand is None and self._wanted == self._forces

    @property
    def is_arranging(self) -> bool:
        """Whether a layout from scratch is under way."""
        return self._plan is not None and not self._paused

    def start(
        self,
        graph: Graph,
        positions: Positions | None = None,
        seed: int = 0,
        aspect: float = 1.0,
        forces: ForceParams = DEFAULT_FORCES,
    ) -> None:
        """Begin with `graph`: from scratch, or from `positions`, where nan rows find a free place."""
        self._graph = graph
        self._hand = self._live = self._plan = None
        self._wanted = forces.within_limits()
        if positions is None:
            self._forces = DEFAULT_FORCES
            self._positions = np.zeros((len(graph), 2), dtype=np.float32)
            self._plan = multilevel_layout(graph, self._engine, seed, aspect)
        else:
            self._forces = self._wanted
            self._positions = place_missing(graph, np.ascontiguousarray(positions, dtype=np.float32))

    def tick(self) -> Positions:
        """Go on a little; the new positions."""
        if self._paused:
            return self._positions
        if self._plan is not None:
            self._arrange_on(self._plan)
        elif self._wanted != self._forces or (self._live is not None and not self._live.is_settled):
            self._live_on()
        elif self._hand is not None:
            self._hand.tick()
            if self._hand.is_settled:
                self._hand = None
        return self._positions

    def _arrange_on(self, plan: Iterator[Positions]) -> None:
        following = next(plan, None)
        if following is None:
            self._plan = None
        else:
            self._positions = following

    def _live_on(self) -> None:
        """One tick of all nodes, a node that was in the hand among them."""
        if self._graph is None or not len(self._graph):
            self._forces = self._wanted
            return
        if self._live is None:
            weights = adjacency(self._graph.edges, len(self._graph))
            radii = node_radii(self._graph)
            self._live = Simulation(weights, self._positions, self._engine, self._forces, radii)
            if self._hand is not None and self._hand.is_held:
                self._live.hold(self._hand.held, *self._positions[self._hand.held].tolist())
            self._hand = None
        self._live.set_forces(self._wanted)
        self._forces = self._wanted
        self._live.tick()
        self._positions = self._live.positions

    def pin(self, row: int, x: float, y: float) -> None:
        """Hold a node at a place; an arrangement that is under way is finished first, in one go."""
        if self._graph is None or not 0 <= row < len(self._graph):
            return
        if self._paused:
            self._carry(row, x, y)
            return
        while self._plan is not None:
            self._arrange_on(self._plan)
        if self._wanted != self._forces:
            self._live_on()
        if self._live is not None and not self._live.is_settled:
            self._live.hold(row, x, y)
            return
        if self._hand is None or self._hand.held != row:
            self._live = None
            self._positions = self._positions.copy()
            self._hand = LocalPhysics(self._graph, self._positions, row, self._engine)
        self._hand.move_to(x, y)

    def _carry(self, row: int, x: float, y: float) -> None:
        """Move one node, and nothing else."""
        self._hand = None
        self._positions = self._positions.copy()
        self._positions[row] = (x, y)
        if self._live is not None:
            self._live.place(row, x, y)

    def release(self, row: int) -> None:
        """Let a held node go; what followed it comes to rest."""
        if self._live is not None:
            self._live.release(row)
        if self._hand is not None and self._hand.held == row:
            self._hand.release()

    def set_forces(self, forces: ForceParams) -> None:
        """Let all nodes glide to their balance under other forces, from where they are."""
        self._wanted = forces.within_limits()

    def pause(self) -> None:
        """Nothing moves by itself any more; a node in the hand moves alone."""
        self._paused = True

    def resume(self) -> None:
        """Go on where it was paused."""
        self._paused = False


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
    return NativeLayout() if core_bindings.available() else NumpyLayout()


def compute_layout(graph: Graph, seed: int = 0, aspect: float = 1.0) -> Positions:
    """The finished layout of `graph` from scratch; blocks until it is done."""
    layout = new_layout()
    layout.start(graph, seed=seed, aspect=aspect)
    while not layout.is_settled:
        layout.tick()
    return layout.positions
