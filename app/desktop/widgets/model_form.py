"""Editors for the fields of a pydantic model, used by the settings dialog and tool forms."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.desktop.runtime.translation import translate, translate_setting
from app.desktop.widgets.plain_labels import wrapped_label

_MIN_INT, _MAX_INT = -(2**31), 2**31 - 1
_MULTILINE_FIELDS = ("content", "text", "instructions", "patch", "body")


class Editor(QWidget):
    """Edits one value; `changed` carries the new one."""

    changed = Signal(object)

    def __init__(self, control: QWidget, read: Callable[[], object]) -> None:
        super().__init__()
        self.control = control
        self._read = read
        row = QVBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(control)
        self.setFocusProxy(control)

    @property
    def value(self) -> object:
        """The current value of the control."""
        return self._read()

    def emit_value(self, *_: object) -> None:
        """Emit the current value."""
        self.changed.emit(self.value)


_DISPLAY_NAMES = {
    "live": "Live preview",
    "openai": "OpenAI",
    "ollama": "Ollama",
    "lm-studio": "LM Studio",
    "llama.cpp": "llama.cpp",
    "openai-compatible": "OpenAI-compatible address",
}


def create_editor(name: str, field: FieldInfo, value: object) -> Editor:
    """Return an editor for the field's type, showing `value`; unsupported types are edited as text."""
    kind, is_optional = strip_annotations(field.annotation)
    if kind is bool:
        return _checkbox_editor(value)
    if get_origin(kind) is Literal:
        return _choice_editor([str(choice) for choice in get_args(kind)], value, is_optional)
    if kind is int or kind is float:
        return _optional_number_editor(kind, value) if is_optional else _number_editor(kind, field, value)
    if kind is str and field.examples:
        return _suggestion_editor([str(example) for example in field.examples], str(value or ""))
    if kind is str:
        return (
            _multiline_editor(value)
            if name in _MULTILINE_FIELDS
            else _line_editor(str(value or ""), lambda text: text)
        )
    if get_origin(kind) in (tuple, list):
        return _list_editor(get_args(kind)[0], value if isinstance(value, tuple | list) else ())
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return ModelEditor(kind, value if isinstance(value, BaseModel) else None)
    return _line_editor("" if value is None else str(value), lambda text: text or None)


def strip_annotations(annotation: object) -> tuple[object, bool]:
    """Unwrap `Annotated` and unions; return the first type other than None, and whether None is allowed."""
    is_optional = False
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation = get_args(annotation)[0]
        elif origin in (Union, types.UnionType):
            kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
            is_optional = is_optional or len(kinds) < len(get_args(annotation))
            annotation = kinds[0]
        else:
            return annotation, is_optional


def _checkbox_editor(value: object) -> Editor:
    box = QCheckBox()
    box.setChecked(bool(value))
    editor = Editor(box, box.isChecked)
    box.toggled.connect(editor.emit_value)
    return editor


