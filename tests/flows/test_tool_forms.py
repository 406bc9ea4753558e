"""Tools are run with a form from the palette, and switched off in the settings."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLineEdit, QPlainTextEdit

from app.desktop.settings.dialog import SettingsDialog
from app.desktop.settings.tool_categories import ToolCategoryList
from app.desktop.tool_form.fields import NameField
from app.desktop.tool_form.form import ToolFormDialog
from app.desktop.tool_form.result_dialog import ResultDialog
from app.permissions.caller import Caller, CallerKind
from app.permissions.tool_label import tool_label
from app.settings import Settings, save_settings
from tests.flows.pilot import Pilot

OUTSIDER = Caller(CallerKind.MCP, "claude", turn="t")
# A tool of every category, its input, and its result.
BY_HAND = (
    ("notes", "create_note", {"name": "Sencha", "content": "A green one."}, "Created Sencha"),
    ("search", "search_by_tags", {"tags": "nature"}, "2 notes"),
    ("tags", "add_tag", {"name": "Tea", "tag": "drink"}, "Tagged Tea"),
    ("nodes", "get_node", {"node_id": "Tea"}, "Tea is a concept"),
    (
        "relationships",
        "create_relationship",
        {"from_id": "Tea", "to_id": "Water", "relationship_type": "uses"},
        "Tea uses Water",
    ),
    ("memory", "recall", {"op": "insert", "content": "Tea is hot."}, "remember"),
    ("memory_context", "context", {"op": "append", "label": "human", "content": "Likes tea."}, "human"),
    ("sources", "source", {"op": "list"}, "No sources"),
    ("messages", "send_message", {"target": "user", "content": "Tea is ready."}, "Messages"),
    ("filesystem", "find", {"pattern": "*.md"}, "in the vault"),
    ("development", "git", {"op": "add", "paths": "Tea.md, Water.md"}, ""),
    ("web", "fetch_page", {"url": "http://127.0.0.1:9/tea"}, "127.0.0.1"),
    ("agents", "list_tools", {"query": "rename"}, "move_note"),
)


async def choose_tool(pilot: Pilot, title: str) -> None:
    """Choose a tool in the command palette by typing its name."""
    palette = pilot.window.palette_controller._palette
    pilot.window.menu.run("commands")
    await pilot.until(palette.isVisible, "the palette is open")
    QTest.keyClicks(palette.field, title)
    await pilot.until(lambda: palette._is_ranked and palette.model.rowCount(), "it is found")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)


async def form(pilot: Pilot) -> ToolFormDialog:
    await pilot.until(
        lambda: any(isinstance(sheet, ToolFormDialog) for sheet in pilot.sheets), "the form is shown"
    )
    return next(sheet for sheet in pilot.sheets if isinstance(sheet, ToolFormDialog))


async def result(pilot: Pilot) -> ResultDialog:
    await pilot.until(lambda: any(isinstance(s, ResultDialog) for s in pilot.sheets), "the result is shown")
    return next(sheet for sheet in pilot.sheets if isinstance(sheet, ResultDialog))


async def settled(pilot: Pilot, gone: str, there: str = "") -> None:
    """Wait until the palette lacks one tool and has the other."""
    while True:
        offered = await tools_in_the_palette(pilot)
        if gone not in offered and (not there or there in offered):
            return
        pilot.check()


async def tools_in_the_palette(pilot: Pilot) -> set[str]:
    return {
        choice.text
        for choice in await pilot.window.palette_controller._commands()
        if choice.key.startswith("tool:")
    }


def test_a_tool_with_operations_is_run_by_its_form(app_run, garden: Path) -> None:
    camellia = garden / "Plants" / "Camellia.md"
    before = camellia.read_bytes()

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await choose_tool(pilot, "Edit note")
        asked = await form(pilot)
        assert asked.visible_arguments == ("op", "name", "text")
        op = asked.editors["op"].control
        assert isinstance(op, QComboBox)
        op.setCurrentIndex(op.findData("insert_under"))
        assert asked.visible_arguments == ("op", "name", "text", "heading")
        await pilot.press("Run", asked)
        wrong = {name for name, label in asked._errors.items() if label.text()}
        assert wrong == {"name", "text", "heading"} and asked.isVisible()

        name = asked.editors["name"].control
        assert isinstance(name, NameField)
        name.setFocus()
        QTest.keyClicks(name, "camel")
        await pilot.until(lambda: name.popup.labels == ("Camellia",), "the note's name is offered")
        QTest.keyClick(name, Qt.Key.Key_Tab)
        assert name.text() == "Camellia"
        heading = asked.editors["heading"].control
        assert isinstance(heading, NameField)
        heading.setFocus()
        QTest.keyClicks(heading, "car")
        await pilot.until(lambda: heading.popup.labels == ("Care",), "the note's heading is offered")
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


def fill(asked: ToolFormDialog, values: dict[str, str]) -> None:
    """Set the fields of a form, as typing or choosing does."""
    for name, value in values.items():
        control = asked.editors[name].control
        if isinstance(control, QComboBox):
            at = control.findData(value)
            control.setCurrentIndex(at) if at >= 0 else control.setCurrentText(value)
        elif isinstance(control, QPlainTextEdit):
            control.setPlainText(value)
        else:
            assert isinstance(control, QLineEdit)
            control.setText(value)


def test_a_tool_of_every_category_is_run_from_the_palette(app_run, settings: Settings, garden: Path) -> None:
    settings.permissions.categories = dict.fromkeys(("development", "web", "memory_context"), True)
    save_settings(settings)

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        tools = await pilot.run(lambda ws: {tool.name: tool.category for tool in ws.registry.all_tools()})
        assert {category for category, *_ in BY_HAND} == set(tools.values())
        for category, tool, values, said in BY_HAND:
            assert tools[tool] == category
            await choose_tool(pilot, tool_label(tool))
            asked = await form(pilot)
            fill(asked, values)
            await pilot.press("Run", asked)

            def answered(asked: ToolFormDialog = asked) -> list[ToolFormDialog | ResultDialog]:
                kinds = (ToolFormDialog, ResultDialog)
                return [sheet for sheet in pilot.sheets if isinstance(sheet, kinds) and sheet is not asked]

            await pilot.until(lambda: pilot.approvals.dialog or answered(), f"{tool} asks or answers")
            if pilot.approvals.dialog is not None:
                await pilot.approve()
            await pilot.until(answered, f"{tool} has answered")
            (sheet,) = answered()
            told = sheet.answer.toPlainText() if isinstance(sheet, ResultDialog) else sheet.problem.text()
            assert said in told, tool
            sheet.reject()
            await pilot.until(lambda: not pilot.sheets, "all is closed")

    app_run(use)


def test_errors_of_the_tool_appear_in_the_form(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await choose_tool(pilot, "Read note")
        asked = await form(pilot)
        name = asked.editors["name"].control
        assert isinstance(name, QLineEdit)
        name.setText("Watre")
        await pilot.press("Run", asked)
        await pilot.until(
            lambda: [s for s in pilot.sheets if isinstance(s, ToolFormDialog) and s is not asked]
        )
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


def test_a_disabled_category_is_not_in_the_palette_and_is_refused(app_run, garden: Path) -> None:
    async def switches(pilot: Pilot) -> tuple[SettingsDialog, ToolCategoryList]:
        pilot.window.show_settings("tools")
        await pilot.until(lambda: any(isinstance(s, SettingsDialog) for s in pilot.sheets), "settings")
        dialog = next(sheet for sheet in pilot.sheets if isinstance(sheet, SettingsDialog))
        (found,) = dialog.findChildren(ToolCategoryList)
        await pilot.until(lambda: "tags" in found.boxes, "the categories are listed")
        return dialog, found

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        assert "Add tag" in await tools_in_the_palette(pilot)
        dialog, found = await switches(pilot)
        found.boxes["tags"].setChecked(False)
        assert dialog.settings.permissions.categories == {"tags": False}
        dialog.done(0)
        await pilot.until(lambda: not pilot.sheets)
        await settled(pilot, "Add tag")
        outcome = await pilot.start_call("add_tag", {"name": "Tea", "tag": "x"}, OUTSIDER)
        assert outcome.error["type"] == "permission_denied" and "turned off" in outcome.message
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
