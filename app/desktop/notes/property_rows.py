"""The values in the properties form: their type icons, texts and editors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QPushButton, QToolButton, QWidget

from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.flow_layout import FlowLayout
from app.desktop.widgets.panel import ThemedButton
from app.vault.markdown.yaml_tree import scalar_value

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")


def property_icon(name: str, value: object) -> str:
    """Return the name of the icon for a property's type."""
    if name in ("tags", "tag"):
        return "tag"
    if isinstance(value, bool):
        return "check-square"
    if isinstance(value, int | float):
        return "hash"
    if isinstance(value, Mapping):
        return "brackets-curly"
    if isinstance(value, list | tuple):
        return "list-bullets"
    if isinstance(value, str) and _LINK.fullmatch(value.strip()):
        return "link"
    return "calendar-blank" if isinstance(value, str) and _DATE.match(value) else "text-align-left"


def format_value(value: object) -> str:
    """Return a property's value as the text of a field; a list is comma-separated."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(format_value(item) for item in value)
    return str(value)


def parse_value(text: str, is_list: bool) -> object:
    """Parse the text of a field: a comma-separated list, or a YAML scalar (None if empty)."""
    if is_list:
        return [parse_value(part.strip(), False) for part in text.split(",") if part.strip()]
    return scalar_value(text.strip()) if text.strip() else None


def initial_value(name: str, text: str) -> object:
    """Return the value of a new property: tags and aliases are lists; tags have no #."""
    if name == "tags":
        return parse_value(text.replace("#", ""), True)
    return parse_value(text, name == "aliases")


class ValueEditor(QWidget):
    """Edits a value; `changed` carries the new one, `link_clicked` a note's name, `tag_clicked` a tag."""

    changed = Signal(object)
    link_clicked = Signal(str)
    tag_clicked = Signal(str)


class CheckValue(ValueEditor):
    """A boolean value."""

    def __init__(self, name: str, value: bool, editable: bool) -> None:
        super().__init__()
        box = QCheckBox()
        box.setChecked(value)
        box.setEnabled(editable)
        box.setAccessibleName(name)
        box.toggled.connect(lambda on: self.changed.emit(on))
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 0, 0, 0)
        row.addWidget(box)
        self.setFocusProxy(box)


class TextValue(ValueEditor):
    """One value as text; a link to a note has a button to open it."""

    def __init__(self, theme: ThemeSource, name: str, value: object, editable: bool) -> None:
        super().__init__()
        self._value = value
        field = QLineEdit(format_value(value))
        field.setAccessibleName(name)
        field.setProperty("quiet", True)
        field.setPlaceholderText(self.tr("Empty") if editable else "")
        field.setReadOnly(not editable or isinstance(value, Mapping))
        field.setCursorPosition(0)
        field.editingFinished.connect(self._commit)
        self.field = field
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        row.addWidget(field, 1)
        if isinstance(value, str) and (link := _LINK.fullmatch(value.strip())):
            open_button = ThemedButton(
                theme, "arrow-square-out", self.tr("Open {0}").format(link[1]), self, size=14
            )
            open_button.clicked.connect(partial(self.link_clicked.emit, link[1]))
            row.addWidget(open_button)
        self.setFocusProxy(field)

    def _commit(self) -> None:
        if not self.field.isReadOnly() and self.field.text() != format_value(self._value):
            self.changed.emit(parse_value(self.field.text(), False))


class ListValue(ValueEditor):
    """A list as chips. A field at the end adds values; if it is empty, Backspace removes the last one."""

    def __init__(self, theme: ThemeSource, name: str, values: Sequence[object], editable: bool) -> None:
        super().__init__()
        self._values = tuple(values)
        self._holds_tags = name in ("tags", "tag")
        flow = FlowLayout(self, stretch_last=editable)
        for index, value in enumerate(values):
            flow.addWidget(self._chip(theme.theme, index, format_value(value), editable))
        self.field = _AddField(self.tr("Add to {0}").format(name))
        self.field.backspace_pressed.connect(self._drop_last)
        self.field.editingFinished.connect(self._add)
        if editable:
            flow.addWidget(self.field)
            self.setFocusProxy(self.field)
        else:
            self.field.setParent(self)
            self.field.hide()

    def _chip(self, theme: Theme, index: int, text: str, editable: bool) -> QWidget:
        chip = QWidget(self)
        chip.setObjectName("chip")
        chip.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(chip)
        row.setContentsMargins(8, 0, 2 if editable else 8, 0)
        row.setSpacing(0)
        link = _LINK.fullmatch(text.strip())
        label = link[1] if link else f"#{text.lstrip('#')}" if self._holds_tags else text
        button = QPushButton(label.replace("&", "&&"))
        button.setProperty("role", "chip")
        if self._holds_tags:
            button.clicked.connect(partial(self.tag_clicked.emit, text.lstrip("#")))
            button.setToolTip(self.tr("Search for this tag"))
        elif link:
            button.clicked.connect(partial(self.link_clicked.emit, link[1]))
            button.setToolTip(self.tr("Open note"))
        else:
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        row.addWidget(button)
        if editable:
            remove_button = QToolButton()
            remove_button.setIcon(icon(theme, "x", theme.muted))
            remove_button.setProperty("role", "chip")
            remove_button.setIconSize(QSize(10, 10))
            remove_button.setAccessibleName(self.tr("Remove {0}").format(text))
            remove_button.setToolTip(remove_button.accessibleName())
            remove_button.clicked.connect(partial(self._remove_value, index))
            row.addWidget(remove_button)
        return chip

    def _remove_value(self, index: int) -> None:
        self.changed.emit([*self._values[:index], *self._values[index + 1 :]])

    def _drop_last(self) -> None:
        if self._values:
            self._remove_value(len(self._values) - 1)

    def _add(self) -> None:
        text = self.field.text().replace("#", "") if self._holds_tags else self.field.text()
        values = parse_value(text, True)
        self.field.clear()
        if isinstance(values, list) and values:
            self.changed.emit([*self._values, *values])


class _AddField(QLineEdit):
    """A field that emits `backspace_pressed` if Backspace is pressed while it is empty."""

    backspace_pressed = Signal()

    def __init__(self, label: str) -> None:
        super().__init__()
        self.setAccessibleName(label)
        self.setPlaceholderText(self.tr("Add…"))
        self.setProperty("quiet", True)
        self.setMinimumWidth(64)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Backspace and not self.text():
            self.backspace_pressed.emit()
        else:
            super().keyPressEvent(event)


def create_value_editor(theme: ThemeSource, name: str, value: object, editable: bool) -> ValueEditor:
    """Create the editor for a property's value.

    Nested lists and mappings are read-only. Tags written as text are edited as a list.
    """
    if isinstance(value, bool):
        return CheckValue(name, value, editable)
    if isinstance(value, list | tuple) and not any(
        isinstance(item, Mapping | list | tuple) for item in value
    ):
        return ListValue(theme, name, value, editable)
    if name == "tags" and (value is None or isinstance(value, str)):
        parts = [part for part in re.split(r"[,\s]+", value or "") if part]
        return ListValue(theme, name, parts, editable)
    nested = isinstance(value, list | tuple)
    return TextValue(theme, name, value, editable and not nested)
