"""A delegate for rows with a count or a short text at the right."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from app.desktop.theme.theme import Theme


class _Themed(Protocol):
    """An object that knows the current theme, such as a `ThemeSource` or a `SearchField`."""

    @property
    def theme(self) -> Theme:
        """The current theme."""
        ...


class CountDelegate(QStyledItemDelegate):
    """Paints the row as usual, and the number or text under `role` in a faint color at the right."""

    def __init__(self, theme: _Themed, role: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._role = role

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint the row; the text at the right is elided if both do not fit."""
        count = index.data(self._role)
        super().paint(painter, option, index)
        if count is None or count == "":
            return
        painter.save()
        painter.setPen(QColor(self._theme.theme.faint))
        place = QRect(option.rect)
        place.setRight(place.right() - 8)
        if isinstance(count, int):
            text = f"{count:,}"
        else:
            name = str(index.data())
            place.setLeft(place.left() + option.fontMetrics.horizontalAdvance(name) + 24)
            text = option.fontMetrics.elidedText(str(count), Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()
