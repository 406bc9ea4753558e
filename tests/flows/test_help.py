"""The help buttons of the real window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QAbstractButton, QWidget

from app.desktop.help.dialog import HelpDialog
from app.desktop.shell.command_registry import PANELS
from tests.flows.pilot import Pilot


def help_buttons(inside: QWidget) -> list[QAbstractButton]:
    buttons = inside.findChildren(QAbstractButton)
    return [each for each in buttons if each.accessibleName() == "Help" and each.isVisible()]


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
        await pilot.until(lambda: window.findChildren(HelpDialog), "the help opens")
        (help_window,) = window.findChildren(HelpDialog)
        assert help_window.current == "Audit log"
        help_window.close()

    app_run(use)


def test_f1_opens_the_page_of_the_panel_with_the_focus(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        window = pilot.window
        await pilot.open(garden)
        window.menu.run("show-search")
        await pilot.until(lambda: window.view.page.panel_in_focus() == "search")
        window.menu.run("help-handbook")
        await pilot.until(lambda: window.findChildren(HelpDialog), "the help opens")
        (help_window,) = window.findChildren(HelpDialog)
        assert help_window.current == "Search"
        # Examples name a note of this vault.
        texts = "".join(page.text for page in help_window._pages.values() if page.group == "Panels")
        notes = await pilot.run(lambda workspace: workspace.index.most_linked(1))
        assert f"*find notes about {notes[0].name}*" in texts
        help_window.close()

    app_run(use)
