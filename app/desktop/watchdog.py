"""How long the GUI thread was held: for benchmarks, on when SCRIPTORIUM_WATCHDOG is set.

A precise 2 ms timer measures the gaps between its own ticks; what a gap is longer than that is time in
which the window could not answer. A thread beside it notes where the GUI thread was during a long hold.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, QTimer

_TICK_MS = 2
_SAMPLE_AFTER_S = 0.02


@dataclass(frozen=True, slots=True)
class Holds:
    """The longest hold and percentiles over all ticks, in milliseconds; `where` was the longest."""

    longest: float
    p99: float
    over_8ms: int
    ticks: int
    where: str

    def __str__(self) -> str:
        line = f"GUI thread: longest hold {self.longest:.1f} ms, p99 {self.p99:.1f} ms, "
        return line + f"{self.over_8ms} of {self.ticks} ticks over 8 ms\n{self.where}"


class Watchdog(QObject):
    """Measures from its start to its `stop`; lives in the GUI thread."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._gaps: list[float] = []
        self._last = time.perf_counter()
        self._longest = 0.0
        self._where = self._sample = ""
        self._thread_id = threading.get_ident()
        self._ended = threading.Event()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start(_TICK_MS)
        self._watcher = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._watcher.start()

    def stop(self) -> Holds:
        """End the measurement; what was measured."""
        self._timer.stop()
        self._ended.set()
        self._watcher.join()
        gaps = sorted(self._gaps) or [0.0]
        p99 = gaps[int(len(gaps) * 0.99)]
        over = sum(gap > 0.008 for gap in gaps)
        return Holds(gaps[-1] * 1000, p99 * 1000, over, len(gaps), self._where)

    def _tick(self) -> None:
        now = time.perf_counter()
        hold = max(0.0, now - self._last - _TICK_MS / 1000)
        self._last = now
        self._gaps.append(hold)
        if hold > self._longest:
            self._longest = hold
            self._where = self._sample
        self._sample = ""

    def _watch(self) -> None:
        while not self._ended.wait(_SAMPLE_AFTER_S / 2):
            if not self._sample and time.perf_counter() - self._last > _SAMPLE_AFTER_S:
                frame = sys._current_frames().get(self._thread_id)
                self._sample = "".join(traceback.format_stack(frame)) if frame else ""


def from_environment(parent: QObject) -> Watchdog | None:
    """A running watchdog if SCRIPTORIUM_WATCHDOG is set, else None."""
    return Watchdog(parent) if os.environ.get("SCRIPTORIUM_WATCHDOG") else None
