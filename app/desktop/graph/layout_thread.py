"""Run a layout in a thread that receives commands and provides the newest positions. No Qt."""

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
    from app.graph.layouts.force_directed import Layout

log = logging.getLogger(__name__)

DEFAULT_FORCES = ForceParams()

_MIN_STEP_S = 0.006
_MAX_STEPS_AHEAD = 2
_UNSEEN_TIMEOUT_S = 0.05


class LayoutThread:
    """A daemon thread around one `Layout`, idle while the layout is settled.

    The owner polls `take_positions` in its frames: no signals cross threads, so none can reach a deleted
    widget. If all nodes of the first graph have positions, the thread starts with the first command, for
    example a drag. If the layout fails, the error is logged and the thread ends; later commands are ignored.
    """

    def __init__(self) -> None:
        self._layout: Layout | None = None
        self._deferred_start: Callable[[], None] | None = None
        self._condition = threading.Condition()
        self._commands: list[Callable[[], None]] = []
        self._newest: Positions | None = None
        self._unseen_steps = 0
        self._is_busy = False
        self._is_paused = False
        self._is_stopped = False
        self._requested_number = 0
        self._started_number = 0
        self._thread: threading.Thread | None = None

    @property
    def is_busy(self) -> bool:
        """True if commands are pending, nodes are moving, or the newest positions have not been taken."""
        with self._condition:
            return self._is_busy or self._newest is not None

    def start(
        self,
        graph: Graph,
        positions: Positions | None = None,
        aspect: float = 1.0,
        forces: ForceParams = DEFAULT_FORCES,
    ) -> None:
        """Start with another graph; see `Layout.start`.

        Earlier commands and positions are discarded; a paused layout stays paused.
        """
        with self._condition:
            self._commands.clear()
            self._deferred_start, self._newest = None, None
            self._requested_number += 1
            number = self._requested_number

        def begin() -> None:
            layout = self._get_layout()
            layout.start(graph, positions, aspect=aspect, forces=forces)
            if self._is_paused:
                layout.pause()
            else:
                layout.resume()
            self._started_number = number

        if positions is None or np.isnan(positions).any() or self._thread is not None:
            self._post(begin)
        else:
            self._deferred_start = begin

    def warm_up(self) -> None:
        """Load the libraries that a drag needs, so that the first drag does not wait."""
        if self._deferred_start is not None:
            self._post(lambda: None)

    def pin(self, row: int, x: float, y: float) -> None:
        """Hold a node at a position (layout units)."""
        self._post(lambda: self._get_layout().pin(row, x, y))

    def release(self, row: int) -> None:
        """Release a held node."""
        self._post(lambda: self._get_layout().release(row))

    def set_forces(self, forces: ForceParams) -> None:
        """Relax all nodes under `forces`; may be called on every move of a slider."""
        self._post(lambda: self._get_layout().set_forces(forces))

    @property
    def is_paused(self) -> bool:
        """True if the layout is paused."""
        return self._is_paused

    def pause(self) -> None:
        """Stop all motion, including a layout from scratch; only a dragged node still moves."""
        self._is_paused = True
        self._post(lambda: self._get_layout().pause())

    def resume(self) -> None:
        """Resume motion."""
        self._is_paused = False
        self._post(lambda: self._get_layout().resume())

    def take_positions(self) -> Positions | None:
        """Return the newest positions, or None if they have not changed since the last call."""
        with self._condition:
            newest, self._newest = self._newest, None
            self._unseen_steps = 0
            self._condition.notify()
            return newest

    def stop(self) -> None:
        """Stop the thread permanently and wait until it ends."""
        with self._condition:
            self._is_stopped = True
            self._condition.notify()
        if self._thread is not None:
            self._thread.join()

    def _post(self, command: Callable[[], None]) -> None:
        with self._condition:
            if self._is_stopped:
                return
            deferred, self._deferred_start = self._deferred_start, None
            self._commands += [deferred, command] if deferred is not None else [command]
            self._is_busy = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="graph layout", daemon=True)
                self._thread.start()
            self._condition.notify()

    def _get_layout(self) -> Layout:
        """Return the layout, created on first use; called only in the layout thread."""
        if self._layout is None:
            self._layout = _create_layout()
        return self._layout

    def _is_settled(self) -> bool:
        return self._layout is None or self._layout.is_settled

    def _run(self) -> None:
        while True:
            with self._condition:
                while not self._is_stopped and not self._commands and self._is_settled():
                    self._is_busy = False
                    self._condition.wait()
                if self._is_stopped:
                    return
                commands, self._commands = self._commands, []
            try:
                self._step(commands)
            except Exception:
                log.exception("the layout failed; the nodes keep their positions")
                with self._condition:
                    self._is_busy, self._is_stopped = False, True
                return

    def _step(self, commands: list[Callable[[], None]]) -> None:
        for command in commands:
            command()
        start_time = time.perf_counter()
        positions = self._get_layout().tick().copy()
        with self._condition:
            if self._started_number == self._requested_number:
                self._newest = positions
        pause = _MIN_STEP_S - (time.perf_counter() - start_time)
        if pause > 0 and not self._is_settled():
            time.sleep(pause)
        self._await_viewer()

    def _await_viewer(self) -> None:
        """Wait briefly if the viewer has not seen the last steps, so that it has time to draw.

        A layout from scratch does not wait.
        """
        with self._condition:
            self._unseen_steps += 1
            if self._unseen_steps >= _MAX_STEPS_AHEAD and not self._get_layout().is_computing:
                self._condition.wait_for(self._is_needed, _UNSEEN_TIMEOUT_S)

    def _is_needed(self) -> bool:
        return self._is_stopped or bool(self._commands) or self._unseen_steps < _MAX_STEPS_AHEAD


def _create_layout() -> Layout:
    """Create the layout; its module is imported here because the import is slow."""
    from app.graph.layouts.force_directed import Layout

    return Layout()


def combine_stops(*stops: Callable[[], None]) -> Callable[[], None]:
    """Return a function that stops several threads and may outlive the widget that owns them."""

    def stop_all() -> None:
        for stop in stops:
            stop()

    return stop_all
