"""A note's properties as a form: each row edits one property by a span edit of the source text."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.desktop.panel import ThemedButton
from app.desktop.theme import ThemeSource
from app.vault.markdown.yaml_tree import scalar_value
from app.vault.note import ParsedNote


class PropertiesForm(QFrame):
    """`changed` carries a property's name and new value, `removed` a name; `tag_clicked` a tag."""

    changed = Signal(str, object)
    removed = Signal(str)
    tag_clicked = Signal(str)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: Mapping[str, object] | None = None
        self._editable = False
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 4, 24, 8)
        column.setSpacing(4)
        head = QHBoxLayout()
        self._fold = ThemedButton(theme, "caret-right", "Show the properties", self, size=12)
        self._fold.setCheckable(True)
        self._title = QPushButton("Properties")
        self._title.setProperty("role", "quiet")
        self._title.clicked.connect(self._fold.toggle)
        head.addWidget(self._fold)
        head.addWidget(self._title)
        head.addStretch(1)
        column.addLayout(head)
        self._problem = QLabel()
        self._problem.setProperty("tone", "warning")
        self._problem.setWordWrap(True)
        self._problem.hide()
        column.addWidget(self._problem)
        self._body = QWidget()
        self._grid = QGridLayout(self._body)
        self._grid.setContentsMargins(20, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        column.addWidget(self._body)
        self._body.hide()
        self._fold.toggled.connect(self._unfold)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def show_properties(self, parsed: ParsedNote, editable: bool) -> None:
        """Show the properties of a note; a block that can't be read is named and can't be edited here."""
        self._problem.setText(parsed.properties_problem or "")
        self._problem.setVisible(bool(parsed.properties_problem))
        editable = editable and parsed.properties_problem is None
        if parsed.properties == self._shown and editable == self._editable:
            return
        self._shown, self._editable = parsed.properties, editable
        self._title.setText(f"Properties · {len(parsed.properties)}" if parsed.properties else "Properties")
        self._clear()
        for row, (name, value) in enumerate(parsed.properties.items()):
            label = QLabel(name)
            label.setProperty("tone", "muted")
            label.setTextFormat(Qt.TextFormat.PlainText)
            self._grid.addWidget(label, row, 0)
            self._grid.addWidget(self._editor(name, value), row, 1)
            if editable:
                remove = ThemedButton(self._theme, "x", f"Remove {name}", self._body, size=12)
                remove.clicked.connect(lambda _=False, name=name: self.removed.emit(name))
                self._grid.addWidget(remove, row, 2)
        if editable:
            self._grid.addWidget(self._adder(), len(parsed.properties), 0, 1, 3)

    def _clear(self) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            if widget := item.widget():
                widget.deleteLater()

    def _editor(self, name: str, value: object) -> QWidget:
        if isinstance(value, bool):
            box = QCheckBox()
            box.setChecked(value)
            box.setEnabled(self._editable)
            box.setAccessibleName(name)
            box.toggled.connect(lambda on: self.changed.emit(name, on))
            return box
        field = QLineEdit(as_text(value))
        field.setAccessibleName(name)
        field.setReadOnly(not self._editable or isinstance(value, Mapping))
        field.setCursorPosition(0)
        many = isinstance(value, list | tuple)
        if many:
            field.setPlaceholderText("one, another")
        field.editingFinished.connect(lambda: self._commit(name, value, field, many))
        return field

    def _commit(self, name: str, old: object, field: QLineEdit, many: bool) -> None:
        if field.isReadOnly() or field.text() == as_text(old):
            return
        self.changed.emit(name, from_text(field.text(), many))

    def _adder(self) -> QWidget:
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 2, 0, 0)
        name, value = QLineEdit(), QLineEdit()
        name.setPlaceholderText("New property")
        name.setAccessibleName("Name of a new property")
        value.setPlaceholderText("Value")
        value.setAccessibleName("Value of the new property")

        def add() -> None:
            self._add(name, value)

        name.returnPressed.connect(value.setFocus)
        value.returnPressed.connect(add)
        button = QPushButton("Add")
        button.setProperty("role", "quiet")
        button.clicked.connect(add)
        for widget in (name, value, button):
            line.addWidget(widget)
        return row

    def _add(self, name: QLineEdit, value: QLineEdit) -> None:
        if name.text().strip():
            self.changed.emit(name.text().strip(), from_text(value.text(), name.text().strip() == "tags"))

    def _unfold(self, shown: bool) -> None:
        self._fold.set_symbol("caret-down" if shown else "caret-right")
        self._body.setVisible(shown)


def as_text(value: object) -> str:
    """A property's value as it stands in a field; a list is comma-separated."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(as_text(one) for one in value)
    return str(value)


def from_text(text: str, many: bool) -> object:
    """The value that a field's text means: a list, or what YAML reads it as."""
    if many:
        return [from_text(part.strip(), False) for part in text.split(",") if part.strip()]
    return scalar_value(text.strip()) if text.strip() else None
