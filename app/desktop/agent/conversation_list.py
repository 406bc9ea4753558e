"""The saved conversations: search, open, rename, delete."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QMenu, QVBoxLayout, QWidget

from app.agent.conversations import Conversation
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.item_opening import connect_open
from app.desktop.widgets.panel import SearchField

_ID_ROLE = Qt.ItemDataRole.UserRole
_TITLE_ROLE = Qt.ItemDataRole.UserRole + 1


class ConversationList(QWidget):
    """A searchable list of the saved conversations.

    `chosen` carries a conversation's id, `rename_requested` and `delete_requested` its id and title,
    `search_changed` the search text.
    """

    chosen = Signal(str)
    rename_requested = Signal(str, str)
    delete_requested = Signal(str, str)
    search_changed = Signal(str)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._search = SearchField(theme, self.tr("Search conversations"))
        self._search.textChanged.connect(self.search_changed)
        self._list = QListWidget()
        self._list.setAccessibleName(self.tr("Saved conversations"))
        connect_open(self._list, lambda index: self.chosen.emit(index.data(_ID_ROLE)))
        self._list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._list.customContextMenuRequested.connect(self._show_menu)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.addWidget(self._search)
        column.addWidget(self._list, 1)

    @property
    def search_text(self) -> str:
        """The text in the search field."""
        return self._search.text()

    def show_conversations(self, conversations: tuple[Conversation, ...]) -> None:
        """Show `conversations` in this order, or a hint if there are none."""
        self._list.clear()
        for conversation in conversations:
            updated = datetime.fromtimestamp(conversation.updated)
            item = QListWidgetItem(
                icon(self._theme.theme, "chat-circle"), conversation.title or self.tr("Untitled")
            )
            item.setToolTip(f"{conversation.title}\n{updated:%Y-%m-%d %H:%M}")
            item.setData(_ID_ROLE, conversation.id)
            item.setData(_TITLE_ROLE, conversation.title)
            self._list.addItem(item)
        if not conversations:
            empty = QListWidgetItem(
                self.tr("No matching conversations") if self.search_text else self.tr("No conversations yet")
            )
            empty.setFlags(Qt.ItemFlag.NoItemFlags)
            self._list.addItem(empty)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Request to delete the selected conversation on Delete, and to rename it on F2."""
        item = self._list.currentItem()
        if event.key() == Qt.Key.Key_Delete and item is not None and item.data(_ID_ROLE):
            self.delete_requested.emit(item.data(_ID_ROLE), item.data(_TITLE_ROLE))
        elif event.key() == Qt.Key.Key_F2 and item is not None and item.data(_ID_ROLE):
            self.rename_requested.emit(item.data(_ID_ROLE), item.data(_TITLE_ROLE))
        else:
            super().keyPressEvent(event)

    def _show_menu(self, position: QPoint) -> None:
        item = self._list.itemAt(position)
        if item is None or not item.data(_ID_ROLE):
            return
        id_, title = item.data(_ID_ROLE), item.data(_TITLE_ROLE)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Rename…"), lambda: self.rename_requested.emit(id_, title))
        menu.addSeparator()
        menu.addAction(self.tr("Delete…"), lambda: self.delete_requested.emit(id_, title))
        menu.popup(self._list.viewport().mapToGlobal(position))
