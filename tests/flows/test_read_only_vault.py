"""A vault open read-only: nothing can be typed, and no approval is requested."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.desktop.notes.editor.mode import ViewMode
from tests.flows.files import everything_in
from tests.flows.pilot import Pilot


def test_a_vault_for_reading_takes_no_text_and_asks_for_no_approval(app_run, garden: Path) -> None:
    before = everything_in(garden)

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden, read_only=True)
        note = await pilot.open_note("Tea.md")
        text = note.editor.toPlainText()
        for mode in ViewMode:
            note.show_mode(mode)
            widget = note.editor if note.is_editing else note.reader
            widget.setFocus()
            QTest.keyClicks(widget, "typed")
            QTest.keyClick(widget, Qt.Key.Key_Return)
            assert note.editor.toPlainText() == text and not note.document.is_dirty
        turn = await pilot.ask("tag Tea with #reviewed")
        assert turn.state == "done"
        assert pilot.approvals.dialog is None
        assert "read-only" in pilot.said()

    app_run(use)
    assert everything_in(garden) == before
