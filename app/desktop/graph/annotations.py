"""Drawings over the graph: the lasso, the discs of an arrangement and its time axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from app.desktop.graph.camera import Camera
from app.desktop.graph.canvas import Canvas
from app.desktop.theme.colors import Theme

_AXIS_HEIGHT = 26
_MIN_LABELED_RADIUS = 34.0
_MIN_DRAWN_RADIUS = 4.0
_MIN_LABEL_GAP = 12.0


@dataclass(frozen=True, slots=True)
class RegionDisc:
    """A disc around a region of an arrangement, in layout units; `depth` 0 is the outermost."""

    name: str
    x: float
    y: float
    radius: float
    depth: int


@dataclass(frozen=True, slots=True)
class AxisTick:
    """A vertical line at a point in time; `x` is in layout units."""

    x: float
    label: str
    major: bool


class Annotations(QWidget):
    """A transparent overlay on `canvas` that follows its camera and ignores the mouse."""

    def __init__(self, theme: Theme, canvas: Canvas) -> None:
        super().__init__(canvas)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._canvas = canvas
        self._theme = theme
        self.discs: tuple[RegionDisc, ...] = ()
        self.ticks: tuple[AxisTick, ...] = ()
        self.outline: list[QPointF] = []
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        self._theme = theme
        self.update()

    def show_arrangement(self, discs: Sequence[RegionDisc], ticks: Sequence[AxisTick]) -> None:
        """Show discs and ticks in place of the current ones; the outermost discs are drawn first."""
        self.discs = tuple(sorted(discs, key=lambda disc: disc.depth))
        self.ticks = tuple(ticks)
        self._refresh()

    def show_outline(self, outline: list[QPointF]) -> None:
        """Show the lasso's outline; an empty one removes it."""
        self.outline = outline
        self._refresh()

    @property
    def axis_height(self) -> int:
        """The height of the time axis in pixels; 0 without one."""
        return _AXIS_HEIGHT if self.ticks else 0

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the annotations."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            camera = self._canvas.camera
            size = (self.width(), self.height())
            paint_arrangement(painter, self.discs, self.ticks, camera, size, self._theme, self.font())
            if len(self.outline) > 1:
                color = QColor(self._theme.accent)
                painter.setPen(QPen(color, 1.4, Qt.PenStyle.DashLine))
                color.setAlphaF(0.12)
                painter.setBrush(color)
                painter.drawPolygon(QPolygonF(self.outline))

    def _refresh(self) -> None:
        self.setVisible(bool(self.discs or self.ticks or self.outline))
        self.setGeometry(self._canvas.rect())
        self.update()


def paint_arrangement(
    painter: QPainter,
    discs: Sequence[RegionDisc],
    ticks: Sequence[AxisTick],
    camera: Camera,
    size: tuple[int, int],
    theme: Theme,
    font: QFont,
) -> None:
    """Paint discs and the time axis as `camera` shows them, on the screen or in an image.

    `size` is the view's width and height in pixels.
    """
    painter.setFont(font)
    metrics = QFontMetricsF(font)
    label_rects: list[QRectF] = []
    for disc in discs:
        _paint_disc(painter, disc, camera, size, theme)
    for disc, rect in _label_rects(discs, camera, size, metrics):
        if any(rect.intersects(other) for other in label_rects):
            continue
        label_rects.append(rect)
        _paint_label(painter, disc, rect, theme, metrics)
    if ticks:
        _paint_axis(painter, ticks, camera, size, theme, metrics)


def _visible_disc(disc: RegionDisc, camera: Camera, size: tuple[int, int]) -> tuple[QPointF, float] | None:
    """Return a disc's center and radius in pixels; None if it is outside the view or too small."""
    x = (disc.x - camera.x) * camera.scale + size[0] / 2
    y = (disc.y - camera.y) * camera.scale + size[1] / 2
    radius = disc.radius * camera.scale
    is_inside = -radius < x < size[0] + radius and -radius < y < size[1] + radius
    return (QPointF(x, y), radius) if is_inside and radius >= _MIN_DRAWN_RADIUS else None


