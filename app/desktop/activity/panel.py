"""The activity panel: live calls, pending approvals and background work."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QStackedWidget, QWidget

from app.desktop.activity.delegate import ActivityDelegate
from app.desktop.activity.filter_bar import ActivityFilterBar
from app.desktop.activity.item import ActivityItem
from app.desktop.activity.model import ACTIVITY_ROLE, ActivityFilterModel, ActivityModel
from app.desktop.activity.row_actions import RowActions, actions_for, first_note
from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.shell.command_registry import panel_title
from app.desktop.shell.panel_context import PanelContext, connect_links
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.enter_list_view import EnterListView
from app.desktop.widgets.panel import EmptyState, Panel
from app.permissions.audit_entry import AuditEntry

_PAGE_SIZE = 200
_Index = QModelIndex | QPersistentModelIndex


class _ActivityListView(EnterListView):
    """A list view that lays out the buttons of its rows on resize."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.doItemsLayout()
        self.updateEditorGeometries()


class ActivityPanel(Panel):
    """Shows a feed; rows waiting for approval always have buttons, other rows only while selected.

    `open_requested` carries a note's path and an empty fragment, `diff_requested` and `undo_requested` the
    number of an audit entry, `review_requested` and `reject_requested` the id of an approval request.
    """

    open_requested = Signal(str, str)
    diff_requested = Signal(int)
    undo_requested = Signal(int)
    review_requested = Signal(str)
    reject_requested = Signal(str)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(panel_title("activity"), parent)
        self._client = client
        self._feed: ActivityModel | None = None
        self._oldest: int | None = None
        self._is_at_end = self._is_loading = False
        self._actions: dict[str, tuple[QPersistentModelIndex, RowActions, ActivityItem]] = {}
        self.title.hide()  # The tab above the panel shows its name.
        self.filter = ActivityFilterBar(theme)
        self.count = QLabel()
        self.count.setProperty("tone", "faint")
        self.filter.add(self.count)
        self.filtered = ActivityFilterModel(self)
        self.list = _ActivityListView()
        self._delegate = ActivityDelegate(theme, self.list)
        self._empty = EmptyState(theme, "activity", "", "")
        self._stack = QStackedWidget()
        self._refresh_timer = QTimer(self, singleShot=True, interval=0)
        self._refresh_timer.timeout.connect(self._refresh)
        self._build()

    def set_feed(self, feed: ActivityModel) -> None:
        """Show `feed`, followed by older calls from the audit log."""
        self._feed = feed
        self.filtered.setSourceModel(feed)
        filtered = self.filtered
        for signal in (
            filtered.rowsInserted,
            filtered.rowsRemoved,
            filtered.layoutChanged,
            filtered.dataChanged,
        ):
            signal.connect(self._refresh_timer.start)
        self._refresh()
        tasks.start(self.load_more(), owner=self, action=self.tr("read the activity"))

    async def load_more(self) -> None:
        """Read the next page of older calls from the audit log."""
        if self._is_at_end or self._is_loading or self._feed is None:
            return
        self._is_loading = True
        oldest_id = self._oldest
        try:
            entries: tuple[AuditEntry, ...] = await self._client.run(
                lambda vault: vault.history.entries(limit=_PAGE_SIZE, before_id=oldest_id)
            )
        finally:
            self._is_loading = False
        self._is_at_end = len(entries) < _PAGE_SIZE
        if entries:
            self._oldest = entries[-1].id
        self._feed.add_older(entries)
        self._refresh()

    def _build(self) -> None:
        self.list.setModel(self.filtered)
        self.list.setItemDelegate(self._delegate)
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(self.tr("Activity, newest first"))
        self._stack.addWidget(self.list)
        self._stack.addWidget(self._empty)
        self.column.addWidget(self.filter)
        self.column.addWidget(self._stack, 1)
        self.filter.changed.connect(self._apply_filter)
        self.list.selectionModel().currentChanged.connect(lambda *_: self._refresh_timer.start())
        self.list.doubleClicked.connect(self._run_main_action)
        self.list.enter_pressed.connect(self._run_main_action)
        self.list.verticalScrollBar().valueChanged.connect(self._load_near_end)
        self._show_empty_state()

    def _refresh(self) -> None:
        """Update the buttons of the rows, and the count."""
        rows = self._rows_with_actions()
        for key, (row_index, actions, activity) in tuple(self._actions.items()):
            row = rows.get(key)
            if not row_index.isValid() or row is None or row[1] != activity:
                del self._actions[key]
                self._delegate.buttons_width.pop(key, None)
                if row_index.isValid() and self.list.indexWidget(row_index) is actions:
                    self.list.setIndexWidget(row_index, None)  # type: ignore[arg-type]
        for key, (index, activity) in rows.items():
            if key not in self._actions:
                self._add_actions(index, activity)
        self._show_count()

    def _rows_with_actions(self) -> dict[str, tuple[QModelIndex, ActivityItem]]:
        """Return the visible rows waiting for approval, and the selected row."""
        if self._feed is None:
            return {}
        rows = {}
        indexes = [self.filtered.mapFromSource(index) for index in self._feed.waiting]
        for index in (*indexes, self.list.currentIndex()):
            if index.isValid():
                activity: ActivityItem = index.data(ACTIVITY_ROLE)
                if actions_for(activity):
                    rows[activity.key] = (index, activity)
        return rows

    def _add_actions(self, index: QModelIndex, activity: ActivityItem) -> None:
        actions = RowActions(activity, self.list.viewport())
        actions.action_requested.connect(lambda action: self._run_action(action, activity))
        self._actions[activity.key] = (QPersistentModelIndex(index), actions, activity)
        self._delegate.buttons_width[activity.key] = actions.preferred_width
        self.list.setIndexWidget(index, actions)

    def _apply_filter(self) -> None:
        self.filtered.set_filter(*self.filter.values)
        self._refresh()

    def _run_main_action(self, index: _Index) -> None:
        """Run the main action of a row: review it, show its change, or open its note."""
        activity: ActivityItem = index.data(ACTIVITY_ROLE)
        available = actions_for(activity)
        main_action = next((action for action in ("review", "diff", "open") if action in available), "")
        if main_action:
            self._run_action(main_action, activity)

    def _run_action(self, action: str, activity: ActivityItem) -> None:
        if action in ("review", "reject") and activity.request is not None:
            signal = self.review_requested if action == "review" else self.reject_requested
            signal.emit(activity.request.id)
        elif action == "open":
            self.open_requested.emit(first_note(activity), "")
        elif activity.entry is not None:
            entry_signal = self.diff_requested if action == "diff" else self.undo_requested
            entry_signal.emit(activity.entry.id)

    def _load_near_end(self, value: int) -> None:
        bar = self.list.verticalScrollBar()
        if value >= bar.maximum() - bar.pageStep():
            tasks.start(self.load_more(), owner=self, action=self.tr("read the activity"))

    def _show_count(self) -> None:
        waiting = len(self._feed.waiting) if self._feed is not None else 0
        text = self.tr("{0} waiting").format(waiting) if waiting else ""
        self.count.setText(text)
        self._stack.setCurrentIndex(0 if self.filtered.rowCount() else 1)
        self._show_empty_state()

    def _show_empty_state(self) -> None:
        if self.filtered.has_filter:
            self._empty.set_message(self.tr("No matches"), self.tr("Change the filter to see more entries."))
        else:
            self._empty.set_message(
                self.tr("No activity yet"),
                self.tr("Actions by agents, other programs and the app appear here."),
            )


def connect(panel: ActivityPanel, context: PanelContext) -> None:
    """Connect the panel to the window and the other panels."""
    connect_links(panel, context)
    panel.set_feed(cast("ActivityModel", context.feed))
    panel.diff_requested.connect(context.diff_requested)
    panel.undo_requested.connect(context.undo_requested)
    panel.review_requested.connect(context.review_requested)
    panel.reject_requested.connect(context.reject_requested)
