"""The start page of the search panel: saved searches and examples of the query language."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import (
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QListView, QMenu, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.desktop.search.operator_help import query_examples
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource, code_font
from app.index.saved_searches import SavedSearch

_KIND_ROLE = int(Qt.ItemDataRole.UserRole)
_LABEL_ROLE, _SAVED_ROLE = _KIND_ROLE + 1, _KIND_ROLE + 2
_HEADING_KIND, _SEARCH_KIND, _EXAMPLE_KIND = "heading", "search", "example"
_Index = QModelIndex | QPersistentModelIndex


class SearchStartPage(QListView):
    """The list of saved searches and examples.

    Signals:
        search_requested: A saved search.
        example_chosen: An example for the field.
        command_requested: A command on a saved search ("rename" or "remove"), and its name.
        filter_requested: A query to filter the graph by.
    """

    search_requested = Signal(object)
    example_chosen = Signal(str)
    command_requested = Signal(str, str)
    filter_requested = Signal(str)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = QStandardItemModel(self)
        self.setModel(self._rows)
        self.setItemDelegate(_StartPageDelegate(theme, self))
        self.setMouseTracking(True)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Saved searches and search operators"))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)
        self.clicked.connect(self._choose)
        self.activated.connect(self._choose)
        self.show_searches(())

    def show_searches(self, searches: Iterable[SavedSearch]) -> None:
        """Show these saved searches above the examples."""
        self._rows.clear()
        searches = tuple(searches)
        if searches:
            self._add(_HEADING_KIND, self.tr("Saved searches"))
        for search in searches:
            self._add(_SEARCH_KIND, search.name, search.query).setData(search, _SAVED_ROLE)
        self._add(_HEADING_KIND, self.tr("Search operators"))
        for text, label in query_examples():
            self._add(_EXAMPLE_KIND, text, label)

    def _add(self, kind: str, text: str, label: str = "") -> QStandardItem:
        item = QStandardItem(text)
        item.setData(kind, _KIND_ROLE)
        item.setData(label, _LABEL_ROLE)
        item.setData(f"{text}: {label}" if label else text, Qt.ItemDataRole.AccessibleTextRole)
        item.setToolTip(label)
        if kind == _HEADING_KIND:
            item.setFlags(Qt.ItemFlag.NoItemFlags)
        self._rows.appendRow(item)
        return item

    def _choose(self, index: QModelIndex) -> None:
        if index.data(_KIND_ROLE) == _SEARCH_KIND:
            self.search_requested.emit(index.data(_SAVED_ROLE))
        elif index.data(_KIND_ROLE) == _EXAMPLE_KIND:
            self.example_chosen.emit(index.data())

    def _show_menu(self, position: QPoint) -> None:
        index = self.indexAt(position)
        if index.data(_KIND_ROLE) != _SEARCH_KIND:
            return
        search: SavedSearch = index.data(_SAVED_ROLE)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Search"), lambda: self.search_requested.emit(search))
        menu.addAction(self.tr("Filter the graph"), lambda: self.filter_requested.emit(search.query))
        menu.addAction(self.tr("Rename…"), lambda: self.command_requested.emit("rename", search.name))
        menu.addSeparator()
        menu.addAction(self.tr("Remove"), lambda: self.command_requested.emit("remove", search.name))
        menu.popup(self.viewport().mapToGlobal(position))


class _StartPageDelegate(QStyledItemDelegate):
    """Paints a heading, or a saved search or example with its description below it."""

    def __init__(self, theme: ThemeSource, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """Return the height of two lines, or of one for a heading."""
        line = QFontMetrics(option.font).height()
        return QSize(80, line + 16 if index.data(_KIND_ROLE) == _HEADING_KIND else 2 * line + 10)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint one row."""
        theme = self._theme.theme
        kind = index.data(_KIND_ROLE)
        area = QRect(option.rect).adjusted(12, 0, -12, 0)
        elided = Qt.TextElideMode.ElideRight
        painter.save()
        if kind == _HEADING_KIND:
            bold = QFont(option.font)
            bold.setWeight(QFont.Weight.DemiBold)
            painter.setFont(bold)
            painter.setPen(QColor(theme.muted))
            flags = Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft
            text = QFontMetrics(bold).elidedText(index.data(), elided, area.width())
            painter.drawText(area.adjusted(0, 0, 0, -4), flags, text)
            painter.restore()
            return
        self._paint_background(painter, option)
        if kind == _SEARCH_KIND:
            icon_size = QFontMetrics(option.font).height()
            icon_rect = QRect(area.left(), area.top() + 5, icon_size, icon_size)
            icon(theme, "star", theme.accent).paint(painter, icon_rect)
            area.setLeft(icon_rect.right() + 6)
        font = code_font(self._theme.zoom) if kind == _EXAMPLE_KIND else option.font
        painter.setFont(font)
        painter.setPen(QColor(theme.text))
        metrics = QFontMetrics(font)
        first_line = QRect(area.left(), area.top() + 4, area.width(), metrics.height())
        alignment = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(first_line, alignment, metrics.elidedText(index.data(), elided, area.width()))
        painter.setFont(option.font)
        painter.setPen(QColor(theme.muted))
        metrics = QFontMetrics(option.font)
        second_line = QRect(area.left(), first_line.bottom() + 2, area.width(), metrics.height())
        painter.drawText(
            second_line, alignment, metrics.elidedText(index.data(_LABEL_ROLE), elided, area.width())
        )
        painter.restore()

    def _paint_background(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        theme, state = self._theme.theme, option.state
        is_selected = state & QStyle.StateFlag.State_Selected
        if is_selected or state & QStyle.StateFlag.State_MouseOver:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.accent_soft if is_selected else theme.hover))
            painter.drawRoundedRect(QRectF(option.rect).adjusted(4, 1, -4, -1), 5, 5)
