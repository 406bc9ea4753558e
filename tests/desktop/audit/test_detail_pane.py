"""The details of an audit entry."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QLabel

from app.desktop.audit.detail_pane import DetailPane
from app.desktop.theme.theme import ThemeSource
from app.permissions.audit_entry import AuditDecision, AuditEntry, reason_after_approval


def test_a_screen_reader_reads_which_undo_the_button_offers(qtbot) -> None:
    pane = DetailPane(ThemeSource("light"))
    qtbot.addWidget(pane)
    words = ("save", "write", "A.md", "{}", "user-approved", "", "Changed A.md")
    pane.show_entry(AuditEntry(0.0, "user", "Terminal", *words, id=1, turn="t", commit=1))
    assert pane.turn_button.text() == "Undo the whole session"
    assert pane.turn_button.accessibleName() == "Undo the whole session"


_ENTRY = AuditEntry(
    0.0,
    "desktop-agent",
    "Built-in agent",
    "add_tag",
    "update",
    "write_update: 1 file, 863 bytes",
    "{}",
    "user-approved",
    "approved by the user",
    "Tagged [[Longitude]] with #reviewed.",
    id=1,
)


def shown(pane: DetailPane) -> list[str]:
    return [label.text() for label in pane._area.findChildren(QLabel)]


def test_the_details_of_a_change_name_no_internals(qtbot) -> None:
    pane = DetailPane(ThemeSource("light"))
    qtbot.addWidget(pane)
    pane.show_entry(_ENTRY)
    texts = shown(pane)
    assert {"Add tag", "Approved", "1 file, 863 bytes"} < set(texts)
    assert "Tagged “Longitude” with #reviewed." in texts
    assert not any(name in text for text in texts for name in ("desktop-agent", "write_update", "[["))


@pytest.mark.parametrize(
    ("reason", "decision"),
    [("not yet", "Denied: not yet"), ("Denied by the user.", "Denied")],
)
def test_a_denial_is_stated_once_with_the_users_reason(qtbot, reason: str, decision: str) -> None:
    pane = DetailPane(ThemeSource("light"))
    qtbot.addWidget(pane)
    pane.show_entry(replace(_ENTRY, decision="user-denied", reason=reason, result="denied"))
    assert [text for text in shown(pane) if "denied" in text.lower()] == [decision]


def test_a_failure_after_an_approval_is_stated_once(qtbot) -> None:
    pane = DetailPane(ThemeSource("light"))
    qtbot.addWidget(pane)
    failure = "conflict: The note has changed."
    for decision, text in (("auto-approved", "Failed after approval"), ("rule", "Failed")):
        reason = reason_after_approval(AuditDecision(decision), failure)
        pane.show_entry(replace(_ENTRY, decision="failed", reason=reason, result=failure))
        assert text in shown(pane) and shown(pane).count("The note has changed.") == 1


@pytest.mark.parametrize(
    ("scope", "text"),
    [
        ("read_in_scope", "The vault"),
        ("read_out_of_scope: /home/me/papers", "/home/me/papers"),
        ("a scope of a later version: 1 file", "a scope of a later version: 1 file"),
    ],
)
def test_the_scope_is_shown_without_the_name_of_its_kind(qtbot, scope: str, text: str) -> None:
    pane = DetailPane(ThemeSource("light"))
    qtbot.addWidget(pane)
    pane.show_entry(replace(_ENTRY, scope=scope))
    assert text in shown(pane)
