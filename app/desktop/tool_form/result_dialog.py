"""A tool's result: text with links to the notes, JSON on demand, and follow-up actions."""

from __future__ import annotations

import json
from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QPlainTextEdit,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.desktop.theme.theme import ThemeSource, code_font
from app.desktop.tool_form.result_text import format_result
from app.desktop.widgets import dialogs
from app.desktop.widgets.markdown_label import MarkdownLabel
from app.permissions.tool_label import tool_label
from app.toolkit.outcome import ToolOutcome

NextStep = Literal["close", "again", "undo", "diff"]
_RESULT_CODES: dict[int, NextStep] = {0: "close", 1: "close", 2: "again", 3: "undo", 4: "diff"}


class ResultDialog(dialogs.SheetDialog):
    """Shows a successful outcome. `note_requested` carries a note's name and a fragment."""

    note_requested = Signal(str, str)

    def __init__(self, tool: str, outcome: ToolOutcome, theme: ThemeSource, parent: QWidget) -> None:
        super().__init__(parent, tool_label(tool))
        text = "\n\n".join(part for part in (outcome.message, format_result(outcome.result)) if part)
        self.answer = MarkdownLabel(theme, text or self.tr("Done."))
        self.answer.link_clicked.connect(self._open_link)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 12, 0)
        column.addWidget(self.answer)
        column.addStretch(1)
        self._area.setWidget(content)
        self.raw = QPlainTextEdit(json.dumps(dict(outcome.result), indent=2, ensure_ascii=False, default=str))
        self.raw.setReadOnly(True)
        self.raw.setFont(code_font(theme.zoom))
        self.raw.setAccessibleName(self.tr("The result as JSON"))
        self._pages = QStackedWidget()
        self._pages.addWidget(self._area)
        self._pages.addWidget(self.raw)
        self.add_body(self._pages)
        self._add_buttons(outcome)
        zoom, window = theme.zoom, parent.window()
        self.setMinimumWidth(min(round(640 * zoom), window.width() - 40))
        self._pages.setMinimumHeight(min(round(340 * zoom), max(160, window.height() - round(240 * zoom))))

    def next_step(self, code: int) -> NextStep:
        """Return the action of the button with this code."""
        return _RESULT_CODES.get(code, "close")

    def _add_buttons(self, outcome: ToolOutcome) -> None:
        json_button = self.add_button(self.tr("Show as JSON"), 0, "quiet")
        json_button.clicked.disconnect()
        json_button.setCheckable(True)
        json_button.toggled.connect(lambda checked: self._pages.setCurrentIndex(int(checked)))
        if outcome.commit is not None and outcome.entry:
            self.add_button(self.tr("Undo"), 3)
            self.add_button(self.tr("Show change"), 4)
        self.add_button(self.tr("Run again…"), 2)
        close_button = self.add_button(
            self.tr("Close"),
            int(QDialog.DialogCode.Accepted),
            "primary",
            QDialogButtonBox.ButtonRole.RejectRole,
        )
        close_button.setDefault(True)
        close_button.setFocus()

    def _open_link(self, name: str, fragment: str) -> None:
        self.note_requested.emit(name, fragment)
        self.done(0)
