"""Measure the app's window for `embedding.py`, while it embeds and while embedding is paused."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.window_run import WindowRun

ROUNDS = 3


class EmbeddingRun(WindowRun):
    """Measures in rounds, with the same repaints while embedding is paused and while it runs."""

    def __init__(self, report: Path, seconds: float) -> None:
        super().__init__(report, time.time(), act=False)
        self._seconds = seconds

    async def _measure_all(self) -> None:
        from app.desktop.runtime.watchdog import Watchdog

        self.dog = Watchdog(self.window)
        await self.until(self._usable)
        await self._wait_until_idle()
        for _ in range(ROUNDS):
            await self._round("paused")
            await self._round("at work")
        self.dog.stop()
        self._report.write_text(json.dumps(self.measurements), encoding="utf-8")
        self.window.close()

    async def _round(self, name: str) -> None:
        view = self.window.view
        (view.pause_embedding if name == "paused" else view.resume_embedding)()
        await asyncio.sleep(1.5)
        self.dog.take_stats()
        before = await self._count_embedded()
        canvas = self.graph.view.canvas
        ends = time.perf_counter() + self._seconds
        while time.perf_counter() < ends:
            canvas.update()
            await asyncio.sleep(1 / 30)
        self._record(name)
        self.measurements["actions"][-1]["notes"] = await self._count_embedded() - before

    async def _count_embedded(self) -> int:
        count: int = await self.window.view._client.run(lambda vault: vault.semantic.note_count)
        return count


def main(arguments: list[str]) -> int:
    """Open the vault, write the measurements and return the app's exit status."""
    vault, report, seconds = arguments
    from app.desktop import application as desktop

    run = EmbeddingRun(Path(report), float(seconds))

    class EmbeddingWindow(desktop.MainWindow):  # type: ignore[misc, name-defined]
        """The measured window."""

        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            run.begin(self)

    desktop.MainWindow = EmbeddingWindow  # type: ignore[misc]
    return desktop.main([vault])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
