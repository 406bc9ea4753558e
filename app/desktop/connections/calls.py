"""The live list of a program's calls: running, waiting for approval, finished."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QSortFilterProxyModel, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from app.desktop.activity.delegate import ActivityDelegate
from app.desktop.activity.item import ActivityItem, ActivityOrigin, ActivityStatus
from app.desktop.activity.model import ACTIVITY_ROLE, ActivityModel
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.enter_list_view import EnterListView
from app.desktop.widgets.panel import EmptyState

_Index = QModelIndex | QPersistentModelIndex


class _CallFilterModel(QSortFilterProxyModel):
    """Shows only one program's calls from the activity feed."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._name = ""

    def show_for(self, name: str) -> None:
        if name != self._name:
            self._name = name
            self.invalidate()

    def filterAcceptsRow(self, row: int, parent: _Index) -> bool:
        activity: ActivityItem = self.sourceModel().index(row, 0, parent).data(ACTIVITY_ROLE)
        return activity.origin is ActivityOrigin.CLIENT and activity.caller == self._name


class CallList(QWidget):
    """The calls of one program, newest first.

    `review_requested` carries the id of an approval request, `entry_requested` the number of an audit entry,
    `log_requested` the program's name.
    """

    review_requested = Signal(str)
    entry_requested = Signal(int)
    log_requested = Signal(str)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._name = ""
        self.filtered = _CallFilterModel(self)
        self.list = EnterListView()
        self.list.setItemDelegate(ActivityDelegate(theme, self.list))
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(self.tr("Calls, newest first"))
        self.empty = EmptyState(
            theme,
            "terminal-window",
            self.tr("No calls since the vault was opened"),
            self.tr("New calls appear here. Older calls are in the audit log."),
        )
        self._stack = QStackedWidget()
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.list)
        self.review_button = QPushButton(self.tr("Review…"))
        self.review_button.setToolTip(self.tr("Review the change, then decide"))
        self.review_button.setProperty("role", "primary")
        self.entry_button = QPushButton(self.tr("Show in the audit log"))
        self.entry_button.setToolTip(self.tr("Show the decision and the result of the selected call"))
        self.log_button = QPushButton(self.tr("All calls"))
        self.log_button.setProperty("role", "quiet")
        self.log_button.setToolTip(self.tr("Show only this program's calls in the audit log"))
        row = QHBoxLayout()
        row.setContentsMargins(14, 4, 14, 8)
        row.setSpacing(8)
        for button in (self.review_button, self.entry_button, self.log_button):
            row.addWidget(button)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._stack, 1)
        column.addLayout(row)
        self.list.setModel(self.filtered)
        for signal in (
            self.filtered.rowsInserted,
            self.filtered.rowsRemoved,
            self.filtered.modelReset,
            self.filtered.layoutChanged,
            self.filtered.dataChanged,
            self.list.selectionModel().currentChanged,
        ):
            signal.connect(self._update)
        self.list.doubleClicked.connect(self._handle_current)
        self.list.enter_pressed.connect(self._handle_current)
        self.review_button.clicked.connect(lambda: self._handle_current(self.list.currentIndex()))
        self.entry_button.clicked.connect(lambda: self._handle_current(self.list.currentIndex()))
        self.log_button.clicked.connect(lambda: self.log_requested.emit(self._name))
        self._update()

    def set_feed(self, feed: ActivityModel) -> None:
        """Show calls from this feed."""
        self.filtered.setSourceModel(feed)
        self._update()

    def show_for(self, name: str) -> None:
        """Show the calls of the program `name`."""
        if name != self._name:
            self._name = name
            self.filtered.show_for(name)
            self._update()

    @property
    def calls(self) -> tuple[ActivityItem, ...]:
        """The listed calls."""
        return tuple(
            self.filtered.index(row, 0).data(ACTIVITY_ROLE) for row in range(self.filtered.rowCount())
        )

    @property
    def current(self) -> ActivityItem | None:
        """The selected call, or the newest one if none is selected; None if there are no calls."""
        index = self.list.currentIndex()
        if not index.isValid() and self.filtered.rowCount():
            index = self.filtered.index(0, 0)
        call: ActivityItem | None = index.data(ACTIVITY_ROLE) if index.isValid() else None
        return call

    def _update(self, *_: object) -> None:
        self._stack.setCurrentIndex(1 if self.filtered.rowCount() else 0)
        call = self.current
        is_pending = call is not None and call.status is ActivityStatus.PENDING and call.request is not None
        self.review_button.setVisible(is_pending)
        self.entry_button.setEnabled(call is not None and call.entry is not None)

    def _handle_current(self, _: object) -> None:
        call = self.current
        if call is None:
            return
        if call.status is ActivityStatus.PENDING and call.request is not None:
            self.review_requested.emit(call.request.id)
        elif call.entry is not None:
            self.entry_requested.emit(call.entry.id)
