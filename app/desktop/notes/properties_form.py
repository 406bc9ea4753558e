"""A note's properties as a form: each row edits one property through a span edit of the source text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.desktop.notes.property_rows import create_value_editor, initial_value, property_icon
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import ElidedLabel, ThemedButton
from app.desktop.widgets.plain_labels import wrapped_label
from app.vault.note import ParsedNote

_MAX_WIDTH = 760
_NAME_WIDTH = 104
_ROW_HEIGHT = 26
_MAX_HEIGHT = 260


class PropertiesForm(QFrame):
    """A note's properties, collapsed until the user expands them.

    Signals:
        changed: The name of a property, and its new value.
        removed: The name of a property to remove.
        tag_clicked: A tag.
        link_clicked: The name of a note.
        source_requested: The user wants to see the source of properties that can't be read.
    """

    changed = Signal(str, object)
    removed = Signal(str)
    tag_clicked = Signal(str)
    link_clicked = Signal(str)
    source_requested = Signal()

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown_properties: Mapping[str, object] | None = None
        self._is_editable = False
        self._is_adding = False
        self._is_stale = False
        self._editors: dict[str, QWidget] = {}
        self.setObjectName("panel")
        self._column = QVBoxLayout(self)
        self._column.setSpacing(2)
        self._column.addLayout(self._build_header())
        self._column.addWidget(self._build_problem_row())
        self._area = QScrollArea(self)
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._column.addWidget(self._area)
        self._area.hide()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        theme.changed.connect(self._schedule_rebuild)

    def _build_header(self) -> QHBoxLayout:
        self.fold_button = ThemedButton(self._theme, "caret-right", self.tr("Show properties"), self, size=12)
        self.fold_button.setCheckable(True)
        self.fold_button.setProperty("role", "fold")
        self.fold_button.toggled.connect(self._set_expanded)
        self._title_button = QPushButton(self.tr("Properties"), self)
        self._title_button.setProperty("role", "quiet")
        self._title_button.clicked.connect(self.fold_button.toggle)
        self._add_button = ThemedButton(self._theme, "plus", self.tr("Add property"), self, size=14)
        self._add_button.clicked.connect(self._start_adding)
        header = QHBoxLayout()
        header.setSpacing(0)
        for widget in (self.fold_button, self._title_button):
            header.addWidget(widget)
        header.addStretch(1)
        header.addWidget(self._add_button)
        return header

    def _build_problem_row(self) -> QWidget:
        self._problem_box = QWidget(self)
        self._problem = wrapped_label(tone="warning", parent=self._problem_box)
        show_button = QPushButton(self.tr("Show in source"), self._problem_box)
        show_button.clicked.connect(self.source_requested)
        # Below the text: in a narrow note, a button next to it would leave room for one word per line.
        column = QVBoxLayout(self._problem_box)
        column.setContentsMargins(4, 2, 0, 6)
        column.addWidget(self._problem)
        column.addWidget(show_button, 0, Qt.AlignmentFlag.AlignLeft)
        self._problem_box.hide()
        return self._problem_box

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Align with the text column."""
        margin = max(16, (self.width() - round(_MAX_WIDTH * self._theme.zoom)) // 2 - 8)
        self._column.setContentsMargins(margin, 4, margin, 4)
        super().resizeEvent(event)
        self._fit_height()

    def show_properties(self, parsed: ParsedNote, editable: bool) -> None:
        """Show the properties of a note; if they can't be read, report that and disable editing."""
        self._problem.setText(parsed.properties_problem or "")
        self._problem_box.setVisible(bool(parsed.properties_problem))
        editable = editable and parsed.properties_problem is None
        if parsed.properties == self._shown_properties and editable == self._is_editable:
            return
        self._shown_properties, self._is_editable = parsed.properties, editable
        count = f" · {len(parsed.properties)}" if parsed.properties else ""
        self._title_button.setText(self.tr("Properties") + count)
        self._add_button.setVisible(editable)
        self._schedule_rebuild()

    @property
    def has_problem(self) -> bool:
        """True if the note's properties can't be read."""
        return bool(self._problem.text())

    def _schedule_rebuild(self) -> None:
        """Rebuild the rows now if they are expanded, or when the user expands them."""
        self._is_stale = True
        if self.fold_button.isChecked():
            self._rebuild()

    def _rebuild(self) -> None:
        self._is_stale = False
        focused = next((name for name, editor in self._focus_widgets() if editor.hasFocus()), None)
        body = QWidget()
        grid = QGridLayout(body)
        grid.setContentsMargins(4, 0, 0, 4)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(2, 1)
        self._editors = {}
        for row, (name, value) in enumerate((self._shown_properties or {}).items()):
            self._add_row(grid, row, name, value)
        if self._is_adding and self._is_editable:
            grid.addWidget(self._build_add_row(), grid.rowCount(), 0, 1, 4)
        grid.setRowStretch(grid.rowCount(), 1)
        self._area.setWidget(body)
        self._area.setVisible(self.fold_button.isChecked())
        if focused in self._editors:
            self._editors[focused].setFocus()
        self._fit_height()

    def _focus_widgets(self) -> tuple[tuple[str, QWidget], ...]:
        return tuple((name, editor.focusProxy() or editor) for name, editor in self._editors.items())

    def _add_row(self, grid: QGridLayout, row: int, name: str, value: object) -> None:
        theme: Theme = self._theme.theme
        type_icon = QLabel()
        type_icon.setPixmap(icon(theme, property_icon(name, value), theme.faint).pixmap(14, 14))
        type_icon.setFixedHeight(round(_ROW_HEIGHT * self._theme.zoom))
        label = ElidedLabel(name, "muted")
        label.setFixedWidth(round(_NAME_WIDTH * self._theme.zoom))
        label.setFixedHeight(round(_ROW_HEIGHT * self._theme.zoom))
        editor = create_value_editor(self._theme, name, value, self._is_editable)
        editor.changed.connect(lambda new_value: self.changed.emit(name, new_value))
        editor.tag_clicked.connect(self.tag_clicked)
        editor.link_clicked.connect(self.link_clicked)
        self._editors[name] = editor
        top = Qt.AlignmentFlag.AlignTop
        grid.addWidget(type_icon, row, 0, top)
        grid.addWidget(label, row, 1, top)
        grid.addWidget(editor, row, 2)
        if self._is_editable:
            remove_button = ThemedButton(self._theme, "x", self.tr("Remove {0}").format(name), None, size=12)
            remove_button.clicked.connect(partial(self.removed.emit, name))
            grid.addWidget(remove_button, row, 3, top)

    def _build_add_row(self) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.setSpacing(4)
        name, value = QLineEdit(), QLineEdit()
        name.setPlaceholderText(self.tr("Name"))
        name.setAccessibleName(self.tr("Name of the new property"))
        value.setPlaceholderText(self.tr("Value"))
        value.setAccessibleName(self.tr("Value of the new property"))
        name.returnPressed.connect(value.setFocus)
        add_button = QPushButton(self.tr("Add"))
        for signal in (value.returnPressed, add_button.clicked):
            signal.connect(lambda *_: self.add(name.text(), value.text()))
        cancel_button = ThemedButton(self._theme, "x", self.tr("Cancel"), row, size=12)
        cancel_button.clicked.connect(self._end_adding)
        layout.addWidget(name, 1)
        layout.addWidget(value, 2)
        layout.addWidget(add_button)
        layout.addWidget(cancel_button)
        name.setFocus()
        row.setFocusProxy(name)
        self._add_row_widget = row
        return row

    def add(self, name: str, text: str) -> None:
        """Add a property with the typed value, or change an existing one; ignore a blank name."""
        if name.strip():
            self._is_adding = False
            self.changed.emit(name.strip(), initial_value(name.strip(), text))
            # Rebuild even if the note stays the same, since the property may already have this value. The row
            # must outlive its signal, so rebuild later.
            QTimer.singleShot(0, self, self._rebuild)

    def _start_adding(self) -> None:
        self._is_adding = True
        self.fold_button.setChecked(True)
        self._rebuild()
        self._add_row_widget.setFocus()

    def _end_adding(self) -> None:
        self._is_adding = False
        self._rebuild()

    def _set_expanded(self, expanded: bool) -> None:
        self.fold_button.set_symbol("caret-down" if expanded else "caret-right")
        self.fold_button.set_label(self.tr("Hide properties") if expanded else self.tr("Show properties"))
        if expanded and self._is_stale:
            self._rebuild()
        self._area.setVisible(expanded)
        self._fit_height()

    def _fit_height(self) -> None:
        """Fit the height to the rows up to a maximum, above which they scroll."""
        if (body := self._area.widget()) is not None:
            width = self._area.viewport().width()
            height = max(body.sizeHint().height(), body.heightForWidth(width))
            self._area.setFixedHeight(min(height, round(_MAX_HEIGHT * self._theme.zoom)))
