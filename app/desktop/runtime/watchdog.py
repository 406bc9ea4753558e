"""Measure stalls of the GUI thread, for benchmarks; enabled by SCRIPTORIUM_WATCHDOG.

A precise 2 ms timer measures the gaps between its own ticks; the excess over 2 ms is time in which the window
could not respond. The watchdog also reads the CPU time of the GUI thread during the gap: on a busy machine
the gap may be caused by other processes, whereas CPU time is the window's own work. A second thread samples
the stack of the GUI thread while a tick is late.
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
    """One stall: its wall-clock and CPU time in milliseconds, and the stacks that were sampled most often."""

    ms: float
    cpu_ms: float
    stack: str


@dataclass(frozen=True, slots=True)
class StallStats:
    """Statistics of the ticks; times are in milliseconds.

    Attributes:
        longest: The longest stall.
        cpu: The most CPU time between two ticks.
        p99: The 99th percentile of the stalls.
        over_8ms: The number of stalls over 8 ms.
        cpu_over_8ms: The number of ticks with over 8 ms of CPU time since the previous tick.
        ticks: The number of ticks.
        worst: The long stalls with the most CPU time.
        stack: The stacks of the long stall with the most wall-clock time.
    """

    longest: float
    cpu: float
    p99: float
    over_8ms: int
    cpu_over_8ms: int
    ticks: int
    worst: tuple[Stall, ...]
    stack: str

    def __str__(self) -> str:
        line = (
            f"GUI thread: longest stall {self.longest:.1f} ms, p99 {self.p99:.1f} ms, {self.over_8ms} of "
            f"{self.ticks} ticks over 8 ms; at most {self.cpu:.1f} ms of CPU time, "
            f"{self.cpu_over_8ms} times over 8 ms"
        )
        return "\n".join([line, *(_format_stall(stall) for stall in self.worst)])


def _format_stall(stall: Stall) -> str:
    return f"  {stall.cpu_ms:.1f} ms of CPU time, {stall.ms:.1f} ms of wall-clock time\n{stall.stack}"


class Watchdog(QObject):
    """Measures stalls since its start or the last `take_stats`. Create it in the GUI thread."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._gaps: list[float] = []
        self._cpu_times: list[float] = []
        self._long_stalls: list[Stall] = []
        self._samples: Counter[str] = Counter()
        self._last_time, self._last_cpu_time = time.perf_counter(), time.thread_time()
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
        gaps, cpu_times, worst = self._gaps, self._cpu_times, self._long_stalls
        self._gaps, self._cpu_times, self._long_stalls = [], [], []
        ordered = sorted(gaps) or [0.0]
        p99 = ordered[int(len(ordered) * 0.99)]
        longest = max(worst, key=lambda stall: stall.ms, default=None)
        worst.sort(key=lambda stall: -stall.cpu_ms)
        return StallStats(
            ordered[-1] * 1000,
            max(cpu_times, default=0.0) * 1000,
            p99 * 1000,
            sum(gap > _LONG_STALL_S for gap in gaps),
            sum(cpu_time > _LONG_STALL_S for cpu_time in cpu_times),
            len(gaps),
            tuple(worst[:_MAX_LISTED_STALLS]),
            longest.stack if longest is not None else "",
        )

    def stop(self) -> StallStats:
        """Stop measuring and return the measurements since the start or the last `take_stats`."""
        self._timer.stop()
        self._ended.set()
        self._watcher.join()
        return self.take_stats()

    def _tick(self) -> None:
        now, cpu_time = time.perf_counter(), time.thread_time()
        gap = max(0.0, now - self._last_time - _TICK_INTERVAL_MS / 1000)
        cpu_used = cpu_time - self._last_cpu_time
        self._gaps.append(gap)
        self._cpu_times.append(cpu_used)
        samples = self._samples
        if samples:
            self._samples = Counter()
        if cpu_used > _LONG_STALL_S or gap > 3 * _LONG_STALL_S:
            common = samples.copy().most_common(4)  # the sampling thread may be writing to the original
            stacks = "\n".join(f"    {count} x {stack}" for stack, count in common)
            self._long_stalls.append(Stall(gap * 1000, cpu_used * 1000, stacks))
        self._last_time, self._last_cpu_time = time.perf_counter(), time.thread_time()

    def _watch(self) -> None:
        while not self._ended.wait(_SAMPLE_INTERVAL_S):
            if time.perf_counter() - self._last_time > _SAMPLE_INTERVAL_S:
                frame = sys._current_frames().get(self._thread_id)  # noqa: SLF001
                if frame is not None:
                    self._samples[_format_stack(frame)] += 1


def _format_stack(frame: FrameType | None) -> str:
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
