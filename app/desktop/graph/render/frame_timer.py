"""Runs frames at a regular rate while something moves, or as soon as a picture is ready."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer

_FRAME_INTERVAL_MS = 15
_RETRY_INTERVAL_MS = 3
_MAX_ELAPSED_S = 0.1


class FrameTimer(QTimer):
    """Calls `frame` until it is stopped.

    Args:
        parent: The owner.
        frame: Renders one frame.
        waits: Returns whether there is nothing new to show yet; called again soon.
    """

    def __init__(self, parent: QObject, frame: Callable[[], None], waits: Callable[[], bool]) -> None:
        super().__init__(parent, interval=_FRAME_INTERVAL_MS)
        self.setTimerType(Qt.TimerType.PreciseTimer)
        self._frame, self._waits = frame, waits
        self._last = 0.0
        self.timeout.connect(self._tick)

    def wake(self) -> None:
        """Start the timer if it is stopped."""
        if not self.isActive():
            self._last = time.perf_counter()
            self.start()

    def passed(self) -> float:
        """Return the seconds since the last call, limited after a long pause so that nothing jumps."""
        now = time.perf_counter()
        passed, self._last = min(now - self._last, _MAX_ELAPSED_S), now
        return passed

    def _tick(self) -> None:
        waits = self._waits()
        pace = _RETRY_INTERVAL_MS if waits else _FRAME_INTERVAL_MS
        if self.interval() != pace:
            self.setInterval(pace)
        if not waits:
            self._frame()
