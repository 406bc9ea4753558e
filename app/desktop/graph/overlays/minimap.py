"""A small picture of the whole graph with the visible part; a click or drag moves the view there."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame

from app.desktop.graph.canvas import Canvas
from app.desktop.graph.render.overview import GraphOverview
from app.desktop.theme.colors import Theme

_SIZE = QSize(196, 132)
_PADDING = 5
MIN_NODES_FOR_MINIMAP = 1500
_KEY_STEP = 0.12


class Minimap(QFrame):
    """Follows `canvas`; the arrow keys move the view while the minimap has the focus.

    Unless the user turned it on, the minimap is visible only while a part of the graph is out of view.
    `turned` is emitted when it appears or disappears.
    """

    turned = Signal()

    def __init__(self, theme: Theme, canvas: Canvas) -> None:
        super().__init__(canvas.parentWidget())
        self.setObjectName("graphMinimap")
        self.setAccessibleName(self.tr("Minimap"))
        self.setAccessibleDescription(self.tr("The arrow keys move the view."))
        self.setToolTip(self.tr("Minimap: click or drag to move the view (M to hide)"))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setFixedSize(_SIZE)
        self._theme = theme
        self._canvas = canvas
        self._on = self._always = False
        self._bounds: tuple[GraphOverview, QRectF] | None = None
        canvas.moved.connect(self._update)
        canvas.overview_changed.connect(self._update)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        self._theme = theme
        self.update()

    @property
    def is_on(self) -> bool:
        """True if the minimap is enabled."""
        return self._on

    def set_shown(self, on: bool, *, always: bool = False) -> None:
        """Enable or disable the minimap; `always` shows it even while the whole graph is visible."""
        self._always = always
        if on != self._on:
            self._on = on
            room = self._room()
            self._canvas.want_overview(*((round(room.width()), round(room.height())) if on else (0, 0)))
        self._update()

    def _update(self) -> None:
        """Update after the camera or the picture changed."""
        overview = self._canvas.overview
        seen = self._canvas.viewport()
        needed = overview is not None and (self._always or not seen.contains(self._nodes_in(overview)))
        shown = self._on and needed
        if shown == self.isHidden():
            self.setVisible(shown)
            self.turned.emit()
        self.update()

    def _nodes_in(self, overview: GraphOverview) -> QRectF:
        """Return the rectangle around the nodes of a picture without its margin, in layout units."""
        if self._bounds is None or self._bounds[0] is not overview:
            scene = self._canvas.scene
            at = scene.positions if scene.is_whole else scene.positions[scene.strength > 0.0]
            low, high = (at.min(axis=0).tolist(), at.max(axis=0).tolist()) if len(at) else ([0, 0], [0, 0])
            self._bounds = overview, QRectF(QPointF(*low), QPointF(*high))
        return self._bounds[1]

    def frame(self) -> QRectF:
        """The visible part of the graph in pixels of the minimap; null while there is no picture."""
        overview = self._canvas.overview
        if overview is None:
            return QRectF()
        scale, corner = self._scale(overview.area)
        seen, area = self._canvas.viewport(), overview.area
        return QRectF(
            corner.x() + (seen.x() - area.x()) * scale,
            corner.y() + (seen.y() - area.y()) * scale,
            seen.width() * scale,
            seen.height() * scale,
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the picture and the frame."""
        super().paintEvent(event)
        overview = self._canvas.overview
        if overview is None:
            return
        with QPainter(self) as painter:
            hints = QPainter.RenderHint
            painter.setRenderHints(hints.Antialiasing | hints.SmoothPixmapTransform)
            room = self._room()
            scale, corner = self._scale(overview.area)
            picture = QRectF(corner, overview.area.size() * scale)
            painter.drawImage(picture, overview.image)
            seen = self.frame().intersected(room)
            veil = QColor(self._theme.window)
            veil.setAlphaF(0.45)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(veil)
            for part in _frame_rects(room, seen):
                painter.drawRect(part)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(self._theme.accent), 1.4))
            painter.drawRoundedRect(seen, 2, 2)
            if self.hasFocus():
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 7, 7)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Move the view to the click."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._look_at(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the view with the drag."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._look_at(event.position())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the view with the arrow keys."""
        ways = {
            Qt.Key.Key_Left: (-1, 0),
            Qt.Key.Key_Right: (1, 0),
            Qt.Key.Key_Up: (0, -1),
            Qt.Key.Key_Down: (0, 1),
        }
        way = ways.get(Qt.Key(event.key()))
        if way is None:
            super().keyPressEvent(event)
            return
        seen = self._canvas.viewport()
        middle = seen.center()
        self._canvas.center_on(
            middle.x() + way[0] * _KEY_STEP * seen.width(), middle.y() + way[1] * _KEY_STEP * seen.height()
        )

    def _room(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_PADDING, _PADDING, -_PADDING, -_PADDING)

    def _scale(self, area: QRectF) -> tuple[float, QPointF]:
        """Return pixels per layout unit and the position of the picture's corner."""
        room = self._room()
        scale = min(room.width() / max(area.width(), 1e-6), room.height() / max(area.height(), 1e-6))
        across, down = area.width() * scale, area.height() * scale
        return scale, QPointF(room.center().x() - across / 2, room.center().y() - down / 2)

    def _look_at(self, place: QPointF) -> None:
        overview = self._canvas.overview
        if overview is None:
            return
        scale, corner = self._scale(overview.area)
        at = overview.area.topLeft() + (place - corner) / scale
        self._canvas.center_on(at.x(), at.y())


def _frame_rects(room: QRectF, hole: QRectF) -> tuple[QRectF, ...]:
    """Return `room` without `hole` as four rectangles."""
    if hole.isEmpty():
        return (room,)
    return (
        QRectF(room.left(), room.top(), room.width(), hole.top() - room.top()),
        QRectF(room.left(), hole.bottom(), room.width(), room.bottom() - hole.bottom()),
        QRectF(room.left(), hole.top(), hole.left() - room.left(), hole.height()),
        QRectF(hole.right(), hole.top(), room.right() - hole.right(), hole.height()),
    )
