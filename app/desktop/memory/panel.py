"""The memory panel: shows, edits, searches and restores agents' memory."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.memory.block_page import BlockPage
from app.desktop.memory.memory_list import MemoryList
from app.desktop.runtime import tasks
from app.desktop.shell.command_registry import panel_title
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.desktop.widgets.panel import EmptyState, Panel, SearchField, ThemedButton
from app.errors import ScriptoriumError
from app.events import Event
from app.memory.archive import ArchiveHit
from app.memory.block import Block
from app.memory.changes import MEMORY_PLACE
from app.toolkit.document_stores import DocumentsChanged

_DEBOUNCE_MS = 200


class MemoryPanel(Panel):
    """Blocks and archive entries on the left, the selected one on the right; reloads after changes."""

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(panel_title("memory"), parent)
        self._client = client
        self._is_loaded = False
        self.title.hide()  # The tab above the panel shows its name.
        self.new_button = ThemedButton(theme, "plus", self.tr("New block…"))
        self.new_button.clicked.connect(self._start_new)
        self.field = SearchField(theme, self.tr("Search blocks and the archive"))
        self.list = MemoryList(theme)
        self.page = BlockPage(client, theme)
        self.empty = EmptyState(
            theme,
            "brain",
            self.tr("No memories yet"),
            self.tr("Tell the agent “remember that …”, or create a block here."),
        )
        self._right = QStackedWidget()
        self._right.addWidget(self.empty)
        self._right.addWidget(self.page)
        self._search_timer = QTimer(self, interval=_DEBOUNCE_MS, singleShot=True)
        self._build(theme)
        self.list.chosen.connect(self._show)
        self.page.saved.connect(self.reload)
        self.field.textChanged.connect(lambda _: self._search_timer.start())
        self._search_timer.timeout.connect(self.reload)
        client.events.batch.connect(self._handle_events)

    def showEvent(self, event: QShowEvent) -> None:
        """Load the memory when the panel is shown."""
        super().showEvent(event)
        if not self._is_loaded:
            self.reload()

    def reload(self) -> None:
        """Reload the memory, without waiting for it."""
        self._is_loaded = True
        tasks.start(self.load(), owner=self, action=self.tr("read the memory"))

    async def load(self) -> None:
        """Load the memory and show it, unless the query changes meanwhile."""
        query = self.field.text().strip()
        overview = await self._client.run(lambda vault: vault.memory.overview(query))
        if query == self.field.text().strip():
            self.list.show_overview(overview, query)

    async def confirm_close(self) -> bool:
        """Return whether the vault may close, after asking the user about unsaved text."""
        return await self.page.confirm_close()

    async def create_block(self, label: str) -> None:
        """Create a block and show it; if that fails, show the reason."""
        try:
            outcome = await self._client.run(lambda vault: vault.memory.create(label))
        except ScriptoriumError as error:
            await self._show_problem(error.message)
            return
        if not outcome.success:
            await self._show_problem(outcome.message)
            return
        self.field.clear()
        await self.load()
        self.list.choose_block(label.strip())
        self.page.text.setFocus()

    async def _show_problem(self, message: str) -> None:
        """Show why no block was created: in the status of the page, or in a dialog while it is hidden."""
        if self._right.currentWidget() is self.page:
            self.page.status.setText(message)
        else:
            await dialogs.show_message(self, self.tr("Could not create the block"), message)

    async def _ask_and_create(self) -> None:
        title = self.tr("New block")
        label = await dialogs.prompt_text(self, title, self.tr("Block name:"), accept_label=self.tr("Create"))
        if label:
            await self.create_block(label)

    def _start_new(self) -> None:
        tasks.start(self._ask_and_create(), owner=self, action=self.tr("create the block"))

    def _show(self, selection: Block | ArchiveHit | None) -> None:
        match selection:
            case Block():
                self.page.show_block(selection)
            case ArchiveHit():
                self.page.show_entry(selection)
        self._right.setCurrentWidget(self.empty if selection is None else self.page)

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        if self._is_loaded and any(
            isinstance(event, DocumentsChanged) and event.place == MEMORY_PLACE for event in events
        ):
            self.reload()

    def _build(self, theme: ThemeSource) -> None:
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(8, 8, 8, 0)
        column.setSpacing(6)
        row = QHBoxLayout()
        row.setSpacing(2)
        row.addWidget(self.field, 1)
        row.addWidget(self.new_button)
        column.addLayout(row)
        column.addWidget(self.list, 1)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(left)
        split.addWidget(self._right)
        split.setSizes([round(440 * theme.zoom), round(760 * theme.zoom)])
        split.setStretchFactor(1, 1)
        split.setChildrenCollapsible(False)
        self.column.addWidget(split, 1)
