"""Dresses the application anew without a long pause: what is in sight at once, the rest bit by bit.

Qt gives every widget the new style in one go, and most of a window's widgets are in tabs and panels that
are not shown. Those are left out of that go; they get the style in slices between the window's events,
before anybody can have gone to look for them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QElapsedTimer, QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

_SLICE_MS = 4
_POLISHED = Qt.WidgetAttribute.WA_WState_Polished


class Restyling(QObject):
    """Lives as long as the application; `waiting` says how many widgets still have the last style."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[QWidget] = deque()
        self._slices = QTimer(self, interval=0)
        self._slices.timeout.connect(self._go_on)

    @property
    def waiting(self) -> int:
        """How many widgets are not dressed yet."""
        return len(self._waiting)

    def run(self, dress: Callable[[], None]) -> None:
        """Call `dress`, which sets the application's palette and style sheet; sizes stay what they are."""
        for widget in QApplication.allWidgets():
            if not widget.isVisible() and widget.testAttribute(_POLISHED):
                widget.setAttribute(_POLISHED, False)
                self._waiting.append(widget)
        dress()
        self._slices.start()

    def _go_on(self) -> None:
        """Dress widgets for a few milliseconds."""
        clock = QElapsedTimer()
        clock.start()
        while self._waiting and clock.elapsed() < _SLICE_MS:
            widget = self._waiting.popleft()
            if isValid(widget) and not widget.testAttribute(_POLISHED):
                QApplication.sendEvent(widget, QEvent(QEvent.Type.Polish))
        if not self._waiting:
            self._slices.stop()
