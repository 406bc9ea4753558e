"""The banner above a note, for messages and questions about it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.flow_layout import FlowLayout
from app.desktop.widgets.panel import ThemedButton
from app.desktop.widgets.plain_labels import wrapped_label

Answer = tuple[str, Callable[[], None]]


class NoteBanner(QFrame):
    """Shows one message or question at a time; hidden while there is none.

    Signals:
        focus_released: `clear` hid the banner while one of its buttons had focus.
    """

    focus_released = Signal()

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self._text = wrapped_label(parent=self)
        text_row = QHBoxLayout()
        text_row.addWidget(self._text, 1)
        self._buttons: list[QPushButton] = []
        self._close_button = ThemedButton(theme, "x", self.tr("Close this message"), self, size=14)
        self._close_button.clicked.connect(self.clear)
        text_row.addWidget(self._close_button)
        # Below the text: next to four buttons, a narrow note would leave room for one word per line.
        self._answers = QWidget(self)
        self._row = FlowLayout(self._answers, spacing=6)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 6, 8, 6)
        column.setSpacing(6)
        column.addLayout(text_row)
        column.addWidget(self._answers)
        self.hide()

    @property
    def text(self) -> str:
        """The displayed message; empty if there is none."""
        return "" if self.isHidden() else self._text.text()

    def show_message(self, text: str, tone: str = "info") -> None:
        """Show `text` in the tone `info`, `warning` or `danger`."""
        self._show(text, tone, ())
        self._close_button.show()

    def show_question(self, text: str, answers: tuple[Answer, ...]) -> None:
        """Show a question with a button for each answer, until `clear` or the next message."""
        self._show(text, "warning", answers)
        self._close_button.hide()

    def answer(self, label: str) -> None:
        """Choose the answer with this label, as if its button were clicked."""
        next(button for button in self._buttons if button.text() == label).click()

    def clear(self) -> None:
        """Hide the message or question, and emit `focus_released` if the banner had focus."""
        focused = QApplication.focusWidget()
        had_focus = focused is not None and self.isAncestorOf(focused)
        self.hide()
        if had_focus:
            self.focus_released.emit()

    def _show(self, text: str, tone: str, answers: tuple[Answer, ...]) -> None:
        self._text.setText(text)
        self.setProperty("tone", tone)
        self.style().polish(self)
        for button in self._buttons:
            button.deleteLater()
        self._buttons = []
        for label, callback in answers:
            button = QPushButton(label, self._answers)
            button.clicked.connect(lambda _=False, callback=callback: callback())
            self._row.addWidget(button)
            self._buttons.append(button)
        self._answers.setVisible(bool(answers))
        self.setAccessibleName(text)
        self.show()
