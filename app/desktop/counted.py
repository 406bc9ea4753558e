"""Rows with a count at their right end."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from app.desktop.theme import ThemeSource


class CountedRows(QStyledItemDelegate):
    """Paints what the style paints, and the number under `role` in a faint colour at the right."""

    def __init__(self, theme: ThemeSource, role: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._role = role

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Leave room for the count, so that a long name is shortened before it."""
        count = index.data(self._role)
        super().paint(painter, option, index)
        if count is None:
            return
        painter.save()
        painter.setPen(QColor(self._theme.theme.faint))
        place = QRect(option.rect)
        place.setRight(place.right() - 8)
        painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{count:,}")
        painter.restore()
