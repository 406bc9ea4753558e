"""The tags panel: the vault's tags as a tree, each with its note count."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPoint, QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QMenu, QStackedWidget, QTreeView, QVBoxLayout, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.shell.command_registry import panel_title
from app.desktop.shell.index_updates import IndexUpdateTimer
from app.desktop.shell.panel_context import PanelContext, connect_links
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.count_delegate import CountDelegate
from app.desktop.widgets.panel import EmptyState, Panel, SearchField
from app.index.records import TagCount

if TYPE_CHECKING:
    from app.workspace import VaultService

TAG_ROLE = int(Qt.ItemDataRole.UserRole)
COUNT_ROLE = TAG_ROLE + 1
_DEBOUNCE_MS = 400
_CHUNK_ROWS = 100


class TagsPanel(Panel):
    """The tree of tags; `search_requested` carries a query, `rename_requested` a tag without its #."""

    search_requested = Signal(str)
    rename_requested = Signal(str)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(panel_title("tags"), parent)
        self._client = client
        self.filter = SearchField(theme, self.tr("Filter tags"))
        self.model = QStandardItemModel(self)
        self._filtered = QSortFilterProxyModel(self)
        self._filtered.setSourceModel(self.model)
        # A row shows only the last part of its tag; the filter matches the whole tag.
        self._filtered.setFilterRole(TAG_ROLE)
        self._filtered.setRecursiveFilteringEnabled(True)
        self._filtered.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.tree = QTreeView()
        self.tree.setModel(self._filtered)
        self.tree.setHeaderHidden(True)
        self.tree.setUniformRowHeights(True)
        self.tree.setIndentation(16)
        self.tree.setAccessibleName(self.tr("Tags in the vault"))
        self.tree.setItemDelegate(CountDelegate(theme, COUNT_ROLE, self.tree))
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._empty = EmptyState(
            theme,
            "hash",
            self.tr("No tags yet"),
            self.tr("Write #a-tag in a note, or list tags in its properties."),
        )
        self._items: dict[str, QStandardItem] = {}
        self._stack = QStackedWidget()
        self._reload_lock = asyncio.Lock()
        self._build()
        self._connect()
        self._reload()

    async def reload(self) -> None:
        """Reload the tags and their counts, keeping expanded tags expanded."""
        async with self._reload_lock:
            await self._fill(await self._client.run(_list_tags))

    def _show(self, model: QStandardItemModel, items: dict[str, QStandardItem]) -> None:
        expanded = {tag for tag, item in self._items.items() if self.tree.isExpanded(self._view_index(item))}
        old_model, self.model, self._items = self.model, model, items
        self._filtered.setSourceModel(model)
        old_model.deleteLater()
        self.title.set_count(f"{len(items):,}" if items else "")
        self._stack.setCurrentWidget(self.tree if items else self._empty)
        for tag in expanded & set(self._items):
            self.tree.setExpanded(self._view_index(self._items[tag]), True)

    def _build(self) -> None:
        bar = QVBoxLayout()
        bar.setContentsMargins(8, 8, 8, 4)
        bar.addWidget(self.filter)
        self.column.addLayout(bar)
        self._stack.addWidget(self.tree)
        self._stack.addWidget(self._empty)
        self.column.addWidget(self._stack, 1)

    def _connect(self) -> None:
        self.filter.textChanged.connect(self._filter_tags)
        self.tree.activated.connect(lambda index: self._search(index.data(TAG_ROLE)))
        self.tree.clicked.connect(lambda index: self._search(index.data(TAG_ROLE)))
        self.tree.customContextMenuRequested.connect(self._show_menu)
        IndexUpdateTimer(self._client, self._reload, _DEBOUNCE_MS, self)

    def _reload(self) -> None:
        tasks.start(self.reload(), owner=self, action=self.tr("list the tags"))

    async def _fill(self, counts: tuple[TagCount, ...]) -> None:
        """Build the rows a hundred at a time, in a model that is shown when it is complete."""
        model, items = QStandardItemModel(self), dict[str, QStandardItem]()
        for number, count in enumerate(counts):
            if number % _CHUNK_ROWS == _CHUNK_ROWS - 1:
                await asyncio.sleep(0)
            item = _create_row(count)
            items[count.tag.casefold()] = item
            parent = items.get(count.parent.casefold()) if count.parent else None
            (parent or model.invisibleRootItem()).appendRow(item)
        self._show(model, items)

    def _filter_tags(self, text: str) -> None:
        self._filtered.setFilterFixedString(text.strip().lstrip("#"))
        if text.strip():
            self.tree.expandAll()

    def _search(self, tag: str | None) -> None:
        if tag:
            self.search_requested.emit(f"tag:{tag}")

    def _show_menu(self, position: QPoint) -> None:
        tag = self.tree.indexAt(position).data(TAG_ROLE)
        if not tag:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Search for this tag"), lambda: self._search(tag))
        menu.addAction(self.tr("Rename everywhere…"), lambda: self.rename_requested.emit(tag))
        menu.popup(self.tree.viewport().mapToGlobal(position))

    def _view_index(self, item: QStandardItem) -> QModelIndex:
        return self._filtered.mapFromSource(self.model.indexFromItem(item))


def _create_row(count: TagCount) -> QStandardItem:
    item = QStandardItem(count.tag.rpartition("/")[2])
    item.setEditable(False)
    item.setData(count.tag, TAG_ROLE)
    item.setData(count.count, COUNT_ROLE)
    item.setToolTip(f"#{count.tag}")
    return item


async def _list_tags(vault: VaultService) -> tuple[TagCount, ...]:
    """Return the tags sorted by name, so that a tag follows its parent; runs in the service thread."""
    return tuple(sorted(vault.notes.tags(), key=lambda count: count.tag.casefold()))


def connect(panel: TagsPanel, context: PanelContext) -> None:
    """Connect the panel to the window and the other panels."""
    connect_links(panel, context)
    panel.rename_requested.connect(context.tag_rename_requested)
