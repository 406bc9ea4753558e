"""Draws all discs of one frame in a single call, from an atlas of node pictures."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QPixmap
from shiboken6 import Shiboken

from app.desktop.graph.node_style import LegendEntry, rgb
from app.desktop.graph.render.edge_renderer import image_pixels
from app.graph import core_bindings
from app.graph.core_drawing import draw_strokes

_RADIUS_STEP = 1.09
_MIN_RADIUS = 0.8
_MAX_RADIUS = 26.0
MAX_SPRITE_RADIUS = _MAX_RADIUS


class Atlas:
    """Discs of each group in radii that grow by a twelfth, drawn once per theme and screen ratio.

    Groups of the same color share their pictures.
    """

    def __init__(self, groups: tuple[LegendEntry, ...], background: str, ratio: float) -> None:
        steps = int(np.ceil(np.log(_MAX_RADIUS / _MIN_RADIUS) / np.log(_RADIUS_STEP))) + 1
        self._radii = (_MIN_RADIUS * _RADIUS_STEP ** np.arange(steps)).astype(np.float32)
        self._sides = np.ceil((self._radii + 2) * 2 * ratio).astype(np.int64)
        self._lefts = np.concatenate([[0], np.cumsum(self._sides)])
        self._row = int(self._sides.max())
        self._ratio = ratio
        looks = list(dict.fromkeys((group.color, group.hollow) for group in groups))
        line_of = {look: line for line, look in enumerate(looks)}
        lines = [line_of[group.color, group.hollow] for group in groups]
        self._lines = np.array(lines or [0], dtype=np.int64)
        self.pixmap = QPixmap(int(self._lefts[-1]), self._row * max(1, len(looks)))
        self.pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(self.pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for line, group in dict(zip(lines, groups, strict=True)).items():
            for step, radius in enumerate(self._radii.tolist()):
                half = self._sides[step] / 2
                middle = QPointF(float(self._lefts[step] + half), float(line * self._row + half))
                draw_disc(painter, middle, radius * ratio, group, background, ratio)
        painter.end()

    def fragments(
        self,
        at: NDArray[np.float32],
        radii: NDArray[np.float32],
        group: NDArray[np.int16],
        opacity: NDArray[np.float32],
    ) -> NDArray[np.float64]:
        """Return one disc per row, float64 (n, 10), in the memory layout of `QPainter.PixmapFragment`."""
        step = np.clip(np.searchsorted(self._radii, radii * np.float32(0.957)), 0, len(self._radii) - 1)
        side = self._sides[step]
        made = np.zeros((len(at), 10))
        made[:, 0:2] = at
        made[:, 2] = self._lefts[step]
        made[:, 3] = self._lines[group] * self._row
        made[:, 4] = made[:, 5] = side
        made[:, 6] = made[:, 7] = 1 / self._ratio
        made[:, 9] = opacity
        return made

    def draw(self, painter: QPainter, fragments: NDArray[np.float64]) -> None:
        """Draw the discs in the order of their rows."""
        if not len(fragments):
            return
        first = Shiboken.wrapInstance(fragments.ctypes.data, QPainter.PixmapFragment)
        painter.drawPixmapFragments(cast("QPainter.PixmapFragment", first), len(fragments), self.pixmap)


def draw_disc(
    painter: QPainter, middle: QPointF, radius: float, group: LegendEntry, background: str, ratio: float = 1.0
) -> None:
    """Draw one node: a disc with a rim that separates it from what lies below; hollow for a missing note."""
    color = QColor(group.color)
    if group.hollow:
        pen = QPen(color, min(1.6 * ratio, max(0.8 * ratio, radius * 0.3)))
        painter.setPen(pen)
        painter.setBrush(QColor(background))
        inner = max(0.4, radius - pen.widthF() / 2)
        painter.drawEllipse(middle, inner, inner)
        return
    painter.setPen(Qt.PenStyle.NoPen)
    if radius > 3.2 * ratio:
        rim = QColor(background)
        rim.setAlphaF(0.75)
        painter.setBrush(rim)
        painter.drawEllipse(middle, radius + 1.1 * ratio, radius + 1.1 * ratio)
    painter.setBrush(color)
    painter.drawEllipse(middle, radius, radius)


def draw_lines(painter: QPainter, lines: NDArray[np.float64]) -> None:
    """Draw lines, float64 (n, 4) as x1 y1 x2 y2, with the painter's pen in one call."""
    if not len(lines):
        return
    packed = np.ascontiguousarray(lines, dtype=np.float64)
    first = Shiboken.wrapInstance(packed.ctypes.data, QLineF)
    painter.drawLines(cast("QLineF", first), len(packed))


def stroke_lines(
    painter: QPainter, image: QImage, lines: NDArray[np.float64], color: str, width: float, opacity: float
) -> None:
    """Draw solid lines on `image`, which `painter` paints on, with the C core if it is available.

    Args:
        painter: The painter of `image`; its pen and opacity are changed.
        image: An opaque image.
        lines: float64 (n, 4), x1 y1 x2 y2.
        color: "#rrggbb".
        width: The width of the lines.
        opacity: 0 to 1.
    """
    if core_bindings.available():
        ratio = image.devicePixelRatio()
        ends = np.ascontiguousarray(lines * ratio, dtype=np.float32)
        draw_strokes(ends, width * ratio, rgb(color), opacity, image_pixels(image))
        return
    painter.setOpacity(opacity)
    painter.setPen(QPen(QColor(color), width))
    draw_lines(painter, lines)
