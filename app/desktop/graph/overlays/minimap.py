"""A small image of the whole graph that frames the visible part; a click or drag moves the view there."""

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

    Unless the user turned it on, the minimap is visible only while part of the graph is out of view.
    `visibility_changed` is emitted when it appears or disappears.
    """

    visibility_changed = Signal()

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
        self._is_enabled = self._is_always_shown = False
        self._bounds: tuple[GraphOverview, QRectF] | None = None
        canvas.camera_moved.connect(self._update)
        canvas.overview_changed.connect(self._update)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        self._theme = theme
        self.update()

    @property
    def is_on(self) -> bool:
        """True if the minimap is enabled."""
        return self._is_enabled

    def set_shown(self, shown: bool, *, always: bool = False) -> None:
        """Enable or disable the minimap; `always` shows it even while the whole graph is visible."""
        self._is_always_shown = always
        if shown != self._is_enabled:
            self._is_enabled = shown
            content = self._content_rect()
            self._canvas.request_overview(
                *((round(content.width()), round(content.height())) if shown else (0, 0))
            )
        self._update()

    def _update(self) -> None:
        """Update after the camera or the image changed."""
        overview = self._canvas.overview
        viewport = self._canvas.viewport()
        is_needed = overview is not None and (
            self._is_always_shown or not viewport.contains(self._node_bounds(overview))
        )
        visible = self._is_enabled and is_needed
        if visible == self.isHidden():
            self.setVisible(visible)
            self.visibility_changed.emit()
        self.update()

    def _node_bounds(self, overview: GraphOverview) -> QRectF:
        """Return the rectangle around the visible nodes, without a margin, in layout units."""
        if self._bounds is None or self._bounds[0] is not overview:
            scene = self._canvas.scene
            positions = scene.positions if scene.is_whole else scene.positions[scene.strength > 0.0]
            low, high = [0, 0], [0, 0]
            if len(positions):
                low, high = positions.min(axis=0).tolist(), positions.max(axis=0).tolist()
            self._bounds = overview, QRectF(QPointF(*low), QPointF(*high))
        return self._bounds[1]

    def frame(self) -> QRectF:
        """Return the visible part of the graph in the minimap's pixels; null while there is no image."""
        overview = self._canvas.overview
        if overview is None:
            return QRectF()
        scale, corner = self._scale(overview.area)
        viewport, area = self._canvas.viewport(), overview.area
        return QRectF(
            corner.x() + (viewport.x() - area.x()) * scale,
            corner.y() + (viewport.y() - area.y()) * scale,
            viewport.width() * scale,
            viewport.height() * scale,
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the image and the frame."""
        super().paintEvent(event)
        overview = self._canvas.overview
        if overview is None:
            return
        with QPainter(self) as painter:
            hints = QPainter.RenderHint
            painter.setRenderHints(hints.Antialiasing | hints.SmoothPixmapTransform)
            content = self._content_rect()
            scale, corner = self._scale(overview.area)
            target = QRectF(corner, overview.area.size() * scale)
            painter.drawImage(target, overview.image)
            frame = self.frame().intersected(content)
            shade = QColor(self._theme.window)
            shade.setAlphaF(0.45)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(shade)
            for part in _subtract_rect(content, frame):
                painter.drawRect(part)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(self._theme.accent), 1.4))
            painter.drawRoundedRect(frame, 2, 2)
            if self.hasFocus():
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 7, 7)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Move the view to the click."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._center_at(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the view with the drag."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._center_at(event.position())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the view with the arrow keys."""
        directions = {
            Qt.Key.Key_Left: (-1, 0),
            Qt.Key.Key_Right: (1, 0),
            Qt.Key.Key_Up: (0, -1),
            Qt.Key.Key_Down: (0, 1),
        }
        direction = directions.get(Qt.Key(event.key()))
        if direction is None:
            super().keyPressEvent(event)
            return
        viewport = self._canvas.viewport()
        center = viewport.center()
        self._canvas.center_on(
            center.x() + direction[0] * _KEY_STEP * viewport.width(),
            center.y() + direction[1] * _KEY_STEP * viewport.height(),
        )

    def _content_rect(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_PADDING, _PADDING, -_PADDING, -_PADDING)

    def _scale(self, area: QRectF) -> tuple[float, QPointF]:
        """Return pixels per layout unit and the position of the image's corner."""
        content = self._content_rect()
        scale = min(content.width() / max(area.width(), 1e-6), content.height() / max(area.height(), 1e-6))
        width, height = area.width() * scale, area.height() * scale
        return scale, QPointF(content.center().x() - width / 2, content.center().y() - height / 2)

    def _center_at(self, position: QPointF) -> None:
        overview = self._canvas.overview
        if overview is None:
            return
        scale, corner = self._scale(overview.area)
        target = overview.area.topLeft() + (position - corner) / scale
        self._canvas.center_on(target.x(), target.y())


def _subtract_rect(outer: QRectF, hole: QRectF) -> tuple[QRectF, ...]:
    """Return `outer` without `hole` as four rectangles; all of `outer` if `hole` is empty."""
    if hole.isEmpty():
        return (outer,)
    return (
        QRectF(outer.left(), outer.top(), outer.width(), hole.top() - outer.top()),
        QRectF(outer.left(), hole.bottom(), outer.width(), outer.bottom() - hole.bottom()),
        QRectF(outer.left(), hole.top(), hole.left() - outer.left(), hole.height()),
        QRectF(hole.right(), hole.top(), outer.right() - hole.right(), hole.height()),
    )
