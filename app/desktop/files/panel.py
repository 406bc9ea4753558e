"""The file panel: a tree of the vault's files, a name filter, and the actions on notes."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

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
from app.desktop.files.model import NOTE_MIME, FileTreeModel, FolderListing
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import translate
from app.desktop.shell.panel_context import PanelContext, connect_links
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import EmptyState, Panel, SearchField, ThemedButton
from app.events import Event
from app.index.records import IndexUpdated

if TYPE_CHECKING:
    from app.workspace import VaultService

_MAX_SINGLE_CHANGES = 200
_MAX_MATCHES = 500


class FilesPanel(Panel):
    """Shows the tree, which follows the index.

    `open_requested` carries a note's path and an empty fragment. `act_requested` carries a command and its
    object: "new-note" with a folder, "rename", "delete", "move" (with the target folder), "reveal",
    "related".
    """

    open_requested = Signal(str, str)
    act_requested = Signal(str, str, str)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self._client = client
        self._paths: set[str] = set()
        self._listing = asyncio.Lock()
        self._stale = False
        self._narrowed = self._matched = (
            0  # the number of the last filter text; matches for older ones are ignored
        )
        self._enter = False
        self._attachments = False
        self._selected = ""
        self.setAccessibleName(self.tr("Files"))
        self._build_title(theme)
        self.model = FileTreeModel(theme, self)
        self.filter = SearchField(theme, self.tr("Filter by name"))
        self.filter.textChanged.connect(self._start_filter)
        self.tree = _Tree(self)
        self.tree.setModel(self.model)
        self.matches = QListView()
        self.matches.setAccessibleName(self.tr("Matching files"))
        self.matches.setUniformItemSizes(True)
        self._matching = QStringListModel(self)
        self.matches.setModel(self._matching)
        self._empty = EmptyState(
            theme,
            "note-blank",
            self.tr("No notes yet"),
            self.tr("Create the first note, or add files."),
            (self.tr("New note"), lambda: self.act_requested.emit("new-note", "", "")),
        )
        self._arrange()
        self._connect()
        self.filling = tasks.start(self.reload(), owner=self, what=self.tr("list the files"))

    async def reload(self) -> None:
        """Reload the file tree and keep the expanded folders; repeat if the vault changed meanwhile."""
        self._stale = True
        if self._listing.locked():
            return
        async with self._listing:
            while self._stale:
                self._stale = False
                listed = partial(_list_files, attachments=self._attachments)
                self._show(*await self._client.run(listed))

    def _show(self, paths: set[str], listing: FolderListing) -> None:
        unfolded = self.unfolded()
        self._paths = paths
        self.model.reset(listing)
        self.unfold(unfolded)
        if self._selected:
            self.select(self._selected)
        self._show_count()

    def unfolded(self) -> list[str]:
        """Return the expanded folders."""
        found: list[str] = []
        queue = [QModelIndex()]
        while queue:
            parent = queue.pop()
            for row in range(self.model.rowCount(parent)):
                index = self.model.index(row, 0, parent)
                path, is_folder = self.model.path_at(index)
                if not is_folder:
                    break
                if self.tree.isExpanded(index):
                    found.append(path)
                    queue.append(index)
        return found

    def unfold(self, folders: Iterable[str]) -> None:
        """Expand these folders, if they still exist."""
        for folder in sorted(folders):
            if (index := self.model.index_of(folder, True)).isValid():
                self.tree.setExpanded(index, True)

    def select(self, path: str) -> None:
        """Select the note at `path`, and scroll to it."""
        self._selected = path
        index = self.model.index_of(path)
        if index.isValid() and self.tree.currentIndex() != index:
            self.tree.setCurrentIndex(index)
            self.tree.scrollTo(index)

    def _build_title(self, theme: ThemeSource) -> None:
        self.title.set_text(self.tr("Files"))
        new = ThemedButton(theme, "note-pencil", self.tr("New note"))
        new.clicked.connect(lambda: self.act_requested.emit("new-note", self._current_folder(), ""))
        attach = ThemedButton(theme, "paperclip", self.tr("Show attachments"))
        attach.setCheckable(True)
        attach.toggled.connect(self._show_attachments)
        fold = ThemedButton(theme, "arrows-in-line-vertical", self.tr("Collapse all"))
        fold.clicked.connect(lambda: self.tree.collapseAll())
        for button in (new, attach, fold):
            self.title.add(button)

    def _arrange(self) -> None:
        bar = QVBoxLayout()
        bar.setContentsMargins(8, 8, 8, 4)
        bar.addWidget(self.filter)
        self.column.addLayout(bar)
        self._stack = QStackedWidget()
        for widget in (self.tree, self.matches, self._empty):
            self._stack.addWidget(widget)
        self.column.addWidget(self._stack, 1)

    def _connect(self) -> None:
        self.tree.activated.connect(self._open)
        self.tree.clicked.connect(self._open)
        self.tree.customContextMenuRequested.connect(self._menu)
        self.tree.dropped.connect(lambda path, folder: self.act_requested.emit("move", path, folder))
        self.matches.activated.connect(self._open_match)
        self.matches.clicked.connect(self._open_match)
        self.filter.returnPressed.connect(self._open_first)
        self._client.events.batch.connect(self._handle_events)
        rename = QAction(self.tr("Rename"), self)
        rename.setShortcut(QKeySequence("F2"))
        rename.triggered.connect(lambda: self._request_action("rename"))
        delete = QAction(self.tr("Delete"), self)
        delete.setShortcut(QKeySequence.StandardKey.Delete)
        delete.triggered.connect(lambda: self._request_action("delete"))
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
        """Open the first match of the typed text."""
        self._enter = self._matched != self._narrowed
        if not self._enter and self.filter.text().strip():
            self._open_match(self._matching.index(0, 0))

    def _request_action(self, what: str) -> None:
        path, is_folder = self.model.path_at(self.tree.currentIndex())
        if path and not is_folder:
            self.act_requested.emit(what, path, "")

    def _current_folder(self) -> str:
        path, is_folder = self.model.path_at(self.tree.currentIndex())
        return path if is_folder else path.rpartition("/")[0]

    def _menu(self, at: QPoint) -> None:
        index = self.tree.indexAt(at)
        if index.isValid():
            self.tree.setCurrentIndex(index)
        path, is_folder = self.model.path_at(index)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        folder = path if is_folder else path.rpartition("/")[0]
        entries = [(self.tr("New note here…"), "new-note", folder)]
        if path and not is_folder:
            entries += [
                (self.tr("Open"), "open", path),
                (self.tr("Find related notes"), "related", path),
                (self.tr("Copy link"), "copy-link", path),
                (self.tr("Rename…"), "rename", path),
                (self.tr("History…"), "history", path),
                (self.tr("Delete…"), "delete", path),
            ]
        entries.append((self.tr("Show in file manager"), "reveal", path))
        for text, what, about in entries:
            menu.addAction(text, partial(self.act_requested.emit, what, about, ""))
        menu.popup(self.tree.viewport().mapToGlobal(at))

    def _start_filter(self, text: str) -> None:
        self._narrowed += 1
        self._enter = False
        if text.strip():
            tasks.start(self._match(text, self._narrowed), owner=self, what=self.tr("filter the files"))
        else:
            self._show_count()

    async def _match(self, text: str, search_text: int) -> None:
        """Show the files that match `text`, searched in the service thread: there may be 100,000."""
        attachments = self._attachments
        found = await self._client.run(lambda vault: _matching(vault, text, attachments))
        if search_text == self._narrowed:
            self._matched = search_text
            self._matching.setStringList(found)
            self._stack.setCurrentWidget(self.matches)
            if self._enter:
                self._open_first()

    def _show_attachments(self, on: bool) -> None:
        self._attachments = on
        tasks.start(self.reload(), owner=self, what=self.tr("list the files"))

    def _show_count(self) -> None:
        self.title.set_count(f"{len(self._paths):,}" if self._paths else "")
        if not self.filter.text().strip():
            self._stack.setCurrentWidget(self.tree if self._paths else self._empty)

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        updates = [event for event in events if isinstance(event, IndexUpdated)]
        many = sum(len(event.changed) + len(event.removed) for event in updates) > _MAX_SINGLE_CHANGES
        if updates and (many or self._listing.locked()):
            tasks.start(self.reload(), owner=self, what=self.tr("list the files"))
            return
        for event in updates:
            removed = {path.text for path in event.removed} & self._paths
            wanted = {path.text for path in event.changed if path.is_note or self._attachments}
            self._follow(removed, wanted - self._paths)

    def _follow(self, removed: set[str], new: set[str]) -> None:
        for path in sorted(removed):
            self.model.remove(path)
        for path in sorted(new):
            self.model.add(path)
        self._paths -= removed
        self._paths |= new
        if removed or new:
            self._show_count()
        if self._selected in new:
            self.select(self._selected)


class _Tree(QTreeView):
    """The tree view: a single click opens, notes can be dragged out and into folders."""

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
        """Accept a note over a folder or the root."""
        super().dragMoveEvent(event)
        if event.source() is self and event.mimeData().hasFormat(NOTE_MIME):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Request a move for each dropped note; the tree changes when the vault has."""
        path, is_folder = self._panel.model.path_at(self.indexAt(event.position().toPoint()))
        folder = path if is_folder else path.rpartition("/")[0]
        for note in bytes(event.mimeData().data(NOTE_MIME).data()).decode().splitlines():
            if note.rpartition("/")[0] != folder:
                self.dropped.emit(note, folder)
        event.setDropAction(Qt.DropAction.IgnoreAction)
        event.accept()


def _names(vault: VaultService, attachments: bool) -> list[str]:
    paths = [path.text for path in vault.notes.paths()]
    if attachments:
        paths += [record.path.text for record in vault.notes.files()]
    return paths


async def _list_files(vault: VaultService, attachments: bool) -> tuple[set[str], FolderListing]:
    """List the paths and build their listing; runs in the service thread."""
    paths = _names(vault, attachments)
    return set(paths), await asyncio.to_thread(FolderListing.of, paths)


async def _matching(vault: VaultService, text: str, attachments: bool) -> list[str]:
    """Return the files whose names contain `text`; runs in the service thread."""
    wanted = text.strip().casefold()

    def match(paths: list[str]) -> list[str]:
        found = (path for path in paths if wanted in path.rpartition("/")[2].casefold())
        return list(itertools.islice(found, _MAX_MATCHES))

    return await asyncio.to_thread(match, _names(vault, attachments))


def connect(panel: FilesPanel, context: PanelContext) -> None:
    """Connect the panel with the window and the other panels."""
    connect_links(panel, context)
    panel.act_requested.connect(context.run_note_command)
    context.note_shown.connect(lambda path: panel.select(path) if path else None)
    if context.note_path:
        panel.select(context.note_path)
