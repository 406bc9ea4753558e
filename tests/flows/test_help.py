"""The help of the real window: the buttons of the panels, and the handbook in a tab among the notes."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QWidget

from app.desktop.help.dialog import HelpDialog
from app.desktop.help.pages import FIRST
from app.desktop.notes.handbook_tab import HandbookTab
from app.desktop.shell.command_registry import PANELS
from tests.flows.files import everything_in
from tests.flows.pilot import Pilot


def help_buttons(inside: QWidget) -> list[QAbstractButton]:
    buttons = inside.findChildren(QAbstractButton)
    return [each for each in buttons if each.accessibleName() == "Help" and each.isVisible()]


async def shown_page(pilot: Pilot, page: str) -> HandbookTab:
    """Return the tab of the handbook once it is active with a page."""
    notes = pilot.note_area
    await pilot.until(
        lambda: isinstance(notes.current, HandbookTab) and notes.address == f"handbook://{page}",
        f"the page {page!r} is shown",
    )
    tab = notes.current
    assert isinstance(tab, HandbookTab)
    await pilot.until(lambda: tab.isVisible(), "the tab is in front")
    return tab


def test_every_panel_has_a_button_that_opens_its_page(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        window = pilot.window
        window.resize(1400, 900)
        await pilot.open(garden)
        await pilot.open_note("Plants/Camellia.md")
        page = window.view.page
        window.view.command.disconnect(window._run_page_command)
        wanted: list[str] = []
        page.command.connect(wanted.append)
        for panel in PANELS:
            shown = page.existing(panel.id)
            if panel.area in ("side", "bottom") and not (shown is not None and shown.isVisible()):
                window.menu.run(f"show-{panel.id}")
            place = page.bottom if panel.area == "bottom" else page.panel(panel.id)
            await pilot.until(lambda place=place: len(help_buttons(place)) == 1, f"{panel.id} has a button")
            await pilot.click(help_buttons(place)[0])
            assert wanted[-1] == f"help:panel:{panel.id}"
        window._run_page_command("help:panel:audit")
        await shown_page(pilot, "Audit log")

    app_run(use)


def test_the_handbook_is_read_in_a_tab_that_is_no_note(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        window = pilot.window
        window.resize(1400, 900)
        await pilot.open(garden)
        files_before = everything_in(garden)
        await pilot.open_note("Plants/Camellia.md")
        window.menu.run("show-search")
        await pilot.until(lambda: window.view.page.panel_in_focus() == "search")
        window.menu.run("help-handbook")
        tab = await shown_page(pilot, "Search")
        # Examples name a note of this vault.
        texts = "".join(page.text for page in tab._pages.values() if page.group == "Panels")
        notes = await pilot.run(lambda workspace: workspace.index.most_linked(1))
        assert f"*find notes about {notes[0].name}*" in texts

        # For the rest of the window, no note is open: neither its commands nor the agent have one.
        enabled = {command.id for command in window.menu.available()}
        assert {"close-tab", "find-in-note", "split-right", "next-tab", "back"} <= enabled
        for command in ("save-note", "edit-note", "note-rename", "note-delete", "note-links", "export-pdf"):
            assert command not in enabled
        assert window.view.context.note_path == "" and pilot.agent._get_open_note() is None

        # Links, and back and forward among pages and notes.
        await pilot.follow(tab.page, "Search language")
        assert await shown_page(pilot, "Search language") is tab
        window.menu.run("back")
        await shown_page(pilot, "Search")
        window.menu.run("back")
        await pilot.shown("Plants/Camellia.md")
        assert "save-note" in {command.id for command in window.menu.available()}
        window.menu.run("forward")
        window.menu.run("forward")
        await shown_page(pilot, "Search language")
        assert not window.navigation.can_go_forward
        assert len(pilot.note_area.tabs()) == 2

        # The page of the notes panel does not replace another page.
        tab.search.setFocus()
        window.menu.run("help-handbook")
        await pilot.until(tab.page.hasFocus, "the page has the focus")
        window._run_page_command("help:panel:notes")
        assert await shown_page(pilot, "Search language") is tab
        assert not window.navigation.can_go_forward

        # Find in the page.
        window.menu.run("find-in-note")
        await pilot.until(lambda: tab.find_bar.isVisible(), "the find bar is shown")
        QTest.keyClicks(tab.find_bar.field, "tag")
        assert tab.page.textCursor().selectedText().casefold() == "tag"
        QTest.keyClick(tab.find_bar.field, Qt.Key.Key_Escape)

        # Splitting moves the tab to a second group; it does not open the page twice.
        window.menu.run("split-right")
        await pilot.until(lambda: pilot.note_area.splitter.count() == 2, "there are two groups")
        await shown_page(pilot, "Search language")
        assert pilot.note_area.state()["groups"] == [
            ["Plants/Camellia.md"],
            ["handbook://Search language"],
        ]

        # A closed tab opens again at its page; nothing was written.
        window.menu.run("close-tab")
        await pilot.until(lambda: len(pilot.note_area.tabs()) == 1, "the tab is closed")
        window.menu.run("reopen-tab")
        await shown_page(pilot, "Search language")
        assert everything_in(garden) == files_before

    app_run(use)


def test_a_tab_of_the_handbook_is_restored_with_the_notes(app_run, garden: Path) -> None:
    async def leave_open(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.open_note("Plants/Camellia.md")
        pilot.window.menu.run("help-tools")
        await shown_page(pilot, "tools")

    async def return_to_it(pilot: Pilot) -> None:
        await pilot.open(garden)
        tab = await shown_page(pilot, "tools")
        assert [each.address for each in pilot.note_area.tabs()] == ["Plants/Camellia.md", "handbook://tools"]
        # A tool is run from its page.
        await pilot.click(tab.contents_button)
        await pilot.click(tab.search)
        QTest.keyClicks(tab.search, "add_tag")
        QTest.keyClick(tab.search, Qt.Key.Key_Return)
        await shown_page(pilot, "tool:add_tag")
        called: list[str] = []
        pilot.note_area.tool_requested.connect(called.append)
        pilot.window.view.command.disconnect(pilot.window._run_page_command)
        commands: list[str] = []
        pilot.window.view.command.connect(commands.append)
        await pilot.click(tab.run_button)
        assert called == ["add_tag"] and commands == ["tool:add_tag"]

    app_run(leave_open)
    app_run(return_to_it)


def test_without_a_vault_the_handbook_opens_in_a_dialog(app_run) -> None:
    async def use(pilot: Pilot) -> None:
        window = pilot.window
        window.menu.run("help-handbook")
        await pilot.until(lambda: window.findChildren(HelpDialog), "the help opens")
        (dialog,) = window.findChildren(HelpDialog)
        assert dialog.view.current == FIRST and not dialog.isModal()
        dialog.close()

    app_run(use)
