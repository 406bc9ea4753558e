"""Runs a layout in a thread: commands go in, the newest positions come out. No Qt."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from app.graph.force_params import ForceParams
from app.graph.model import Graph, Positions

if TYPE_CHECKING:
    from app.graph.layout import Layout

log = logging.getLogger(__name__)

DEFAULT_FORCES = ForceParams()

_MIN_STEP_S = 0.006
_MAX_STEPS_AHEAD = 2
_UNSEEN_TIMEOUT_S = 0.05


class LayoutThread:
    """A daemon thread around one `Layout`, idle while the layout is settled.

    The owner polls `take_positions` in its frames: no signals cross threads, so none can reach a deleted
    widget. A graph whose nodes all have positions starts no work until a node is dragged.
    """

    def __init__(self) -> None:
        self._layout: Layout | None = None
        self._later: Callable[[], None] | None = None
        self._condition = threading.Condition()
        self._commands: list[Callable[[], None]] = []
        self._newest: Positions | None = None
        self._ahead = 0
        self._busy = False
        self._paused = False
        self._stopped = False
        self._wanted = 0
        self._current = 0
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        """Return whether more positions are due."""
        with self._condition:
            return self._busy or self._newest is not None

    def start(
        self,
        graph: Graph,
        positions: Positions | None = None,
        seed: int = 0,
        aspect: float = 1.0,
        forces: ForceParams = DEFAULT_FORCES,
    ) -> None:
        """Start with another graph; see `Layout.start`. Positions of the previous one are dropped."""
        with self._condition:
            self._commands.clear()
            self._later, self._newest = None, None
            self._wanted += 1
            wanted = self._wanted

        def begin() -> None:
            layout = self._laid()
            layout.start(graph, positions, seed, aspect, forces)
            if self._paused:
                layout.pause()
            else:
                layout.resume()
            self._current = wanted

        if positions is None or np.isnan(positions).any() or self._thread is not None:
            self._post(begin)
        else:
            self._later = begin

    def warm_up(self) -> None:
        """Load what a drag needs, so that the first drag does not wait; do nothing if it is loaded."""
        if self._later is not None:
            self._post(lambda: None)

    def pin(self, row: int, x: float, y: float) -> None:
        """Hold a node at a position."""
        self._post(lambda: self._laid().pin(row, x, y))

    def release(self, row: int) -> None:
        """Release a held node."""
        self._post(lambda: self._laid().release(row))

    def set_forces(self, forces: ForceParams) -> None:
        """Relax all nodes under `forces`; may be called on every move of a slider."""
        self._post(lambda: self._laid().set_forces(forces))

    @property
    def paused(self) -> bool:
        """Return whether the layout is paused."""
        return self._paused

    def pause(self) -> None:
        """Stop all motion, also of an arrangement from scratch; only a dragged node still moves."""
        self._paused = True
        self._post(lambda: self._laid().pause())

    def resume(self) -> None:
        """Resume motion."""
        self._paused = False
        self._post(lambda: self._laid().resume())

    def take_positions(self) -> Positions | None:
        """Return the newest positions, or None if they have not changed since the last call."""
        with self._condition:
            newest, self._newest = self._newest, None
            self._ahead = 0
            self._condition.notify()
            return newest

    def stop(self) -> None:
        """End the thread for good."""
        with self._condition:
            self._stopped = True
            self._condition.notify()
        if self._thread is not None:
            self._thread.join()

    def _post(self, command: Callable[[], None]) -> None:
        with self._condition:
            if self._stopped:
                return
            later, self._later = self._later, None
            self._commands += [later, command] if later is not None else [command]
            self._busy = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="graph layout", daemon=True)
                self._thread.start()
            self._condition.notify()

    def _laid(self) -> Layout:
        """Return the layout; only its thread calls this."""
        if self._layout is None:
            self._layout = _create_layout()
        return self._layout

    def _at_rest(self) -> bool:
        return self._layout is None or self._layout.is_settled

    def _run(self) -> None:
        while True:
            with self._condition:
                while not self._stopped and not self._commands and self._at_rest():
                    self._busy = False
                    self._condition.wait()
                if self._stopped:
                    return
                commands, self._commands = self._commands, []
            try:
                self._step(commands)
            except Exception:
                log.exception("the layout failed; the graph stays as it is shown")
                with self._condition:
                    self._busy, self._stopped = False, True
                return

    def _step(self, commands: list[Callable[[], None]]) -> None:
        for command in commands:
            command()
        began = time.perf_counter()
        positions = self._laid().tick().copy()
        with self._condition:
            if self._current == self._wanted:
                self._newest = positions
        rest = _MIN_STEP_S - (time.perf_counter() - began)
        if rest > 0 and not self._at_rest():
            time.sleep(rest)
        self._await_viewer()

    def _await_viewer(self) -> None:
        """Wait while the viewer is several steps behind, which leaves it time to draw."""
        with self._condition:
            self._ahead += 1
            if self._ahead >= _MAX_STEPS_AHEAD and not self._laid().is_computing:
                self._condition.wait_for(self._is_needed, _UNSEEN_TIMEOUT_S)

    def _is_needed(self) -> bool:
        return self._stopped or bool(self._commands) or self._ahead < _MAX_STEPS_AHEAD


def _create_layout() -> Layout:
    """Create the layout; imported in the thread because that is slow."""
    from app.graph.layout import Layout

    return Layout()


def combine_stops(*ends: Callable[[], None]) -> Callable[[], None]:
    """Return a function that stops several threads; it references no owner, so it may outlive a widget."""

    def end() -> None:
        for each in ends:
            each()

    return end
