"""A list view whose current row can be activated with Enter."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QListView


class EnterListView(QListView):
    """A list view that reports Enter on its current row; `activated` also depends on the desktop's style."""

    enter_pressed = Signal(QModelIndex)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Emit `enter_pressed` for Enter on the current row."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.enter_pressed.emit(self.currentIndex())
        else:
            super().keyPressEvent(event)
