"""A short message over the graph that disappears after a few seconds."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QLabel, QWidget

_DURATION_S = 5


class Toast(QLabel):
    """Shows one message; `visibility_changed` is emitted when a message appears or disappears."""

    visibility_changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("graphNote")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._timer = QTimer(self, singleShot=True, interval=_DURATION_S * 1000)
        self._timer.timeout.connect(self._dismiss)
        self.hide()

    def show_message(self, text: str) -> None:
        """Show `text` for a few seconds."""
        self.setText(text)
        self.setAccessibleName(text)
        self.show()
        self.raise_()
        self._timer.start()
        self.visibility_changed.emit()

    def _dismiss(self) -> None:
        self.hide()
        self.visibility_changed.emit()
