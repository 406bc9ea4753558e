"""The moment in which a request that has just appeared takes no answer.

Whoever was typing or about to click elsewhere has not read it yet.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QWindow
from PySide6.QtWidgets import QWidget

INPUT_DELAY_S = 0.3
# After a key that was swallowed: somebody is still typing for another place.
TYPING_DELAY_S = 0.6

_BLOCKED_EVENTS = (
    QEvent.Type.KeyPress,
    QEvent.Type.KeyRelease,
    QEvent.Type.MouseButtonPress,
    QEvent.Type.MouseButtonDblClick,
    QEvent.Type.TouchBegin,
)
_USE_EVENTS = (QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress, QEvent.Type.Wheel, QEvent.Type.TouchBegin)


class InputDelay(QObject):
    """Swallows keys and clicks on `window` until it has rested; `clock` gives seconds.

    `used` says that a key, a click or a wheel step has reached the window.

    `rest` starts the time anew, for each request that comes up, and `shown` says that the window is there. A
    key that comes meanwhile is somebody still typing, and makes it last longer. It looks at what the system
    sends to the window, not at every event in the application: there are thousands while a dialog comes up.
    What reaches a button in another way, as a shortcut does, finds `armed` false.
    """

    used = Signal()

    def __init__(self, window: QWidget, clock: Callable[[], float]) -> None:
        super().__init__(window)
        self._window = window
        self._clock = clock
        self._until = 0.0
        self._watched: QWindow | None = None

    @property
    def is_ready(self) -> bool:
        """Whether answers are taken."""
        return self._clock() >= self._until

    def start_delay(self) -> None:
        """Take no answer for the next 300 ms."""
        self._until = self._clock() + INPUT_DELAY_S
        self._watch()

    def window_shown(self) -> None:
        """Watch what the window is sent: it has come up."""
        self._watch()

    def stop(self) -> None:
        """Watch no more events."""
        if self._watched is not None:
            self._watched.removeEventFilter(self)
            self._watched = None

    def eventFilter(self, _: QObject, event: QEvent) -> bool:
        """Swallow what could answer the request before anyone can have read it."""
        kind = event.type()
        if kind in _USE_EVENTS and self.is_ready:
            self.used.emit()
        if kind not in _BLOCKED_EVENTS or self.is_ready:
            return False
        if kind == QEvent.Type.KeyPress:
            self._until = max(self._until, self._clock() + TYPING_DELAY_S)
        return True

    def _watch(self) -> None:
        handle = self._window.windowHandle()
        if handle is not None and handle is not self._watched:
            handle.installEventFilter(self)
            self._watched = handle
