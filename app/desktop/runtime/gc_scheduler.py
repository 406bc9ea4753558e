"""Schedule garbage collection in the GUI thread, in steps too short to notice.

Python collects cycles in whichever thread happens to allocate. In the service thread, that would destroy Qt
objects that belong to the window ("Timers cannot be stopped from another thread", or a crash). Automatic
collection is therefore off, and a timer in the GUI thread collects the young objects as soon as there are
enough of them; scanning thousands takes a few milliseconds. Larger batches (modules, a vault that is being
opened) are long-lived, so they are frozen until a full collection, which runs while the window is inactive.
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication

_TICK_INTERVAL_MS = 100
_MIN_YOUNG_OBJECTS = 3000
_MAX_SCANNED_OBJECTS = 8000
_ROUNDS_PER_FREEZE = 10
_FULL_INTERVAL_S = 120.0
_IDLE_DELAY_MS = 2000


class GcScheduler(QObject):
    """Replaces automatic garbage collection until `stop` is called."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._last_full_collection = time.monotonic()
        self._rounds = 0
        # Survivors of collections since the last freeze, which the next collection may scan again.
        self._survivors = 0
        gc.disable()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._tick)
        self._timer.start(_TICK_INTERVAL_MS)
        self._idle_timer = QTimer(self, singleShot=True, interval=_IDLE_DELAY_MS)
        self._idle_timer.timeout.connect(self._collect_all)
        self._application = QGuiApplication.instance()
        if isinstance(self._application, QGuiApplication):
            self._application.applicationStateChanged.connect(self._handle_state_change)

    def stop(self) -> None:
        """Stop collecting, and turn Python's automatic collection back on."""
        self._timer.stop()
        self._idle_timer.stop()
        if isinstance(self._application, QGuiApplication):
            self._application.applicationStateChanged.disconnect(self._handle_state_change)
        gc.enable()

    def _tick(self) -> None:
        young = gc.get_count()[0]
        if young < _MIN_YOUNG_OBJECTS:
            return
        if young + self._survivors > _MAX_SCANNED_OBJECTS:
            gc.freeze()
            self._survivors = self._rounds = 0
            return
        self._rounds += 1
        if self._rounds < _ROUNDS_PER_FREEZE:
            self._survivors += max(0, young - gc.collect(0))
        else:
            gc.collect(1)
            gc.freeze()  # The survivors are not scanned again until the next full collection.
            self._survivors = self._rounds = 0

    def _handle_state_change(self, state: Qt.ApplicationState) -> None:
        if state == Qt.ApplicationState.ApplicationActive:
            self._idle_timer.stop()
        elif time.monotonic() - self._last_full_collection > _FULL_INTERVAL_S:
            self._idle_timer.start()

    def _collect_all(self) -> None:
        """Run a full collection; the window is inactive."""
        self._last_full_collection = time.monotonic()
        gc.unfreeze()
        gc.collect()
        gc.freeze()
