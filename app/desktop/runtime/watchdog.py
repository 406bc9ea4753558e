"""Measure stalls of the GUI thread, for benchmarks; enabled by SCRIPTORIUM_WATCHDOG.

A precise 2 ms timer measures the gaps between its own ticks; the excess over 2 ms is time in which the window
could not respond. The watchdog also reads the CPU time of the GUI thread during the gap: on a busy machine
the gap may be caused by other processes, whereas CPU time is the window's own work. A second thread records
the stack of the GUI thread during a long stall.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from types import FrameType

from PySide6.QtCore import QObject, Qt, QTimer

_TICK_INTERVAL_MS = 2
_LONG_STALL_S = 0.008
_SAMPLE_INTERVAL_S = 0.003
_MAX_STACK_DEPTH = 12
_MAX_LISTED_STALLS = 6


@dataclass(frozen=True, slots=True)
class Stall:
    """One stall: its wall-clock and CPU time in milliseconds, and the stack that was sampled."""

    ms: float
    computed_ms: float
    where: str


@dataclass(frozen=True, slots=True)
class StallStats:
    """The longest stall and percentiles over all ticks, in milliseconds.

    `worst` lists the stalls with the most CPU time; `where` is the stack of the one with the longest
    wall-clock time.
    """

    longest: float
    computed: float
    p99: float
    over_8ms: int
    computed_over_8ms: int
    ticks: int
    worst: tuple[Stall, ...]
    where: str

    def __str__(self) -> str:
        line = (
            f"GUI thread: longest hold {self.longest:.1f} ms, p99 {self.p99:.1f} ms, {self.over_8ms} of "
            f"{self.ticks} ticks over 8 ms; computed itself {self.computed:.1f} ms at most, "
            f"{self.computed_over_8ms} times over 8 ms"
        )
        return "\n".join([line, *(_format_stall(hold) for hold in self.worst)])


def _format_stall(hold: Stall) -> str:
    return f"  {hold.computed_ms:.1f} ms computed, {hold.ms:.1f} ms by the clock\n{hold.where}"


class Watchdog(QObject):
    """Measures stalls since its start or the last `take_stats`; belongs to the GUI thread."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._gaps: list[float] = []
        self._worked: list[float] = []
        self._worst: list[Stall] = []
        self._samples: Counter[str] = Counter()
        self._last, self._last_worked = time.perf_counter(), time.thread_time()
        self._thread_id = threading.get_ident()
        self._ended = threading.Event()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start(_TICK_INTERVAL_MS)
        self._watcher = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._watcher.start()

    def take_stats(self) -> StallStats:
        """Return the measurements since the start or the last call, and reset them."""
        gaps, worked, worst = self._gaps, self._worked, self._worst
        self._gaps, self._worked, self._worst = [], [], []
        ordered = sorted(gaps) or [0.0]
        p99 = ordered[int(len(ordered) * 0.99)]
        longest = max(worst, key=lambda hold: hold.ms, default=None)
        worst.sort(key=lambda hold: -hold.computed_ms)
        return StallStats(
            ordered[-1] * 1000,
            max(worked, default=0.0) * 1000,
            p99 * 1000,
            sum(gap > _LONG_STALL_S for gap in gaps),
            sum(each > _LONG_STALL_S for each in worked),
            len(gaps),
            tuple(worst[:_MAX_LISTED_STALLS]),
            longest.where if longest is not None else "",
        )

    def stop(self) -> StallStats:
        """Stop measuring and return the measurements since the start or the last `take_stats`."""
        self._timer.stop()
        self._ended.set()
        self._watcher.join()
        return self.take_stats()

    def _tick(self) -> None:
        now, worked = time.perf_counter(), time.thread_time()
        hold = max(0.0, now - self._last - _TICK_INTERVAL_MS / 1000)
        own = worked - self._last_worked
        self._gaps.append(hold)
        self._worked.append(own)
        samples = self._samples
        if samples:
            self._samples = Counter()
        if own > _LONG_STALL_S or hold > 3 * _LONG_STALL_S:
            often = samples.copy().most_common(4)  # a copy: the sampling thread may be writing to it
            stacks = "\n".join(f"    {count} x {stack}" for stack, count in often)
            self._worst.append(Stall(hold * 1000, own * 1000, stacks))
        self._last, self._last_worked = time.perf_counter(), time.thread_time()

    def _watch(self) -> None:
        while not self._ended.wait(_SAMPLE_INTERVAL_S):
            if time.perf_counter() - self._last > _SAMPLE_INTERVAL_S:
                frame = sys._current_frames().get(self._thread_id)  # noqa: SLF001
                if frame is not None:
                    self._samples[_path(frame)] += 1


def _path(frame: FrameType | None) -> str:
    """Return the calls that led to `frame`, innermost first."""
    calls: list[str] = []
    while frame is not None and len(calls) < _MAX_STACK_DEPTH:
        code = frame.f_code
        calls.append(f"{code.co_filename.rpartition('/')[2]}:{frame.f_lineno} {code.co_name}")
        frame = frame.f_back
    return " < ".join(calls)


def from_environment(parent: QObject) -> Watchdog | None:
    """Return a running watchdog if SCRIPTORIUM_WATCHDOG is set, else None."""
    return Watchdog(parent) if os.environ.get("SCRIPTORIUM_WATCHDOG") else None
