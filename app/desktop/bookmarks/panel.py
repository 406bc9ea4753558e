"""The bookmarks panel: the user's own bookmarks and Obsidian's."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QMenu, QStackedWidget, QTreeWidget, QTreeWidgetItem, QWidget

from app.desktop.bookmarks.model import Bookmarks
from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.shell.command_registry import panel_title
from app.desktop.shell.panel_context import PanelContext, connect_links
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.item_opening import connect_open
from app.desktop.widgets.panel import EmptyState, Panel, ThemedButton
from app.errors import StorageError
from app.events import Event
from app.vault.obsidian import Bookmark
from app.vault.path import NotePath
from app.vault.store import NotesChanged

BOOKMARK_ROLE = int(Qt.ItemDataRole.UserRole)
_ICONS = {"file": "file-text", "folder": "folder-simple", "search": "magnifying-glass"}


class BookmarksPanel(Panel):
    """The list of bookmarks.

    `open_requested` carries a note's path and a fragment, `search_requested` a query, `failed` a message for
    the user.
    """

    open_requested = Signal(str, str)
    search_requested = Signal(str)
    failed = Signal(str)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(panel_title("bookmarks"), parent)
        self._client = client
        self._theme = theme
        self._current = ""
        self._obsidian_bookmarks: tuple[Bookmark, ...] = ()
        self.bookmarks = Bookmarks(client.root)
        self.add_button = ThemedButton(theme, "bookmark-simple", self.tr("Bookmark the open note"))
        self.add_button.setCheckable(True)
        self.title.add(self.add_button)
        self.tree = QTreeWidget()
        self.tree.setHeaderHidden(True)
        self.tree.setIndentation(16)
        self.tree.setAccessibleName(panel_title("bookmarks"))
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._empty = EmptyState(
            theme,
            "bookmark-simple",
            self.tr("No bookmarks yet"),
            self.tr("To add the open note, choose Note → Bookmark note."),
        )
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.tree)
        self.column.addWidget(self._stack, 1)
        self.add_button.clicked.connect(lambda: self.toggle(self._current))
        connect_open(self.tree, lambda index: self._open(self.tree.itemFromIndex(index)))
        self.tree.customContextMenuRequested.connect(self._show_menu)
        client.events.batch.connect(self._handle_events)
        self.set_current_note("")
        self.show_bookmarks()

    def showEvent(self, event: QShowEvent) -> None:
        """Read Obsidian's bookmarks each time the panel is shown: Obsidian may have changed them."""
        super().showEvent(event)
        tasks.start(self.load_obsidian_bookmarks(), owner=self, action=self.tr("read the bookmarks"))

    async def load_obsidian_bookmarks(self) -> None:
        """Load the bookmarks that Obsidian has saved in the vault; report problems with `failed`."""
        settings = await self._client.run(lambda vault: vault.notes.obsidian_settings())
        problems = [problem for problem in settings.problems if "bookmarks.json" in problem]
        for problem in filter(None, (*problems, self.bookmarks.problem)):
            self.failed.emit(problem)
        self.bookmarks.problem = ""
        if settings.bookmarks != self._obsidian_bookmarks:
            self._obsidian_bookmarks = settings.bookmarks
            self.show_bookmarks()

    def set_current_note(self, path: str) -> None:
        """Set the current note; empty while no note is open."""
        self._current = path
        self.add_button.setEnabled(bool(path))
        self.add_button.setChecked(bool(path) and self.bookmarks.contains(path))

    def toggle(self, path: str) -> bool:
        """Bookmark the note at `path`, or remove its bookmark; return whether it is now bookmarked.

        If writing fails, emit `failed`.
        """
        try:
            if self.bookmarks.contains(path):
                self.bookmarks.remove(path)
            elif path:
                self.bookmarks.add(Bookmark("file", path))
        except StorageError as error:
            self.failed.emit(error.message)
        self.set_current_note(self._current)
        self.show_bookmarks()
        return self.bookmarks.contains(path)

    def show_bookmarks(self) -> None:
        """Show the user's own bookmarks, then Obsidian's by group."""
        self.tree.clear()
        self.tree.addTopLevelItems([self._create_item(bookmark) for bookmark in self.bookmarks.items])
        own_bookmarks = set(self.bookmarks.items)
        groups: dict[str, QTreeWidgetItem] = {}
        for bookmark in self._obsidian_bookmarks:
            if bookmark in own_bookmarks:
                continue
            name = bookmark.group or self.tr("From Obsidian")
            if name not in groups:
                groups[name] = QTreeWidgetItem([name])
                groups[name].setFlags(Qt.ItemFlag.ItemIsEnabled)
                self.tree.addTopLevelItem(groups[name])
                groups[name].setExpanded(True)
            groups[name].addChild(self._create_item(bookmark))
        count = len(self.bookmarks.items) + sum(group.childCount() for group in groups.values())
        self.title.set_count(f"{count:,}" if count else "")
        self._stack.setCurrentWidget(self.tree if count else self._empty)

    def _create_item(self, bookmark: Bookmark) -> QTreeWidgetItem:
        is_note = bookmark.kind == "file"
        name = NotePath(bookmark.target).name if is_note else bookmark.target
        label = bookmark.title or (f"{name} › {bookmark.fragment}" if bookmark.fragment else name)
        item = QTreeWidgetItem([label])
        item.setIcon(0, icon(self._theme.theme, _ICONS[bookmark.kind]))
        item.setToolTip(0, bookmark.target)
        item.setData(0, BOOKMARK_ROLE, bookmark)
        return item

    def _open(self, item: QTreeWidgetItem) -> None:
        bookmark = item.data(0, BOOKMARK_ROLE)
        if not isinstance(bookmark, Bookmark):
            return
        if bookmark.kind == "file":
            self.open_requested.emit(bookmark.target, bookmark.fragment)
        elif bookmark.kind == "folder":
            self.search_requested.emit(f'path:"{bookmark.target}"')
        else:
            self.search_requested.emit(bookmark.target)

    def _show_menu(self, position: QPoint) -> None:
        item = self.tree.itemAt(position)
        bookmark = item.data(0, BOOKMARK_ROLE) if item is not None else None
        if not isinstance(bookmark, Bookmark) or bookmark not in self.bookmarks.items:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Remove bookmark"), lambda: self.toggle(bookmark.target))
        menu.popup(self.tree.viewport().mapToGlobal(position))

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        moves = {
            old_path.text: new_path.text
            for event in events
            if isinstance(event, NotesChanged)
            for old_path, new_path in event.moved
        }
        try:
            if moves and self.bookmarks.rename_paths(moves):
                self.show_bookmarks()
        except StorageError as error:
            self.failed.emit(error.message)


def connect(panel: BookmarksPanel, context: PanelContext) -> None:
    """Connect the panel to the window and the other panels."""
    connect_links(panel, context)
    context.note_shown.connect(panel.set_current_note)
    panel.set_current_note(context.note_path)