class _NoScrollComboBox(QComboBox):
    """A combo box that ignores the mouse wheel, so that the page scrolls instead."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class _NoScrollSpinBox(QSpinBox):
    """Like `_NoScrollComboBox`, for integers."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class _NoScrollDoubleSpinBox(QDoubleSpinBox):
    """Like `_NoScrollComboBox`, for decimal numbers."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


def _choice_editor(choices: list[str], value: object, is_optional: bool) -> Editor:
    box = _NoScrollComboBox()
    for choice in [*([""] if is_optional else []), *choices]:
        box.addItem(translate_setting(choice_label(choice)), choice)
    box.setCurrentIndex(box.findData("" if value is None else str(value)))
    editor = Editor(box, lambda: box.currentData() or None)
    box.currentIndexChanged.connect(editor.emit_value)
    return editor


def choice_label(choice: str) -> str:
    """Return the label of a choice: capitalized, unless it has a display name, such as “OpenAI”."""
    if choice in _DISPLAY_NAMES:
        return _DISPLAY_NAMES[choice]
    return choice[:1].upper() + choice[1:].replace("_", " ").replace("-", " ")


def model_texts(model: type[BaseModel]) -> Iterator[str]:
    """Yield the titles, descriptions and choices in the forms of a model and of the models in its fields."""
    for name, field in model.model_fields.items():
        yield field.title or name
        if field.description:
            yield field.description
        yield from _annotation_texts(field.annotation)


def _annotation_texts(annotation: object) -> Iterator[str]:
    if get_origin(annotation) is Literal:
        yield from (choice_label(str(choice)) for choice in get_args(annotation))
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from model_texts(annotation)
    else:
        for part in get_args(annotation):
            yield from _annotation_texts(part)


def _suggestion_editor(choices: list[str], value: str) -> Editor:
    """Return a combo box of common values that also accepts other text."""
    box = _NoScrollComboBox()
    box.setLineEdit(line := QLineEdit())
    box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
    box.addItems(choices)
    box.setCurrentText(value)
    editor = Editor(box, lambda: box.currentText().strip())
    box.activated.connect(editor.emit_value)
    line.editingFinished.connect(editor.emit_value)
    return editor


def field_bounds(field: FieldInfo) -> tuple[float | None, float | None]:
    """Return the least and the greatest number that a field takes; None without a limit."""
    low = high = None
    for constraint in field.metadata:
        if isinstance(constraint, Ge | Gt):
            low = float(str(constraint.ge if isinstance(constraint, Ge) else constraint.gt))
        elif isinstance(constraint, Le | Lt):
            high = float(str(constraint.le if isinstance(constraint, Le) else constraint.lt))
    return low, high


def _number_editor(kind: type, field: FieldInfo, value: object) -> Editor:
    low, high = field_bounds(field)
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    box: QSpinBox | QDoubleSpinBox
    if kind is int:
        box = spin_box = _NoScrollSpinBox()
        spin_box.setRange(int(_MIN_INT if low is None else low), int(_MAX_INT if high is None else high))
        spin_box.setValue(value if isinstance(value, int) else 0)
        spin_box.setGroupSeparatorShown(extra.get("group_digits") is not False)
        read: Callable[[], object] = spin_box.value
    else:
        box = decimal = _NoScrollDoubleSpinBox()
        decimal.setRange(low if low is not None else -1e9, high if high is not None else 1e9)
        is_fraction = high is not None and high <= 10
        decimal.setDecimals(int(str(extra.get("decimals", 2 if is_fraction else 0))))
        decimal.setSingleStep(0.1 if is_fraction else 1.0)
        decimal.setValue(value if isinstance(value, int | float) else 0.0)
        read = decimal.value
    box.setKeyboardTracking(False)
    box.lineEdit().setTextMargins(6, 0, 0, 0)
    editor = Editor(box, read)
    box.valueChanged.connect(editor.emit_value)
    return editor


def _optional_number_editor(kind: type[int] | type[float], value: object) -> Editor:
    def read(text: str) -> object:
        if not text:
            return None
        try:
            return kind(text)
        except ValueError:
            return text  # the model's validation reports the problem

    return _line_editor("" if value is None else str(value), read)


def _line_editor(text: str, read: Callable[[str], object]) -> Editor:
    field = QLineEdit(text)
    editor = Editor(field, lambda: read(field.text().strip()))
    field.editingFinished.connect(editor.emit_value)
    return editor


def _multiline_editor(value: object) -> Editor:
    area = QPlainTextEdit(str(value or ""))
    area.setMinimumHeight(96)
    area.setTabChangesFocus(True)
    editor = Editor(area, area.toPlainText)
    area.textChanged.connect(editor.emit_value)
    return editor


def _list_editor(kind: object, values: Sequence[object]) -> Editor:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        rows = ModelRows(kind, values)
        editor = Editor(rows, lambda: rows.values)
        rows.changed.connect(editor.emit_value)
        return editor
    joined = ", ".join(str(value) for value in values)
    editor = _line_editor(
        joined, lambda text: tuple(part.strip() for part in text.split(",") if part.strip())
    )
    if isinstance(editor.control, QLineEdit):
        editor.control.setPlaceholderText(translate("ModelForm", "Separate multiple values with commas"))
    return editor


class ModelEditor(Editor):
    """Edits a model field by field; its value is a mapping for the model to validate."""

    def __init__(self, model: type[BaseModel], value: BaseModel | Mapping[str, object] | None) -> None:
        form = QWidget()
        column = QVBoxLayout(form)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        self.editors: dict[str, Editor] = {}
        for name, field in model.model_fields.items():
            editor = create_editor(name, field, _get_value(value, name, field))
            editor.changed.connect(self.emit_value)
            self.editors[name] = editor
            title, description = (
                translate_setting(field.title or name),
                translate_setting(field.description or ""),
            )
            column.addWidget(with_description(title, description, editor))
        super().__init__(form, self.values)

    def values(self) -> dict[str, object]:
        """Return each field's current value."""
        return {name: editor.value for name, editor in self.editors.items()}


