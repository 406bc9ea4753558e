"""An event filter that ignores input for a moment after a request appears.

A user who was typing or about to click elsewhere has not read the request yet.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QWindow
from PySide6.QtWidgets import QWidget

INPUT_DELAY_S = 0.3
# After a blocked key: the user is still typing into another field.
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
    """Swallows keys, clicks and touches on `window` for a moment; `clock` returns seconds.

    `used` is emitted when a key, a click, a touch or a wheel step reaches the window.

    `start_delay` restarts the delay for each request. A key during the delay extends it, since the user is
    still typing. The filter watches the window's own events, not every event of the application: there are
    thousands while a dialog opens. Code that handles input in another way, for example a shortcut, must check
    `is_ready`.
    """

    used = Signal()

    def __init__(self, window: QWidget, clock: Callable[[], float]) -> None:
        super().__init__(window)
        self._window = window
        self._clock = clock
        self._blocked_until = 0.0
        self._watched: QWindow | None = None

    @property
    def is_ready(self) -> bool:
        """True if input is accepted."""
        return self._clock() >= self._blocked_until

    def start_delay(self) -> None:
        """Ignore input for the next 300 ms."""
        self._blocked_until = self._clock() + INPUT_DELAY_S
        self._watch()

    def start_filtering(self) -> None:
        """Start filtering events, once the window has been shown."""
        self._watch()

    def stop(self) -> None:
        """Stop filtering events."""
        if self._watched is not None:
            self._watched.removeEventFilter(self)
            self._watched = None

    def eventFilter(self, _: QObject, event: QEvent) -> bool:
        """Swallow input that could approve or deny the request before the user has had time to read it."""
        event_type = event.type()
        if event_type in _USE_EVENTS and self.is_ready:
            self.used.emit()
        if event_type not in _BLOCKED_EVENTS or self.is_ready:
            return False
        if event_type == QEvent.Type.KeyPress:
            self._blocked_until = max(self._blocked_until, self._clock() + TYPING_DELAY_S)
        return True

    def _watch(self) -> None:
        handle = self._window.windowHandle()
        if handle is not None and handle is not self._watched:
            handle.installEventFilter(self)
            self._watched = handle
