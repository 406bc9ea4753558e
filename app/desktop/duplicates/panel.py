"""The panel of near-duplicates: pairs of similar notes, their similarity and their differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHeaderView, QSplitter, QStackedWidget, QTreeWidget, QTreeWidgetItem, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import PluralText
from app.desktop.shell.command_registry import panel_title
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.diff.view import DiffView
from app.desktop.widgets.panel import EmptyState, Panel, ThemedButton
from app.errors import ScriptoriumError
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.embeddings.duplicates import Duplicate
    from app.workspace import VaultService

_MAX_PAIRS = 2000


class DuplicatesPanel(Panel):
    """Lists up to 2,000 pairs of near-duplicates; searches when first shown, and again on request.

    `open_requested` carries a note's path and an empty fragment: the second note of the pair if its column
    was activated, otherwise the first.
    """

    open_requested = Signal(str, str)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(panel_title("duplicates"), parent)
        self._client = client
        self._has_searched = False
        self.pairs: tuple[Duplicate, ...] = ()
        self.title.set_text(self.tr("Notes with nearly the same content"))
        self.refresh_button = ThemedButton(
            theme, "arrows-clockwise", self.tr("Search for near-duplicates again")
        )
        self.refresh_button.clicked.connect(self.search)
        self.title.add(self.refresh_button)
        self.table = QTreeWidget()
        names = (self.tr("Note"), self.tr("Other note"), self.tr("Similarity"), self.tr("Differences"))
        self.table.setHeaderLabels(names)
        self.table.setRootIsDecorated(False)
        self.table.setUniformRowHeights(True)
        self.table.setAccessibleName(self.tr("Pairs of near-duplicate notes"))
        self.table.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.table.header().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.table.header().setStretchLastSection(False)
        self.table.setColumnWidth(2, round(64 * theme.zoom))
        self.table.setColumnWidth(3, round(150 * theme.zoom))
        self.table.itemActivated.connect(self._open)
        self.table.currentItemChanged.connect(lambda row, _: self._compare(row))
        self.diff_view = DiffView(theme)
        self.diff_view.setAccessibleName(self.tr("Differences"))
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self.table)
        split.addWidget(self.diff_view)
        split.setSizes([560, 440])
        self.empty = EmptyState(theme, "copy", "", "")
        self._stack = QStackedWidget()
        self._stack.addWidget(self.empty)
        self._stack.addWidget(split)
        self.column.addWidget(self._stack, 1)

    def showEvent(self, event: QShowEvent) -> None:
        """Search when the panel is first shown: comparing all notes is expensive."""
        super().showEvent(event)
        if not self._has_searched:
            self.search()

    def search(self) -> None:
        """Start a search for near-duplicates."""
        self._has_searched = True
        self.empty.set_message(self.tr("Searching…"), self.tr("Comparing all notes."))
        self._stack.setCurrentWidget(self.empty)
        self.refresh_button.setEnabled(False)
        tasks.start(self._search(), owner=self, action=self.tr("search for near-duplicates"))

    async def _search(self) -> None:
        try:
            note_count = await self._client.run(lambda vault: vault.semantic.note_count)
            self.pairs = await self._client.run(lambda vault: vault.semantic.near_duplicates())
        except ScriptoriumError:
            self.empty.set_message(
                self.tr("The search failed"), self.tr("No notes were changed. Try the search again.")
            )
            raise
        finally:
            self.refresh_button.setEnabled(True)
        self.table.clear()
        for pair in self.pairs[:_MAX_PAIRS]:
            self.table.addTopLevelItem(self._create_row(pair))
        self.title.set_count(f"{len(self.pairs):,}" if self.pairs else "")
        if self.pairs:
            self._stack.setCurrentIndex(1)
            self.table.setCurrentIndex(self.table.model().index(0, 0))
        elif note_count:
            self.empty.set_message(
                self.tr("No near-duplicates"), self.tr("No two notes have nearly the same content.")
            )
        else:
            self.empty.set_message(
                self.tr("Not available yet"),
                self.tr(
                    "Finding near-duplicates requires semantic search. Turn it on in Settings → Semantic "
                    "search, then wait until the notes are indexed."
                ),
            )

    def _create_row(self, pair: Duplicate) -> QTreeWidgetItem:
        identical = self.tr("identical")
        lines = PluralText("DuplicatesPanel", "{1} and {0} line", "{1} and {0} lines").format(
            pair.only_second, f"{pair.only_first:,}"
        )
        difference = identical if pair.is_exact else lines
        row = QTreeWidgetItem([pair.first.name, pair.second.name, f"{pair.word_similarity:.0%}", difference])
        row.setToolTip(0, pair.first.text)
        row.setToolTip(1, pair.second.text)
        row.setToolTip(2, self.tr("Shared words; semantic similarity {0}").format(f"{pair.cosine:.2f}"))
        row.setToolTip(3, self.tr("Lines that are in only one of the two notes"))
        row.setData(0, Qt.ItemDataRole.UserRole, (pair.first.text, pair.second.text))
        return row

    def _compare(self, row: QTreeWidgetItem | None) -> None:
        if row is not None:
            paths = row.data(0, Qt.ItemDataRole.UserRole)
            tasks.start(self._show_difference(*paths), owner=self, action=self.tr("compare the notes"))

    async def _show_difference(self, first: str, second: str) -> None:
        before = await self._client.run(lambda vault: _content(vault, first))
        after = await self._client.run(lambda vault: _content(vault, second))
        current = self.table.currentItem()
        if current is not None and current.data(0, Qt.ItemDataRole.UserRole) == (first, second):
            self.diff_view.show_contents(before, after)

    def _open(self, row: QTreeWidgetItem, column: int) -> None:
        paths = row.data(0, Qt.ItemDataRole.UserRole)
        self.open_requested.emit(paths[1 if column == 1 else 0], "")


def _content(vault: VaultService, path: str) -> bytes | None:
    try:
        return vault.notes.read(NotePath.on_disk(path))
    except ScriptoriumError:
        return None
