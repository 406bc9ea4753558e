"""The delegate of table cells that show an audit entry's decision."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from app.desktop.audit.labels import decision_color, decision_label
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.row_delegate import PaintedRowDelegate

_Index = QModelIndex | QPersistentModelIndex
_CHIP_PADDING = 8


class DecisionDelegate(PaintedRowDelegate):
    """Paints the decision as a chip."""

    def __init__(self, theme: ThemeSource, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint the cell, then the chip in it."""
        super().paint(painter, option, index)
        decision = str(index.data(Qt.ItemDataRole.DisplayRole))
        label, color = decision_label(decision), QColor(decision_color(decision, self._theme.theme))
        metrics = QFontMetrics(option.font)
        width = min(metrics.horizontalAdvance(label) + 2 * _CHIP_PADDING, option.rect.width() - 8)
        height = metrics.height() + 4
        top = option.rect.center().y() - height / 2 + 1
        chip = QRectF(option.rect.left() + 4, top, width, height)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(option.font)
        background = QColor(color)
        background.setAlphaF(0.14)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(background)
        painter.drawRoundedRect(chip, height / 2, height / 2)
        painter.setPen(color)
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, label)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """Return the size of the chip with its margins."""
        text = decision_label(str(index.data(Qt.ItemDataRole.DisplayRole)))
        metrics = QFontMetrics(option.font)
        return QSize(metrics.horizontalAdvance(text) + 2 * _CHIP_PADDING + 16, metrics.height() + 10)
