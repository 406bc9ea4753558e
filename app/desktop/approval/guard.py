"""The moment in which a request that has just appeared takes no answer.

Whoever was typing or about to click elsewhere has not read it yet.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer
from PySide6.QtGui import QWindow
from PySide6.QtWidgets import QWidget

REST_S = 0.3
# After a key that was swallowed: somebody is still typing for another place.
TYPING_REST_S = 0.6

_KEYS = (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride, QEvent.Type.Shortcut)
_BLOCKED = (
    *_KEYS,
    QEvent.Type.KeyRelease,
    QEvent.Type.MouseButtonPress,
    QEvent.Type.MouseButtonDblClick,
    QEvent.Type.TouchBegin,
)


class ArmingGuard(QObject):
    """Swallows keys and clicks on `window` until it has rested; `clock` gives seconds.

    `rest` starts the time anew, for each request that comes up. A key that comes meanwhile is somebody
    still typing, and makes it last longer.
    """

    def __init__(self, window: QWidget, clock: Callable[[], float]) -> None:
        super().__init__(window)
        self._window = window
        self._clock = clock
        self._until = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(int(REST_S * 1000))
        self._timer.timeout.connect(self._stand_down_if_armed)

    @property
    def armed(self) -> bool:
        """Whether answers are taken."""
        return self._clock() >= self._until

    def rest(self) -> None:
        """Take no answer for the next 300 ms."""
        self._until = self._clock() + REST_S
        application = QCoreApplication.instance()
        if application is not None and not self._timer.isActive():
            application.installEventFilter(self)
        self._timer.start()

    def stand_down(self) -> None:
        """Watch no more events."""
        self._timer.stop()
        if (application := QCoreApplication.instance()) is not None:
            application.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Swallow what could answer the request before anyone can have read it."""
        if event.type() not in _BLOCKED or not self._concerns(watched):
            return False
        if self.armed:
            return False
        if event.type() in _KEYS:
            self._until = max(self._until, self._clock() + TYPING_REST_S)
        return True

    def _stand_down_if_armed(self) -> None:
        if self.armed:
            self.stand_down()

    def _concerns(self, watched: QObject) -> bool:
        if isinstance(watched, QWindow):
            return watched is self._window.windowHandle()
        return isinstance(watched, QWidget) and watched.window() is self._window
