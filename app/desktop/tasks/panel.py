"""The tasks panel: the tasks of all notes, grouped by note, due date or tag."""

from __future__ import annotations

import asyncio
from datetime import date

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QStackedWidget, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.shell.command_registry import panel_title
from app.desktop.shell.index_updates import IndexUpdateTimer
from app.desktop.tasks import queries
from app.desktop.tasks.model import Grouping, TaskGroup, TaskItem, filter_tasks, group_tasks
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.count_delegate import CountDelegate
from app.desktop.widgets.item_opening import connect_open
from app.desktop.widgets.panel import EmptyState, Panel, SearchField, ThemedButton
from app.index.records import TaskRecord
from app.toolkit.outcome import ToolOutcome
from app.vault.markdown.links import quote_wikilinks

TASK_ROLE = int(Qt.ItemDataRole.UserRole)
COUNT_ROLE = TASK_ROLE + 1
KEY_ROLE = TASK_ROLE + 2
_MAX_TASKS = 5000
_DEBOUNCE_MS = 400
_CHUNK_ROWS = 200
_GROUPINGS: tuple[Grouping, ...] = ("note", "due", "tag")


class TasksPanel(Panel):
    """The tree of tasks.

    `open_requested` carries a note's path and the fragment for a task's line, `failed` one sentence for the
    user.
    """

    open_requested = Signal(str, str)
    failed = Signal(str)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(panel_title("tasks"), parent)
        self._client = client
        self._records: tuple[TaskRecord, ...] = ()
        self._collapsed: set[str] = set()
        self._list_number = 0
        self._is_stale = True
        # A click on a check box is also a click on its row, and must not open the note.
        self._toggled_item: QTreeWidgetItem | None = None
        self.filter = SearchField(theme, self.tr("Filter tasks"))
        self.grouping = QComboBox()
        self.grouping.setAccessibleName(self.tr("Group tasks by"))
        self.grouping.addItems([self.tr("By note"), self.tr("By due date"), self.tr("By tag")])
        self.completed_button = ThemedButton(theme, "check-square", self.tr("Show completed tasks"))
        self.completed_button.setCheckable(True)
        self.tree = QTreeWidget()
        self.tree.setHeaderHidden(True)
        self.tree.setIndentation(16)
        self.tree.setUniformRowHeights(True)
        self.tree.setAccessibleName(self.tr("Tasks in the vault"))
        self.tree.setItemDelegate(CountDelegate(theme, COUNT_ROLE, self.tree))
        self.empty = EmptyState(theme, "check-square", "", "")
        self._stack = QStackedWidget()
        self._build()
        self._connect()

    def showEvent(self, event: QShowEvent) -> None:
        """Load the tasks when the panel is first shown, and after changes while it was hidden."""
        super().showEvent(event)
        if self._is_stale:
            self.reload()

    def reload(self) -> None:
        """Reload the tasks."""
        tasks.start(self.load(), owner=self, action=self.tr("list the tasks"))

    async def load(self) -> None:
        """Load and show up to 5,000 tasks: the open ones, and the completed ones if they are enabled."""
        self._is_stale = False
        includes_done = self.completed_button.isChecked()
        self._records = await self._client.run(
            lambda vault: vault.notes.tasks(_MAX_TASKS, done=includes_done)
        )
        await self.show_tasks()

    async def show_tasks(self) -> None:
        """Show the loaded tasks that match the filter, grouped; keep collapsed groups collapsed."""
        self._list_number += 1
        number = self._list_number
        matches = filter_tasks(self._records, self.filter.text())
        groups = group_tasks(matches, _GROUPINGS[self.grouping.currentIndex()], date.today())
        count = len(matches)
        self.title.set_count(f"{count:,}{'+' if len(self._records) == _MAX_TASKS else ''}" if count else "")
        if not groups:
            self._show_empty_state()
        self._stack.setCurrentWidget(self.tree if groups else self.empty)
        with QSignalBlocker(self.tree):
            self.tree.clear()
        row_count = 0
        for group in groups:
            if number != self._list_number:
                return
            with QSignalBlocker(self.tree):
                self._add(group)
            row_count += len(group.tasks)
            if row_count >= _CHUNK_ROWS:
                row_count = 0
                await asyncio.sleep(0)

    def _show_empty_state(self) -> None:
        if self.filter.text().strip():
            self.empty.set_message(
                self.tr("No matching tasks"), self.tr("Clear the filter to show all tasks.")
            )
        else:
            self.empty.set_message(
                self.tr("No open tasks"),
                self.tr("In a note, type “-\u00a0[\u00a0]\u00a0” followed by a task."),
            )

    def _add(self, group: TaskGroup) -> None:
        heading = QTreeWidgetItem([group.title])
        heading.setData(0, COUNT_ROLE, len(group.tasks))
        heading.setData(0, KEY_ROLE, group.key)
        heading.setFlags(Qt.ItemFlag.ItemIsEnabled)
        heading.addChildren([_create_row(task) for task in group.tasks])
        self.tree.addTopLevelItem(heading)
        heading.setExpanded(group.key not in self._collapsed)

    def _build(self) -> None:
        self.title.add(self.completed_button)
        bar = QVBoxLayout()
        bar.setContentsMargins(8, 8, 8, 4)
        bar.setSpacing(6)
        bar.addWidget(self.filter)
        bar.addWidget(self.grouping)
        self.column.addLayout(bar)
        self._stack.addWidget(self.tree)
        self._stack.addWidget(self.empty)
        self.column.addWidget(self._stack, 1)

    def _connect(self) -> None:
        self.filter.textChanged.connect(lambda _: self._show())
        self.grouping.currentIndexChanged.connect(lambda _: self._regroup())
        self.completed_button.toggled.connect(lambda _: self.reload())
        self.tree.itemChanged.connect(self._toggle)
        connect_open(self.tree, lambda index: self._open(self.tree.itemFromIndex(index)))
        self.tree.itemCollapsed.connect(lambda item: self._collapsed.add(str(item.data(0, KEY_ROLE))))
        self.tree.itemExpanded.connect(lambda item: self._collapsed.discard(str(item.data(0, KEY_ROLE))))
        IndexUpdateTimer(self._client, self._refresh, _DEBOUNCE_MS, self)

    def _regroup(self) -> None:
        self._collapsed.clear()
        self._show()

    def _show(self) -> None:
        tasks.start(self.show_tasks(), owner=self, action=self.tr("list the tasks"))

    def _refresh(self) -> None:
        self._is_stale = not self.isVisible()
        if self.isVisible():
            self.reload()

    def _open(self, item: QTreeWidgetItem) -> None:
        record = item.data(0, TASK_ROLE)
        if isinstance(record, TaskRecord) and item is not self._toggled_item:
            self.open_requested.emit(record.path.text, f"line={record.line}")

    def _toggle(self, item: QTreeWidgetItem, _: int) -> None:
        record = item.data(0, TASK_ROLE)
        is_checked = item.checkState(0) is Qt.CheckState.Checked
        if isinstance(record, TaskRecord) and is_checked != record.done:
            self._toggled_item = item
            QTimer.singleShot(0, self._forget_click)
            tasks.start(self.set_done(record, done=is_checked), owner=self, action=self.tr("change the task"))

    def _forget_click(self) -> None:
        self._toggled_item = None

    async def set_done(self, record: TaskRecord, *, done: bool) -> None:
        """Check or uncheck a task in its note; if that fails, report it and restore the check box."""
        outcome: ToolOutcome = await self._client.run(
            lambda vault: queries.set_done(vault, record, done=done)
        )
        if not outcome.success:
            self.failed.emit(self.tr("The task was not changed: {0}").format(outcome.message))
            await self.show_tasks()


def _create_row(task: TaskItem) -> QTreeWidgetItem:
    item = QTreeWidgetItem([quote_wikilinks(task.facts.text)])
    item.setData(0, TASK_ROLE, task.record)
    item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable)
    item.setCheckState(0, Qt.CheckState.Checked if task.record.done else Qt.CheckState.Unchecked)
    item.setToolTip(0, f"{task.record.text}\n{task.record.path}")
    if task.facts.due is not None:
        item.setData(0, COUNT_ROLE, task.facts.due.isoformat())
    return item
