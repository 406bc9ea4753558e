"""Render frames at a regular rate while something moves, or as soon as an image is ready."""

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
        is_waiting: Returns whether there is nothing new to show yet; it is called again soon.
    """

    def __init__(self, parent: QObject, frame: Callable[[], None], is_waiting: Callable[[], bool]) -> None:
        super().__init__(parent, interval=_FRAME_INTERVAL_MS)
        self.setTimerType(Qt.TimerType.PreciseTimer)
        self._frame, self._is_waiting = frame, is_waiting
        self._last_time = 0.0
        self.timeout.connect(self._tick)

    def ensure_started(self) -> None:
        """Start the timer if it is stopped."""
        if not self.isActive():
            self._last_time = time.perf_counter()
            self.start()

    def elapsed(self) -> float:
        """Return the seconds since the last call, limited after a long pause so that nothing jumps."""
        now = time.perf_counter()
        elapsed, self._last_time = min(now - self._last_time, _MAX_ELAPSED_S), now
        return elapsed

    def _tick(self) -> None:
        is_waiting = self._is_waiting()
        interval = _RETRY_INTERVAL_MS if is_waiting else _FRAME_INTERVAL_MS
        if self.interval() != interval:
            self.setInterval(interval)
        if not is_waiting:
            self._frame()
