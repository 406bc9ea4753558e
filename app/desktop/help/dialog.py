"""The handbook in a dialog, for a window without a vault."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from app.desktop.help.addresses import addressed_page, page_address
from app.desktop.help.handbook import HelpPage
from app.desktop.help.pages import FIRST, help_pages
from app.desktop.help.view import HandbookView
from app.desktop.shell.actions import Actions
from app.desktop.shell.keymap import Keymap
from app.desktop.shell.navigation import Navigation
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.dialogs import resize_within_screen
from app.desktop.widgets.panel import ThemedButton
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES


async def open_help(window: QWidget, theme: ThemeSource, page: str, actions: Actions) -> None:
    """Show the handbook in a new dialog.

    Args:
        window: The window that the dialog belongs to.
        theme: The current theme.
        page: The id of the page to show first; empty for the first page of the handbook.
        actions: The commands of the window, whose shortcuts a page lists.

    Raises:
        StorageError: The handbook can't be read.
    """
    pages = await asyncio.to_thread(lambda: help_pages(ToolRegistry(CATEGORIES, CATALOG)))
    dialog = HelpDialog(pages, theme, window, page or FIRST)
    dialog.show_keymap(actions.keymap)
    actions.keymap_changed.connect(dialog.show_keymap)
    dialog.show()


class HelpDialog(QDialog):
    """Shows `pages`; not modal, so that the user can follow the first steps in the window next to it.

    Args:
        pages: The pages, with those of each group together.
        theme: The current theme.
        parent: The window.
        first: The id of the page to show first.
    """

    def __init__(
        self, pages: Iterable[HelpPage], theme: ThemeSource, parent: QWidget | None, first: str
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Handbook"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.view = HandbookView(theme, can_run=False, parent=self)
        self.view.set_pages(pages)
        self._history = Navigation(self)
        self.back_button = ThemedButton(theme, "arrow-left", self.tr("Back (Alt+Left)"))
        self.back_button.clicked.connect(self._history.back)
        self.forward_button = ThemedButton(theme, "arrow-right", self.tr("Forward (Alt+Right)"))
        self.forward_button.clicked.connect(self._history.forward)
        for index, (keys, button) in enumerate(
            (("Alt+Left", self.back_button), ("Alt+Right", self.forward_button))
        ):
            QShortcut(QKeySequence(keys), self, button.click)
            self.view.header_row.insertWidget(1 + index, button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.view)
        self.view.open_requested.connect(self._history.open)
        self._history.changed.connect(self._update_buttons)
        self._history.open_requested.connect(
            lambda address, heading: self.view.show_page(addressed_page(address), heading)
        )
        self._history.open(page_address(first))
        resize_within_screen(self, round(900 * theme.zoom), round(640 * theme.zoom))
        self.view.search.setFocus()

    def show_keymap(self, keymap: Keymap) -> None:
        """List these shortcuts on their page."""
        self.view.show_keymap(keymap)
        self.view.refresh()

    def _update_buttons(self) -> None:
        self.back_button.setEnabled(self._history.can_go_back)
        self.forward_button.setEnabled(self._history.can_go_forward)
