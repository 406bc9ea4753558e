"""The file panel: a tree of the vault's files, a name filter, and the actions on notes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QStringListModel, Qt, Signal
from PySide6.QtGui import QAction, QDragMoveEvent, QDropEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QMenu,
    QStackedWidget,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app.desktop.bridge import VaultClient
from app.desktop.files import queries
from app.desktop.files.model import NOTE_MIME, FileTreeModel, FolderListing
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import PluralText, translate
from app.desktop.shell.command_registry import command_title, panel_title
from app.desktop.shell.panel_context import PanelContext, connect_links
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.item_opening import connect_open
from app.desktop.widgets.panel import EmptyState, Panel, SearchField, ThemedButton
from app.events import Event
from app.index.records import IndexUpdated

_MAX_SINGLE_CHANGES = 200


class FilesPanel(Panel):
    """Shows the files as a tree, which follows the index.

    `open_requested` carries a file's path and an empty fragment. `command_requested` carries a command, a
    path and a target folder: "new-note" with the path of a folder, "move" with a file and a target folder,
    "reveal" with the path of a file or folder, or "open", "related", "copy-link", "rename", "history" or
    "delete" with the path of a file. Except for "move", the target folder is empty.
    """

    open_requested = Signal(str, str)
    command_requested = Signal(str, str, str)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(panel_title("files"), parent)
        self._client = client
        self._paths: set[str] = set()
        self._reload_lock = asyncio.Lock()
        self._is_stale = self._is_scanning = False
        # The numbers of the latest filter text and of the one whose matches are shown.
        self._filter_number = self._matched_number = 0
        self._opens_first_match = False
        self._shows_attachments = False
        self._selected = ""
        self._build_title(theme)
        self.model = FileTreeModel(theme, self)
        self.filter = SearchField(theme, self.tr("Filter by name"))
        self.filter.textChanged.connect(self._start_filter)
        self.tree = _Tree(self)
        self.tree.setModel(self.model)
        self.matches = QListView()
        self.matches.setAccessibleName(self.tr("Matching files"))
        self.matches.setUniformItemSizes(True)
        self._matches_model = QStringListModel(self)
        self.matches.setModel(self._matches_model)
        self._empty = EmptyState(
            theme,
            "note-blank",
            self.tr("No notes yet"),
            self.tr("Create your first note, or add files."),
            (self.tr("New note"), lambda: self.command_requested.emit("new-note", "", "")),
        )
        self._build()
        self._connect()
        self.loading_task = tasks.start(self.reload(), owner=self, action=self.tr("list the files"))

    async def reload(self) -> None:
        """Reload the file tree, keeping folders expanded; repeat if another reload is requested during it."""
        self._is_stale = True
        if self._reload_lock.locked():
            return
        async with self._reload_lock:
            while self._is_stale:
                self._is_stale = False
                list_files = partial(queries.list_files, attachments=self._shows_attachments)
                self._show(*await self._client.run(list_files))

    def _show(self, paths: set[str], listing: FolderListing) -> None:
        expanded = self.expanded_folders()
        self._paths = paths
        self.model.reset(listing)
        self.expand_folders(expanded)
        if self._selected:
            self.select(self._selected)
        self._show_count()

    def expanded_folders(self) -> list[str]:
        """Return the expanded folders, each after its parent."""
        folders: list[str] = []
        queue = [QModelIndex()]
        while queue:
            parent = queue.pop()
            for row in range(self.model.rowCount(parent)):
                index = self.model.index(row, 0, parent)
                path, is_folder = self.model.path_at(index)
                if not is_folder:
                    break
                if self.tree.isExpanded(index):
                    folders.append(path)
                    queue.append(index)
        return folders

    def expand_folders(self, folders: Iterable[str]) -> None:
        """Expand these folders, if they still exist."""
        for folder in sorted(folders):
            if (index := self.model.index_of(folder, True)).isValid():
                self.tree.setExpanded(index, True)

    def select(self, path: str) -> None:
        """Select the note at `path` and scroll to it, now or when it appears in the tree."""
        self._selected = path
        index = self.model.index_of(path)
        if index.isValid() and self.tree.currentIndex() != index:
            self.tree.setCurrentIndex(index)
            self.tree.scrollTo(index)

    def _build_title(self, theme: ThemeSource) -> None:
        new_button = ThemedButton(theme, "note-pencil", self.tr("New note"))
        new_button.clicked.connect(
            lambda: self.command_requested.emit("new-note", self._current_folder(), "")
        )
        attachments_button = ThemedButton(theme, "paperclip", self.tr("Show attachments"))
        attachments_button.setCheckable(True)
        attachments_button.toggled.connect(self._show_attachments)
        collapse_button = ThemedButton(theme, "arrows-in-line-vertical", self.tr("Collapse all"))
        collapse_button.clicked.connect(lambda: self.tree.collapseAll())
        for button in (new_button, attachments_button, collapse_button):
            self.title.add(button)

    def _build(self) -> None:
        bar = QVBoxLayout()
        bar.setContentsMargins(8, 8, 8, 4)
        bar.addWidget(self.filter)
        self.column.addLayout(bar)
        self._stack = QStackedWidget()
        for widget in (self.tree, self.matches, self._empty):
            self._stack.addWidget(widget)
        self.column.addWidget(self._stack, 1)

    def _connect(self) -> None:
        connect_open(self.tree, self._open)
        self.tree.customContextMenuRequested.connect(self._show_menu)
        self.tree.dropped.connect(lambda path, folder: self.command_requested.emit("move", path, folder))
        connect_open(self.matches, self._open_match)
        self.filter.returnPressed.connect(self._open_first)
        self._client.events.batch.connect(self._handle_events)
        rename = QAction(self.tr("Rename"), self)
        rename.setShortcut(QKeySequence("F2"))
        rename.triggered.connect(lambda: self._request_command("rename"))
        delete = QAction(self.tr("Delete"), self)
        delete.setShortcut(QKeySequence.StandardKey.Delete)
        delete.triggered.connect(lambda: self._request_command("delete"))
        for action in (rename, delete):
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            self.tree.addAction(action)

    def _open(self, index: QModelIndex) -> None:
        path, is_folder = self.model.path_at(index)
        if is_folder:
            self.tree.setExpanded(index, not self.tree.isExpanded(index))
        elif path:
            self.open_requested.emit(path, "")

    def _open_match(self, index: QModelIndex) -> None:
        if index.isValid():
            self.open_requested.emit(index.data(), "")

    def _open_first(self) -> None:
        """Open the first match for the typed text, now or as soon as it is found."""
        self._opens_first_match = self._matched_number != self._filter_number
        if not self._opens_first_match and self.filter.text().strip():
            self._open_match(self._matches_model.index(0, 0))

    def _request_command(self, command: str) -> None:
        path, is_folder = self.model.path_at(self.tree.currentIndex())
        if path and not is_folder:
            self.command_requested.emit(command, path, "")

    def _current_folder(self) -> str:
        path, is_folder = self.model.path_at(self.tree.currentIndex())
        return path if is_folder else path.rpartition("/")[0]

    def _show_menu(self, position: QPoint) -> None:
        index = self.tree.indexAt(position)
        if index.isValid():
            self.tree.setCurrentIndex(index)
        path, is_folder = self.model.path_at(index)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        folder = path if is_folder else path.rpartition("/")[0]
        is_file = bool(path) and not is_folder
        entries = [(self.tr("New note here…"), "new-note", folder)]
        if is_file:
            entries += [
                (self.tr("Open"), "open", path),
                (command_title("note-related"), "related", path),
                (command_title("note-copy-link"), "copy-link", path),
                (command_title("note-rename"), "rename", path),
                (command_title("note-history"), "history", path),
            ]
        entries.append((command_title("note-reveal"), "reveal", path))
        for text, command, target in entries:
            menu.addAction(text, partial(self.command_requested.emit, command, target, ""))
        if is_file:
            menu.addSeparator()
            menu.addAction(
                command_title("note-delete"), partial(self.command_requested.emit, "delete", path, "")
            )
        menu.popup(self.tree.viewport().mapToGlobal(position))

    def _start_filter(self, text: str) -> None:
        self._filter_number += 1
        self._opens_first_match = False
        if text.strip():
            tasks.start(
                self._match(text, self._filter_number), owner=self, action=self.tr("filter the files")
            )
        else:
            self._show_count()

    async def _match(self, text: str, number: int) -> None:
        """Show the files that match `text`, found in a thread: there may be 100,000 files."""
        attachments = self._shows_attachments
        matches = await self._client.run(lambda vault: queries.find_matches(vault, text, attachments))
        if number == self._filter_number:
            self._matched_number = number
            self._matches_model.setStringList(matches)
            self._stack.setCurrentWidget(self.matches)
            if self._opens_first_match:
                self._open_first()

    def _show_attachments(self, visible: bool) -> None:
        self._shows_attachments = visible
        tasks.start(self.reload(), owner=self, action=self.tr("list the files"))

    def _show_count(self) -> None:
        notes = PluralText("FilesPanel", "{0} note", "{0} notes")
        files = PluralText("FilesPanel", "{0} file", "{0} files")
        count = (files if self._shows_attachments else notes).format(len(self._paths))
        self.title.set_count(count if self._paths else "")
        if not self.filter.text().strip():
            has_files = bool(self._paths) or self._is_scanning
            self._stack.setCurrentWidget(self.tree if has_files else self._empty)

    def set_scanning(self, scanning: bool) -> None:
        """Set whether a scan is running; during a scan, an empty tree does not mean an empty vault."""
        has_ended = self._is_scanning and not scanning
        self._is_scanning = scanning
        if has_ended and not self._paths:
            tasks.start(self.reload(), owner=self, action=self.tr("list the files"))

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        updates = [event for event in events if isinstance(event, IndexUpdated)]
        is_large = sum(len(event.changed) + len(event.removed) for event in updates) > _MAX_SINGLE_CHANGES
        if updates and (is_large or self._reload_lock.locked()):
            tasks.start(self.reload(), owner=self, action=self.tr("list the files"))
            return
        for event in updates:
            removed = {path.text for path in event.removed} & self._paths
            changed = {path.text for path in event.changed if path.is_note or self._shows_attachments}
            self._apply_changes(removed, changed - self._paths)

    def _apply_changes(self, removed: set[str], added: set[str]) -> None:
        for path in sorted(removed):
            self.model.remove(path)
        for path in sorted(added):
            self.model.add(path)
        self._paths -= removed
        self._paths |= added
        if removed or added:
            self._show_count()
        if self._selected in added:
            self.select(self._selected)


class _Tree(QTreeView):
    """The tree view; files can be dragged out of it and into its folders."""

    dropped = Signal(str, str)

    def __init__(self, panel: FilesPanel) -> None:
        super().__init__(panel)
        self._panel = panel
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setIndentation(16)
        self.setExpandsOnDoubleClick(False)
        self.setAccessibleName(translate("FilesPanel", "Files in the vault"))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)

    def rowsAboutToBeRemoved(self, parent: QModelIndex | QPersistentModelIndex, start: int, end: int) -> None:
        """Clear the selection when its row is removed: Qt would select a neighbor."""
        index = self.currentIndex()
        while index.isValid() and index.parent() != parent:
            index = index.parent()
        if index.isValid() and start <= index.row() <= end:
            self.setCurrentIndex(QModelIndex())
        super().rowsAboutToBeRemoved(parent, start, end)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Accept files from this tree."""
        super().dragMoveEvent(event)
        if event.source() is self and event.mimeData().hasFormat(NOTE_MIME):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Request a move for each file dropped from another folder; the tree changes after the vault has."""
        path, is_folder = self._panel.model.path_at(self.indexAt(event.position().toPoint()))
        folder = path if is_folder else path.rpartition("/")[0]
        for note in bytes(event.mimeData().data(NOTE_MIME).data()).decode().splitlines():
            if note.rpartition("/")[0] != folder:
                self.dropped.emit(note, folder)
        event.setDropAction(Qt.DropAction.IgnoreAction)
        event.accept()


def connect(panel: FilesPanel, context: PanelContext) -> None:
    """Connect the panel to the window and the other panels."""
    connect_links(panel, context)
    panel.command_requested.connect(context.run_note_command)
    panel.set_scanning(context.is_scanning)
    context.scanning_changed.connect(panel.set_scanning)
    context.note_shown.connect(lambda path: panel.select(path) if path else None)
    if context.note_path:
        panel.select(context.note_path)
