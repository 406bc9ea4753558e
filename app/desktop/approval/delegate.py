"""Paint a file's name and its numbers of added and removed lines."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from app.desktop.approval.model import COUNTS_ROLE
from app.desktop.theme.theme import ThemeSource

_Index = QModelIndex | QPersistentModelIndex
# Pixels for the check box, the icon and their margins.
_NAME_MARGIN = 72


class ChangedFileDelegate(QStyledItemDelegate):
    """Paints a file with "+n −m" on the right, in the colors of added and removed lines."""

    def __init__(self, theme: ThemeSource, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def initStyleOption(self, option: QStyleOptionViewItem, index: _Index) -> None:
        """Elide the name so that the counts fit after it."""
        super().initStyleOption(option, index)
        metrics = option.fontMetrics
        width = option.rect.width() - metrics.horizontalAdvance(self._counts_label(index)) - _NAME_MARGIN
        option.text = metrics.elidedText(option.text, Qt.TextElideMode.ElideRight, width)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint the file, then the counts, right-aligned."""
        super().paint(painter, option, index)
        theme = self._theme.theme
        rect = QRect(option.rect).adjusted(0, 0, -8, 0)
        painter.save()
        painter.setFont(option.font)
        for text in reversed(self._counts_label(index).split()):
            painter.setPen(QColor(theme.success if text.startswith("+") else theme.danger))
            painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
            rect.setRight(rect.right() - painter.fontMetrics().horizontalAdvance(text + " "))
        painter.restore()

    def _counts_label(self, index: _Index) -> str:
        counts = index.data(COUNTS_ROLE)
        if not counts:
            return ""
        return " ".join(f"{sign}{count:,}" for sign, count in zip("+−", counts, strict=True) if count)
