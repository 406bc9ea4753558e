"""Editors for a tool's arguments, by type and meaning."""

from __future__ import annotations

import json
import shlex
from collections.abc import Awaitable, Callable

from pydantic.fields import FieldInfo
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit

from app.desktop.runtime import tasks
from app.desktop.runtime.translation import translate
from app.desktop.theme.theme import code_font
from app.desktop.tool_form.completions import COMPLETED_KINDS
from app.desktop.widgets.completion_popup import CompletionPopup
from app.desktop.widgets.model_form import Editor, create_editor
from app.toolkit.argument_types import ArgumentKind
from app.toolkit.tool import Parameter
from app.vault.markdown.yaml_tree import UnreadableYamlError, read_tree, to_dict

Find = Callable[[ArgumentKind, str], Awaitable[tuple[str, ...]]]
_VISIBLE_LINES = {ArgumentKind.MARKDOWN: 7, ArgumentKind.PROPERTIES: 4}


def create_field(parameter: Parameter, field: FieldInfo, value: object, find: Find, zoom: float) -> Editor:
    """Return an editor that shows `value`, chosen by the argument's kind, type and name."""
    kind = parameter.kind
    if kind in COMPLETED_KINDS:
        return _create_names_field(parameter, value, find)
    if kind is ArgumentKind.PROPERTIES or parameter.annotation is dict:
        return _create_properties_field(value, zoom)
    if kind is ArgumentKind.MARKDOWN or parameter.name in ("prompt", "patch", "text", "content", "body"):
        return _create_markdown_field(value, zoom)
    if parameter.is_list and parameter.annotation not in (str, int, float):
        return _create_json_field(value, zoom)
    if parameter.is_list and parameter.name == "args":
        return _create_arguments_field(value)
    editor = create_editor(parameter.name, field, value)
    if isinstance(editor.control, QLineEdit):
        editor.control.setPlaceholderText(_placeholder(parameter))
    return editor


class NameField(QLineEdit):
    """A field that completes names; in a list, the names are separated by commas."""

    def __init__(self, text: str, kind: ArgumentKind, is_list: bool, find: Find) -> None:
        super().__init__(text)
        self._kind = kind
        self._is_list = is_list
        self._find = find
        self.popup = CompletionPopup(self)
        self.popup.chosen.connect(lambda _, name: self._accept(name))
        self.textEdited.connect(lambda _: self._start_completion())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open the completions with Down."""
        if event.key() == Qt.Key.Key_Down:
            self._start_completion()
        else:
            super().keyPressEvent(event)

    def _word(self) -> tuple[str, str]:
        """Return the text before the name that is being typed, and the typed part of the name."""
        if not self._is_list:
            return "", self.text().strip()
        before, comma, word = self.text().rpartition(",")
        return f"{before}{comma} " if comma else "", word.strip()

    def _start_completion(self) -> None:
        tasks.start(self._show_completions(), owner=self, action=self.tr("list the names"))

    async def _show_completions(self) -> None:
        _, word = self._word()
        names = await self._find(self._kind, word)
        if self._word()[1] == word:
            self.popup.offer(names if names != (word,) else ())

    def _accept(self, name: str) -> None:
        before, _ = self._word()
        self.setText(f"{before}{name}")
        self.editingFinished.emit()


def _create_names_field(parameter: Parameter, value: object, find: Find) -> Editor:
    initial = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value or "")
    line = NameField(initial, parameter.kind, parameter.is_list, find)
    line.setPlaceholderText(_placeholder(parameter))

    def read() -> object:
        text = line.text().strip()
        if not parameter.is_list:
            return text or None
        return [part.strip() for part in text.split(",") if part.strip()] or None

    editor = Editor(line, read)
    line.editingFinished.connect(editor.emit_value)
    return editor


def _create_markdown_field(value: object, zoom: float) -> Editor:
    area = _create_area(str(value or ""), _VISIBLE_LINES[ArgumentKind.MARKDOWN], zoom)
    area.setPlaceholderText(translate("ToolForm", "Markdown"))
    return _connect_area(area, lambda: area.toPlainText() or None)


def _create_properties_field(value: object, zoom: float) -> Editor:
    """Return an editor for properties, one per line as at the top of a note."""
    properties = value if isinstance(value, dict) else {}
    initial = "\n".join(
        f"{name}: {json.dumps(item, ensure_ascii=False)}" for name, item in properties.items()
    )
    area = _create_area(initial, _VISIBLE_LINES[ArgumentKind.PROPERTIES], zoom)
    area.setPlaceholderText(translate("ToolForm", "status: draft\nrating: 4\ntopics: [tea, water]"))

    def read() -> object:
        text = area.toPlainText()
        if not text.strip():
            return None
        try:
            tree = read_tree(text)
        except UnreadableYamlError:
            return text  # the model's validation reports the problem
        return to_dict(tree) if tree is not None else None

    return _connect_area(area, read)


def _create_arguments_field(value: object) -> Editor:
    """Return an editor for the arguments of a program, typed as on a command line."""
    line = QLineEdit(shlex.join(str(word) for word in value) if isinstance(value, list | tuple) else "")
    line.setPlaceholderText(
        translate("ToolForm", "As on a command line; quote arguments that contain spaces")
    )

    def read() -> object:
        try:
            return shlex.split(line.text()) or None
        except ValueError:
            return line.text().split()  # an unclosed quotation mark is an ordinary character

    editor = Editor(line, read)
    line.textChanged.connect(editor.emit_value)
    return editor


def _create_json_field(value: object, zoom: float) -> Editor:
    area = _create_area(json.dumps(value, indent=2, ensure_ascii=False) if value else "", 4, zoom)
    area.setPlaceholderText(translate("ToolForm", "JSON list"))

    def read() -> object:
        text = area.toPlainText().strip()
        try:
            return json.loads(text) if text else None
        except ValueError:
            return text

    return _connect_area(area, read)


def _create_area(text: str, lines: int, zoom: float) -> QPlainTextEdit:
    area = QPlainTextEdit(text)
    area.setTabChangesFocus(True)
    area.setFont(code_font(zoom))
    area.setFixedHeight(area.fontMetrics().lineSpacing() * lines + 18)
    return area


def _connect_area(area: QPlainTextEdit, read: Callable[[], object]) -> Editor:
    editor = Editor(area, read)
    area.textChanged.connect(editor.emit_value)
    return editor


def _placeholder(parameter: Parameter) -> str:
    """Return the placeholder for an argument: a hint or an example."""
    list_hint = translate("ToolForm", " (comma-separated)") if parameter.is_list else ""
    example = {
        ArgumentKind.NOTE: translate("ToolForm", "Name of a note"),
        ArgumentKind.NEW_NOTE: translate("ToolForm", "Name of the new note"),
        ArgumentKind.FOLDER: translate("ToolForm", "Folder; empty for the vault root"),
        ArgumentKind.TAG: translate("ToolForm", "A tag"),
        ArgumentKind.HEADING: translate("ToolForm", "A heading in the note"),
        ArgumentKind.QUERY: translate("ToolForm", "tide tag:moon -path:Journal"),
        ArgumentKind.HASH: translate("ToolForm", "Hash returned by read_note; empty for any"),
    }.get(
        parameter.kind,
        translate("ToolForm", "Separate multiple values with commas") if parameter.is_list else "",
    )
    return f"{example}{list_hint}" if parameter.kind in (ArgumentKind.NOTE, ArgumentKind.TAG) else example
