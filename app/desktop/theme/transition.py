"""Switch the theme without a long pause and without showing a mix of two themes.

Qt applies a new style to every widget in one pass, which blocks the window for a quarter of a second. Here,
that pass finds no widgets to update: the windows stop repainting while their widgets are restyled in slices
between events, visible ones first. Then the windows are repainted once, and hidden widgets follow.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator

from PySide6.QtCore import QElapsedTimer, QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

log = logging.getLogger(__name__)

_TIME_SLICE_MS = 3
# The longest time without repainting; after that, a window with many widgets changes visibly, part by part.
_MAX_FREEZE_MS = 400
_POLISHED = Qt.WidgetAttribute.WA_WState_Polished
_OWN_STYLE = Qt.WidgetAttribute.WA_SetStyle

Step = Callable[[], object]


class ThemeTransition(QObject):
    """Applies a theme in steps; lives as long as the application."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work: Iterator[None] = iter(())
        self._unpolished_widgets: set[QWidget] = set()
        self._marked_widgets: set[QWidget] = set()
        self._frozen_windows: list[QWidget] = []
        self._freeze_clock = QElapsedTimer()
        self._slice_timer = QTimer(self, interval=0)
        self._slice_timer.timeout.connect(self._run_slice)

    @property
    def is_frozen(self) -> bool:
        """True while the windows do not repaint and so still show the old theme."""
        return bool(self._frozen_windows)

    def run(
        self, style_steps: Iterable[Step], visible_steps: Iterable[Step], hidden_steps: Iterable[Step]
    ) -> None:
        """Start restyling all widgets; their sizes must stay the same.

        Args:
            style_steps: Steps that set the application's palette and style sheet.
            visible_steps: Steps to run before the windows are repainted.
            hidden_steps: Steps that can run afterwards.
        """
        self._freeze()
        self._work = self._transition_steps(tuple(style_steps), tuple(visible_steps), tuple(hidden_steps))
        self._slice_timer.start()

    def _transition_steps(
        self, style_steps: Iterable[Step], visible_steps: Iterable[Step], hidden_steps: Iterable[Step]
    ) -> Iterator[None]:
        """Run the transition, yielding after each step."""
        yield from self._mark_widgets()
        yield from _run_steps(style_steps)
        for widget in tuple(self._marked_widgets):
            if isValid(widget):
                widget.setAttribute(_OWN_STYLE, False)
            self._marked_widgets.discard(widget)
            yield
        visible = [widget for widget in self._unpolished_widgets if isValid(widget) and widget.isVisible()]
        yield
        yield from self._polish(visible)
        yield from _run_steps(visible_steps)
        self._unfreeze()
        yield
        yield from self._polish(tuple(self._unpolished_widgets))
        yield from _run_steps(hidden_steps)

    def _mark_widgets(self) -> Iterator[None]:
        """Mark all widgets so that the application's style change skips them.

        Qt does not restyle a widget that is not polished, and does not notify one with its own style:
        the notification would make a view with ten thousand rows lay them out again, even though no sizes
        have changed.
        """
        for widget in QApplication.allWidgets():
            if not isValid(widget):
                continue
            if not widget.testAttribute(_OWN_STYLE):
                widget.setAttribute(_OWN_STYLE, True)
                self._marked_widgets.add(widget)
            if widget.testAttribute(_POLISHED):
                widget.setAttribute(_POLISHED, False)
                self._unpolished_widgets.add(widget)
            yield

    def _polish(self, widgets: Iterable[QWidget]) -> Iterator[None]:
        for widget in widgets:
            if isValid(widget) and not widget.testAttribute(_POLISHED):
                QApplication.sendEvent(widget, QEvent(QEvent.Type.Polish))
            self._unpolished_widgets.discard(widget)
            yield

    def _freeze(self) -> None:
        self._freeze_clock.start()
        self._frozen_windows = [window for window in self._frozen_windows if isValid(window)]
        for window in QApplication.topLevelWidgets():
            if window.isVisible() and window.updatesEnabled():
                window.setUpdatesEnabled(False)
                self._frozen_windows.append(window)

    def _unfreeze(self) -> None:
        windows, self._frozen_windows = self._frozen_windows, []
        for window in windows:
            if isValid(window):
                window.setUpdatesEnabled(True)
                # Repaint now: an update that was due before the transition would block later requests.
                window.repaint()

    def _run_slice(self) -> None:
        """Run steps for a few milliseconds."""
        clock = QElapsedTimer()
        clock.start()
        was_frozen = self.is_frozen
        if was_frozen and self._freeze_clock.elapsed() > _MAX_FREEZE_MS and not self._marked_widgets:
            self._unfreeze()
        # Repainting the whole window is enough work for one slice.
        while clock.elapsed() < _TIME_SLICE_MS and self.is_frozen == was_frozen:
            if next(self._work, self) is self:
                self._slice_timer.stop()
                return


def _run_steps(steps: Iterable[Step]) -> Iterator[None]:
    for step in steps:
        try:
            step()
        except Exception:
            log.exception("part of the window kept the previous theme")  # continue with the other steps
        yield
