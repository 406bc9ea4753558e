"""Animate nodes from their positions to those of another layout."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, Qt, QTimer

from app.desktop.graph.animation import ease_in_out
from app.desktop.graph.canvas import Canvas
from app.graph.model import Positions

_DURATION_S = 0.7
_FRAME_INTERVAL_MS = 16


class PositionAnimation(QObject):
    """Moves all nodes of `canvas` simultaneously.

    Args:
        canvas: The canvas with the nodes.
    """

    def __init__(self, canvas: Canvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._start: Positions | None = None
        self._end: Positions | None = None
        self._started_at = 0.0
        self._timer = QTimer(self, interval=_FRAME_INTERVAL_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._step)

    @property
    def is_moving(self) -> bool:
        """True if nodes are moving."""
        return self._end is not None

    @property
    def target(self) -> Positions | None:
        """The positions that the nodes move to; None when idle."""
        return self._end

    def animate_to(self, positions: Positions) -> None:
        """Move the nodes to `positions`, float32 (n, 2), then fit the view."""
        canvas = self._canvas
        canvas.layout_thread.start(canvas.scene.graph, canvas.scene.positions)
        self._start, self._end = canvas.scene.positions, positions
        self._started_at = time.perf_counter()
        self._timer.start()

    def stop(self) -> None:
        """Stop the animation; the nodes stay where they are."""
        self._timer.stop()
        self._start = self._end = None

    def _step(self) -> None:
        canvas, start, end = self._canvas, self._start, self._end
        if start is None or end is None or len(end) != len(canvas.scene.graph):
            self.stop()
            return
        canvas.layout_thread.take_positions()  # Pending positions belong to the previous layout.
        elapsed = min(1.0, (time.perf_counter() - self._started_at) / _DURATION_S)
        fraction = ease_in_out(elapsed)
        canvas.scene.move(end if elapsed >= 1.0 else start + (end - start) * fraction)
        canvas.refresh()
        if elapsed >= 1.0:
            self.stop()
            canvas.layout_thread.start(canvas.scene.graph, end)
            canvas.fit()
