"""Keyboard control of the canvas: arrow keys follow links; other keys zoom, open, clear and run actions."""

from __future__ import annotations

import math
from typing import cast

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent

from app.desktop.graph.camera import Camera
from app.desktop.graph.canvas import Canvas
from app.desktop.graph.scene import Scene

_ARROWS = {
    Qt.Key.Key_Right: (1.0, 0.0),
    Qt.Key.Key_Left: (-1.0, 0.0),
    Qt.Key.Key_Down: (0.0, 1.0),
    Qt.Key.Key_Up: (0.0, -1.0),
}
_ACTION_KEYS = {
    Qt.Key.Key_L: "list",
    Qt.Key.Key_S: "settings",
    Qt.Key.Key_M: "minimap",
    Qt.Key.Key_A: "lasso",
    Qt.Key.Key_F: "find",
    Qt.Key.Key_Slash: "find",
    Qt.Key.Key_Space: "pause",
}


class KeyboardNavigation(QObject):
    """Turns keys into camera motion, selection and actions.

    Signals:
        open_requested: A row, on Enter.
        selection_changed: The selection changed.
        action_requested: "list", "settings", "minimap", "lasso", "find" or "pause".
    """

    open_requested = Signal(int)
    selection_changed = Signal()
    action_requested = Signal(str)

    def __init__(self, canvas: Canvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        canvas.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the canvas's key events."""
        if event.type() == QEvent.Type.ShortcutOverride:
            key = cast("QKeyEvent", event)
            if self._is_unmodified(key) and self._can_handle(key.key()):
                event.accept()
                return True
        if event.type() != QEvent.Type.KeyPress:
            return False
        key = cast("QKeyEvent", event)
        return self._is_unmodified(key) and self._handle_key(key.key())

    def _is_unmodified(self, event: QKeyEvent) -> bool:
        modifiers = event.modifiers() & ~(
            Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier
        )
        return modifiers == Qt.KeyboardModifier.NoModifier

    def _can_handle(self, key: int) -> bool:
        if key == Qt.Key.Key_Escape:
            return bool(self._canvas.scene.selection)
        camera_keys = (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus, Qt.Key.Key_0)
        return key in _ARROWS or key in _ACTION_KEYS or key in camera_keys

    def _handle_key(self, key: int) -> bool:
        canvas, scene = self._canvas, self._canvas.scene
        center = (canvas.width() / 2, canvas.height() / 2, canvas.width(), canvas.height())
        if key in _ARROWS:
            self._follow_link(*_ARROWS[Qt.Key(key)])
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            canvas.camera_animation.zoom(1 / 1.5 if key == Qt.Key.Key_Minus else 1.5, *center)
            canvas.mark_touched()
        elif key in _ACTION_KEYS:
            self.action_requested.emit(_ACTION_KEYS[Qt.Key(key)])
        elif key == Qt.Key.Key_0:
            canvas.fit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and scene.selection:
            self.open_requested.emit(scene.selection[-1])
        elif key == Qt.Key.Key_Escape and scene.selection:
            scene.selection = []
            canvas.hover(-1)
            canvas.run_frames()
            self.selection_changed.emit()
        else:
            return False
        return True

    def _follow_link(self, right: float, down: float) -> None:
        canvas, scene = self._canvas, self._canvas.scene
        row = (
            neighbor_in_direction(scene, scene.selection[-1], right, down)
            if scene.selection
            else most_linked_node(scene)
        )
        if row < 0:
            return
        scene.selection = [row]
        canvas.hover(row)
        bring_into_view(canvas, row)
        canvas.run_frames()
        self.selection_changed.emit()


def most_linked_node(scene: Scene) -> int:
    """Return the row of the most linked node that is neither hidden nor filtered; -1 if there is none."""
    visible = scene.strength > 0.5
    if not visible.any():
        return -1
    return int((scene.weight * visible).argmax())


def neighbor_in_direction(scene: Scene, row: int, right: float, down: float) -> int:
    """Return the row of the linked node closest to a direction; -1 if none is within 75° of it.

    Hidden and filtered nodes are skipped. At a similar angle, a near node is preferred to a far one.
    """
    best_neighbor, lowest_cost = -1, math.inf
    x, y = scene.positions[row].tolist()
    for neighbor in scene.graph.neighbors(row).tolist():
        if scene.strength[neighbor] <= 0.5:
            continue
        dx, dy = scene.positions[neighbor, 0] - x, scene.positions[neighbor, 1] - y
        distance = math.hypot(dx, dy) or 1e-6
        angle = math.acos(max(-1.0, min(1.0, (dx * right + dy * down) / distance)))
        if angle > math.radians(75):
            continue
        cost = distance * (1 + 2.5 * angle)
        if cost < lowest_cost:
            best_neighbor, lowest_cost = neighbor, cost
    return best_neighbor


def bring_into_view(canvas: Canvas, row: int) -> None:
    """Fly to a node that is near the edge or outside the view."""
    position = canvas.scene.positions[row]
    camera = canvas.camera
    x = (float(position[0]) - camera.x) * camera.scale + canvas.width() / 2
    y = (float(position[1]) - camera.y) * camera.scale + canvas.height() / 2
    margin = 60
    if margin < x < canvas.width() - margin and margin < y < canvas.height() - margin:
        return
    canvas.camera_animation.fly(Camera(float(position[0]), float(position[1]), camera.scale), canvas.width())
    canvas.mark_touched()
