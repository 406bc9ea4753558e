"""A note's links below its text, in a pane that is created on first use."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QSplitter

from app.desktop.bridge import VaultClient
from app.desktop.notes import loader
from app.desktop.notes.document import NoteDocument
from app.desktop.notes.links_pane import LinksPane
from app.desktop.runtime import tasks
from app.desktop.theme.theme import ThemeSource
from app.errors import ScriptoriumError
from app.index.records import Mention
from app.vault.path import NotePath


class LazyLinksPane(QObject):
    """Shows the links to and from the document's note, in a pane at the end of `body`.

    `open_requested` and `create_requested` are forwarded from the pane; `notice_requested` carries a message
    for the banner, and its tone.
    """

    open_requested = Signal(str, str)
    create_requested = Signal(str)
    notice_requested = Signal(str, str)

    def __init__(
        self, client: VaultClient, theme: ThemeSource, document: NoteDocument, body: QSplitter
    ) -> None:
        super().__init__(body)
        self._client = client
        self._theme = theme
        self._document = document
        self._body = body
        self._pane: LinksPane | None = None

    @property
    def is_open(self) -> bool:
        """True if the pane is open."""
        return self._pane is not None and not self._pane.isHidden()

    @property
    def pane(self) -> LinksPane:
        """The pane, created hidden on first use."""
        if self._pane is None:
            self._pane = pane = LinksPane(self._theme, self._body)
            pane.hide()
            pane.open_requested.connect(self.open_requested)
            pane.create_requested.connect(self.create_requested)
            pane.link_requested.connect(self._link)
            self._body.addWidget(pane)
            self._body.setStretchFactor(0, 3)
            self._body.setStretchFactor(1, 2)
        return self._pane

    def toggle(self) -> None:
        """Hide the pane, or show it and update its links."""
        self.pane.setVisible(self.pane.isHidden())
        self.refresh()

    def refresh(self) -> None:
        """Update the links if the pane is visible."""
        if self.is_open:
            tasks.start(self._show(), owner=self._body, action=self.tr("show the links"))

    def forget(self) -> None:
        """Drop the related notes and mentions before another note is shown."""
        if self._pane is not None:
            self._pane.forget()

    async def _show(self) -> None:
        if (page := self._document.page) is None:
            return
        path = page.path
        context = await self._client.run(lambda vault: loader.load_context(vault, path))
        if not self._is_shown(path):
            return
        self.pane.show_links(context)
        related = await self._client.run(lambda vault: loader.load_related(vault, path))
        if self._is_shown(path):
            self.pane.show_related(related)
        mentions = await self._client.run(lambda vault: loader.load_mentions(vault, path))
        if self._is_shown(path):
            self.pane.show_mentions(mentions)

    def _is_shown(self, path: NotePath) -> bool:
        return self._document.page is not None and self._document.page.path == path

    def _link(self, mention: Mention) -> None:
        tasks.start(self._link_mention(mention), owner=self._body, action=self.tr("create the link"))

    async def _link_mention(self, mention: Mention) -> None:
        if (page := self._document.page) is None:
            return
        try:
            outcome = await self._client.run(lambda vault: vault.edits.link_mention(mention, page.path))
        except ScriptoriumError as error:
            self.notice_requested.emit(error.message, "warning")
            return
        if not outcome.success and not outcome.denied:
            self.notice_requested.emit(outcome.message, "warning")
