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
_MIN_NAMED_RADIUS = 34.0
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
        self.places: tuple[RegionDisc, ...] = ()
        self.moments: tuple[AxisTick, ...] = ()
        self.outline: list[QPointF] = []
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        self._theme = theme
        self.update()

    def show_arrangement(self, places: Sequence[RegionDisc], moments: Sequence[AxisTick]) -> None:
        """Show discs and ticks; outermost discs come first."""
        self.places = tuple(sorted(places, key=lambda place: place.depth))
        self.moments = tuple(moments)
        self._refresh()

    def show_outline(self, outline: list[QPointF]) -> None:
        """Show the lasso's outline; an empty one removes it."""
        self.outline = outline
        self._refresh()

    @property
    def axis_height(self) -> int:
        """The height of the time axis in pixels."""
        return _AXIS_HEIGHT if self.moments else 0

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the annotations."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            camera = self._canvas.camera
            size = (self.width(), self.height())
            paint_arrangement(painter, self.places, self.moments, camera, size, self._theme, self.font())
            if len(self.outline) > 1:
                tone = QColor(self._theme.accent)
                painter.setPen(QPen(tone, 1.4, Qt.PenStyle.DashLine))
                tone.setAlphaF(0.12)
                painter.setBrush(tone)
                painter.drawPolygon(QPolygonF(self.outline))

    def _refresh(self) -> None:
        self.setVisible(bool(self.places or self.moments or self.outline))
        self.setGeometry(self._canvas.rect())
        self.update()


def paint_arrangement(
    painter: QPainter,
    places: Sequence[RegionDisc],
    moments: Sequence[AxisTick],
    camera: Camera,
    size: tuple[int, int],
    theme: Theme,
    font: QFont,
) -> None:
    """Paint discs and time axis under a camera, on the screen or in a picture."""
    painter.setFont(font)
    metrics = QFontMetricsF(font)
    named: list[QRectF] = []
    for place in places:
        _paint_place(painter, place, camera, size, theme)
    for place, box in _label_places(places, camera, size, metrics):
        if any(box.intersects(other) for other in named):
            continue
        named.append(box)
        _paint_label(painter, place, box, theme, metrics)
    if moments:
        _paint_axis(painter, moments, camera, size, theme, metrics)


def _visible_disc(place: RegionDisc, camera: Camera, size: tuple[int, int]) -> tuple[QPointF, float] | None:
    """Return a disc's center and radius in pixels; None if it is outside the view."""
    x = (place.x - camera.x) * camera.scale + size[0] / 2
    y = (place.y - camera.y) * camera.scale + size[1] / 2
    radius = place.radius * camera.scale
    inside = -radius < x < size[0] + radius and -radius < y < size[1] + radius
    return (QPointF(x, y), radius) if inside and radius >= _MIN_DRAWN_RADIUS else None


def _paint_place(
    painter: QPainter, place: RegionDisc, camera: Camera, size: tuple[int, int], theme: Theme
) -> None:
    if (seen := _visible_disc(place, camera, size)) is None:
        return
    line, fill = QColor(theme.faint), QColor(theme.faint)
    line.setAlphaF(0.45 if place.depth == 0 else 0.28)
    fill.setAlphaF(0.045)
    painter.setPen(QPen(line, 1.0))
    painter.setBrush(fill)
    painter.drawEllipse(seen[0], seen[1], seen[1])


def _label_places(
    places: Sequence[RegionDisc], camera: Camera, size: tuple[int, int], metrics: QFontMetricsF
) -> Iterator[tuple[RegionDisc, QRectF]]:
    """Return the discs that are large enough for a label, with the places of their labels."""
    for place in places:
        seen = _visible_disc(place, camera, size)
        if seen is None or seen[1] < _MIN_NAMED_RADIUS or not place.name:
            continue
        wide = metrics.horizontalAdvance(_elided(place, seen[1], metrics)) + 10
        top = seen[0].y() - seen[1] - metrics.height() / 2
        yield place, QRectF(seen[0].x() - wide / 2, top, wide, metrics.height())


def _elided(place: RegionDisc, radius: float, metrics: QFontMetricsF) -> str:
    return metrics.elidedText(place.name, Qt.TextElideMode.ElideMiddle, 2 * radius + 40)


def _paint_label(
    painter: QPainter, place: RegionDisc, box: QRectF, theme: Theme, metrics: QFontMetricsF
) -> None:
    ground = QColor(theme.window)
    ground.setAlphaF(0.85)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ground)
    painter.drawRoundedRect(box, 4, 4)
    painter.setPen(QColor(theme.muted if place.depth == 0 else theme.faint))
    words = metrics.elidedText(place.name, Qt.TextElideMode.ElideMiddle, box.width() - 8)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)


def _paint_axis(
    painter: QPainter,
    moments: Sequence[AxisTick],
    camera: Camera,
    size: tuple[int, int],
    theme: Theme,
    metrics: QFontMetricsF,
) -> None:
    """Paint the ticks, and their dates along the lower edge where there is room."""
    width, height = size
    base = height - _AXIS_HEIGHT
    ground = QColor(theme.window)
    ground.setAlphaF(0.88)
    painter.fillRect(QRectF(0, base, width, _AXIS_HEIGHT), ground)
    painter.setPen(QPen(QColor(theme.border), 1.0))
    painter.drawLine(QPointF(0, base), QPointF(width, base))
    taken: list[tuple[float, float]] = []
    for moment in sorted(moments, key=lambda one: not one.major):
        x = (moment.x - camera.x) * camera.scale + width / 2
        if not -60 < x < width + 60:
            continue
        half = metrics.horizontalAdvance(moment.label) / 2
        left, right = x - half - _MIN_LABEL_GAP, x + half + _MIN_LABEL_GAP
        free = all(right < other[0] or left > other[1] for other in taken)
        tone = QColor(theme.faint)
        tone.setAlphaF(0.35 if moment.major else 0.16)
        if free or moment.major:
            painter.setPen(QPen(tone, 1.0))
            painter.drawLine(QPointF(x, 0), QPointF(x, base + 4))
        if free:
            taken.append((left, right))
            painter.setPen(QColor(theme.muted if moment.major else theme.faint))
            box = QRectF(x - half - 2, base + 4, 2 * half + 4, _AXIS_HEIGHT - 4)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, moment.label)
