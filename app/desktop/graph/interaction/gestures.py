"""Mouse, wheel and pinch on the canvas: pan, zoom, hover, drag, select, open."""

from __future__ import annotations

from typing import cast

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QMouseEvent, QNativeGestureEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QGestureEvent, QPinchGesture

from app.desktop.graph.canvas import Canvas
from app.graph.model import affected_rows

_WHEEL_ZOOM_BASE = 1.0018
# Smaller nodes are not draggable: zoomed out, a large graph has one under every pixel, and a drag that should
# pan would move one.
_MIN_GRAB_RADIUS = 2.0


class Gestures(QObject):
    """Turns mouse events of the canvas into camera motion and selection.

    Dragging the background pans; dragging a node that is large enough moves it; Shift and drag selects a
    rectangle, and any drag selects an outline while the lasso is active. A click selects, with Control it
    adds or removes, on the background it clears.

    Signals:
        opened: A row, on a double-click.
        chosen: A new selection.
        context: A row, -1 for the background, and the screen position for its menu.
        outlined: The lasso's points; empty when it ends.
    """

    opened = Signal(int)
    chosen = Signal()
    context = Signal(int, QPoint)
    outlined = Signal(object)

    def __init__(self, canvas: Canvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._pressed: QPointF | None = None
        self._under = ""
        self._last = QPointF()
        self._grabbed = ""
        self._band = False
        self._lassoing = False
        self._outline: list[QPointF] | None = None
        self._dragging = False
        canvas.installEventFilter(self)
        canvas.grabGesture(Qt.GestureType.PinchGesture)

    @property
    def lassoing(self) -> bool:
        """True while the lasso is active."""
        return self._lassoing

    def take_lasso(self, on: bool) -> None:
        """Activate or deactivate the lasso."""
        self._lassoing = on
        self._canvas.setCursor(self._idle)

    @property
    def _idle(self) -> Qt.CursorShape:
        return Qt.CursorShape.CrossCursor if self._lassoing else Qt.CursorShape.ArrowCursor

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle mouse, wheel and pinch events of the canvas."""
        kinds = QEvent.Type
        match event.type():
            case kinds.MouseButtonPress:
                return self._press(cast("QMouseEvent", event))
            case kinds.MouseMove:
                return self._move(cast("QMouseEvent", event))
            case kinds.MouseButtonRelease:
                return self._release(cast("QMouseEvent", event))
            case kinds.MouseButtonDblClick:
                return self._double(cast("QMouseEvent", event))
            case kinds.Wheel:
                return self._wheel(cast("QWheelEvent", event))
            case kinds.NativeGesture:
                return self._native(cast("QNativeGestureEvent", event))
            case kinds.Gesture:
                return self._pinch(cast("QGestureEvent", event))
            case kinds.ContextMenu:
                return self._menu(cast("QContextMenuEvent", event))
            case kinds.Enter:
                if self._canvas.loads_for_pointer:
                    self._canvas.layout_thread.warm_up()
            case kinds.Leave:
                if self._pressed is None:
                    self._canvas.hover(-1)
        return False

    def _node_at(self, place: QPointF) -> int:
        canvas = self._canvas
        return canvas.scene.node_at(place.x(), place.y(), canvas.camera, canvas.width(), canvas.height())

    def _press(self, event: QMouseEvent) -> bool:
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            return False
        self._canvas.setFocus(Qt.FocusReason.MouseFocusReason)
        self._pressed = self._last = event.position()
        self._dragging = False
        panning = event.button() == Qt.MouseButton.MiddleButton
        lasso = self._lassoing and not panning
        row = -1 if panning or lasso else self._node_at(event.position())
        self._outline = [event.position()] if lasso else None
        self._under = self._canvas.scene.graph.paths[row] if row >= 0 else ""
        self._grabbed = self._under if row >= 0 and self._can_be_grabbed(row) else ""
        shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._band = shifted and row < 0 and not panning and not lasso
        return True

    def _can_be_grabbed(self, row: int) -> bool:
        canvas = self._canvas
        radius = canvas.scene.pixel_radii(canvas.camera.scale)[row]
        return bool(radius >= _MIN_GRAB_RADIUS) or row in canvas.scene.selection

    def _move(self, event: QMouseEvent) -> bool:
        canvas, place = self._canvas, event.position()
        if self._pressed is None:
            row = self._node_at(place)
            canvas.hover(row)
            canvas.setCursor(Qt.CursorShape.PointingHandCursor if row >= 0 else self._idle)
            return True
        if not self._dragging:
            if (place - self._pressed).manhattanLength() < QApplication.startDragDistance() * 0.5:
                return True
            self._begin_drag()
        if self._outline is not None:
            self._outline.append(place)
            self.outlined.emit(list(self._outline))
        elif self._band:
            canvas.rubber_band = QRectF(self._pressed, place).normalized()
            canvas.run_frames()
        elif self._grabbed:
            self._carry(place)
        else:
            canvas.eye.pan(place.x() - self._last.x(), place.y() - self._last.y())
            canvas.mark_touched()
        self._last = place
        return True

    def _row(self) -> int:
        """Return the row of the pressed node, which may be gone if the graph changed."""
        return self._canvas.scene.graph.rows.get(self._under, -1)

    def _carry(self, place: QPointF) -> None:
        canvas, row = self._canvas, self._row()
        if row >= 0:
            x, y = canvas.camera.to_world(place.x(), place.y(), canvas.width(), canvas.height())
            if canvas.held is None:
                canvas.held = affected_rows(canvas.scene.graph, row)
                canvas.refresh()
            canvas.layout_thread.pin(row, x, y)
            canvas.run_frames()

    def _begin_drag(self) -> None:
        self._dragging = True
        canvas = self._canvas
        if self._grabbed:
            canvas.hover(-1)
        if not self._band and self._outline is None:
            canvas.setCursor(Qt.CursorShape.ClosedHandCursor)

    def _release(self, event: QMouseEvent) -> bool:
        if self._pressed is None:
            return False
        adding = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if self._outline is not None:
            self._choose_outline(event, adding)
        elif self._dragging and self._grabbed:
            if (row := self._row()) >= 0:
                self._canvas.layout_thread.release(row)
            self._canvas.run_frames()
        elif self._band:
            self._choose_band(event.position(), adding)
        elif not self._dragging and event.button() == Qt.MouseButton.LeftButton:
            self._choose(self._row(), adding)
        self._pressed, self._band, self._dragging = None, False, False
        self._canvas.setCursor(self._idle)
        return True

    def _choose_outline(self, event: QMouseEvent, adding: bool) -> None:
        """Select the nodes inside the closed lasso; a click without a drag is an ordinary click."""
        outline, self._outline = self._outline or [], None
        self.outlined.emit([])
        if not self._dragging or len(outline) < 3:
            self._choose(self._node_at(event.position()), adding)
            return
        canvas = self._canvas
        polygon = np.array([place.toTuple() for place in outline], dtype=np.float32)
        rows = canvas.scene.nodes_inside(polygon, canvas.camera, canvas.width(), canvas.height())
        self._choose_rows(rows, adding)

    def _choose(self, row: int, adding: bool) -> None:
        scene = self._canvas.scene
        if not adding:
            scene.selection = [row] if row >= 0 else []
        elif row in scene.selection:
            scene.selection.remove(row)
        elif row >= 0:
            scene.selection.append(row)
        self._canvas.run_frames()
        self.chosen.emit()

    def _choose_band(self, place: QPointF, adding: bool) -> None:
        canvas = self._canvas
        assert self._pressed is not None
        corner, opposite = self._pressed.toTuple(), place.toTuple()
        rows = canvas.scene.nodes_in(corner, opposite, canvas.camera, canvas.width(), canvas.height())
        canvas.rubber_band = None
        self._choose_rows(rows, adding)

    def _choose_rows(self, rows: list[int], adding: bool) -> None:
        scene = self._canvas.scene
        scene.selection = list(dict.fromkeys([*(scene.selection if adding else []), *rows]))
        self._canvas.run_frames()
        self.chosen.emit()

    def _double(self, event: QMouseEvent) -> bool:
        row = self._node_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and row >= 0:
            self.opened.emit(row)
        return True

    def _menu(self, event: QContextMenuEvent) -> bool:
        canvas = self._canvas
        row = canvas.scene.selection[-1] if canvas.scene.selection else -1
        if event.reason() != QContextMenuEvent.Reason.Keyboard:
            row = self._node_at(QPointF(event.pos()))
            if row >= 0 and row not in canvas.scene.selection:
                self._choose(row, adding=False)
        self.context.emit(row, event.globalPos())
        return True

    def _wheel(self, event: QWheelEvent) -> bool:
        amount = event.angleDelta().y() or event.angleDelta().x()
        if amount:
            self._zoom(_WHEEL_ZOOM_BASE**amount, event.position())
        event.accept()
        return True

    def _native(self, event: QNativeGestureEvent) -> bool:
        if event.gestureType() != Qt.NativeGestureType.ZoomNativeGesture:
            return False
        self._zoom(1.0 + event.value(), event.position())
        return True

    def _pinch(self, event: QGestureEvent) -> bool:
        gesture = event.gesture(Qt.GestureType.PinchGesture)
        if gesture is None:
            return False
        pinch = cast("QPinchGesture", gesture)
        middle = QPointF(self._canvas.mapFromGlobal(pinch.centerPoint().toPoint()))
        self._zoom(pinch.scaleFactor(), middle)
        event.accept()
        return True

    def _zoom(self, factor: float, place: QPointF) -> None:
        canvas = self._canvas
        canvas.eye.zoom(factor, place.x(), place.y(), canvas.width(), canvas.height())
        canvas.mark_touched()
