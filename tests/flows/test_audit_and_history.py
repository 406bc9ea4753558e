"""Looking back: the audit log filtered, searched, exported, verified; diffs; the history of a note."""

from __future__ import annotations

import csv
import json
import sqlite3
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLineEdit

from app import paths
from app.desktop.notes.changes_dialog import ChangesDialog
from app.desktop.notes.conflict_dialog import ConflictDialog
from app.desktop.notes.history_dialog import HistoryDialog
from app.permissions.caller import Caller, CallerKind
from tests.flows.files import everything_in
from tests.flows.pilot import Pilot

CLAUDE = Caller(CallerKind.MCP, "claude")
SCRIPT = Caller(CallerKind.CLI, "script")


async def some_history(pilot: Pilot) -> None:
    """Make six calls by two callers: reads, approvals, a denial, a failure."""
    for tool, arguments, caller, answer in (
        ("read_note", {"name": "Tea"}, CLAUDE, ""),
        ("add_tag", {"name": "Tea", "tag": "drink"}, CLAUDE, "yes"),
        ("add_tag", {"name": "Water", "tag": "drink"}, SCRIPT, "yes"),
        ("delete_note", {"name": "Water"}, SCRIPT, "no"),
        ("read_note", {"name": "No such note"}, SCRIPT, ""),
        ("edit_note", {"name": "Tea", "op": "append", "text": "Oolong."}, CLAUDE, "yes"),
    ):
        call = pilot.start_call(tool, arguments, caller)
        if answer:
            await (pilot.approve() if answer == "yes" else pilot.deny("keep it"))
        await call


def test_the_log_is_filtered_searched_and_exported(app_run, garden: Path, tmp_path: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        panel = await pilot.show_audit()
        await some_history(pilot)
        await pilot.until(lambda: len(pilot.entries) == 6, "it follows live")
        assert [entry.decision for entry in pilot.entries] == [
            "user-approved",
            "failed",
            "user-denied",
            "user-approved",
            "user-approved",
            "no-approval-needed",
        ]
        await pilot.click(panel.filters.text)
        QTest.keyClicks(panel.filters.text, "oolong")
        await pilot.until(lambda: [entry.tool for entry in pilot.entries] == ["edit_note"])
        panel.filters.text.clear()
        panel.filters.caller.setCurrentIndex(panel.filters.caller.findData("script"))
        await pilot.until(lambda: len(pilot.entries) == 3, "the calls of one caller")
        panel.filters.decision.setCurrentIndex(panel.filters.decision.findData("user-denied"))
        await pilot.until(lambda: [entry.tool for entry in pilot.entries] == ["delete_note"])
        panel.filters.decision.setCurrentIndex(0)
        panel.filters.dates.setCurrentIndex(1)
        await pilot.until(lambda: len(pilot.entries) == 3, "today's calls")
        for suffix, entry in (("csv", "As CSV…"), ("jsonl", "As JSON Lines…")):
            await export(pilot, entry, tmp_path / f"log.{suffix}")
        rows = list(csv.DictReader((tmp_path / "log.csv").read_text("utf-8").splitlines()))
        lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text("utf-8").splitlines()]
        assert [row["tool"] for row in rows] == [line["tool"] for line in lines]
        assert sorted(row["tool"] for row in rows) == ["add_tag", "delete_note", "read_note"]
        assert {row["caller"] for row in rows} == {"script"}
        assert any("keep it" in json.dumps(line) for line in lines)

    app_run(use)


async def export(pilot: Pilot, entry: str, file: Path) -> None:
    """Export filtered entries with the menu and the file dialog."""
    panel = pilot.audit
    menu = panel.export_button.menu()
    await pilot.click(panel.export_button)
    await pilot.choose(menu, entry)
    await pilot.until(lambda: pilot.sheets, "the file is asked for")
    (dialog,) = pilot.sheets
    assert isinstance(dialog, QFileDialog)
    field = dialog.findChild(QLineEdit)
    assert field is not None
    field.setText(str(file))
    QTest.keyClick(field, Qt.Key.Key_Return)
    await pilot.until(lambda: file.name in panel.status_label.text(), "it is written")


