"""A queue that processes bursts of work in time slices, so that the window stays responsive."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, QTimer

_TIME_SLICE_S = 0.002


class TimeSlicedQueue(QObject):
    """Calls `work` for each added item in order: at once, or after the window has handled its events."""

    def __init__(self, work: Callable[[object], None], parent: QObject) -> None:
        super().__init__(parent)
        self._work = work
        self._left: deque[object] = deque()
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.timeout.connect(self._run_slice)

    @property
    def done(self) -> bool:
        """True if the queue is empty."""
        return not self._left

    def add(self, things: Iterable[object]) -> None:
        """Add `items` and start processing them."""
        self._left.extend(things)
        self._run_slice()

    def add_later(self, things: Iterable[object]) -> None:
        """Add items that are processed from the next turn of the event loop."""
        self._left.extend(things)
        self._again.start()

    def clear(self) -> None:
        """Discard the remaining items."""
        self._left.clear()

    def finish(self) -> None:
        """Process all remaining items now."""
        while self._left:
            self._work(self._left.popleft())

    def _run_slice(self) -> None:
        until = time.perf_counter() + _TIME_SLICE_S
        while self._left:
            self._work(self._left.popleft())
            if self._left and time.perf_counter() > until:
                self._again.start()
                return
