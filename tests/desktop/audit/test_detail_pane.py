"""The details of an audit entry."""

from __future__ import annotations

from app.desktop.audit.detail_pane import DetailPane
from app.desktop.theme.theme import ThemeSource
from app.permissions.audit_entry import AuditEntry


def test_a_screen_reader_reads_which_undo_the_button_offers(qtbot) -> None:
    pane = DetailPane(ThemeSource("light"))
    qtbot.addWidget(pane)
    words = ("save", "write", "A.md", "{}", "user-approved", "", "Changed A.md")
    pane.show_entry(AuditEntry(0.0, "user", "Terminal", *words, id=1, turn="t", commit=1))
    assert pane.turn_button.text() == "Undo the whole session"
    assert pane.turn_button.accessibleName() == "Undo the whole session"
