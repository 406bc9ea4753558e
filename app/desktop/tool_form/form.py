"""A tool's form: a field for each argument of the chosen operation, with error messages."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDialog, QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.theme.theme import ThemeSource
from app.desktop.tool_form.completions import find_names
from app.desktop.tool_form.fields import create_field
from app.desktop.widgets import dialogs
from app.desktop.widgets.model_form import Editor, with_description
from app.desktop.widgets.plain_labels import wrapped_label
from app.desktop.widgets.validation_text import problem_text, required_text
from app.errors import InvalidParametersError
from app.permissions.tool_label import argument_label, argument_words, tool_label
from app.toolkit.argument_types import ArgumentKind
from app.toolkit.tool import Parameter, Tool

_EMPTY_VALUES: tuple[object, ...] = (None, "", (), [], {})
_CODE = re.compile(r"`([^`]*)`")
_SLOT = re.compile(r"\{(\w+)\}")
_ACCEPTED = int(QDialog.DialogCode.Accepted)


class ToolFormDialog(dialogs.SheetDialog):
    """Asks for a tool's arguments; `arguments` holds them once the dialog is accepted.

    Args:
        tool: The tool.
        client: The open vault, whose names are completed.
        theme: The current theme.
        parent: The widget that the dialog belongs to.
        values: The initial values.
        problem: The error message for the initial values.
    """

    def __init__(
        self,
        tool: Tool,
        client: VaultClient,
        theme: ThemeSource,
        parent: QWidget,
        values: Mapping[str, object] | None = None,
        problem: str = "",
    ) -> None:
        super().__init__(parent, tool_label(tool.name), _without_marks(tool.summary))
        self._tool = tool
        self._client = client
        self.arguments: dict[str, object] = dict(values or {})
        self.editors: dict[str, Editor] = {}
        self._rows: dict[str, QWidget] = {}
        self._errors: dict[str, QLabel] = {}
        self._theme = theme
        self._window = parent.window()
        self.example = wrapped_label(tone="faint")
        self.problem = _error_label()
        self._build(values or {})
        self._show_operation()
        self._set_label(self.problem, problem)
        self._set_size()

    @property
    def visible_arguments(self) -> tuple[str, ...]:
        """The arguments that have a visible field."""
        return tuple(name for name, row in self._rows.items() if not row.isHidden())

    def done(self, result: int) -> None:
        """Close the dialog; if it is accepted with invalid arguments, show the errors instead."""
        if result == _ACCEPTED:
            arguments = self._read_arguments()
            if not self._validate(arguments):
                return
            self.arguments = arguments
        super().done(result)

    def _build(self, values: Mapping[str, object]) -> None:
        fields = self._tool.arguments.model_fields
        self._content = content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 12, 0)
        column.setSpacing(14)
        parameters = sorted(
            self._tool.parameters, key=lambda candidate: (candidate.name != "op", not candidate.required)
        )
        for parameter in parameters:
            column.addWidget(self._create_row(parameter, fields[parameter.name], values))
        column.addStretch(1)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(content)
        for widget in (self.example, self._area, self.problem):
            self.add_body(widget)
        self.add_button(self.tr("Cancel"), int(QDialog.DialogCode.Rejected))
        self.call_button = self.add_button(self.tr("Run"), _ACCEPTED, "primary")
        self.call_button.setDefault(True)
        self.call_button.setToolTip(
            self.tr("You review each change before it is written") if self._tool.proposes else ""
        )
        first = next((name for name in self._rows if name != "op"), "op")
        (self.editors[first].control if first in self.editors else self.call_button).setFocus()

    def _create_row(self, parameter: Parameter, field: FieldInfo, values: Mapping[str, object]) -> QWidget:
        default = None if parameter.required else parameter.default
        editor = create_field(
            parameter, field, values.get(parameter.name, default), self._find, self._theme.zoom
        )
        if parameter.name == "op" and isinstance(editor.control, QComboBox):
            self._remove_forbidden_operations(editor.control)
            editor.control.currentIndexChanged.connect(lambda _: self._choose_operation())
        title = self.tr("Operation") if parameter.name == "op" else argument_label(parameter.name)
        row = QWidget()
        column = QVBoxLayout(row)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(with_description(title, _without_marks(parameter.description), editor))
        error = _error_label()
        column.addWidget(error)
        editor.changed.connect(lambda _: error.hide())
        self.editors[parameter.name], self._rows[parameter.name] = editor, row
        self._errors[parameter.name] = error
        return row

    def _remove_forbidden_operations(self, box: QComboBox) -> None:
        """Remove the operations that the caller may not use."""
        for row in reversed(range(box.count())):
            if box.itemData(row) not in self._tool.operations:
                box.removeItem(row)
        if box.currentIndex() < 0:
            box.setCurrentIndex(0)

    @property
    def _op(self) -> str:
        return str(self.editors["op"].value or "") if "op" in self.editors else ""

    def _choose_operation(self) -> None:
        self._show_operation()
        self._set_size()

    def _show_operation(self) -> None:
        """Show the arguments of the chosen operation, and an example of a request to the agent."""
        op = self._op
        conditional = frozenset().union(*(operation.takes for operation in self._tool.operations.values()))
        accepted_names = self._tool.operations[op].takes if op in self._tool.operations else conditional
        for name, row in self._rows.items():
            row.setVisible(name not in conditional or name in accepted_names)
        self._set_label(self.problem, "")
        examples = self._tool.examples_of.get(op) or (() if op else self._tool.examples)
        text = _example_request(examples[0]) if examples else ""
        self.example.setText(self.tr("Example request to the agent: “{0}”").format(text))
        self.example.setVisible(bool(text))

    def _read_arguments(self) -> dict[str, object]:
        """Return the values of the visible fields, without empty and default ones.

        An empty value is kept for a required argument that may be null.
        """
        defaults = {
            parameter.name: parameter.default for parameter in self._tool.parameters if not parameter.required
        }
        arguments = {name: self.editors[name].value for name in self.visible_arguments}
        fields = self._tool.operations.get(self._op)
        # A required argument that takes any JSON value may be null: that clears a setting.
        clearable_names = self._tool.nullable & fields.needs if fields else frozenset()
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in arguments.items()
            if name in clearable_names
            or (value not in _EMPTY_VALUES and not (name in defaults and value == defaults[name]))
        }

    def _validate(self, arguments: dict[str, object]) -> bool:
        """Show the errors next to the fields; return whether there are none."""
        for label in (*self._errors.values(), self.problem):
            self._set_label(label, "")
        try:
            self._tool.check_operation(self._tool.arguments.model_validate(arguments))
        except ValidationError as error:
            for name in self._missing_names(arguments):
                self._show_error(name, required_text(argument_label(name)))
            for problem in error.errors():
                field = str(problem["loc"][0]) if problem["loc"] else ""
                self._show_error(field, problem_text(problem, self._tool.arguments))
            return False
        except InvalidParametersError as error:
            missing_names = self._missing_names(arguments)
            for name in missing_names:
                self._show_error(name, required_text(argument_label(name)))
            if not missing_names:
                self._set_label(self.problem, error.message)
            return False
        return True

    def _missing_names(self, arguments: dict[str, object]) -> list[str]:
        """Return the missing required arguments of the chosen operation."""
        fields = self._tool.operations.get(self._op)
        return [name for name in self._rows if fields and name in fields.needs and name not in arguments]

    def _show_error(self, name: str, message: str) -> None:
        label = self._errors.get(name, self.problem)
        self._set_label(label, message)
        if name in self.editors:
            self._area.ensureWidgetVisible(self._rows[name])
            self.editors[name].control.setFocus()

    def _set_label(self, label: QLabel, text: str) -> None:
        label.setText(text)
        label.setVisible(bool(text))

    async def _find(self, kind: ArgumentKind, word: str) -> tuple[str, ...]:
        names = (parameter.name for parameter in self._tool.parameters if parameter.kind is ArgumentKind.NOTE)
        note = next((str(self.editors[name].value or "") for name in names if name in self.editors), "")
        return await find_names(self._client, kind, word, note)

    def _set_size(self) -> None:
        """Fit the height to the fields of the chosen operation; grow if needed, never shrink."""
        zoom, window = self._theme.zoom, self._window
        self.setMinimumWidth(min(round(560 * zoom), window.width() - 40))
        max_height = max(160, window.height() - round(300 * zoom))
        # The height of wrapped text depends on the available width.
        width = max(self.minimumWidth(), self.width() if self.isVisible() else 0) - round(48 * zoom)
        # A scroll area keeps its scroll bar unless the fields also fit next to the bar.
        width -= self._area.verticalScrollBar().sizeHint().width()
        column = self._content.layout()
        content_height = column.totalHeightForWidth(width) if column is not None else 0
        old_height = self._area.height()
        self._area.setMinimumHeight(max(self._area.minimumHeight(), min(max_height, content_height + 8)))
        if self.isVisible():
            # Keep the buttons visible: move up by the height that exceeds the window.
            growth = max(0, self._area.minimumHeight() - old_height)
            overflow = self.frameGeometry().bottom() + growth - window.frameGeometry().bottom()
            if growth and overflow > 0:
                self.move(self.x(), max(window.y(), self.y() - overflow))


def _without_marks(text: str) -> str:
    """Return a description whose code is shown as the form labels it: `insert_under` as “insert under”."""
    return _CODE.sub(lambda code: argument_words(code[1]), text)


def _example_request(template: str) -> str:
    """Return an example with the names of the values to fill in: “rename [name] to [new name]”."""
    return _SLOT.sub(lambda slot: f"[{argument_words(slot[1])}]", template)


def _error_label() -> QLabel:
    label = wrapped_label(tone="danger")
    label.hide()
    return label
