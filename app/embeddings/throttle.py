"""Throttle bulk work (full speed, slow, or paused) based on battery, load and user settings.

Work that the user is waiting for (a search, a question) is never throttled.
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
# Rest this many times as long as a batch took, which uses a fifth of a core.
_REST_FACTOR = 4.0
_MIN_CHARGE = 0.2
# Shares of all cores used by other programs: busy at or above the first, until below the second.
_BUSY_LOAD, _CALM_LOAD = 0.75, 0.5


@dataclass(frozen=True, slots=True)
class ThrottleState:
    """The current speed of bulk work, and the reason if it is not full speed."""

    speed: Speed = "full"
    reason: Reason = ""

    def pause_after(self, seconds: float) -> float:
        """Return the seconds to rest after a batch that took `seconds`, or until the next check if paused."""
        return {"full": 0.0, "slow": _REST_FACTOR * seconds, "paused": SAMPLE_INTERVAL_S}[self.speed]


FULL_SPEED = ThrottleState()


@dataclass(frozen=True, slots=True)
class LoadSample:
    """A sample of the machine's state.

    Attributes:
        on_battery: Whether the machine is running on battery.
        charge: The battery's charge, 0 to 1; 1 unless the machine is running on battery.
        load: The share of all cores that other programs use, 0 to 1.
    """

    on_battery: bool = False
    charge: float = 1.0
    load: float = 0.0


ReadLoad = Callable[[], LoadSample]


class Throttle:
    """Chooses the speed based on user settings and the machine's state, sampled at most every two seconds.

    Args:
        read: Samples the machine.
        on_battery: The speed while the machine is running on battery; unless it is "full", the work pauses
            when the charge is below 20%.
        when_busy: The speed while other programs need the processor.
    """

    def __init__(self, read: ReadLoad, on_battery: Speed = "slow", when_busy: Speed = "slow") -> None:
        self._read = read
        self.on_battery = on_battery
        self.when_busy = when_busy
        self.stopped_by_user = False
        self._busy = False
        self._sample = LoadSample()
        self._sampled_at = float("-inf")

    def state(self) -> ThrottleState:
        """Return the current speed: the slowest one that any reason requires, and that reason."""
        if self.stopped_by_user:
            return ThrottleState("paused", "user")
        system = self._current_sample()
        self._busy = system.load >= (_CALM_LOAD if self._busy else _BUSY_LOAD)
        battery: Speed = "full"
        if system.on_battery:
            is_low = system.charge < _MIN_CHARGE and self.on_battery != "full"
            battery = "paused" if is_low else self.on_battery
        busy: Speed = self.when_busy if self._busy else "full"
        order: tuple[Speed, ...] = ("full", "slow", "paused")
        if battery != "full" and order.index(battery) >= order.index(busy):
            return ThrottleState(battery, "battery")
        return ThrottleState(busy, "busy") if busy != "full" else FULL_SPEED

    def _current_sample(self) -> LoadSample:
        if time.monotonic() - self._sampled_at >= SAMPLE_INTERVAL_S:
            self._sample = self._read()
            self._sampled_at = time.monotonic()
        return self._sample


class SystemLoad:
    """Samples this machine, without the load of the process whose id `worker_id` returns."""

    def __init__(self, worker_id: Callable[[], int | None]) -> None:
        self._worker_id = worker_id
        self._process: psutil.Process | None = None

    def __call__(self) -> LoadSample:
        """Return a sample with the load since the last call; the first load is 0."""
        # Imported when a vault is first embedded, not when the app starts.
        import psutil

        load = max(0.0, psutil.cpu_percent(None) / 100.0 - self._own_load())
        try:
            battery = psutil.sensors_battery()
        except (AttributeError, OSError, RuntimeError, NotImplementedError):
            # Not every system reports its battery.
            battery = None
        if battery is None or battery.power_plugged is not False:
            return LoadSample(load=load)
        return LoadSample(True, battery.percent / 100.0, load)

    def _own_load(self) -> float:
        import psutil

        worker_id = self._worker_id()
        try:
            if worker_id is None:
                self._process = None
            elif self._process is None or self._process.pid != worker_id:
                self._process = psutil.Process(worker_id)
            if self._process is None:
                return 0.0
            return float(self._process.cpu_percent(None)) / 100.0 / (psutil.cpu_count() or 1)
        except psutil.Error:
            return 0.0
