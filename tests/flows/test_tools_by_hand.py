"""Journeys through the tools: run by a form from the palette, and switched off in the settings."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLineEdit, QPlainTextEdit

from app.desktop.category_switches import CategorySwitches
from app.desktop.settings_dialog import SettingsDialog
from app.desktop.tool_call.fields import NameLine
from app.desktop.tool_call.form import ToolForm
from app.desktop.tool_call.result_sheet import ResultSheet
from app.permissions.caller import Caller, CallerKind
from tests.flows.pilot import Pilot

OUTSIDER = Caller(CallerKind.MCP, "claude", turn="t")


async def choose_tool(pilot: Pilot, title: str) -> None:
    """Choose a tool in the command palette by typing its name."""
    palette = pilot.window.finder._palette
    pilot.window.menu.run("commands")
    await pilot.until(palette.isVisible, "the palette is open")
    QTest.keyClicks(palette.field, title)
    await pilot.until(lambda: palette._settled and palette.model.rowCount(), "it is found")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)


async def form(pilot: Pilot) -> ToolForm:
    await pilot.until(lambda: any(isinstance(sheet, ToolForm) for sheet in pilot.sheets), "the form is shown")
    return next(sheet for sheet in pilot.sheets if isinstance(sheet, ToolForm))


async def result(pilot: Pilot) -> ResultSheet:
    await pilot.until(lambda: any(isinstance(s, ResultSheet) for s in pilot.sheets), "the result is shown")
    return next(sheet for sheet in pilot.sheets if isinstance(sheet, ResultSheet))


async def settled(pilot: Pilot, gone: str, there: str = "") -> None:
    """Wait until the palette lacks one tool and has the other."""
    while True:
        offered = await tools_in_the_palette(pilot)
        if gone not in offered and (not there or there in offered):
            return
        pilot.check()


async def tools_in_the_palette(pilot: Pilot) -> set[str]:
    return {choice.text for choice in await pilot.window.finder._commands() if choice.key.startswith("tool:")}


def test_a_tool_with_operations_is_run_by_its_form(app_run, garden: Path) -> None:
    camellia = garden / "Plants" / "Camellia.md"
    before = camellia.read_bytes()

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await choose_tool(pilot, "Edit note")
        asked = await form(pilot)
        assert asked.shown == ("op", "name", "text")
        op = asked.editors["op"].control
        assert isinstance(op, QComboBox)
        op.setCurrentIndex(op.findData("insert_under"))
        assert asked.shown == ("op", "name", "text", "heading")
        await pilot.press("Run", asked)
        wrong = {name for name, label in asked._errors.items() if label.text()}
        assert wrong == {"name", "text", "heading"} and asked.isVisible()

        name = asked.editors["name"].control
        assert isinstance(name, NameLine)
        name.setFocus()
        QTest.keyClicks(name, "camel")
        await pilot.until(lambda: name.offered == ("Camellia",), "the note's name is offered")
        QTest.keyClick(name, Qt.Key.Key_Tab)
        assert name.text() == "Camellia"
        heading = asked.editors["heading"].control
        assert isinstance(heading, NameLine)
        heading.setFocus()
        QTest.keyClicks(heading, "car")
        await pilot.until(lambda: heading.offered == ("Care",), "the note's heading is offered")
        QTest.keyClick(heading, Qt.Key.Key_Return)
        assert heading.text() == "Care" and asked.isVisible()
        text = asked.editors["text"].control
        assert isinstance(text, QPlainTextEdit)
        text.setPlainText("Water it.\n")
        await pilot.press("Run", asked)
        await pilot.approve()
        told = await result(pilot)
        assert "Camellia" in told.answer.toPlainText()
        assert b"Water it." in camellia.read_bytes()
        await pilot.press("Undo", told)
        await pilot.approve()
        await pilot.until(lambda: camellia.read_bytes() == before, "it is taken back")

    app_run(use)


def test_what_the_tool_says_is_wrong_comes_back_to_the_form(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await choose_tool(pilot, "Read note")
        asked = await form(pilot)
        name = asked.editors["name"].control
        assert isinstance(name, QLineEdit)
        name.setText("Watre")
        await pilot.press("Run", asked)
        await pilot.until(lambda: [s for s in pilot.sheets if isinstance(s, ToolForm) and s is not asked])
        again = await form(pilot)
        assert "Watre" in again.problem.text() and again.arguments == {"name": "Watre"}
        name = again.editors["name"].control
        assert isinstance(name, QLineEdit)
        name.setText("Tea")
        await pilot.press("Run", again)
        told = await result(pilot)
        assert "A leaf in hot water" in told.answer.toPlainText()
        await pilot.press("Close", told)
        await pilot.until(lambda: not pilot.sheets, "all is closed")

    app_run(use)


def test_a_category_that_is_off_is_gone_from_the_palette_and_refused(app_run, garden: Path) -> None:
    async def switches(pilot: Pilot) -> tuple[SettingsDialog, CategorySwitches]:
        pilot.window._show_settings("tools")
        await pilot.until(lambda: any(isinstance(s, SettingsDialog) for s in pilot.sheets), "settings")
        dialog = next(sheet for sheet in pilot.sheets if isinstance(sheet, SettingsDialog))
        (found,) = dialog.findChildren(CategorySwitches)
        await pilot.until(lambda: "tags" in found.boxes, "the categories are listed")
        return dialog, found

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        assert "Add tag" in await tools_in_the_palette(pilot)
        dialog, found = await switches(pilot)
        found.boxes["tags"].setChecked(False)
        assert dialog.settings.permissions.categories_off == ("tags",)
        dialog.done(0)
        await pilot.until(lambda: not pilot.sheets)
        await settled(pilot, "Add tag")
        outcome = await pilot.start_call("add_tag", {"name": "Tea", "tag": "x"}, OUTSIDER)
        assert outcome.error["type"] == "permission_denied" and "switched off" in outcome.message
        entry = await pilot.select_entry("add_tag")
        assert entry.decision == "rule"

        dialog, found = await switches(pilot)
        found.boxes["tags"].setChecked(True)
        here = found.choices["search"]
        here.setCurrentIndex(here.findData("off"))
        dialog.done(0)
        await pilot.until(lambda: not pilot.sheets)
        await settled(pilot, "Search notes", "Add tag")

    async def anew(pilot: Pilot) -> None:
        await pilot.open(garden)
        offered = await tools_in_the_palette(pilot)
        assert "Add tag" in offered and "Search notes" not in offered, "it is kept for this vault"

    app_run(use)
    app_run(anew)
