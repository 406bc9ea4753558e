"""The keyboard on the canvas: arrow keys follow links; other keys zoom, open and clear."""

from __future__ import annotations

import math
from typing import cast

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent

from app.desktop.graph.canvas import Canvas
from app.desktop.graph.scene import Scene

_ARROWS = {
    Qt.Key.Key_Right: (1.0, 0.0),
    Qt.Key.Key_Left: (-1.0, 0.0),
    Qt.Key.Key_Down: (0.0, 1.0),
    Qt.Key.Key_Up: (0.0, -1.0),
}


_TOGGLE_KEYS = {
    Qt.Key.Key_L: "list",
    Qt.Key.Key_S: "sheet",
    Qt.Key.Key_M: "minimap",
    Qt.Key.Key_A: "lasso",
    Qt.Key.Key_F: "find",
    Qt.Key.Key_Slash: "find",
    Qt.Key.Key_Space: "pause",
}


class KeyboardNavigation(QObject):
    """Turns keys into camera motion and selection.

    Signals:
        opened: A row, on Enter.
        chosen: A new selection.
        asked: "list", "sheet", "minimap", "lasso", "find" or "pause".
    """

    opened = Signal(int)
    chosen = Signal()
    asked = Signal(str)

    def __init__(self, canvas: Canvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        canvas.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle key events of the canvas."""
        if event.type() == QEvent.Type.ShortcutOverride:
            key = cast("QKeyEvent", event)
            if self._plain(key) and self._known(key.key()):
                event.accept()
                return True
        if event.type() != QEvent.Type.KeyPress:
            return False
        key = cast("QKeyEvent", event)
        return self._plain(key) and self._handle_key(key.key())

    def _plain(self, event: QKeyEvent) -> bool:
        held = event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
        return held == Qt.KeyboardModifier.NoModifier

    def _known(self, key: int) -> bool:
        if key == Qt.Key.Key_Escape:
            return bool(self._canvas.scene.selection)
        keys = (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus, Qt.Key.Key_0)
        return key in _ARROWS or key in _TOGGLE_KEYS or key in keys

    def _handle_key(self, key: int) -> bool:
        canvas, scene = self._canvas, self._canvas.scene
        middle = (canvas.width() / 2, canvas.height() / 2, canvas.width(), canvas.height())
        if key in _ARROWS:
            self._walk(*_ARROWS[Qt.Key(key)])
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            canvas.eye.zoom(1 / 1.5 if key == Qt.Key.Key_Minus else 1.5, *middle)
            canvas.mark_touched()
        elif key in _TOGGLE_KEYS:
            self.asked.emit(_TOGGLE_KEYS[Qt.Key(key)])
        elif key == Qt.Key.Key_0:
            canvas.fit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and scene.selection:
            self.opened.emit(scene.selection[-1])
        elif key == Qt.Key.Key_Escape and scene.selection:
            scene.selection = []
            canvas.hover(-1)
            canvas.run_frames()
            self.chosen.emit()
        else:
            return False
        return True

    def _walk(self, right: float, down: float) -> None:
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
        self.chosen.emit()


def most_linked_node(scene: Scene) -> int:
    """Return the visible node with the most links; -1 if none is visible."""
    shown = scene.strength > 0.5
    if not shown.any():
        return -1
    return int((scene.weight * shown).argmax())


def neighbor_in_direction(scene: Scene, row: int, right: float, down: float) -> int:
    """Return the linked node closest to that direction; -1 if none is within 75° of it.

    At a similar angle, a near node is preferred to a far one.
    """
    best, least = -1, math.inf
    x, y = scene.positions[row].tolist()
    for other in scene.graph.neighbors(row).tolist():
        if scene.strength[other] <= 0.5:
            continue
        away_x, away_y = scene.positions[other, 0] - x, scene.positions[other, 1] - y
        length = math.hypot(away_x, away_y) or 1e-6
        turn = math.acos(max(-1.0, min(1.0, (away_x * right + away_y * down) / length)))
        if turn > math.radians(75):
            continue
        cost = length * (1 + 2.5 * turn)
        if cost < least:
            best, least = other, cost
    return best


def bring_into_view(canvas: Canvas, row: int) -> None:
    """Center a node that is near the edge or outside the view."""
    at = canvas.scene.positions[row]
    camera = canvas.camera
    x = (float(at[0]) - camera.x) * camera.scale + canvas.width() / 2
    y = (float(at[1]) - camera.y) * camera.scale + canvas.height() / 2
    margin = 60
    if margin < x < canvas.width() - margin and margin < y < canvas.height() - margin:
        return
    canvas.eye.fly(type(camera)(float(at[0]), float(at[1]), camera.scale), canvas.width())
    canvas.mark_touched()
