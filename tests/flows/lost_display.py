"""The whole app in its own process, whose Qt event loop ends while a note has unsaved text.

python -m tests.flows.lost_display VAULT NOTE TEXT
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtTest import QTest

from app.desktop import application
from app.desktop.main_window import MainWindow
from app.desktop.runtime import tasks
from tests.flows.pilot import Pilot


async def write_and_lose_the_display(pilot: Pilot, note: str, text: str) -> None:
    """Open a note, type into it, and end Qt's event loop as its X11 plug-in does without a server."""
    await pilot.until(lambda: pilot.window.session.client is not None, "the vault is open")
    await pilot.read()
    view = await pilot.open_note(note)
    QTest.keyClicks(view.editor, text)
    assert view.document.is_dirty
    QCoreApplication.exit(1)


def stop(failure: tasks.TaskFailure) -> None:
    """End the process after a failure, as the window would stay open forever."""
    traceback.print_exception(failure.error)
    os._exit(2)


def main(vault: str, note: str, text: str) -> int:
    """Run the app; return its exit status if it ends normally."""

    def begin(window: MainWindow) -> None:
        tasks.start(write_and_lose_the_display(Pilot(window), note, text), action="lose the display")

    tasks.failed.connect(stop)
    MainWindow.begin_updates = begin  # type: ignore[method-assign,assignment]
    return application.main([str(Path(vault))])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
