"""The audit panel: lists the logged calls with their decisions, and undoes changes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QMenu,
    QSplitter,
    QStackedWidget,
    QTableView,
    QWidget,
)

from app.desktop.audit.delegate import DecisionDelegate
from app.desktop.audit.detail_pane import DetailPane
from app.desktop.audit.filter_bar import FilterBar
from app.desktop.audit.model import (
    DECISION,
    DURATION,
    ENTRY_ROLE,
    PAGE_SIZE,
    RESULT,
    AuditEntriesModel,
    matches_filter,
)
from app.desktop.bridge import VaultClient
from app.desktop.notes.changes_dialog import ChangesDialog, read_commit
from app.desktop.notes.undo import undo
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import PluralText
from app.desktop.shell.command_registry import panel_title
from app.desktop.shell.panel_context import PanelContext, connect_links
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.desktop.widgets.panel import EmptyState, Panel, ThemedButton
from app.desktop.widgets.plain_labels import show_text, wrapped_label
from app.desktop.widgets.row_delegate import RowDelegate
from app.events import Event
from app.permissions.audit import AuditAppended
from app.permissions.audit_chain import AuditCheck
from app.permissions.audit_entry import AuditEntry, AuditFilter

if TYPE_CHECKING:
    from app.workspace.service.history import ExportFormat


_NARROW_WIDTH = 1150


class AuditPanel(Panel):
    """The log of the open vault. `open_requested` carries a note's path and an empty fragment."""

    open_requested = Signal(str, str)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(panel_title("audit"), parent)
        self._client = client
        self._theme = theme
        self._load_count = 0
        self._is_at_end = False
        self._is_loading = False
        self._requested_filter: AuditFilter | None = None
        # The tab above shows the panel's name; the buttons are in the filter row.
        self.title.hide()
        # Parents first: adding a populated widget to a parent restyles all of its children.
        self._stack = QStackedWidget(self)
        self._body = QSplitter(self._stack)
        self.filters = FilterBar(theme, self)
        self.model = AuditEntriesModel(self)
        self.table = QTableView(self._body)
        self.detail = DetailPane(theme, self._body)
        self.status_label = wrapped_label()
        self.status_label.setContentsMargins(14, 0, 14, 6)
        self.count = QLabel()
        self.count.setProperty("tone", "faint")
        self._empty = EmptyState(theme, "clipboard-text", "", "", parent=self._stack)
        self._build_table()
        self._build_body()
        self._build_buttons()
        self._connect()
        self.reload()

    def reload(self) -> None:
        """Load the first page for the current filter, without waiting for it."""
        tasks.start(self.load_first(), owner=self, action=self.tr("read the audit log"))

    def _apply_filter(self, criteria: AuditFilter) -> None:
        # Reloading the same entries would discard the selection of `show_entry`.
        if criteria != self._requested_filter:
            self.reload()

    async def load_first(self) -> None:
        """Load the newest matching entries; the selected entry stays selected if it is among them."""
        self._load_count += 1
        load_number, criteria = self._load_count, self.filters.current_filter
        self._requested_filter = criteria
        entries = await self._client.run(lambda vault: vault.history.entries(criteria, PAGE_SIZE))
        if load_number == self._load_count:
            self._is_at_end = len(entries) < PAGE_SIZE
            # Entries that arrived through events while the log was being read.
            newer = [entry for entry in reversed(self.model.all_entries()) if matches_filter(entry, criteria)]
            selected = self.detail.entry
            self.model.replace_all(entries)
            self.model.add_newer(newer)
            self._show_loaded(entries)
            row = None if selected is None else self.model.row_of(selected.id)
            if row is None:
                self._show_selected()  # A reset clears the selection without reporting it.
            else:
                self.choose(row)

    async def load_more(self) -> None:
        """Load the next page of older entries."""
        oldest = self.model.oldest_id
        if self._is_at_end or self._is_loading or oldest is None:
            return
        self._is_loading = True
        load_number, criteria = self._load_count, self._shown_filter
        try:
            entries = await self._client.run(lambda vault: vault.history.entries(criteria, PAGE_SIZE, oldest))
        finally:
            self._is_loading = False
        if load_number == self._load_count:
            self._is_at_end = len(entries) < PAGE_SIZE
            self.model.add_older(entries)
            self._show_loaded(entries)

    @property
    def _shown_filter(self) -> AuditFilter:
        """The filter applied to the rows; a filter that the user is choosing takes effect after a delay."""
        return self.filters.current_filter if self._requested_filter is None else self._requested_filter

    async def verify(self) -> None:
        """Verify the hash chain and show the result."""
        show_text(self.status_label, self.tr("Verifying…"), "muted")
        check: AuditCheck = await self._client.run(lambda vault: asyncio.to_thread(vault.history.verify))
        if check.ok:
            text = PluralText(
                "AuditPanel", "Log intact: {0} entry verified", "Log intact: {0} entries verified"
            ).format(check.rows)
            text = " ".join([text, *(gap.message for gap in check.gaps)])
        elif check.first_bad is None:
            text = self.tr("Log damaged: {0}").format(check.reason)
        else:
            text = self.tr("Log damaged at entry {0}: {1}").format(check.first_bad, check.reason)
        show_text(self.status_label, text, "success" if check.ok else "danger")

    async def export(self, file_format: ExportFormat) -> None:
        """Export the filtered entries to a file that the user chooses."""
        file_type = "CSV (*.csv)" if file_format == "csv" else "JSON Lines (*.jsonl)"
        file = await dialogs.pick_save_file(
            self, self.tr("Export the audit log"), f"audit.{file_format}", file_type
        )
        if file is None:
            return
        criteria = self.filters.current_filter
        count = await self._client.run(lambda vault: vault.history.export(file, criteria, file_format))
        text = PluralText("AuditPanel", "{0} entry written to {1}", "{0} entries written to {1}").format(
            count, file.name
        )
        show_text(self.status_label, text, "muted")

    async def open_diff(self, entry: AuditEntry) -> None:
        """Show the changes made by the entry's call; do nothing if it made none.

        Raises:
            NotFoundError: The journal no longer has the changes.
        """
        number = entry.commit
        if number is not None:
            title, files = await self._client.run(lambda vault: read_commit(vault, number))
            await dialogs.run_dialog(ChangesDialog(title, files, self._theme, self.window()))

    def show_caller(self, caller: str) -> None:
        """Clear the filter, and show only this caller's entries."""
        self.filters.clear()
        self.filters.choose_caller(caller)

    def show_entry(self, number: int) -> None:
        """Clear the filter, and select the entry with this number if the log has it."""
        self.filters.clear()
        self._requested_filter = self.filters.current_filter
        tasks.start(self._find_entry(number), owner=self, action=self.tr("show the audit log entry"))

    async def _find_entry(self, number: int) -> None:
        await self.load_first()
        while (oldest := self.model.oldest_id) is not None and oldest > number and not self._is_at_end:
            await self.load_more()
        row = self.model.row_of(number)
        if row is not None:
            self.choose(row)
            self.table.scrollTo(self.model.index(row, 0))

    def choose(self, row: int) -> None:
        """Select the entry in `row`."""
        self.table.selectRow(row)

    def _build_buttons(self) -> None:
        self.verify_button = ThemedButton(self._theme, "shield-check", self.tr("Verify log"))
        self.export_button = ThemedButton(self._theme, "export", self.tr("Export filtered entries"))
        menu = QMenu(self)
        formats: tuple[tuple[str, ExportFormat], ...] = (
            (self.tr("As CSV…"), "csv"),
            (self.tr("As JSON Lines…"), "jsonl"),
        )
        for label, file_format in formats:
            action = menu.addAction(label)
            action.triggered.connect(lambda _=False, file_format=file_format: self._start_export(file_format))
        self.export_button.setMenu(menu)
        self.export_button.setPopupMode(ThemedButton.ToolButtonPopupMode.InstantPopup)
        for widget in (self.count, self.verify_button, self.export_button):
            self.filters.add(widget)
        self.status_label.hide()

    def _build_table(self) -> None:
        table = self.table
        table.setModel(self.model)
        table.setItemDelegate(RowDelegate(table))
        table.setItemDelegateForColumn(DECISION, DecisionDelegate(self._theme, table))
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.setAccessibleName(self.tr("Audit log entries"))
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(round(28 * self._theme.zoom))
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(RESULT, QHeaderView.ResizeMode.Stretch)
        self._fit_columns()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the columns to the new width."""
        super().resizeEvent(event)
        self._fit_columns()

    @property
    def _is_narrow(self) -> bool:
        return self.width() < _NARROW_WIDTH * self._theme.zoom

    def _fit_columns(self) -> None:
        """In a narrow panel, hide the duration, and the details while no entry is selected."""
        zoom = self._theme.zoom
        is_narrow = self._is_narrow
        widths = (104, 118, 140, 0, 148, 0) if is_narrow else (148, 130, 170, 0, 160, 84)
        self.table.setColumnHidden(DURATION, is_narrow)
        self.detail.setHidden(is_narrow and not self.table.selectionModel().hasSelection())
        for column, width in enumerate(widths):
            if width:
                self.table.setColumnWidth(column, round(width * zoom))

    def _build_body(self) -> None:
        body = self._body
        body.addWidget(self.table)
        body.addWidget(self.detail)
        body.setSizes([700, 340])
        body.setStretchFactor(0, 1)
        body.setChildrenCollapsible(False)
        self._stack.addWidget(body)
        self._stack.addWidget(self._empty)
        self.column.addWidget(self.filters)
        self.column.addWidget(self.status_label)
        self.column.addWidget(self._stack, 1)

    def _connect(self) -> None:
        self.filters.changed.connect(self._apply_filter)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._show_selected())
        self.table.doubleClicked.connect(self._open_row)
        self.table.verticalScrollBar().valueChanged.connect(self._load_near_end)
        self.verify_button.clicked.connect(
            lambda: tasks.start(self.verify(), owner=self, action=self.tr("verify the audit log"))
        )
        self.detail.diff_requested.connect(self._start_diff)
        self.detail.undo_requested.connect(lambda entry: self._start_undo(entry, whole_turn=False))
        self.detail.undo_turn_requested.connect(lambda entry: self._start_undo(entry, whole_turn=True))
        self.detail.open_requested.connect(lambda path: self.open_requested.emit(path, ""))
        self._client.events.batch.connect(self._handle_events)

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        appended = [event.entry for event in events if isinstance(event, AuditAppended)]
        if not appended:
            return
        criteria = self._shown_filter
        self.model.add_newer([entry for entry in appended if matches_filter(entry, criteria)])
        for entry in appended:
            if entry.undoes:
                self.model.mark_undone(entry.undoes, entry.id)
        self._show_loaded(appended)
        selected = self.detail.entry
        if selected is not None and (row := self.model.row_of(selected.id)) is not None:
            updated = self.model.entries[row]
            if updated != selected:
                self.detail.show_entry(updated)

    def _show_loaded(self, entries: Iterable[AuditEntry]) -> None:
        """Add the entries' callers and tools to the filter, and update the count and the empty state."""
        for entry in entries:
            self.filters.add_choices(entry)
        count = len(self.model.entries)
        count_text = f"{count:,}" if self._is_at_end or not count else f"{count:,}+"
        self.count.setText(count_text)
        self.count.setAccessibleName(self.tr("Entries shown: {0}").format(count_text))
        if count:
            self._stack.setCurrentIndex(0)
            return
        if self.filters.current_filter == AuditFilter():
            self._empty.set_message(
                self.tr("No activity yet"),
                self.tr(
                    "Tool calls by you, agents and other programs appear here. You can undo their changes."
                ),
            )
        else:
            self._empty.set_message(self.tr("No matches"), self.tr("Change the filter to see more entries."))
        self._stack.setCurrentIndex(1)
        self.detail.show_entry(None)

    def _show_selected(self) -> None:
        # Read the whole selection: a row inserted above moves it without reporting a new one.
        rows = self.table.selectionModel().selectedRows()
        entry = rows[0].data(ENTRY_ROLE) if rows else None
        if entry != self.detail.entry:
            self.detail.show_entry(entry)
        self.detail.setHidden(self._is_narrow and entry is None)

    def _open_row(self, index: QModelIndex) -> None:
        entry = index.data(ENTRY_ROLE)
        if self.model.merged_saves(index.row()):
            self.model.expand(index.row())
        elif entry.commit is not None:
            self._start_diff(entry)

    def _load_near_end(self, value: int) -> None:
        bar = self.table.verticalScrollBar()
        if value >= bar.maximum() - bar.pageStep():
            tasks.start(self.load_more(), owner=self, action=self.tr("read the audit log"))

    def _start_export(self, file_format: ExportFormat) -> None:
        tasks.start(self.export(file_format), owner=self, action=self.tr("export the audit log"))

    def _start_diff(self, entry: AuditEntry) -> None:
        tasks.start(self.open_diff(entry), owner=self, action=self.tr("open the diff"))

    def _start_undo(self, entry: AuditEntry, *, whole_turn: bool) -> None:
        work = undo(self._client, self._theme, self.window(), entry, whole_turn=whole_turn)
        tasks.start(work, owner=self, action=self.tr("undo the change"))


def connect(panel: AuditPanel, context: PanelContext) -> None:
    """Connect the panel to the window and the other panels."""
    connect_links(panel, context)
    context.audit_entry_requested.connect(panel.show_entry)
    context.audit_caller_requested.connect(panel.show_caller)
