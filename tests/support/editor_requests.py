"""The live editor's requests for drawings and links."""

from __future__ import annotations

from PySide6.QtTest import QTest

from app.desktop.notes.editor.live_editor import LiveEditor


def wait_for_requests(editor: LiveEditor) -> None:
    """Wait until the editor has sent the requests of its last paint."""
    QTest.qWait(1)
    while editor._request_timer.isActive():
        QTest.qWait(1)
