"""A short message over the graph that disappears after some seconds."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QLabel, QWidget

_DURATION_S = 5


class Toast(QLabel):
    """Shows one message; `turned` is emitted when it appears or disappears, so that it is placed."""

    turned = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("graphNote")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._going = QTimer(self, singleShot=True, interval=_DURATION_S * 1000)
        self._going.timeout.connect(self._dismiss)
        self.hide()

    def show_message(self, words: str) -> None:
        """Show `words` for some seconds."""
        self.setText(words)
        self.setAccessibleName(words)
        self.show()
        self.raise_()
        self._going.start()
        self.turned.emit()

    def _dismiss(self) -> None:
        self.hide()
        self.turned.emit()
