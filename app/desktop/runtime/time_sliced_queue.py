"""A queue that processes bursts of work in time slices, so that the window stays responsive."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, QTimer

_TIME_SLICE_S = 0.002


class TimeSlicedQueue(QObject):
    """Calls `work` for each item in order, letting the window handle its events between time slices."""

    def __init__(self, work: Callable[[object], None], parent: QObject) -> None:
        super().__init__(parent)
        self._work = work
        self._items: deque[object] = deque()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._run_slice)

    @property
    def is_empty(self) -> bool:
        """True if the queue is empty."""
        return not self._items

    def add(self, items: Iterable[object]) -> None:
        """Add `items` and process the first time slice now."""
        self._items.extend(items)
        self._run_slice()

    def add_later(self, items: Iterable[object]) -> None:
        """Add `items` and start processing them from the event loop."""
        self._items.extend(items)
        self._timer.start()

    def clear(self) -> None:
        """Discard the remaining items."""
        self._items.clear()

    def finish(self) -> None:
        """Process all remaining items now."""
        while self._items:
            self._work(self._items.popleft())

    def _run_slice(self) -> None:
        deadline = time.perf_counter() + _TIME_SLICE_S
        try:
            while self._items:
                self._work(self._items.popleft())
                if time.perf_counter() > deadline:
                    break
        finally:  # An item that fails does not hold up the others.
            if self._items:
                self._timer.start()
