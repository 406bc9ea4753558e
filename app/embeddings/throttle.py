"""How fast bulk work may go: at once, with rests, or not now; judged by battery, load and the user.

What the user waits for (a search, a question) never waits for the pace.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import psutil

Speed = Literal["full", "slow", "paused"]
Reason = Literal["", "user", "battery", "busy"]

SAMPLE_INTERVAL_S = 2.0
# So many times as long as a batch took is rested after it: a fifth of a core is used.
_REST_FACTOR = 4.0
_MIN_CHARGE = 0.2
# Of all cores, what other programs use: from the first it counts as busy, until it is under the second.
_BUSY_LOAD, _CALM_LOAD = 0.75, 0.5


@dataclass(frozen=True, slots=True)
class ThrottleState:
    """How fast bulk work goes now, and why it does not go at full speed."""

    speed: Speed = "full"
    reason: Reason = ""

    def pause_after(self, seconds: float) -> float:
        """How long to rest after a batch that took `seconds`."""
        return {"full": 0.0, "slow": _REST_FACTOR * seconds, "paused": SAMPLE_INTERVAL_S}[self.speed]


FULL_SPEED = ThrottleState()


@dataclass(frozen=True, slots=True)
class LoadSample:
    """The machine at one moment.

    Whether it runs on battery, the battery's charge and the share of all cores that other programs use, both
    0 to 1.
    """

    on_battery: bool = False
    charge: float = 1.0
    load: float = 0.0


Read = Callable[[], LoadSample]


class Throttle:
    """Says the pace from the user's wishes and the machine; looks at the machine every two seconds at most.

    Args:
        read: Reads the machine.
        on_battery: The speed while the machine runs on battery.
        when_busy: The speed while other programs need the processor.
    """

    def __init__(self, read: Read, on_battery: Speed = "slow", when_busy: Speed = "slow") -> None:
        self._read = read
        self.on_battery = on_battery
        self.when_busy = when_busy
        self.stopped_by_user = False
        self._busy = False
        self._reading = LoadSample()
        self._looked = float("-inf")

    def state(self) -> ThrottleState:
        """The pace now: the slowest of what speaks against full speed, and that as its reason."""
        if self.stopped_by_user:
            return ThrottleState("paused", "user")
        now = self._current()
        self._busy = now.load >= (_CALM_LOAD if self._busy else _BUSY_LOAD)
        battery: Speed = "full"
        if now.on_battery:
            low = now.charge < _MIN_CHARGE and self.on_battery != "full"
            battery = "paused" if low else self.on_battery
        busy: Speed = self.when_busy if self._busy else "full"
        order: tuple[Speed, ...] = ("full", "slow", "paused")
        if battery != "full" and order.index(battery) >= order.index(busy):
            return ThrottleState(battery, "battery")
        return ThrottleState(busy, "busy") if busy != "full" else FULL_SPEED

    def _current(self) -> LoadSample:
        if time.monotonic() - self._looked >= SAMPLE_INTERVAL_S:
            self._reading = self._read()
            self._looked = time.monotonic()
        return self._reading


class SystemLoad:
    """Reads this machine; what the process with the id `worker()` uses does not count as load of others."""

    def __init__(self, worker: Callable[[], int | None]) -> None:
        self._worker = worker
        self._process: psutil.Process | None = None

    def __call__(self) -> LoadSample:
        """The machine now; the load is that since the last call."""
        # Loaded with the first vault that is embedded, not with the app.
        import psutil

        load = max(0.0, psutil.cpu_percent(None) / 100.0 - self._own_load())
        try:
            battery = psutil.sensors_battery()
        except (AttributeError, OSError, RuntimeError, NotImplementedError):
            # Not every system tells of its battery.
            battery = None
        if battery is None or battery.power_plugged is not False:
            return LoadSample(load=load)
        return LoadSample(True, battery.percent / 100.0, load)

    def _own_load(self) -> float:
        import psutil

        worker = self._worker()
        try:
            if worker is None:
                self._process = None
            elif self._process is None or self._process.pid != worker:
                self._process = psutil.Process(worker)
            if self._process is None:
                return 0.0
            return float(self._process.cpu_percent(None)) / 100.0 / (psutil.cpu_count() or 1)
        except psutil.Error:
            return 0.0
