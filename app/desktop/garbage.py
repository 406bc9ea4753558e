"""Garbage is collected in the GUI thread only.

Python collects cycles in whichever thread happens to allocate. In the service thread it would destroy Qt
objects that belong to the window ("Timers cannot be stopped from another thread", or a crash). So automatic
collection is off, and a timer in the GUI thread collects instead: young objects often, all of them when
nobody has touched the window for a while.
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QObject, QTimer

_HEAP = 60_000
_EVERY_MS = 1000
_YOUNG = 5000
_FULL_EVERY_S = 120.0


class GarbageCollection(QObject):
    """Takes over from the automatic collection until `stop`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._last_full = time.monotonic()
        self._middle = 0
        gc.disable()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._tick)
        self._timer.start(_EVERY_MS)

    def stop(self) -> None:
        """Give it back to Python."""
        self._timer.stop()
        gc.enable()

    def _tick(self) -> None:
        young = gc.get_count()[0]
        if young < _YOUNG:
            return
        if young > _HEAP:
            # Modules were imported or a vault was opened: that lives on. To look through it all would hold
            # the window for as long as a frame takes, or two.
            gc.freeze()
            return
        now = time.monotonic()
        if now - self._last_full > _FULL_EVERY_S:
            self._last_full = now
            gc.collect()
        else:
            self._middle = (self._middle + 1) % 10
            gc.collect(0 if self._middle else 1)
