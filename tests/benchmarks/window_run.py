"""Measure one start of the app for `window.py`, which runs this in a separate process."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import time
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

QUIET_S = 2.5
FRAME_S = 1 / 60


def main(arguments: list[str]) -> int:
    """Open the vault, drive the window if requested, and write the measurements."""
    vault, report, began, act = arguments
    gc.disable()  # Like `app.__main__`.
    from app.desktop import application as desktop

    run = WindowRun(Path(report), float(began), act == "act")
    run.mark("imported")
    from PySide6.QtGui import QPaintEvent

    class MeasuredWindow(desktop.MainWindow):  # type: ignore[misc, name-defined]
        """A window that records its first paint event."""

        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            run.begin(self)

        def paintEvent(self, event: QPaintEvent) -> None:
            super().paintEvent(event)
            run.mark("painted")

    desktop.MainWindow = MeasuredWindow  # type: ignore[misc]
    return desktop.main([vault])


class WindowRun:
    """One start: drives the window if requested, and collects the measurements."""

    def __init__(self, report: Path, began: float, act: bool) -> None:
        self._report = report
        self._began = began
        self._act = act
        self.measurements: dict[str, Any] = {"actions": []}

    def mark(self, name: str) -> None:
        """Record the first time of an event, by the clock and by the process's processor time."""
        if name not in self.measurements:
            self.measurements[name] = (time.time() - self._began) * 1000
            self.measurements[f"{name}_cpu"] = time.process_time() * 1000

    def begin(self, window: Any) -> None:
        """Start the measurement while the window is being built."""
        from app.desktop.runtime import tasks

        self.window = window
        tasks.failed.connect(_give_up)
        tasks.start(self._measure_all(), action="measure")

    async def _measure_all(self) -> None:
        from PySide6.QtGui import QGuiApplication

        from app.desktop.runtime.watchdog import Watchdog

        self.dog = Watchdog(self.window)
        self.measurements["platform"] = QGuiApplication.platformName()
        await self.until(self._usable)
        self.mark("usable")
        await self._wait_until_idle()
        self.measurements["nodes"] = len(self.graph.view.graph())
        self.measurements["memory"] = memory_of(os.getpid())
        self._record("open the vault")
        if self._act:
            from tests.benchmarks.window_actions import ACTIONS
            from tests.flows.pilot import Pilot

            pilot = Pilot(self.window)
            pilot._follow(pilot.client)  # The vault was open before the pilot existed.
            await asyncio.sleep(1)
            for name, act in ACTIONS:
                await self._measure(name, act, pilot)
            for note in pilot.notes:
                note.document.discard_changes()
        self.dog.stop()
        self._report.write_text(json.dumps(self.measurements), encoding="utf-8")
        self.window.close()

    @property
    def graph(self) -> Any:
        """The graph panel."""
        return self.window.view.page.existing("graph")

    def _usable(self) -> bool:
        if self.window.view is None or self.graph is None:
            return False
        files = self.window.view.page.existing("files")
        return len(self.graph.view.graph()) > 0 and (files is None or files.model.rowCount() > 0)

    async def _wait_until_idle(self) -> None:
        """Wait until the vault is read and nothing has moved for a while."""
        canvas, session = self.graph.view.canvas, self.window.session
        quiet_since = time.perf_counter()
        while time.perf_counter() - quiet_since < QUIET_S:
            reading = session._scan is None or not session._scan.done()
            if reading or canvas._frames.isActive():
                quiet_since = time.perf_counter()
            await asyncio.sleep(0.05)

    async def _measure(self, name: str, act: Callable[[Any], Awaitable[None]], pilot: Any) -> None:
        from tests.benchmarks.window_actions import prepare

        await prepare(act, pilot)
        await asyncio.sleep(0.3)
        self.dog.take_stats()
        await act(pilot)
        await asyncio.sleep(0.6)
        self._record(name)

    def _record(self, name: str) -> None:
        holds = self.dog.take_stats()
        worst = [f"  {hold.cpu_ms:.1f} of {hold.ms:.1f} ms\n{hold.stack}" for hold in holds.worst]
        self.measurements["actions"].append(
            {
                "name": name,
                "longest": holds.longest,
                "p99": holds.p99,
                "over": holds.over_8ms,
                "ticks": holds.ticks,
                "computed": holds.cpu,
                "computed_over": holds.cpu_over_8ms,
                "worst": worst,
            }
        )

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until a condition holds, checked twice per frame."""
        while not condition():
            await asyncio.sleep(FRAME_S / 2)


def memory_of(process: int) -> dict[str, float]:
    """Return the resident memory of a process in MB by kind of mapping; empty without /proc."""
    usage: dict[str, float] = {}
    kind = ""
    try:
        lines = Path(f"/proc/{process}/smaps").read_text("utf-8").splitlines()
    except OSError:
        return usage
    for line in lines:
        first = line.split(maxsplit=1)[0]
        if not first.endswith(":"):
            kind = _kind_of(line.split(maxsplit=5)[5:])
        elif first == "Rss:":
            usage[kind] = usage.get(kind, 0.0) + int(line.split()[1]) / 1024
    return usage


def _kind_of(name: list[str]) -> str:
    """Return the kind of a mapping with this name."""
    if not name or name[0].startswith("["):
        return "heap" if name == ["[heap]"] else "anonymous"
    return "libraries" if ".so" in name[0] or "/bin/" in name[0] else "files"


def _give_up(failure: Any) -> None:
    """End the run on an error in the window, since its measurements would be meaningless."""
    traceback.print_exception(failure.error)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
