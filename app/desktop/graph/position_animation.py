"""Animates nodes from their positions to those of another arrangement."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.desktop.graph.animation import ease_in_out
from app.desktop.graph.canvas import Canvas
from app.graph.model import Positions

_DURATION_S = 0.7
_FRAME_INTERVAL_MS = 16


class PositionAnimation(QObject):
    """Moves all nodes of `canvas` at once and emits `ended` at the end.

    Args:
        canvas: The canvas with the nodes.
    """

    ended = Signal()

    def __init__(self, canvas: Canvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._start: Positions | None = None
        self._end: Positions | None = None
        self._began = 0.0
        self._timer = QTimer(self, interval=_FRAME_INTERVAL_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._step)

    @property
    def moving(self) -> bool:
        """Return whether nodes are moving."""
        return self._end is not None

    @property
    def target(self) -> Positions | None:
        """The positions that the nodes move to; None when idle."""
        return self._end

    def animate_to(self, places: Positions) -> None:
        """Move the nodes to `places`, float32 (n, 2)."""
        canvas = self._canvas
        canvas.layout_thread.start(canvas.scene.graph, canvas.scene.positions)
        self._start, self._end = canvas.scene.positions, places
        self._began = time.perf_counter()
        self._timer.start()

    def stop(self) -> None:
        """Stop at once because another graph is shown."""
        self._timer.stop()
        self._start = self._end = None

    def _step(self) -> None:
        canvas, start, end = self._canvas, self._start, self._end
        if start is None or end is None or len(end) != len(canvas.scene.graph):
            self.stop()
            return
        canvas.layout_thread.take_positions()  # Pending positions belong to the previous arrangement.
        part = min(1.0, (time.perf_counter() - self._began) / _DURATION_S)
        share = ease_in_out(part)
        canvas.scene.move(end if part >= 1.0 else start + (end - start) * share)
        canvas.refresh()
        if part >= 1.0:
            self.stop()
            canvas.layout_thread.start(canvas.scene.graph, end)
            canvas.fit()
            self.ended.emit()
