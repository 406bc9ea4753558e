"""Dresses the application anew without a long pause, and without a picture of two themes.

Qt gives every widget the new style in one go, which holds the window for a quarter of a second. Here that go
finds none to dress: the windows keep the picture that they show while their widgets are dressed in slices
between the window's events, those in sight first. Then the picture is painted once, and what is hidden
follows, before anybody can have gone to look for it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator

from PySide6.QtCore import QElapsedTimer, QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

log = logging.getLogger(__name__)

_TIME_SLICE_MS = 3
# So long a picture of before may stay; a window with very much in it goes on changing in sight.
_MAX_FREEZE_MS = 400
_POLISHED = Qt.WidgetAttribute.WA_WState_Polished
_OWN_STYLE = Qt.WidgetAttribute.WA_SetStyle

Step = Callable[[], object]


class ThemeTransition(QObject):
    """Lives as long as the application; `is_done` says whether everything has the style in force."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work: Iterator[None] = iter(())
        self._undressed: set[QWidget] = set()
        self._marked: set[QWidget] = set()
        self._still: list[QWidget] = []
        self._since = QElapsedTimer()
        self._slices = QTimer(self, interval=0)
        self._slices.timeout.connect(self._run_slice)

    @property
    def is_done(self) -> bool:
        """Whether everything has the style in force, also what is hidden."""
        return not self._slices.isActive()

    @property
    def is_still(self) -> bool:
        """Whether the windows show the picture of before."""
        return bool(self._still)

    def run(self, dress: Iterable[Step], in_sight: Iterable[Step], hidden: Iterable[Step]) -> None:
        """Dress everything, beginning now; sizes stay what they are.

        Args:
            dress: What sets the application's palette and style sheet, in parts.
            in_sight: What else has to be done before the new picture is shown.
            hidden: What can follow it.
        """
        self._hold_still()
        self._work = self._all_steps(tuple(dress), tuple(in_sight), tuple(hidden))
        self._slices.start()

    def _all_steps(
        self, dress: Iterable[Step], in_sight: Iterable[Step], hidden: Iterable[Step]
    ) -> Iterator[None]:
        """All of it, a step at a time."""
        yield from self._mark_widgets()
        yield from _done(dress)
        for widget in tuple(self._marked):
            if isValid(widget):
                widget.setAttribute(_OWN_STYLE, False)
            self._marked.discard(widget)
            yield
        seen = [widget for widget in self._undressed if isValid(widget) and widget.isVisible()]
        yield
        yield from self._polish(seen)
        yield from _done(in_sight)
        self._show_again()
        yield
        yield from self._polish(tuple(self._undressed))
        yield from _done(hidden)

    def _mark_widgets(self) -> Iterator[None]:
        """Mark all widgets, so that the change of the application's style passes them by.

        One that is not polished is not dressed, and one with a style of its own is not told: to be told makes
        a view with ten thousand rows lay them out anew, though no size has changed.
        """
        for widget in QApplication.allWidgets():
            if not isValid(widget):
                continue
            if not widget.testAttribute(_OWN_STYLE):
                widget.setAttribute(_OWN_STYLE, True)
                self._marked.add(widget)
            if widget.testAttribute(_POLISHED):
                widget.setAttribute(_POLISHED, False)
                self._undressed.add(widget)
            yield

    def _polish(self, widgets: Iterable[QWidget]) -> Iterator[None]:
        for widget in widgets:
            if isValid(widget) and not widget.testAttribute(_POLISHED):
                QApplication.sendEvent(widget, QEvent(QEvent.Type.Polish))
            self._undressed.discard(widget)
            yield

    def _hold_still(self) -> None:
        self._since.start()
        self._still = [window for window in self._still if isValid(window)]
        for window in QApplication.topLevelWidgets():
            if window.isVisible() and window.updatesEnabled():
                window.setUpdatesEnabled(False)
                self._still.append(window)

    def _show_again(self) -> None:
        still, self._still = self._still, []
        for window in still:
            if isValid(window):
                window.setUpdatesEnabled(True)
                # At once: one that was due before this began would keep later ones from being asked for.
                window.repaint()

    def _run_slice(self) -> None:
        """Work for a few milliseconds."""
        clock = QElapsedTimer()
        clock.start()
        was_still = self.is_still
        if was_still and self._since.elapsed() > _MAX_FREEZE_MS and not self._marked:
            self._show_again()
        # To paint all of it anew is work enough for a turn.
        while clock.elapsed() < _TIME_SLICE_MS and self.is_still == was_still:
            if next(self._work, self) is self:
                self._slices.stop()
                return


def _done(steps: Iterable[Step]) -> Iterator[None]:
    for step in steps:
        try:
            step()
        except Exception:
            log.exception("a part of the window kept the last theme")  # and the others go on
        yield
