from __future__ import annotations

import pytest

from app import __version__
from app.desktop.actions import COMMANDS
from app.desktop.help_dialog import HelpDialog
from app.desktop.help_pages import help_pages, shortcuts_page
from app.desktop.theme import ThemeSource
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES


@pytest.fixture
def dialog(qtbot) -> HelpDialog:
    pages = help_pages(ToolRegistry(CATEGORIES, CATALOG))
    made = HelpDialog(pages, ThemeSource("light"), can_run=True)
    qtbot.addWidget(made)
    return made


def test_every_tool_has_its_page_drawn(dialog) -> None:
    for tool in CATALOG:
        dialog.show_page(f"tool:{tool.name}")
        shown = dialog.page.toPlainText()
        assert shown.startswith(tool.name) and all(p.name in shown for p in tool.parameters)
        assert "|" not in shown.splitlines()[0] and not dialog.run_button.isHidden()


def test_searching_lists_the_pages_that_hold_all_words(dialog) -> None:
    dialog.search.setText("rename tag")
    assert "tool:rename_tag" in dialog.listed() and "about" not in dialog.listed()
    assert dialog.current == "tool:rename_tag"
    dialog.search.setText("zyzzyva")
    assert dialog.listed() == ()
    dialog.search.clear()
    assert len(dialog.listed()) == len(CATALOG) + 3


def test_every_shortcut_is_on_its_page() -> None:
    page = shortcuts_page()
    assert all(command.title.rstrip("…") in page for command in COMMANDS if command.shortcuts)


def test_about_says_the_version_and_the_licences(dialog) -> None:
    dialog.show_page("about")
    shown = dialog.page.toPlainText()
    assert __version__ in shown and "Apache License 2.0" in shown and "Phosphor" in shown
    assert dialog.run_button.isHidden()


def test_a_tool_is_run_from_its_page(dialog, qtbot) -> None:
    dialog.show_page("tool:add_tag")
    with qtbot.waitSignal(dialog.tool_wanted) as wanted:
        dialog.run_button.click()
    assert wanted.args == ["add_tag"]
