"""The force-directed layout: from scratch, from saved positions, and live during a drag."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from app.graph.coarsen import adjacency
from app.graph.drag import LocalPhysics
from app.graph.engine import Engine
from app.graph.force_params import ForceParams
from app.graph.layouts.multilevel import multilevel_layout
from app.graph.model import Graph, Positions, node_radii
from app.graph.position_transfer import place_missing
from app.graph.simulation import Simulation

DEFAULT_FORCES = ForceParams()


class Layout:
    """A layout that is computed in steps: from scratch, as a simulation, or locally around a dragged node.

    Not thread-safe: one thread calls it and copies positions. One layout unit is about half the distance
    between neighboring notes; y points down.

    Args:
        threads: The number of threads per tick; by default one per processor, at most four.
    """

    def __init__(self, threads: int | None = None) -> None:
        self._engine = Engine(threads)
        self._graph: Graph | None = None
        self._positions: Positions = np.empty((0, 2), dtype=np.float32)
        self._layout_steps: Iterator[Positions] | None = None
        self._simulation: Simulation | None = None
        self._drag: LocalPhysics | None = None
        self._forces = self._target_forces = DEFAULT_FORCES
        self._paused = False

    @property
    def positions(self) -> Positions:
        """The positions after the last tick, float32 (n, 2)."""
        return self._positions

    @property
    def is_settled(self) -> bool:
        """True if the next tick would change nothing; always true while paused."""
        if self._paused:
            return True
        is_simulation_settled = self._simulation is None or self._simulation.is_settled
        return (
            is_simulation_settled
            and self._layout_steps is None
            and self._drag is None
            and self._target_forces == self._forces
        )

    @property
    def is_computing(self) -> bool:
        """True if a layout from scratch is in progress."""
        return self._layout_steps is not None and not self._paused

    def start(
        self,
        graph: Graph,
        positions: Positions | None = None,
        seed: int = 0,
        aspect: float = 1.0,
        forces: ForceParams = DEFAULT_FORCES,
    ) -> None:
        """Start with `graph`: from scratch, or from `positions`, where nan rows are placed automatically.

        With positions, the layout is settled immediately.

        Args:
            graph: The graph to lay out.
            positions: float32 (n, 2) in layout units.
            seed: The random seed.
            aspect: The width of the page to fill, divided by its height.
            forces: The forces of the given `positions`, or the final forces of a layout from scratch.
        """
        self._graph = graph
        self._drag = self._simulation = self._layout_steps = None
        self._target_forces = forces.within_limits()
        if positions is None:
            self._forces = DEFAULT_FORCES
            self._positions = np.zeros((len(graph), 2), dtype=np.float32)
            self._layout_steps = multilevel_layout(graph, self._engine, seed, aspect)
        else:
            self._forces = self._target_forces
            self._positions = place_missing(graph, np.ascontiguousarray(positions, dtype=np.float32))

    def tick(self) -> Positions:
        """Compute one step, usually in a few milliseconds, and return the positions.

        While paused, only `pin` moves nodes.
        """
        if self._paused:
            return self._positions
        if self._layout_steps is not None:
            self._advance(self._layout_steps)
        elif self._target_forces != self._forces or (
            self._simulation is not None and not self._simulation.is_settled
        ):
            self._step_simulation()
        elif self._drag is not None:
            self._drag.tick()
            if self._drag.is_settled:
                self._drag = None
        return self._positions

    def _advance(self, steps: Iterator[Positions]) -> None:
        positions = next(steps, None)
        if positions is None:
            self._layout_steps = None
        else:
            self._positions = positions

    def _step_simulation(self) -> None:
        """Compute one tick of all nodes, including a dragged one."""
        if self._graph is None or not len(self._graph):
            self._forces = self._target_forces
            return
        if self._simulation is None:
            weights = adjacency(self._graph.links, len(self._graph))
            radii = node_radii(self._graph)
            self._simulation = Simulation(weights, self._positions, self._engine, self._forces, radii)
            if self._drag is not None and self._drag.is_held:
                self._simulation.hold(self._drag.dragged, *self._positions[self._drag.dragged].tolist())
            self._drag = None
        self._simulation.set_forces(self._target_forces)
        self._forces = self._target_forces
        self._simulation.tick()
        self._positions = self._simulation.positions

    def pin(self, row: int, x: float, y: float) -> None:
        """Hold a node at a point; its surroundings follow with each tick (in a simulation, all nodes do).

        If a layout from scratch is in progress, it is finished first. While paused, only the node moves. A
        row outside the graph is ignored.
        """
        if self._graph is None or not 0 <= row < len(self._graph):
            return
        if self._paused:
            self._move_node(row, x, y)
            return
        while self._layout_steps is not None:
            self._advance(self._layout_steps)
        if self._target_forces != self._forces:
            self._step_simulation()
        if self._simulation is not None and not self._simulation.is_settled:
            self._simulation.hold(row, x, y)
            return
        if self._drag is None or self._drag.dragged != row:
            self._simulation = None
            self._positions = self._positions.copy()
            self._drag = LocalPhysics(self._graph, self._positions, row, self._engine)
        self._drag.move_to(x, y)

    def _move_node(self, row: int, x: float, y: float) -> None:
        """Move a single node."""
        self._drag = None
        self._positions = self._positions.copy()
        self._positions[row] = (x, y)
        if self._simulation is not None:
            self._simulation.place(row, x, y)

    def release(self, row: int) -> None:
        """Release a held node; the nodes around it settle."""
        if self._simulation is not None:
            self._simulation.release(row)
        if self._drag is not None and self._drag.dragged == row:
            self._drag.release()

    def set_forces(self, forces: ForceParams) -> None:
        """Let all nodes move to equilibrium under new forces, starting from their current positions.

        May be called on every slider movement: velocities are preserved, so nothing jumps. If a layout from
        scratch is in progress, it continues and applies these forces at the end.
        """
        self._target_forces = forces.within_limits()

    def pause(self) -> None:
        """Stop all motion except that of a dragged node."""
        self._paused = True

    def resume(self) -> None:
        """Continue after a pause."""
        self._paused = False


def compute_layout(graph: Graph, seed: int = 0, aspect: float = 1.0) -> Positions:
    """Lay out `graph` from scratch and return the positions; blocks until the layout is finished."""
    layout = Layout()
    layout.start(graph, seed=seed, aspect=aspect)
    while not layout.is_settled:
        layout.tick()
    return layout.positions
