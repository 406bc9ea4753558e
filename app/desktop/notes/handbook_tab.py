"""The tab that shows the handbook among the notes.

It is not a note: it is never written, indexed or linked.
"""

from __future__ import annotations

import asyncio

import shiboken6
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.desktop.bridge import VaultClient
from app.desktop.help.addresses import addressed_page, page_address
from app.desktop.help.pages import FIRST, vault_pages
from app.desktop.help.view import HandbookView
from app.desktop.notes.editor.style import EditorStyle
from app.desktop.notes.editor_setup import editor_preferences
from app.desktop.notes.find_bar import FindBar, connect_find_keys
from app.desktop.shell.keymap import Keymap
from app.desktop.theme.theme import ThemeSource
from app.errors import StorageError
from app.external.states import ExternalChanged
from app.index.records import IndexUpdated
from app.workspace import SettingsChanged


class HandbookTab(HandbookView):
    """The handbook with the tools and examples of the open vault, in the fonts of the notes.

    `title_changed` carries the title of the tab.
    """

    title_changed = Signal(str)

    path = ""
    """No path: for the rest of the window, no note is open."""

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(theme, can_run=True, parent=parent)
        self._client = client
        # Two pages that are requested one after the other are shown in this order.
        self._loading_lock = asyncio.Lock()
        self._is_stale = False
        self._find_bar: FindBar | None = None
        connect_find_keys(self, lambda: self.find_bar)
        client.events.batch.connect(self._receive)

    @property
    def address(self) -> str:
        """The address of the page; without the page until the first one is loaded."""
        return page_address(self.current)

    async def open(self, address: str, heading: str = "") -> None:
        """Show the page at an address, at a heading; without a page in the address, show the first one.

        Raises:
            NotFoundError: There is no such page.
            StorageError: The handbook can't be read.
        """
        page = addressed_page(address) or FIRST
        async with self._loading_lock:
            if self._is_stale or not self.has_page(page):
                self._is_stale = False  # Set again by a change while the pages are loading.
                try:
                    pages = await self._client.run(vault_pages)
                except StorageError:
                    self._is_stale = True
                    raise
                if not shiboken6.isValid(self):
                    return
                self.set_pages(pages)
                self.show_keymap(Keymap(self._client.settings.shortcuts))
            self.show_page(page, heading)
        self.title_changed.emit(self.tr("Handbook: {0}").format(self.title))

    async def confirm_close(self) -> bool:
        """Return True: nothing is unsaved."""
        return True

    def save_draft(self) -> None:
        """Do nothing: nothing is unsaved."""

    def run_command(self, command: str) -> None:
        """Run "find"; the other commands of notes do not apply to a page."""
        if command == "find":
            self.reveal_page()
            self.find_bar.start(self.page)

    @property
    def find_bar(self) -> FindBar:
        """The find bar, created on first use."""
        if self._find_bar is None:
            self._find_bar = FindBar(self._theme, self)
            self.page_column.insertWidget(0, self._find_bar)
        return self._find_bar

    def refresh(self) -> None:
        """Render the page again, in the colors, fonts and line width of the notes."""
        preferences = editor_preferences(self._client.settings.editor)
        style = EditorStyle(self._theme.theme, self._theme.zoom, preferences)
        self.page.set_text_style(style.font, style.mono, preferences.line_width, style.zoom)
        super().refresh()

    def _receive(self, events: tuple[object, ...]) -> None:
        # The pages describe the available tools, and name notes and tags of the vault.
        if any(isinstance(event, SettingsChanged | ExternalChanged | IndexUpdated) for event in events):
            self._is_stale = True
        if any(isinstance(event, SettingsChanged) for event in events) and self.current:
            self.show_keymap(Keymap(self._client.settings.shortcuts))
            self.refresh()