def test_a_diff_is_opened_from_the_log(app_run, garden: Path) -> None:
    before = (garden / "Tea.md").read_bytes()

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await some_history(pilot)
        entry = await pilot.select_entry("edit_note")
        tagged = (garden / "Tea.md").read_bytes().removesuffix(b"Oolong.\n")
        assert tagged != before
        await pilot.press("Open diff", pilot.audit)
        await pilot.until(lambda: pilot.sheets, "the diff is open")
        (dialog,) = pilot.sheets
        assert isinstance(dialog, ChangesDialog) and entry.commit is not None
        await pilot.until(lambda: dialog.diff_view.diff is not None, "it is compared")
        diff = dialog.diff_view.diff
        assert diff is not None and b"".join(diff.before) == tagged
        assert b"".join(diff.after) == tagged + b"Oolong.\n"
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        await pilot.until(lambda: not pilot.sheets)

    app_run(use)


def test_a_row_that_was_tampered_with_is_named(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await some_history(pilot)
        assert (await pilot.verdict()).startswith("Log intact: 6 entries")
        database = next(paths.vault_data_folder(garden).glob("audit.sqlite3"), None)
        assert database is not None
        tamper(database)
        assert (await pilot.verdict()).startswith("Log damaged at entry 3")
        assert pilot.audit.status_label.property("tone") == "danger"

    app_run(use)


def tamper(database: Path) -> None:
    """Change the caller in the third row, bypassing the triggers that forbid it."""
    with sqlite3.connect(database) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type='trigger'").fetchall()
        for (name,) in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        table = next(name for name in tables if name in ("entries", "audit"))
        connection.execute(f"UPDATE {table} SET caller = 'nobody' WHERE id = 3")
    connection.close()


def test_an_older_version_is_restored_from_the_history(app_run, garden: Path) -> None:
    before = everything_in(garden)

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await some_history(pilot)
        note = await pilot.open_note("Tea.md")
        note._header.action_requested.emit("history")
        await pilot.until(lambda: pilot.sheets, "the history is open")
        (dialog,) = pilot.sheets
        assert isinstance(dialog, HistoryDialog)
        await pilot.until(lambda: len(dialog.versions) == 3, "three versions")
        assert [version.author for version in dialog.versions][:2] == ["claude", "claude"]
        dialog.list.setCurrentItem(dialog.list.topLevelItem(2))
        await pilot.press("Restore this version…", dialog)
        await pilot.approve()
        await pilot.until(lambda: (garden / "Tea.md").read_bytes() == before["Tea.md"])
        await pilot.until(lambda: len(dialog.versions) == 4, "the text that was there is a version now")
        await pilot.press("Close", dialog)
        await pilot.until(lambda: "Oolong" not in note.editor.toPlainText(), "the tab follows")
        entry = await pilot.select_entry("restore_note")
        assert entry.caller_kind == "user" and entry.decision == "user-approved"

    app_run(use)


def test_later_edits_conflict_and_the_user_decides(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        call = pilot.start_call(
            "edit_note", {"name": "Water", "op": "replace", "old": "a hundred", "text": "100"}, CLAUDE
        )
        await pilot.approve()
        await call
        water = garden / "Water.md"
        note = await pilot.open_note("Water.md")
        await pilot.edit(note)
        note.editor.moveCursor(QTextCursor.MoveOperation.Start)
        assert note.editor.find("100 degrees")
        QTest.keyClicks(note.editor, "212 Fahrenheit")
        await pilot.save(note)
        saved = water.read_bytes()
        await pilot.select_entry("edit_note")
        await pilot.press("Undo", pilot.audit)
        await pilot.until(lambda: pilot.sheets, "the conflict is shown")
        (dialog,) = pilot.sheets
        assert isinstance(dialog, ConflictDialog) and water.read_bytes() == saved
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        await pilot.until(lambda: not pilot.sheets)
        assert water.read_bytes() == saved

    app_run(use)
