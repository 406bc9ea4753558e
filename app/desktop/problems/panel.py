"""The problems panel: files and folders that are not fully indexed, and why."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHeaderView, QStackedWidget, QTreeWidget, QTreeWidgetItem, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import PluralText
from app.desktop.shell.command_registry import panel_title
from app.desktop.shell.index_updates import IndexUpdateTimer
from app.desktop.shell.keymap import Keymap
from app.desktop.shell.panel_context import PanelContext, connect_links
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.desktop.widgets.panel import EmptyState, Panel, ThemedButton
from app.events import Event
from app.index.records import Problem
from app.sentence import as_sentence
from app.vault import undecodable
from app.vault.path import NotePath
from app.workspace import SettingsChanged

if TYPE_CHECKING:
    from app.toolkit.outcome import ToolOutcome
    from app.workspace import VaultService

_DEBOUNCE_MS = 600
_MAX_ROWS = 5000
_CHUNK_ROWS = 100
_ICONS = {"failed": "x-circle", "skipped": "minus-circle", "marked": "warning", "misnamed": "text-aa"}
_KIND_ROLE = Qt.ItemDataRole.UserRole + 1


class ProblemsPanel(Panel):
    """Lists the files and folders that are not fully indexed, each with the reason.

    `open_requested` carries a path and an empty fragment. A file or folder whose name is not valid
    UTF-8 can't be opened, but it can be renamed here.
    """

    open_requested = Signal(str, str)
    rescan_requested = Signal()

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(panel_title("problems"), parent)
        self._client = client
        self._theme = theme
        self.title.set_text(self.tr("Files that are not fully indexed"))
        self._rescan_button = ThemedButton(
            theme, "arrows-clockwise", Keymap(client.settings.shortcuts).tooltip("rescan")
        )
        self._rescan_button.clicked.connect(self.rescan_requested)
        self._rename_button = ThemedButton(theme, "pencil-simple", self.tr("Rename the selected file…"))
        self._rename_button.clicked.connect(self._rename_current)
        self._rename_button.hide()
        self.title.add(self._rename_button)
        self.title.add(self._rescan_button)
        self.table = QTreeWidget()
        self.table.setColumnCount(2)
        self.table.setHeaderLabels([self.tr("File"), self.tr("Reason")])
        self.table.setRootIsDecorated(False)
        self.table.setUniformRowHeights(True)
        self.table.setAccessibleName(panel_title("problems"))
        self.table.header().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.table.setColumnWidth(0, round(320 * theme.zoom))
        self.table.itemActivated.connect(self._open)
        self.table.currentItemChanged.connect(self._update_rename_button)
        self._empty = EmptyState(
            theme, "check-circle", self.tr("No problems"), self.tr("Every note in the vault is indexed.")
        )
        self._stack = QStackedWidget()
        self._stack.addWidget(self.table)
        self._stack.addWidget(self._empty)
        self.column.addWidget(self._stack, 1)
        self._reload_lock = asyncio.Lock()
        IndexUpdateTimer(client, self._reload, _DEBOUNCE_MS, self)
        client.events.batch.connect(self._handle_events)
        self._reload()

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, SettingsChanged):
                self._rescan_button.set_label(Keymap(event.settings.shortcuts).tooltip("rescan"))

    async def reload(self) -> None:
        """Reload the list of problems, of which at most `_MAX_ROWS` are shown."""
        async with self._reload_lock:
            # Read the problems inside the lock, so that an older list never replaces a newer one.
            problems = await self._client.run(lambda vault: vault.notes.problems())
            self.table.clear()
            for start in range(0, min(len(problems), _MAX_ROWS), _CHUNK_ROWS):
                chunk = problems[start : min(start + _CHUNK_ROWS, _MAX_ROWS)]
                self.table.addTopLevelItems([self._create_row(problem) for problem in chunk])
                await asyncio.sleep(0)
        count = PluralText("ProblemsPanel", "{0} file", "{0} files").format(len(problems)) if problems else ""
        if len(problems) > _MAX_ROWS:
            count = self.tr("{0} (the first {1} are listed)").format(count, f"{_MAX_ROWS:,}")
        self.title.set_count(count)
        self._stack.setCurrentWidget(self.table if problems else self._empty)

    def _create_row(self, problem: Problem) -> QTreeWidgetItem:
        theme = self._theme.theme
        colors = {
            "failed": theme.danger,
            "skipped": theme.faint,
            "marked": theme.warning,
            "misnamed": theme.warning,
        }
        # Reasons start in lower case, because other messages quote them in the middle of a sentence.
        reason = as_sentence(problem.reason)
        row = QTreeWidgetItem([problem.path.text, reason])
        row.setIcon(0, icon(theme, _ICONS[problem.kind], colors[problem.kind]))
        row.setToolTip(1, reason)
        row.setData(0, Qt.ItemDataRole.UserRole, problem.path.text)
        row.setData(0, _KIND_ROLE, problem.kind)
        return row

    def _reload(self) -> None:
        tasks.start(self.reload(), owner=self, action=self.tr("list the problems"))

    def _open(self, row: QTreeWidgetItem) -> None:
        if row.data(0, _KIND_ROLE) == "misnamed":
            self._rename_current()
        else:
            self.open_requested.emit(row.data(0, Qt.ItemDataRole.UserRole), "")

    def _update_rename_button(self, row: QTreeWidgetItem | None) -> None:
        self._rename_button.setVisible(row is not None and row.data(0, _KIND_ROLE) == "misnamed")

    def _rename_current(self) -> None:
        if (row := self.table.currentItem()) is not None:
            path = NotePath(row.data(0, Qt.ItemDataRole.UserRole))
            tasks.start(self.rename(path), owner=self, action=self.tr("rename the file"))

    async def rename(self, path: NotePath) -> None:
        """Ask for a new name until the file or folder is renamed or the user cancels."""
        raw = await self._client.run(lambda vault: undecodable.find_path(vault.root, path))
        name, problem = undecodable.suggest_name(raw) if raw is not None else "", ""
        while True:
            title = self.tr("Rename “{0}”?").format(path)
            label = self.tr(
                "This name is not valid UTF-8. Renaming changes only the name, not the content. New name:"
            )
            new_name = await dialogs.prompt_text(
                self.window(), title, label, name, accept_label=self.tr("Rename"), problem=problem
            )
            if new_name is None:
                return
            name = new_name
            outcome = await self._client.run(partial(_rename_file, path=path, name=name))
            if outcome.success:
                return
            problem = outcome.message


async def _rename_file(vault: VaultService, path: NotePath, name: str) -> ToolOutcome:
    return await vault.notes.rename_misnamed(path, name)


def connect(panel: ProblemsPanel, context: PanelContext) -> None:
    """Connect the panel to the window."""
    connect_links(panel, context)
    panel.rescan_requested.connect(lambda: context.command_requested.emit("rescan"))
