"""A source folder: added in the panel, a file of it loaded, edited, saved by the agent, undone."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QFileDialog, QLineEdit

from app.desktop.sources.panel import SourcesPanel
from app.memory.block import Permission
from app.permissions.caller import Caller, CallerKind
from tests.flows.pilot import Pilot

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent", turn="turn-1")


async def add_folder(pilot: Pilot, folder: Path) -> SourcesPanel:
    """Add a folder with the button of the empty panel and the file dialog."""
    pilot.page.show_bottom("sources")
    panel = pilot.panel("sources", SourcesPanel)
    await pilot.until(panel.isVisible, "the panel is shown")
    await pilot.press("Add a folder…", panel.empty)
    await pilot.until(lambda: pilot.sheets, "the folder is asked for")
    (dialog,) = pilot.sheets
    assert isinstance(dialog, QFileDialog)
    field = dialog.findChild(QLineEdit)
    assert field is not None
    field.setText(str(folder))
    QTest.keyClick(field, Qt.Key.Key_Return)
    await pilot.until(lambda: panel.selected is not None, "the source is listed")
    return panel


async def allow_edits(pilot: Pilot, panel: SourcesPanel) -> None:
    """Add and save a rule that every file may be edited."""
    rules = panel.details.rules
    await pilot.click(rules.add_button)
    box = rules.table.cellWidget(0, 1)
    assert isinstance(box, QComboBox) and box.currentData() == Permission.READ_WRITE.value
    rules.table.setFocus()
    await pilot.click(rules.save_button)
    await pilot.until(
        lambda: (chosen := panel.selected) and chosen.config.kind == "files" and chosen.config.rules,
        "the rule holds",
    )
    # The source is reopened with its rules, and its tool is registered again.
    while "file" not in await pilot.run(lambda ws: {tool.name for tool in ws.registry.all_tools()}):
        await asyncio.sleep(0.01)


def test_from_a_folder_in_the_panel_to_a_saved_file_and_back(app_run, garden: Path, tmp_path: Path) -> None:
    desk = tmp_path / "Desk"
    desk.mkdir()
    (desk / "Plan.txt").write_text("one\ntwo\n", "utf-8")

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        panel = await add_folder(pilot, desk)
        assert panel.selected is not None and panel.selected.name == "Desk"
        await allow_edits(pilot, panel)
        for given in (
            {"op": "load", "path": "Plan.txt"},
            {"op": "replace", "path": "Plan.txt", "old": "two", "new": "TWO"},
        ):
            assert (await pilot.start_call("file", given, AGENT)).success
        await pilot.until(lambda: panel.details.loaded.count() == 1, "the panel shows what is loaded")
        call = pilot.start_call("file", {"op": "save", "path": "Plan.txt"}, AGENT)
        dialog = await pilot.question()
        assert dialog.current.request.scope.store_name == "the folder Desk"
        assert (desk / "Plan.txt").read_text("utf-8") == "one\ntwo\n"
        await pilot.approve()
        assert (await call).success
        assert (desk / "Plan.txt").read_text("utf-8") == "one\nTWO\n"
        undoing = pilot.start_call("undo", {"turn": "turn-1"}, AGENT)
        while not undoing.done() and pilot.approvals.dialog is None:
            await pilot.until(lambda: undoing.done() or pilot.approvals.dialog is not None, "it is asked")
        if not undoing.done():
            await pilot.approve()
        assert (await undoing).success
        assert (desk / "Plan.txt").read_text("utf-8") == "one\ntwo\n"

    app_run(use)


def test_a_folder_that_cannot_be_a_source_is_reported_and_a_paused_one_is_closed(
    app_run, garden: Path, tmp_path: Path
) -> None:
    desk = tmp_path / "Desk"
    desk.mkdir()

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        panel = await add_folder(pilot, desk)
        names = await pilot.run(lambda ws: {tool.name for tool in ws.registry.all_tools()})
        assert "file" in names
        await pilot.click(panel.details.pause_button)
        await pilot.until(lambda: panel.selected is not None and panel.selected.config.paused, "it is paused")
        names = await pilot.run(lambda ws: {tool.name for tool in ws.registry.all_tools()})
        assert "file" not in names
        panel.follow_vault()
        await pilot.until(lambda: len(panel.sources) == 2, "the vault is followed")
        panel._start(panel._add(panel.sources[0].config.model_copy(update={"id": "again"})), "add it again")
        await pilot.until(panel.notice.isVisible, "it says why not")
        assert "already" in panel.notice.text() and len(panel.sources) == 2
        await pilot.click(panel.details.remove_button)
        await pilot.press("Remove")
        await pilot.until(lambda: len(panel.sources) == 1, "it is gone")

    app_run(use)