def _paint_disc(
    painter: QPainter, disc: RegionDisc, camera: Camera, size: tuple[int, int], theme: Theme
) -> None:
    if (circle := _visible_disc(disc, camera, size)) is None:
        return
    outline, fill = QColor(theme.faint), QColor(theme.faint)
    outline.setAlphaF(0.45 if disc.depth == 0 else 0.28)
    fill.setAlphaF(0.045)
    painter.setPen(QPen(outline, 1.0))
    painter.setBrush(fill)
    painter.drawEllipse(circle[0], circle[1], circle[1])


def _label_rects(
    discs: Sequence[RegionDisc], camera: Camera, size: tuple[int, int], metrics: QFontMetricsF
) -> Iterator[tuple[RegionDisc, QRectF]]:
    """Yield the discs that are large enough for a label, with the rectangles of their labels."""
    for disc in discs:
        circle = _visible_disc(disc, camera, size)
        if circle is None or circle[1] < _MIN_LABELED_RADIUS or not disc.name:
            continue
        width = metrics.horizontalAdvance(_elided_name(disc, circle[1], metrics)) + 10
        top = circle[0].y() - circle[1] - metrics.height() / 2
        yield disc, QRectF(circle[0].x() - width / 2, top, width, metrics.height())


def _elided_name(disc: RegionDisc, radius: float, metrics: QFontMetricsF) -> str:
    return metrics.elidedText(disc.name, Qt.TextElideMode.ElideMiddle, 2 * radius + 40)


def _paint_label(
    painter: QPainter, disc: RegionDisc, rect: QRectF, theme: Theme, metrics: QFontMetricsF
) -> None:
    background = QColor(theme.window)
    background.setAlphaF(0.85)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(background)
    painter.drawRoundedRect(rect, 4, 4)
    painter.setPen(QColor(theme.muted if disc.depth == 0 else theme.faint))
    text = metrics.elidedText(disc.name, Qt.TextElideMode.ElideMiddle, rect.width() - 8)
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)


def _paint_axis(
    painter: QPainter,
    ticks: Sequence[AxisTick],
    camera: Camera,
    size: tuple[int, int],
    theme: Theme,
    metrics: QFontMetricsF,
) -> None:
    """Paint the labels that fit along the lower edge, and a line for each of them and each major tick."""
    width, height = size
    axis_top = height - _AXIS_HEIGHT
    background = QColor(theme.window)
    background.setAlphaF(0.88)
    painter.fillRect(QRectF(0, axis_top, width, _AXIS_HEIGHT), background)
    painter.setPen(QPen(QColor(theme.border), 1.0))
    painter.drawLine(QPointF(0, axis_top), QPointF(width, axis_top))
    occupied: list[tuple[float, float]] = []
    for tick in sorted(ticks, key=lambda tick: not tick.major):
        x = (tick.x - camera.x) * camera.scale + width / 2
        if not -60 < x < width + 60:
            continue
        half_width = metrics.horizontalAdvance(tick.label) / 2
        left, right = x - half_width - _MIN_LABEL_GAP, x + half_width + _MIN_LABEL_GAP
        is_free = all(right < other[0] or left > other[1] for other in occupied)
        color = QColor(theme.faint)
        color.setAlphaF(0.35 if tick.major else 0.16)
        if is_free or tick.major:
            painter.setPen(QPen(color, 1.0))
            painter.drawLine(QPointF(x, 0), QPointF(x, axis_top + 4))
        if is_free:
            occupied.append((left, right))
            painter.setPen(QColor(theme.muted if tick.major else theme.faint))
            rect = QRectF(x - half_width - 2, axis_top + 4, 2 * half_width + 4, _AXIS_HEIGHT - 4)
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, tick.label)
