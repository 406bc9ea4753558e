"""Draw a single node, and many lines in one call."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen
from shiboken6 import Shiboken

from app.desktop.graph.node_style import LegendEntry, rgb
from app.desktop.graph.render.edge_renderer import image_pixels
from app.graph.core_drawing import draw_strokes


def draw_disc(painter: QPainter, center: QPointF, radius: float, group: LegendEntry, background: str) -> None:
    """Draw a node as a disc with a rim that separates it from the background; a hollow one as a ring."""
    color = QColor(group.color)
    if group.hollow:
        pen = QPen(color, min(1.6, max(0.8, radius * 0.3)))
        painter.setPen(pen)
        painter.setBrush(QColor(background))
        inner = max(0.4, radius - pen.widthF() / 2)
        painter.drawEllipse(center, inner, inner)
        return
    painter.setPen(Qt.PenStyle.NoPen)
    if radius > 3.2:
        rim = QColor(background)
        rim.setAlphaF(0.75)
        painter.setBrush(rim)
        painter.drawEllipse(center, radius + 1.1, radius + 1.1)
    painter.setBrush(color)
    painter.drawEllipse(center, radius, radius)


def draw_lines(painter: QPainter, lines: NDArray[np.float64]) -> None:
    """Draw lines, float64 (n, 4) as x1 y1 x2 y2, with the painter's pen in one call."""
    if not len(lines):
        return
    packed = np.ascontiguousarray(lines, dtype=np.float64)
    first = Shiboken.wrapInstance(packed.ctypes.data, QLineF)
    painter.drawLines(cast("QLineF", first), len(packed))


def stroke_lines(image: QImage, lines: NDArray[np.float64], color: str, width: float, opacity: float) -> None:
    """Draw solid lines on `image`.

    Args:
        image: An opaque image.
        lines: float64 (n, 4), x1 y1 x2 y2 in logical pixels.
        color: "#rrggbb".
        width: The width of the lines in logical pixels.
        opacity: 0 to 1.
    """
    ratio = image.devicePixelRatio()
    scaled = np.ascontiguousarray(lines * ratio, dtype=np.float32)
    draw_strokes(scaled, width * ratio, rgb(color), opacity, image_pixels(image))
