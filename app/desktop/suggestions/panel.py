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
from app.desktop.widgets.plain_labels import show_text, wrapped_label
from app.errors import ScriptoriumError
from app.events import Event
from app.index.records import IndexUpdated
from app.vault.markdown.relations import relation_phrase
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.workspace import VaultService

_SUGGESTION_ROLE = Qt.ItemDataRole.UserRole
_DEBOUNCE_MS = 800
_NARROW_WIDTH = 900
_OPEN_NOTE = 1  # The index in `scope`; 0 is the whole vault.


class SuggestionsPanel(Panel):
    """Lists pairs of notes, best first, and shows the details of the selected one on the right.

    `open_requested` carries a note's path and an empty fragment, `graph_requested` the paths of two notes.
    The suggestions are computed when the panel is shown for the first time, on request, and when the scope,
    its note or a listed note changes.
    """

    open_requested = Signal(str, str)
    graph_requested = Signal(object)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(panel_title("suggestions"), parent)
        self._client = client
        self._theme = theme
        self._has_searched = False
        self._note = ""
        self._search_task: asyncio.Task[None] | None = None
        self._undoable: SuggestedRelation | None = None
        self.suggestions: tuple[SuggestedRelation, ...] = ()
        self.title.set_text(self.tr("Relations that may be missing"))
        self.scope = QComboBox()
        self.scope.addItems((self.tr("Whole vault"), self.tr("Open note")))
        self.scope.setToolTip(self.tr("Notes to suggest relations for"))
        self.scope.setAccessibleName(self.scope.toolTip())
        self.scope.currentIndexChanged.connect(lambda _: self.search())
        self.refresh_button = ThemedButton(theme, "arrows-clockwise", self.tr("Refresh (F5)"))
        self.refresh_button.clicked.connect(self.search)
        self.title.add(self.scope)
        self.title.add(self.refresh_button)
        self.table = self._build_table()
        self.details = SuggestionDetails(theme)
        self.empty = EmptyState(theme, "git-fork", "", "")
        self._stack = QStackedWidget()
        self._search_timer = QTimer(self, interval=_DEBOUNCE_MS, singleShot=True)
        self._search_timer.timeout.connect(self._search_quietly)
        self._build()
        self._connect()
        client.events.batch.connect(self._handle_events)

    def showEvent(self, event: QShowEvent) -> None:
        """Compute the suggestions if the panel is shown and has no current ones."""
        super().showEvent(event)
        if not self._has_searched:
            self.search()

    def set_current_note(self, note: str) -> None:
        """Set the path of the active note; empty if no note is open."""
        if note == self._note:
            return
        self._note = note
        if self.scope.currentIndex() == _OPEN_NOTE:
            self._has_searched = False
            if self.isVisible():
                self.search()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the relation column in a narrow panel; the details also show the relation."""
        super().resizeEvent(event)
        self.table.setColumnHidden(1, self.width() < _NARROW_WIDTH * self._theme.zoom)

    @property
    def selected(self) -> SuggestedRelation | None:
        """The selected suggestion; None if none is selected."""
        row = self.table.currentItem()
        suggestion: SuggestedRelation | None = row.data(0, _SUGGESTION_ROLE) if row is not None else None
        return suggestion

    def search(self) -> None:
        """Compute the suggestions and show the progress, or show that no note is open."""
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
        self._search_timer.stop()
        if self._search_task is not None:
            self._search_task.cancel()
        self._search_task = tasks.start(
            self._load(), owner=self, action=self.tr("search for missing relations")
        )

    async def _load(self) -> None:
        note = self._note if self.scope.currentIndex() == _OPEN_NOTE else ""
        try:
            suggestions = await self._client.run(lambda vault: queries.list_suggestions(vault, note))
        except ScriptoriumError as error:
            self._has_searched = False
            self._show((), error.message)
            return
        self._show(suggestions)

    def _show(self, suggestions: tuple[SuggestedRelation, ...], problem: str = "") -> None:
        previous = self.selected
        previous_row = self.table.currentIndex().row()
        self.suggestions = suggestions
        self.table.blockSignals(True)
        self.table.clear()
        for suggestion in suggestions:
            self.table.addTopLevelItem(self._create_row(suggestion))
        self.table.blockSignals(False)
        self.title.set_count(f"{len(suggestions):,}" if suggestions else "")
        if not suggestions:
            self._show_empty_state(problem)
            self._stack.setCurrentWidget(self.empty)
            return
        matching_rows = [
            row_number
            for row_number, suggestion in enumerate(suggestions)
            if previous is not None and suggestion.pair == previous.pair
        ]
        row = matching_rows[0] if matching_rows else min(max(previous_row, 0), len(suggestions) - 1)
        self.table.setCurrentIndex(self.table.model().index(row, 0))
        self._stack.setCurrentIndex(1)
        self._show_selected()

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

    def _create_row(self, suggestion: SuggestedRelation) -> QTreeWidgetItem:
        first, second = (NotePath.on_disk(path).name for path in suggestion.pair)
        row = QTreeWidgetItem([first, relation_phrase(suggestion.type), second, f"{suggestion.score:.0%}"])
        for column, label in ((0, suggestion.source), (1, suggestion.reasoning), (2, suggestion.target)):
            row.setToolTip(column, label)
        likely_text = (
            self.tr("Likely: agents may propose this without being asked") if suggestion.is_likely else ""
        )
        row.setToolTip(3, likely_text or self.tr("Suggested"))
        row.setTextAlignment(3, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if suggestion.is_likely:
            font = row.font(3)
            font.setBold(True)
            row.setFont(3, font)
        row.setData(0, _SUGGESTION_ROLE, suggestion)
        return row

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        """Schedule a search if a listed note, or the open note in that scope, has changed."""
        if not self._has_searched:
            return
        paths = {path for suggestion in self.suggestions for path in suggestion.pair}
        paths |= {self._note} if self.scope.currentIndex() == _OPEN_NOTE else set()
        for event in events:
            if isinstance(event, IndexUpdated):
                changed = {path.text for path in (*event.changed, *event.removed)}
                if changed & paths:
                    self._search_timer.start()

    def _show_selected(self, *_: object) -> None:
        if (suggestion := self.selected) is not None:
            self.details.show_suggestion(suggestion)
            tasks.start(self._show_texts(suggestion), owner=self, action=self.tr("load the note previews"))

    async def _show_texts(self, suggestion: SuggestedRelation) -> None:
        def read(vault: VaultService) -> dict[str, str]:
            return {path: queries.note_excerpt(vault, path) for path in suggestion.pair}

        self.details.show_texts(await self._client.run(read))

    def _accept(self, draft: RelationDraft) -> None:
        # Before the task runs: a repeated keystroke may arrive first.
        self.details.set_busy(True)
        tasks.start(self._add_relation(draft), owner=self, action=self.tr("add the relation"))

    async def _add_relation(self, draft: RelationDraft) -> None:
        suggestion = self.details.suggestion
        self._show_message("")
        try:
            outcome = await self._client.run(lambda vault: queries.accept_suggestion(vault, draft))
        finally:
            self.details.set_busy(False)
        if outcome.success and suggestion is not None:
            self._remove_suggestion(suggestion)
            self._show_message(outcome.message)
        elif not outcome.denied:
            self._show_message(outcome.message, tone="danger")
        else:
            self._show_message(self.tr("Nothing was written."))

    def _reject(self, suggestion: SuggestedRelation) -> None:
        self.details.set_busy(True)
        tasks.start(self._dismiss_pair(suggestion), owner=self, action=self.tr("dismiss the suggestion"))

    async def _dismiss_pair(self, suggestion: SuggestedRelation) -> None:
        try:
            await self._client.run(lambda vault: vault.analysis.reject(*suggestion.pair))
        except ScriptoriumError as error:
            self._show_message(error.message, tone="danger")
            return
        finally:
            self.details.set_busy(False)
        self._remove_suggestion(suggestion)
        names = (NotePath.on_disk(path).name for path in suggestion.pair)
        self._show_message(
            self.tr("{0} and {1} won't be suggested again.").format(*names), undoable=suggestion
        )

    def _undo_rejection(self) -> None:
        if (suggestion := self._undoable) is not None:
            self.undo_button.setEnabled(False)
            tasks.start(self._suggest_again(suggestion), owner=self, action=self.tr("undo the dismissal"))

    async def _suggest_again(self, suggestion: SuggestedRelation) -> None:
        try:
            await self._client.run(lambda vault: vault.analysis.restore_suggestion(*suggestion.pair))
        finally:
            self.undo_button.setEnabled(True)
        self._show_message("")
        suggestions = sorted((*self.suggestions, suggestion), key=lambda listed: -listed.score)
        self._show(tuple(suggestions))

    def _remove_suggestion(self, suggestion: SuggestedRelation) -> None:
        self._show(tuple(listed for listed in self.suggestions if listed.pair != suggestion.pair))

    def _show_message(
        self, message: str, *, tone: str = "muted", undoable: SuggestedRelation | None = None
    ) -> None:
        self._undoable = undoable
        show_text(self.message, message, tone)
        self.undo_button.setVisible(undoable is not None)
        self._message_row.setVisible(bool(message))

    def _connect(self) -> None:
        details = self.details
        details.accepted.connect(self._accept)
        details.incomplete.connect(lambda reason: self._show_message(reason, tone="danger"))
        details.rejected.connect(self._reject)
        details.graph_requested.connect(lambda suggestion: self.graph_requested.emit(suggestion.pair))
        details.open_requested.connect(lambda path: self.open_requested.emit(path, ""))
        self.table.currentItemChanged.connect(self._show_selected)
        self.table.itemActivated.connect(self._open)
        self.undo_button.clicked.connect(self._undo_rejection)
        for keys, action in (
            ("Ctrl+Return", details.accept_current),
            ("Ctrl+Enter", details.accept_current),
            ("Del", details.reject_button.click),
            ("G", details.graph_button.click),
        ):
            QShortcut(QKeySequence(keys), self.table, action, context=Qt.ShortcutContext.WidgetShortcut)
        context = Qt.ShortcutContext.WidgetWithChildrenShortcut
        QShortcut(QKeySequence("F5"), self, self.search, context=context)

    def _open(self, row: QTreeWidgetItem, column: int) -> None:
        suggestion: SuggestedRelation = row.data(0, _SUGGESTION_ROLE)
        self.open_requested.emit(suggestion.target if column == 2 else suggestion.source, "")

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
        self.message = wrapped_label()
        self.undo_button = QPushButton(self.tr("Undo"))
        self.undo_button.setProperty("role", "row")
        self.undo_button.setToolTip(self.tr("Suggest this pair again"))
        self._message_row = QWidget()
        row = QHBoxLayout(self._message_row)
        row.setContentsMargins(14, 4, 14, 6)
        row.addWidget(self.message, 1)
        row.addWidget(self.undo_button)
        self._message_row.hide()
        self.column.addWidget(self._stack, 1)
        self.column.addWidget(self._message_row)

    def _build_table(self) -> QTreeWidget:
        table = QTreeWidget()
        table.setHeaderLabels((self.tr("Note"), self.tr("Relation"), self.tr("Other note"), self.tr("Score")))
        table.setRootIsDecorated(False)
        table.setUniformRowHeights(True)
        table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        table.setAccessibleName(self.tr("Pairs of notes that may be related, most likely first"))
        header = table.header()
        header.setStretchLastSection(False)
        for column in (0, 2):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        for column, width in ((1, 110), (3, 64)):
            table.setColumnWidth(column, round(width * self._theme.zoom))
        table.setMinimumWidth(round(300 * self._theme.zoom))
        return table


def connect(panel: SuggestionsPanel, context: PanelContext) -> None:
    """Connect the panel to the window and the other panels."""
    connect_links(panel, context)
    panel.graph_requested.connect(context.show_pair)
    context.note_shown.connect(panel.set_current_note)
    panel.set_current_note(context.note_path)
