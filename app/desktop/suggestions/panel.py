"""The suggestions panel: a queue of relations that may be missing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.shell.command_registry import panel_title
from app.desktop.shell.panel_context import PanelContext, connect_links
from app.desktop.suggestions import queries
from app.desktop.suggestions.details import SuggestionDetails
from app.desktop.suggestions.queries import RelationDraft, SuggestedRelation
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import EmptyState, Panel, ThemedButton
from app.errors import ScriptoriumError
from app.events import Event
from app.index.records import IndexUpdated
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.workspace import VaultService

_SUGGESTION_ROLE = Qt.ItemDataRole.UserRole
_DEBOUNCE_MS = 800
_NARROW_WIDTH = 900
_WHOLE_VAULT, _OPEN_NOTE = 0, 1


class SuggestionsPanel(Panel):
    """Lists pairs of notes, best first, and shows the details of the selected one on the right.

    `open_requested` carries a note's path and an empty fragment, `graph_requested` the paths of two notes.
    The suggestions are computed when the panel is shown for the first time, on request, and when a listed
    note changes.
    """

    open_requested = Signal(str, str)
    graph_requested = Signal(object)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self._client = client
        self._theme = theme
        self._has_searched = False
        self._note = ""
        self._asked: asyncio.Task[None] | None = None
        self._undoable: SuggestedRelation | None = None
        self.suggestions: tuple[SuggestedRelation, ...] = ()
        self.title.set_text(self.tr("Relations that may be missing"))
        self.setAccessibleName(panel_title("suggestions"))
        self.scope = QComboBox()
        self.scope.addItems((self.tr("Whole vault"), self.tr("Open note")))
        self.scope.setToolTip(self.tr("Notes to suggest relations for"))
        self.scope.setAccessibleName(self.scope.toolTip())
        self.scope.currentIndexChanged.connect(lambda _: self.search())
        self.again = ThemedButton(theme, "arrows-clockwise", self.tr("Refresh (F5)"))
        self.again.clicked.connect(self.search)
        self.title.add(self.scope)
        self.title.add(self.again)
        self.table = self._build_table()
        self.details = SuggestionDetails(theme)
        self.empty = EmptyState(theme, "git-fork", "", "")
        self._stack = QStackedWidget()
        self._settle = QTimer(self, interval=_DEBOUNCE_MS, singleShot=True)
        self._settle.timeout.connect(self._search_quietly)
        self._build()
        self._connect()
        client.events.batch.connect(self._handle_events)

    def showEvent(self, event: QShowEvent) -> None:
        """Compute the suggestions now: it is work that no other part needs."""
        super().showEvent(event)
        if not self._has_searched:
            self.search()

    def set_current_note(self, note: str) -> None:
        """Follow the note in front (empty: none)."""
        if note == self._note:
            return
        self._note = note
        if self.scope.currentIndex() == _OPEN_NOTE:
            self._has_searched = False
            if self.isVisible():
                self.search()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the relation column where the names need the room; the details show it, too."""
        super().resizeEvent(event)
        self.table.setColumnHidden(1, self.width() < _NARROW_WIDTH * self._theme.zoom)

    @property
    def chosen(self) -> SuggestedRelation | None:
        """The selected suggestion."""
        row = self.table.currentItem()
        found: SuggestedRelation | None = row.data(0, _SUGGESTION_ROLE) if row is not None else None
        return found

    def search(self) -> None:
        """Compute the suggestions, showing that it is in progress."""
        if self.scope.currentIndex() == _OPEN_NOTE and not self._note:
            self._has_searched = True
            self._show(())
            return
        self.title.set_count(self.tr("searching…"))
        if not self.suggestions:
            self.empty.set_message(self.tr("Searching…"), self.tr("Comparing links, tags and content."))
            self._stack.setCurrentWidget(self.empty)
        self._start_search()

    def _search_quietly(self) -> None:
        if self.isVisible() and self._has_searched:
            self._start_search()

    def _start_search(self) -> None:
        self._has_searched = True
        self._settle.stop()
        if self._asked is not None:
            self._asked.cancel()
        self._asked = tasks.start(self._load(), owner=self, what=self.tr("search for missing relations"))

    async def _load(self) -> None:
        note = self._note if self.scope.currentIndex() == _OPEN_NOTE else ""
        try:
            found = await self._client.run(lambda vault: queries.list_suggestions(vault, note))
        except ScriptoriumError as error:
            self._has_searched = False
            self._show((), error.message)
            return
        self._show(found)

    def _show(self, found: tuple[SuggestedRelation, ...], problem: str = "") -> None:
        before = self.chosen
        at = self.table.currentIndex().row()
        self.suggestions = found
        self.table.blockSignals(True)
        self.table.clear()
        for one in found:
            self.table.addTopLevelItem(self._row(one))
        self.table.blockSignals(False)
        self.title.set_count(f"{len(found):,}" if found else "")
        if not found:
            self._show_empty_state(problem)
            self._stack.setCurrentWidget(self.empty)
            return
        same = [place for place, one in enumerate(found) if before is not None and one.pair == before.pair]
        row = same[0] if same else min(max(at, 0), len(found) - 1)
        self.table.setCurrentIndex(self.table.model().index(row, 0))
        self._stack.setCurrentIndex(1)
        self._show_chosen()

    def _show_empty_state(self, problem: str) -> None:
        if problem:
            self.empty.set_message(self.tr("Could not load suggestions"), problem)
        elif self.scope.currentIndex() == _OPEN_NOTE and not self._note:
            self.empty.set_message(
                self.tr("No note is open"), self.tr("Open a note, or search the whole vault.")
            )
        elif self.scope.currentIndex() == _OPEN_NOTE:
            name = NotePath.on_disk(self._note).name
            text = self.tr("{0} has no likely missing relations.").format(name)
            self.empty.set_message(self.tr("No suggestions"), text)
        else:
            self.empty.set_message(
                self.tr("No suggestions"),
                self.tr("No unlinked notes appear to be related."),
            )

    def _row(self, one: SuggestedRelation) -> QTreeWidgetItem:
        first, second = (NotePath.on_disk(path).name for path in one.pair)
        row = QTreeWidgetItem([first, one.type.replace("_", " ").lower(), second, f"{one.score:.0%}"])
        for column, label in ((0, one.source), (1, one.reasoning), (2, one.target)):
            row.setToolTip(column, label)
        likely = self.tr("Likely: agents may propose this without being asked") if one.is_likely else ""
        row.setToolTip(3, likely or self.tr("Suggested"))
        row.setTextAlignment(3, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if one.is_likely:
            font = row.font(3)
            font.setBold(True)
            row.setFont(3, font)
        row.setData(0, _SUGGESTION_ROLE, one)
        return row

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        """Update the suggestions if a listed note has changed."""
        if not self._has_searched:
            return
        listed = {path for one in self.suggestions for path in one.pair}
        listed |= {self._note} if self.scope.currentIndex() == _OPEN_NOTE else set()
        for event in events:
            if isinstance(event, IndexUpdated):
                touched = {path.text for path in (*event.changed, *event.removed)}
                if touched & listed:
                    self._settle.start()

    def _show_chosen(self, *_: object) -> None:
        if (one := self.chosen) is not None:
            self.details.show_suggested(one)
            tasks.start(self._show_texts(one), owner=self, what=self.tr("load the note previews"))

    async def _show_texts(self, one: SuggestedRelation) -> None:
        def read(vault: VaultService) -> dict[str, str]:
            return {path: queries.note_excerpt(vault, path) for path in one.pair}

        self.details.show_texts(await self._client.run(read))

    def _accept(self, draft: RelationDraft) -> None:
        tasks.start(self._add(draft), owner=self, what=self.tr("add the relation"))

    async def _add(self, draft: RelationDraft) -> None:
        one = self.details.suggested
        self.details.set_busy(True)
        self._show_message("")
        try:
            outcome = await self._client.run(lambda vault: queries.accept_suggestion(vault, draft))
        finally:
            self.details.set_busy(False)
        if outcome.success and one is not None:
            self._remove_suggestion(one)
            self._show_message(outcome.message)
        elif not outcome.denied:
            self._show_message(outcome.message, tone="danger")
        else:
            self._show_message(self.tr("Nothing was written."))

    def _reject(self, one: SuggestedRelation) -> None:
        tasks.start(self._dismiss_pair(one), owner=self, what=self.tr("save your answer"))

    async def _dismiss_pair(self, one: SuggestedRelation) -> None:
        try:
            await self._client.run(lambda vault: vault.analysis.reject(*one.pair))
        except ScriptoriumError as error:
            self._show_message(error.message, tone="danger")
            return
        self._remove_suggestion(one)
        names = (NotePath.on_disk(path).name for path in one.pair)
        self._show_message(self.tr("{0} and {1} won't be suggested again.").format(*names), undoable=one)

    def _undo_rejection(self) -> None:
        if (one := self._undoable) is not None:
            tasks.start(self._suggest_again(one), owner=self, what=self.tr("undo the dismissal"))

    async def _suggest_again(self, one: SuggestedRelation) -> None:
        await self._client.run(lambda vault: vault.analysis.restore_suggestion(*one.pair))
        self._show_message("")
        found = sorted((*self.suggestions, one), key=lambda each: -each.score)
        self._show(tuple(found))

    def _remove_suggestion(self, one: SuggestedRelation) -> None:
        self._show(tuple(each for each in self.suggestions if each.pair != one.pair))

    def _show_message(
        self, message: str, *, tone: str = "muted", undoable: SuggestedRelation | None = None
    ) -> None:
        self._undoable = undoable
        self.message.setText(message)
        self.message.setProperty("tone", tone)
        self.message.style().unpolish(self.message)
        self.message.style().polish(self.message)
        self.take_back.setVisible(undoable is not None)
        self._line.setVisible(bool(message))

    def _connect(self) -> None:
        details = self.details
        details.accepted.connect(self._accept)
        details.rejected.connect(self._reject)
        details.graph_requested.connect(lambda one: self.graph_requested.emit(one.pair))
        details.open_requested.connect(lambda path: self.open_requested.emit(path, ""))
        self.table.currentItemChanged.connect(self._show_chosen)
        self.table.itemActivated.connect(self._open)
        self.take_back.clicked.connect(self._undo_rejection)
        for keys, do in (
            ("Ctrl+Return", details.accept_current),
            ("Ctrl+Enter", details.accept_current),
            ("Del", details.reject.click),
            ("G", details.graph.click),
        ):
            QShortcut(QKeySequence(keys), self.table, do, context=Qt.ShortcutContext.WidgetShortcut)
        context = Qt.ShortcutContext.WidgetWithChildrenShortcut
        QShortcut(QKeySequence("F5"), self, self.search, context=context)

    def _open(self, row: QTreeWidgetItem, column: int) -> None:
        one: SuggestedRelation = row.data(0, _SUGGESTION_ROLE)
        self.open_requested.emit(one.target if column == 2 else one.source, "")

    def _build(self) -> None:
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self.table)
        split.addWidget(self.details)
        split.setSizes([round(520 * self._theme.zoom), round(560 * self._theme.zoom)])
        split.setStretchFactor(0, 1)
        split.setStretchFactor(1, 1)
        split.setChildrenCollapsible(False)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(split)
        self.message = QLabel()
        self.message.setTextFormat(Qt.TextFormat.PlainText)
        self.message.setWordWrap(True)
        self.take_back = QPushButton(self.tr("Undo"))
        self.take_back.setProperty("role", "row")
        self.take_back.setToolTip(self.tr("Suggest this pair again"))
        self._line = QWidget()
        row = QHBoxLayout(self._line)
        row.setContentsMargins(14, 4, 14, 6)
        row.addWidget(self.message, 1)
        row.addWidget(self.take_back)
        self._line.hide()
        self.column.addWidget(self._stack, 1)
        self.column.addWidget(self._line)

    def _build_table(self) -> QTreeWidget:
        table = QTreeWidget()
        table.setHeaderLabels((self.tr("Note"), self.tr("Relation"), self.tr("Other note"), self.tr("Score")))
        table.setRootIsDecorated(False)
        table.setUniformRowHeights(True)
        table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        table.setAccessibleName(self.tr("Pairs of notes that may be related, most likely first"))
        head = table.header()
        head.setStretchLastSection(False)
        for column in (0, 2):
            head.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        for column, width in ((1, 110), (3, 64)):
            table.setColumnWidth(column, round(width * self._theme.zoom))
        table.setMinimumWidth(round(300 * self._theme.zoom))
        return table


def connect(panel: SuggestionsPanel, context: PanelContext) -> None:
    """Connect the panel with the window and the other panels."""
    connect_links(panel, context)
    panel.graph_requested.connect(context.show_pair)
    context.note_shown.connect(panel.set_current_note)
    panel.set_current_note(context.note_path)
