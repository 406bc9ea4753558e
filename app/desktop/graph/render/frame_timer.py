"""When frames run: at an even pace while something moves, or as soon as a picture is there."""

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
        frame: Does one frame.
        waits: Whether there is nothing to show but what is not there yet; asked again soon.
    """

    def __init__(self, parent: QObject, frame: Callable[[], None], waits: Callable[[], bool]) -> None:
        super().__init__(parent, interval=_FRAME_INTERVAL_MS)
        self.setTimerType(Qt.TimerType.PreciseTimer)
        self._frame, self._waits = frame, waits
        self._last = 0.0
        self.timeout.connect(self._tick)

    def wake(self) -> None:
        """Run, if it does not."""
        if not self.isActive():
            self._last = time.perf_counter()
            self.start()

    def passed(self) -> float:
        """Seconds since it was asked last; after a long wait not all of them, so that nothing jumps."""
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
