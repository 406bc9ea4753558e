"""The handbook in its dialog, which has a history of its own."""

from __future__ import annotations

from PySide6.QtCore import QUrl

from app.desktop.help.dialog import HelpDialog
from app.desktop.help.pages import FIRST, SHORTCUTS, help_pages
from app.desktop.shell.keymap import Keymap
from app.desktop.theme.theme import ThemeSource
from app.settings import ShortcutSettings
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES

PAGES = help_pages(ToolRegistry(CATEGORIES, CATALOG))


def test_links_and_buttons_go_back_and_forward(qtbot) -> None:
    dialog = HelpDialog(PAGES, ThemeSource("light"), None, FIRST)
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.windowTitle() == "Handbook"
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
    dialog = HelpDialog(PAGES, ThemeSource("light"), None, "tool:add_tag")
    qtbot.addWidget(dialog)
    assert not dialog.view.run_button.isHidden() and not dialog.view.run_button.isEnabled()


def test_changed_shortcuts_are_listed_at_once(qtbot) -> None:
    dialog = HelpDialog(PAGES, ThemeSource("light"), None, SHORTCUTS)
    qtbot.addWidget(dialog)
    assert "Ctrl+S" in dialog.view.page.toPlainText().split()
    dialog.show_keymap(Keymap(ShortcutSettings(custom={"save-note": ("F7",)})))
    words = dialog.view.page.toPlainText().split()
    assert "F7" in words and "Ctrl+S" not in words
