"""Mouse, wheel and pinch on the canvas: pan, zoom, hover, drag, select, open, and show the menu."""

from __future__ import annotations

from typing import cast

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QMouseEvent, QNativeGestureEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QGestureEvent, QPinchGesture

from app.desktop.graph.canvas import Canvas
from app.graph.model import affected_rows

_WHEEL_ZOOM_BASE = 1.0018
# In a large graph that is zoomed out, every pixel is on a node: a drag meant to pan would move it.
_MIN_GRAB_RADIUS = 2.0


class Gestures(QObject):
    """Handles the canvas's mouse, wheel and pinch events.

    Dragging the background pans; dragging a node moves it if it is large enough or selected, and otherwise
    pans; Shift-dragging from the background selects a rectangle. While the lasso is active, a drag selects
    the nodes inside its outline. The middle button always pans. A click selects a node, or clears the
    selection on the background. With Control, a click adds or removes a node, and a rectangle or lasso adds
    its nodes. A right-click selects a node that is not yet selected and requests its menu.

    Signals:
        open_requested: A row, on a double-click.
        selection_changed: The selection changed.
        menu_requested: A row, -1 for the background, and the screen position for its menu.
        lasso_changed: The lasso's points; empty when it ends.
    """

    open_requested = Signal(int)
    selection_changed = Signal()
    menu_requested = Signal(int, QPoint)
    lasso_changed = Signal(object)

    def __init__(self, canvas: Canvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._press_position: QPointF | None = None
        self._pressed_path = ""
        self._last_position = QPointF()
        self._dragged_path = ""
        self._is_selecting_rectangle = False
        self._is_lasso_active = False
        self._outline: list[QPointF] | None = None
        self._is_dragging = False
        canvas.installEventFilter(self)
        canvas.grabGesture(Qt.GestureType.PinchGesture)

    @property
    def is_lasso_active(self) -> bool:
        """True while the lasso is active."""
        return self._is_lasso_active

    def set_lasso_active(self, active: bool) -> None:
        """Activate or deactivate the lasso."""
        self._is_lasso_active = active
        self._canvas.setCursor(self._idle_cursor)

    @property
    def _idle_cursor(self) -> Qt.CursorShape:
        return Qt.CursorShape.CrossCursor if self._is_lasso_active else Qt.CursorShape.ArrowCursor

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the canvas's mouse, wheel, pinch and context menu events."""
        types = QEvent.Type
        match event.type():
            case types.MouseButtonPress:
                return self._press(cast("QMouseEvent", event))
            case types.MouseMove:
                return self._move(cast("QMouseEvent", event))
            case types.MouseButtonRelease:
                return self._release(cast("QMouseEvent", event))
            case types.MouseButtonDblClick:
                return self._double_click(cast("QMouseEvent", event))
            case types.Wheel:
                return self._wheel(cast("QWheelEvent", event))
            case types.NativeGesture:
                return self._native_gesture(cast("QNativeGestureEvent", event))
            case types.Gesture:
                return self._pinch(cast("QGestureEvent", event))
            case types.ContextMenu:
                return self._request_menu(cast("QContextMenuEvent", event))
            case types.Enter:
                if self._canvas.warms_up_on_hover:
                    self._canvas.layout_thread.warm_up()
            case types.Leave:
                if self._press_position is None:
                    self._canvas.hover(-1)
        return False

    def _node_at(self, position: QPointF) -> int:
        canvas = self._canvas
        return canvas.scene.node_at(
            position.x(), position.y(), canvas.camera, canvas.width(), canvas.height()
        )

    def _press(self, event: QMouseEvent) -> bool:
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            return False
        self._canvas.setFocus(Qt.FocusReason.MouseFocusReason)
        self._press_position = self._last_position = event.position()
        self._is_dragging = False
        is_panning = event.button() == Qt.MouseButton.MiddleButton
        is_lasso = self._is_lasso_active and not is_panning
        row = -1 if is_panning or is_lasso else self._node_at(event.position())
        self._outline = [event.position()] if is_lasso else None
        self._pressed_path = self._canvas.scene.graph.paths[row] if row >= 0 else ""
        self._dragged_path = self._pressed_path if row >= 0 and self._can_drag(row) else ""
        has_shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._is_selecting_rectangle = has_shift and row < 0 and not is_panning and not is_lasso
        return True

    def _can_drag(self, row: int) -> bool:
        canvas = self._canvas
        radius = canvas.scene.pixel_radii(canvas.camera.scale)[row]
        return bool(radius >= _MIN_GRAB_RADIUS) or row in canvas.scene.selection

    def _move(self, event: QMouseEvent) -> bool:
        canvas, position = self._canvas, event.position()
        if self._press_position is None:
            row = self._node_at(position)
            canvas.hover(row)
            canvas.setCursor(Qt.CursorShape.PointingHandCursor if row >= 0 else self._idle_cursor)
            return True
        if not self._is_dragging:
            if (position - self._press_position).manhattanLength() < QApplication.startDragDistance() * 0.5:
                return True
            self._begin_drag()
        if self._outline is not None:
            self._outline.append(position)
            self.lasso_changed.emit(list(self._outline))
        elif self._is_selecting_rectangle:
            canvas.rubber_band = QRectF(self._press_position, position).normalized()
            canvas.run_frames()
        elif self._dragged_path:
            self._drag_node(position)
        else:
            canvas.camera_animation.pan(
                position.x() - self._last_position.x(), position.y() - self._last_position.y()
            )
            canvas.mark_touched()
        self._last_position = position
        return True

    def _pressed_row(self) -> int:
        """Return the row of the pressed node, which may no longer exist if the graph changed."""
        return self._canvas.scene.graph.rows.get(self._pressed_path, -1)

    def _drag_node(self, position: QPointF) -> None:
        canvas, row = self._canvas, self._pressed_row()
        if row >= 0:
            x, y = canvas.camera.to_world(position.x(), position.y(), canvas.width(), canvas.height())
            if canvas.dragged_rows is None:
                canvas.dragged_rows = affected_rows(canvas.scene.graph, row)
                canvas.refresh()
            canvas.layout_thread.pin(row, x, y)
            canvas.run_frames()

    def _begin_drag(self) -> None:
        self._is_dragging = True
        canvas = self._canvas
        if self._dragged_path:
            canvas.hover(-1)
        if not self._is_selecting_rectangle and self._outline is None:
            canvas.setCursor(Qt.CursorShape.ClosedHandCursor)

    def _release(self, event: QMouseEvent) -> bool:
        if self._press_position is None:
            return False
        adding = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if self._outline is not None:
            self._select_in_lasso(event, adding)
        elif self._is_dragging and self._dragged_path:
            if (row := self._pressed_row()) >= 0:
                self._canvas.layout_thread.release(row)
            self._canvas.run_frames()
        elif self._is_selecting_rectangle:
            self._select_in_rectangle(event.position(), adding)
        elif not self._is_dragging and event.button() == Qt.MouseButton.LeftButton:
            self._select(self._pressed_row(), adding)
        self._press_position, self._is_selecting_rectangle, self._is_dragging = None, False, False
        self._canvas.setCursor(self._idle_cursor)
        return True

    def _select_in_lasso(self, event: QMouseEvent, adding: bool) -> None:
        """Select the nodes inside the closed lasso; a click or a very short drag is an ordinary click."""
        outline, self._outline = self._outline or [], None
        self.lasso_changed.emit([])
        if not self._is_dragging or len(outline) < 3:
            self._select(self._node_at(event.position()), adding)
            return
        canvas = self._canvas
        polygon = np.array([point.toTuple() for point in outline], dtype=np.float32)
        rows = canvas.scene.nodes_in_polygon(polygon, canvas.camera, canvas.width(), canvas.height())
        self._select_rows(rows, adding)

    def _select(self, row: int, adding: bool) -> None:
        scene = self._canvas.scene
        if not adding:
            scene.selection = [row] if row >= 0 else []
        elif row in scene.selection:
            scene.selection.remove(row)
        elif row >= 0:
            scene.selection.append(row)
        self._canvas.run_frames()
        self.selection_changed.emit()

    def _select_in_rectangle(self, position: QPointF, adding: bool) -> None:
        canvas = self._canvas
        assert self._press_position is not None
        corner, opposite = self._press_position.toTuple(), position.toTuple()
        rows = canvas.scene.nodes_in_rectangle(
            corner, opposite, canvas.camera, canvas.width(), canvas.height()
        )
        canvas.rubber_band = None
        self._select_rows(rows, adding)

    def _select_rows(self, rows: list[int], adding: bool) -> None:
        scene = self._canvas.scene
        scene.selection = list(dict.fromkeys([*(scene.selection if adding else []), *rows]))
        self._canvas.run_frames()
        self.selection_changed.emit()

    def _double_click(self, event: QMouseEvent) -> bool:
        row = self._node_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and row >= 0:
            self.open_requested.emit(row)
        return True

    def _request_menu(self, event: QContextMenuEvent) -> bool:
        canvas = self._canvas
        row = canvas.scene.selection[-1] if canvas.scene.selection else -1
        if event.reason() != QContextMenuEvent.Reason.Keyboard:
            row = self._node_at(QPointF(event.pos()))
            if row >= 0 and row not in canvas.scene.selection:
                self._select(row, adding=False)
        self.menu_requested.emit(row, event.globalPos())
        return True

    def _wheel(self, event: QWheelEvent) -> bool:
        amount = event.angleDelta().y() or event.angleDelta().x()
        if amount:
            self._zoom(_WHEEL_ZOOM_BASE**amount, event.position())
        event.accept()
        return True

    def _native_gesture(self, event: QNativeGestureEvent) -> bool:
        if event.gestureType() != Qt.NativeGestureType.ZoomNativeGesture:
            return False
        self._zoom(1.0 + event.value(), event.position())
        return True

    def _pinch(self, event: QGestureEvent) -> bool:
        gesture = event.gesture(Qt.GestureType.PinchGesture)
        if gesture is None:
            return False
        pinch = cast("QPinchGesture", gesture)
        center = QPointF(self._canvas.mapFromGlobal(pinch.centerPoint().toPoint()))
        self._zoom(pinch.scaleFactor(), center)
        event.accept()
        return True

    def _zoom(self, factor: float, position: QPointF) -> None:
        canvas = self._canvas
        canvas.camera_animation.zoom(factor, position.x(), position.y(), canvas.width(), canvas.height())
        canvas.mark_touched()
