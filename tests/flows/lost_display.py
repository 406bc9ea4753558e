"""The whole app in its own process, whose Qt event loop ends while a note has unsaved text.

python -m tests.flows.lost_display VAULT NOTE TEXT
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtTest import QTest

from app.desktop import application
from app.desktop.main_window import MainWindow
from app.desktop.notes.view import NoteView
from app.desktop.runtime import tasks


async def write_and_lose_the_display(window: MainWindow, note: str, text: str) -> None:
    """Open a note, type into it, and end Qt's event loop as its X11 plug-in does without a server."""
    while window.view is None or window.view.notes is None:
        await asyncio.sleep(0.01)
    await window.view.notes.open(note)
    view = window.view.notes.current
    assert isinstance(view, NoteView)
    QTest.keyClicks(view.editor, text)
    assert view.document.is_dirty
    QCoreApplication.exit(1)


def main(vault: str, note: str, text: str) -> int:
    """Run the app; return its exit status if it ends normally."""

    def begin(window: MainWindow) -> None:
        tasks.start(write_and_lose_the_display(window, note, text), action="lose the display")

    MainWindow.begin_updates = begin  # type: ignore[method-assign,assignment]
    return application.main([str(Path(vault))])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
