"""Marks on the scroll bar for search matches."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QScrollBar, QWidget

_MARK_HEIGHT = 2.5


class MatchBar(QWidget):
    """Paints a mark for each match over a scroll bar; lets mouse events through."""

    def __init__(self, bar: QScrollBar) -> None:
        super().__init__(bar)
        self._positions: tuple[float, ...] = ()
        self._color = QColor(Qt.GlobalColor.transparent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        bar.installEventFilter(self)
        self.setGeometry(bar.rect())
        self.hide()

    @property
    def positions(self) -> tuple[float, ...]:
        """The positions of the marks, from 0 (top) to 1."""
        return self._positions

    def show_marks(self, positions: Sequence[float], color: QColor) -> None:
        """Show marks at these positions, each from 0 (top) to 1 (bottom)."""
        self._positions = tuple(sorted(set(positions)))
        self._color = color
        self.setVisible(bool(self._positions))
        self.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Match the size of the scroll bar."""
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self.setGeometry(watched.rect())
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the marks."""
        painter = QPainter(self)
        height = self.height() - _MARK_HEIGHT
        for position in self._positions:
            painter.fillRect(QRectF(2, position * height, self.width() - 4, _MARK_HEIGHT), self._color)
        painter.end()
