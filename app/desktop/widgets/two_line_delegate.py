"""A delegate for list rows with a title and a muted second line."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.row_delegate import PaintedRowDelegate

_Index = QModelIndex | QPersistentModelIndex
_SIDE_MARGIN = 12
_TOP_MARGIN = 7
_LINE_GAP = 3


class TwoLineDelegate(PaintedRowDelegate):
    """Paints the two lines of an item's text, both elided, the second one muted."""

    def __init__(self, theme: ThemeSource, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint the row, then its lines."""
        super().paint(painter, option, index)
        theme = self._theme.theme
        first, _, second = str(index.data(Qt.ItemDataRole.DisplayRole)).partition("\n")
        metrics = QFontMetrics(option.font)
        rect = QRect(option.rect).adjusted(_SIDE_MARGIN, _TOP_MARGIN, -_SIDE_MARGIN, 0)
        rect.setHeight(metrics.height())
        painter.save()
        painter.setFont(option.font)
        for label, color in ((first, theme.text), (second, theme.muted)):
            text = metrics.elidedText(label, Qt.TextElideMode.ElideMiddle, rect.width())
            painter.setPen(QColor(color))
            painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
            rect.translate(0, metrics.height() + _LINE_GAP)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """Return the height of two lines."""
        return QSize(0, 2 * QFontMetrics(option.font).height() + _LINE_GAP + 2 * _TOP_MARGIN)