def _get_value(value: BaseModel | Mapping[str, object] | None, name: str, field: FieldInfo) -> object:
    if isinstance(value, BaseModel):
        return getattr(value, name)
    if value is not None and name in value:
        return value[name]
    return None if field.is_required() else field.get_default(call_default_factory=True, validated_data={})


class ModelRows(QFrame):
    """Edits a list of models, each in a card, with buttons to add and remove them.

    `changed` is emitted after every edit, addition and removal.
    """

    changed = Signal()

    def __init__(self, model: type[BaseModel], values: Iterable[object]) -> None:
        super().__init__()
        self._model = model
        self._rows: list[ModelEditor] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self._column = QVBoxLayout()
        column.addLayout(self._column)
        add_button = QPushButton(self.tr("Add"))
        add_button.clicked.connect(self._add_empty)
        column.addWidget(add_button, 0, Qt.AlignmentFlag.AlignLeft)
        for value in values:
            self._add(value if isinstance(value, BaseModel) else None)

    @property
    def values(self) -> tuple[object, ...]:
        """A mapping per row."""
        return tuple(row.value for row in self._rows)

    def append(self, value: BaseModel) -> None:
        """Append a row that shows `value`."""
        self._add(value)
        self.changed.emit()

    def _add_empty(self) -> None:
        self._add(None)
        self.changed.emit()

    def _add(self, value: BaseModel | None) -> None:
        card = QFrame()
        card.setObjectName("card")
        layout = QHBoxLayout(card)
        row = ModelEditor(self._model, value)
        row.changed.connect(lambda *_: self.changed.emit())
        remove_button = QPushButton(self.tr("Remove"))
        remove_button.setProperty("role", "quiet")
        remove_button.clicked.connect(lambda: self._remove(row, card))
        layout.addWidget(row, 1)
        layout.addWidget(remove_button, 0, Qt.AlignmentFlag.AlignTop)
        self._rows.append(row)
        self._column.addWidget(card)

    def _remove(self, row: ModelEditor, card: QFrame) -> None:
        self._rows.remove(row)
        card.hide()
        card.deleteLater()
        self.changed.emit()


def with_description(title: str, description: str, editor: Editor) -> QWidget:
    """Return a widget with an editor, its title and its description.

    The text is to the left of a short control, otherwise above the editor.
    """
    widget = QWidget()
    text_column = QVBoxLayout()
    text_column.setSpacing(2)
    title_label = QLabel(title)
    title_label.setProperty("textSize", "strong")
    title_label.setBuddy(editor.control)
    text_column.addWidget(title_label)
    if description:
        description_label = wrapped_label(description, "muted")
        text_column.addWidget(description_label)
        editor.control.setAccessibleDescription(description)
    editor.control.setAccessibleName(title)
    if isinstance(editor.control, QCheckBox | QComboBox | QSpinBox | QDoubleSpinBox):
        row = QHBoxLayout(widget)
        row.addLayout(text_column, 1)
        row.addWidget(editor, 0, Qt.AlignmentFlag.AlignVCenter)
        row.setSpacing(24)
        if not isinstance(editor.control, QCheckBox):
            editor.control.setMinimumWidth(160)
        row.setContentsMargins(0, 0, 0, 0)
    else:
        text_column.addSpacing(2)
        text_column.addWidget(editor)
        widget.setLayout(text_column)
        text_column.setContentsMargins(0, 0, 0, 0)
    return widget
