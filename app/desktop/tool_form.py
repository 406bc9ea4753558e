"""Calling a tool by hand: a form made from its arguments, and what it answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import ValidationError
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFrame, QLabel, QPlainTextEdit, QScrollArea, QWidget

from app.desktop import dialogs
from app.desktop.form import ModelEditor
from app.desktop.theme import ThemeSource, code_font

if TYPE_CHECKING:
    from app.toolkit.tool import Tool

_EMPTY: tuple[object, ...] = (None, "", ())
_OK = int(QDialog.DialogCode.Accepted)


class ToolForm(dialogs.Sheet):
    """A tool's description and a field per argument; `arguments` holds them once they are valid."""

    def __init__(self, tool: Tool, parent: QWidget) -> None:
        super().__init__(parent, tool.name.replace("_", " ").capitalize(), tool.summary)
        self._tool = tool
        self.arguments: dict[str, object] = {}
        self.setMinimumWidth(520)
        self._form = ModelEditor(tool.arguments, None)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self._form)
        scroll.setMinimumHeight(min(420, self._form.sizeHint().height() + 8))
        self._error = QLabel()
        self._error.setProperty("tone", "danger")
        self._error.setTextFormat(Qt.TextFormat.PlainText)
        self._error.setWordWrap(True)
        self._error.hide()
        self.add_body(scroll)
        self.add_body(self._error)
        self.add_button(self.tr("Cancel"), int(QDialog.DialogCode.Rejected))
        call = self.add_button(self.tr("Call it"), _OK, "primary")
        call.setDefault(True)
        first = next(iter(self._form.editors.values()), None)
        (first or call).setFocus()

    def done(self, result: int) -> None:
        """Close only with arguments that the tool takes; else say what is wrong with them."""
        if result == _OK:
            given = {name: value for name, value in self._form.values().items() if value not in _EMPTY}
            try:
                self._tool.arguments.model_validate(given)
            except ValidationError as error:
                words = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
                self._error.setText("\n".join(words))
                self._error.show()
                return
            self.arguments = given
        super().done(result)


async def show_result(
    parent: QWidget, theme: ThemeSource, title: str, words: str, result: Mapping[str, object]
) -> None:
    """Show what a tool answered, as text that can be copied."""
    sheet = dialogs.Sheet(parent, title, words)
    text = QPlainTextEdit(json.dumps(dict(result), indent=2, ensure_ascii=False, default=str))
    text.setReadOnly(True)
    text.setFont(code_font(theme.zoom))
    text.setMinimumSize(560, 280)
    sheet.add_body(text)
    close = sheet.add_button(sheet.tr("Close"), _OK, "primary")
    close.setDefault(True)
    close.setFocus()
    await dialogs.ask(sheet)
