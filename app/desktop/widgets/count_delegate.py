"""A delegate for rows with a count or short text on the right."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.desktop.theme.colors import Theme

_MARGIN = 8
_GAP = 16


class _Themed(Protocol):
    """An object with the current theme, such as a `ThemeSource` or a `SearchField`."""

    @property
    def theme(self) -> Theme:
        """The current theme."""
        ...


class CountDelegate(QStyledItemDelegate):
    """Paints the row as usual, and the number or text under `role` in a faint color on the right."""

    def __init__(self, theme: _Themed, role: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._role = role

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Elide the row's own text where the text on the right begins."""
        super().initStyleOption(option, index)
        style = option.widget.style() if option.widget is not None else QApplication.style()
        text_area = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, option.widget)
        if side_text := self._side_text(option, index):
            available_width = text_area.width() - option.fontMetrics.horizontalAdvance(side_text) - _GAP
            option.text = option.fontMetrics.elidedText(
                option.text, Qt.TextElideMode.ElideRight, available_width
            )

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint the row and the text on its right."""
        super().paint(painter, option, index)
        if side_text := self._side_text(option, index):
            painter.save()
            painter.setPen(QColor(self._theme.theme.faint))
            area = option.rect.adjusted(0, 0, -_MARGIN, 0)
            painter.drawText(area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, side_text)
            painter.restore()

    def _side_text(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> str:
        """Return the text on the right, no wider than half the row."""
        value = index.data(self._role)
        if value is None or value == "":
            return ""
        text = f"{value:,}" if isinstance(value, int) else str(value)
        return option.fontMetrics.elidedText(text, Qt.TextElideMode.ElideRight, option.rect.width() // 2)
