"""The window on a small laptop screen, at 100 and 200 percent."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.flows.pilot import Pilot
from tests.support.clipping import clipped

PANELS = (
    "search",
    "tags",
    "activity",
    "audit",
    "memory",
    "problems",
    "suggestions",
    "sources",
    "connections",
)


def test_nothing_is_cut_off_in_a_narrow_window(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        window = pilot.window
        await pilot.open(garden)
        await pilot.open_note("Plants/Camellia.md")
        for width, height in ((1024, 700), (800, 500), (680, 450)):
            window.resize(width, height)
            for name in PANELS:
                window.menu.run(f"show-{name}")
                # A panel that does not fit collapses in the next turn of the loop.
                for _ in range(3):
                    await asyncio.sleep(0)
                try:
                    await pilot.until(lambda: not clipped(window), seconds=8.0)
                except AssertionError:
                    raise AssertionError(f"{name} at {width}: {clipped(window)}") from None
            assert window.width() == width

    app_run(use)
