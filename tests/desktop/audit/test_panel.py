"""The audit panel on a real vault: live rows, filters, exports, the chain, diffs and undo."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication

from app.desktop.approval.approval_queue import ApprovalQueue
from app.desktop.audit.labels import decision_color, decision_label
from app.desktop.audit.model import DECISION, RESULT, TOOL, AuditEntriesModel, matches_filter
from app.desktop.audit.panel import AuditPanel
from app.desktop.bridge import ServiceThread
from app.desktop.notes.changes_dialog import ChangesDialog
from app.desktop.notes.conflict_dialog import ConflictDialog
from app.desktop.runtime import tasks
from app.desktop.theme.colors import DARK, LIGHT
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.permissions.approval import Denied
from app.permissions.audit_entry import AuditDecision, AuditEntry, AuditFilter
from tests.desktop.whole_vault import AGENT, WholeVault, whole_vault

NOTES = {"A.md": "# A\n\none\ntwo\n", "B.md": "See [[A]].\n"}


def entry(number: int, **fields: object) -> AuditEntry:
    values = ("mcp", "claude", "edit_note", "update", "1 file", "{}", "user-approved", "", "done")
    default = AuditEntry(1000.0 + number, *values, number)
    return replace(default, **fields)


def panel_of(vault: WholeVault) -> AuditPanel:
    return AuditPanel(vault.client, ThemeSource("light"))


def column(panel: AuditPanel, number: int) -> list[str]:
    model = panel.model
    return [model.index(row, number).data() for row in range(model.rowCount())]


async def add_line(vault: WholeVault, text: str = "three") -> object:
    return await vault.call("edit_note", {"name": "A", "op": "append", "text": text})


def test_rows_appear_as_calls_happen(gui, service: ServiceThread, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            await vault.call("read_note", {"name": "A"})
            panel = panel_of(vault)
            await wait_until(lambda: column(panel, TOOL) == ["Read note"])
            assert (await add_line(vault)).success
            vault.decision = Denied("not now")
            assert (await add_line(vault, "four")).denied
            await wait_until(lambda: len(column(panel, TOOL)) == 3)
            assert column(panel, DECISION) == ["user-denied", "user-approved", "no-approval-needed"]
            panel.choose(0)
            assert "not now" in panel.detail.entry.reason
            assert not panel.detail.undo_button.isEnabled()
            panel.choose(1)
            assert panel.detail.undo_button.isEnabled()

    gui(main())


def test_an_empty_log_explains_its_purpose(gui, service: ServiceThread, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            panel = panel_of(vault)
            await wait_until(lambda: panel._stack.currentIndex() == 1)
            await vault.call("read_note", {"name": "A"})
            await wait_until(lambda: panel._stack.currentIndex() == 0)
            panel.filters.text.setText("no such words")
            await wait_until(lambda: panel._stack.currentIndex() == 1)

    gui(main())


def test_undo_goes_through_the_dialog_and_marks_the_entry(gui, service, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            panel = panel_of(vault)
            await add_line(vault)
            await wait_until(lambda: len(column(panel, TOOL)) == 1)
            vault.answers_itself = False
            now = [0.0]
            queue = ApprovalQueue(None, ThemeSource("light"), lambda: now[0])
            vault.approver.asked.connect(queue.add)
            panel.choose(0)
            panel.detail.undo_button.click()
            await wait_until(lambda: queue.dialog is not None)
            # The dialog is built in parts; only a displayed one can be answered.
            await wait_until(lambda: queue.dialog.page is not None and queue.dialog.isVisible())
            now[0] += 1
            await wait_until(lambda: queue.dialog.input_delay.is_ready)
            assert (tmp_path / "A.md").read_text() != NOTES["A.md"]
            queue.dialog.bar.approve_button.click()
            await wait_until(lambda: column(panel, TOOL) == ["Undo", "Edit note"])
            assert (tmp_path / "A.md").read_text() == NOTES["A.md"]
            assert column(panel, RESULT)[1].endswith("(undone)")
            assert not panel.detail.undo_button.isEnabled()

    gui(main())


def test_the_chosen_entry_stays_visible_when_another_comes(gui, service, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            panel = panel_of(vault)
            panel.show()
            await add_line(vault)
            await wait_until(lambda: len(column(panel, TOOL)) == 1)
            panel.choose(0)
            selected = panel.detail.entry
            await vault.call("read_note", {"name": "A"})
            await wait_until(lambda: len(column(panel, TOOL)) == 2)
            assert panel.detail.entry == selected
            assert panel.table.selectionModel().selectedRows()[0].row() == 1
            panel.hide()

    gui(main())


def test_a_whole_turn_is_undone_at_once(gui, service, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            panel = panel_of(vault)
            await add_line(vault)
            await vault.call("edit_note", {"name": "B", "op": "append", "text": "x"})
            await wait_until(lambda: len(column(panel, TOOL)) == 2)
            panel.choose(1)
            panel.detail.turn_button.click()
            await wait_until(lambda: column(panel, TOOL)[0] == "Undo")
            assert {name: (tmp_path / name).read_text() for name in NOTES} == NOTES

    gui(main())


def test_a_conflict_is_resolved_by_the_user(gui, service, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            panel = panel_of(vault)
            edit = {"name": "A", "op": "replace", "text": "TWO", "old": "two"}
            assert (await vault.call("edit_note", edit)).success
            await vault.save("A.md", b"# A\n\none\nzwei\n")
            await wait_until(lambda: len(column(panel, TOOL)) == 2)
            panel.choose(1)
            panel.detail.undo_button.click()
            open_dialogs: list[ConflictDialog] = []

            def opened() -> bool:
                open_dialogs[:] = [w for w in QApplication.topLevelWidgets() if isinstance(w, ConflictDialog)]
                return bool(open_dialogs)

            await wait_until(opened)
            dialog = open_dialogs[0]
            assert dialog.choices() == {}
            dialog.theirs_button.click()
            dialog.accept()
            await wait_until(lambda: (tmp_path / "A.md").read_text() == NOTES["A.md"])
            await wait_until(lambda: column(panel, TOOL)[0] == "Undo" and len(panel.model.entries) == 4)
            assert len(vault.asked) == 2 and vault.asked[-1].request.tool == "undo"
            undone = panel.model.entries[0]
            assert (undone.decision, undone.undoes) == ("user-approved", (panel.model.entries[3].commit,))
            assert panel.model.entries[3].undone_by == undone.id

    gui(main())


def test_the_diff_of_an_entry_is_what_was_written(gui, service, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            panel = panel_of(vault)
            await add_line(vault)
            await wait_until(lambda: len(column(panel, TOOL)) == 1)
            panel.choose(0)
            panel.detail.diff_button.click()
            open_dialogs: list[ChangesDialog] = []

            def opened() -> bool:
                open_dialogs[:] = [w for w in QApplication.topLevelWidgets() if isinstance(w, ChangesDialog)]
                return bool(open_dialogs)

            await wait_until(opened)
            diff = open_dialogs[0].diff_view.diff
            assert b"".join(diff.before) == NOTES["A.md"].encode()
            assert b"".join(diff.after) == (tmp_path / "A.md").read_bytes()
            open_dialogs[0].reject()

    gui(main())


def test_filters_ask_the_log(gui, service, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            await vault.call("Read note", {"name": "A"})
            await vault.call("Read note", {"name": "B"}, replace(AGENT, name="Other"))
            await add_line(vault)
            panel = panel_of(vault)
            await wait_until(lambda: len(column(panel, TOOL)) == 3)
            panel.filters.caller.setCurrentIndex(panel.filters.caller.findData("Other"))
            await wait_until(lambda: column(panel, TOOL) == ["Read note"])
            panel.filters.clear()
            panel.filters.decision.setCurrentIndex(
                panel.filters.decision.findData(AuditDecision.USER_APPROVED.value)
            )
            await wait_until(lambda: column(panel, TOOL) == ["Edit note"])
            await vault.call("Read note", {"name": "A"})
            await add_line(vault, "five")
            await wait_until(lambda: column(panel, TOOL) == ["Edit note", "Edit note"])

    gui(main())


def test_a_requested_entry_stays_selected_when_the_filter_was_cleared(
    gui, service, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            for name in ("A", "B", "A"):
                await vault.call("read_note", {"name": name})
            panel = panel_of(vault)
            panel.filters.decision.setCurrentIndex(
                panel.filters.decision.findData(AuditDecision.USER_APPROVED.value)
            )
            await wait_until(lambda: panel.model.rowCount() == 0 and not panel.filters._timer.isActive())
            applied: list[AuditFilter] = []
            panel.filters.changed.connect(applied.append)
            panel.show_entry(2)
            await wait_until(lambda: panel.detail.entry is not None and applied == [AuditFilter()])
            for _ in range(3):  # A reload would be answered before these.
                await vault.client.run(lambda ws: ws.history.entries(AuditFilter(), 1))
            assert panel.detail.entry is not None and panel.detail.entry.id == 2
            await tasks.cancel_all()

    gui(main())


def test_a_call_during_the_choice_of_a_filter_is_not_left_out(
    gui, service, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            await vault.call("read_note", {"name": "A"})
            panel = panel_of(vault)
            await wait_until(lambda: panel.model.rowCount() == 1)
            box = panel.filters.decision
            box.setCurrentIndex(box.findData(AuditDecision.USER_APPROVED.value))
            panel.filters._timer.stop()
            await vault.call("read_note", {"name": "B"})
            await wait_until(lambda: panel.model.rowCount() == 2)
            await tasks.cancel_all()

    gui(main())


def test_the_chain_is_checked_and_the_first_bad_row_named(gui, service, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            for _ in range(3):
                await vault.call("read_note", {"name": "A"})
            panel = panel_of(vault)
            await panel.verify()
            assert panel.status_label.text() == "Log intact: 3 entries verified"
            await vault.run(
                lambda ws: ws.audit._connection.execute("UPDATE audit SET caller = 'x' WHERE id = 2")
            )
            await panel.verify()
            assert panel.status_label.text().startswith("Log damaged at entry 2")
            assert panel.status_label.property("tone") == "danger"

    gui(main())


def test_a_log_that_cannot_be_read_is_reported_without_an_entry(gui, service, tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise sqlite3.DatabaseError("database disk image is malformed")

    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            panel = panel_of(vault)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("app.permissions.audit.check", fail)
                await panel.verify()
            label = panel.status_label
            assert label.text() == "Log damaged: the log can't be read: database disk image is malformed"
            assert label.property("tone") == "danger"

    gui(main())


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_what_is_shown_is_exported(gui, service, tmp_path: Path, monkeypatch, suffix: str) -> None:
    target = tmp_path / f"out.{suffix}"

    async def pick(*_: object) -> Path:
        return target

    monkeypatch.setattr(dialogs, "pick_save_file", pick)

    async def main() -> None:
        async with whole_vault(tmp_path / "vault", service, NOTES) as vault:
            await vault.call("read_note", {"name": "A"})
            await vault.call("list_notes", {})
            panel = panel_of(vault)
            panel.filters.add_choices(entry(1, tool="read_note"))
            panel.filters.tool.setCurrentIndex(panel.filters.tool.findData("read_note"))
            await panel.export(suffix)

    gui(main())
    lines = target.read_text("utf-8-sig").splitlines()
    if suffix == "csv":
        assert len(lines) == 2
        assert "read_note" in lines[1]
    else:
        assert [json.loads(line)["tool"] for line in lines] == ["read_note"]


def test_older_pages_come_when_the_end_is_near(gui, service, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            await vault.run(lambda ws: [ws.audit.append(entry(0)) for _ in range(450)] and None)
            panel = panel_of(vault)
            await wait_until(lambda: panel.model.rowCount() == 200)
            await panel.load_more()
            await panel.load_more()
            await panel.load_more()
            assert [e.id for e in panel.model.entries] == list(range(450, 0, -1))
            await tasks.cancel_all()

    gui(main())


def test_the_model_keeps_qts_rules(qapp) -> None:
    model = AuditEntriesModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning, model)
    model.replace_all([entry(5), entry(4)])
    model.add_older([entry(3)])
    model.add_newer([entry(6), entry(7)])
    model.add_newer([entry(7)])
    assert [e.id for e in model.entries] == [7, 6, 5, 4, 3]
    model.replace_all([])
    assert model.oldest_id is None


def test_hidden_characters_of_a_result_are_named(qapp) -> None:
    model = AuditEntriesModel()
    model.replace_all([entry(1, result="safe\u202e")])
    assert model.index(0, RESULT).data() == "safe⟨RLO⟩"


@pytest.mark.parametrize(
    ("criteria", "is_match"),
    [
        (AuditFilter(), True),
        (AuditFilter(text="CLAUDE"), True),
        (AuditFilter(text="nobody"), False),
        (AuditFilter(tool="edit_note", caller="claude"), True),
        (AuditFilter(decision="rule"), False),
        (AuditFilter(since=1001.0, until=1001.0), True),
        (AuditFilter(until=1000.0), False),
    ],
)
def test_live_rows_pass_the_same_filter(criteria: AuditFilter, is_match: bool) -> None:
    assert matches_filter(entry(1), criteria) is is_match


def test_live_rows_are_filtered_without_regard_to_case() -> None:
    assert matches_filter(entry(1, result="Große Tasse"), AuditFilter(text="GROSSE TASSE"))


def test_every_decision_has_a_label_and_a_color(qapp) -> None:
    labels = [decision_label(decision) for decision in AuditDecision]
    assert len(set(labels)) == len(labels)
    for theme in (LIGHT, DARK):
        assert all(decision_color(decision, theme).startswith("#") for decision in AuditDecision)
    assert decision_label("from a newer app") == "from a newer app"


def test_chips_have_the_color_of_the_decision(gui, service, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            await add_line(vault)
            panel = panel_of(vault)
            panel.resize(1100, 300)
            panel.show()
            await wait_until(lambda: column(panel, TOOL) == ["Edit note"])
            rect = panel.table.visualRect(panel.model.index(0, DECISION))
            image = panel.table.viewport().grab(rect).toImage()
            points = ((x, y) for x in range(image.width()) for y in range(image.height()))
            colors = {image.pixelColor(x, y).name() for x, y in points}
            assert LIGHT.success in colors
            panel.hide()

    gui(main())
