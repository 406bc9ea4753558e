"""The shadow of what floats over the window.

Qt's own effect blurs the whole widget anew whenever a letter of it is painted; this one is painted when it
comes up or its size changes.
"""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

_BLUR_RADIUS = 26
_OFFSET_Y = 8
_MAX_ALPHA = 22
_CORNER_RADIUS = 10


class DropShadow(QWidget):
    """Lies under a widget with round corners, its sibling; the mouse does not find it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def lie_under(self, place: QRect) -> None:
        """Follow the widget to its place in the parent."""
        self.setGeometry(
            place.adjusted(-_BLUR_RADIUS, -_BLUR_RADIUS, _BLUR_RADIUS, _BLUR_RADIUS).translated(0, _OFFSET_Y)
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Rings around the widget that fade outwards; nothing under it."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            whole = QRectF(self.rect())
            for step in range(_BLUR_RADIUS + _OFFSET_Y):
                near = min(1.0, step / _BLUR_RADIUS)
                painter.setPen(QPen(QColor(0, 0, 0, round(_MAX_ALPHA * near * near)), 1.2))
                corner = max(4.0, _CORNER_RADIUS + _BLUR_RADIUS - step)
                painter.drawRoundedRect(whole.adjusted(step, step, -step, -step), corner, corner)
