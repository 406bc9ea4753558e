"""A query error: the query with the position marked, and what was expected there."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.desktop.theme.theme import ThemeSource, code_font

_CONTEXT_CHARS = 16


class QueryErrorView(QWidget):
    """Shows a query error in two labels; the panel hides it when there is no error."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._theme = theme
        self.position, self.message = QLabel(), QLabel()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        for label in (self.position, self.message):
            label.setProperty("tone", "danger")
            label.setTextFormat(Qt.TextFormat.PlainText)
            column.addWidget(label)
        self.message.setWordWrap(True)
        self.position.setMinimumWidth(1)

    def show_error(self, query: str, position: int | None, message: str) -> None:
        """Show the message and, if there is a position, part of the query with a caret below it."""
        if position is not None:
            start = max(0, position - _CONTEXT_CHARS)
            prefix = "…" if start else ""
            # A wide character takes two columns.
            before = prefix + query[start:position]
            columns = sum(2 if ord(letter) >= 0x1100 else 1 for letter in before.replace("…", "."))
            self.position.setFont(code_font(self._theme.zoom))
            self.position.setText(f"{prefix}{query[start : position + _CONTEXT_CHARS]}\n{' ' * columns}^")
        self.position.setVisible(position is not None)
        self.message.setText(message)
        self.setAccessibleName(message)
        self.show()
