"""A shadow for widgets that float over the window.

Qt's own effect blurs the whole widget whenever any part of it is repainted; this shadow is painted only when
it appears or its size changes.
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
    """A shadow under a sibling widget with rounded corners; it ignores the mouse."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def place_under(self, geometry: QRect) -> None:
        """Place the shadow around `geometry`, the widget's geometry, shifted down slightly."""
        self.setGeometry(
            geometry.adjusted(-_BLUR_RADIUS, -_BLUR_RADIUS, _BLUR_RADIUS, _BLUR_RADIUS).translated(
                0, _OFFSET_Y
            )
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint rings that fade outward around the widget, without filling the area under it."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            area = QRectF(self.rect())
            for step in range(_BLUR_RADIUS + _OFFSET_Y):
                strength = min(1.0, step / _BLUR_RADIUS)
                painter.setPen(QPen(QColor(0, 0, 0, round(_MAX_ALPHA * strength * strength)), 1.2))
                corner = max(4.0, _CORNER_RADIUS + _BLUR_RADIUS - step)
                painter.drawRoundedRect(area.adjusted(step, step, -step, -step), corner, corner)
