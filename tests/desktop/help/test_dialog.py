"""The handbook in its dialog, which has a history of its own."""

from __future__ import annotations

from PySide6.QtCore import QUrl

from app.desktop.help.dialog import HelpDialog
from app.desktop.help.pages import help_pages
from app.desktop.theme.theme import ThemeSource
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES


def test_links_and_buttons_go_back_and_forward(qtbot) -> None:
    dialog = HelpDialog(help_pages(ToolRegistry(CATEGORIES, CATALOG)), ThemeSource("light"))
    qtbot.addWidget(dialog)
    dialog.show()
    view = dialog.view
    assert view.current == "First steps" and 'href="note:Graph"' in view.page.toHtml()
    assert not dialog.back_button.isEnabled() and not dialog.forward_button.isEnabled()
    view.page.anchorClicked.emit(QUrl("note:Graph"))
    assert view.current == "Graph"
    assert dialog.back_button.isEnabled() and not dialog.forward_button.isEnabled()
    dialog.back_button.click()
    assert view.current == "First steps" and dialog.forward_button.isEnabled()
    dialog.forward_button.click()
    assert view.current == "Graph"


def test_a_tool_can_not_be_run_without_a_vault(qtbot) -> None:
    dialog = HelpDialog(
        help_pages(ToolRegistry(CATEGORIES, CATALOG)), ThemeSource("light"), first="tool:add_tag"
    )
    qtbot.addWidget(dialog)
    assert not dialog.view.run_button.isHidden() and not dialog.view.run_button.isEnabled()
