"""The settings dialog, built from the settings model: each field has its title, description and editor.

Building all sections at once would be slow. The selected section is built when it is shown, and the others
between events or when they are needed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from app.desktop.runtime.time_sliced_queue import TimeSlicedQueue
from app.desktop.runtime.translation import translate_setting
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.dialogs import resize_within_screen
from app.desktop.widgets.model_form import Editor, create_editor, with_description
from app.desktop.widgets.panel import EmptyState, SearchField
from app.desktop.widgets.plain_labels import wrapped_label
from app.desktop.widgets.validation_text import problem_text
from app.settings import Settings

# In these sections, the page is above the settings, because it fills them in.
_PAGE_FIRST_SECTIONS = ("tools", "programs")
# Compared with the space below the last section, which has a stretch of 1.
_FILLING_STRETCH = 1000
PageFactory = Callable[[QWidget], QWidget]
"""Creates the page of a section, given its parent."""
EditorFactory = Callable[[object], Editor]
"""Creates the editor of one setting, given its value, if the default editor of its type is unsuitable."""


@dataclass(slots=True)
class _SettingRow:
    """A setting or page in the dialog: its section and name, searchable text, widget and error.

    The name of a page is empty.
    """

    section: str
    name: str
    search_text: str
    widget: QWidget
    error: QLabel


class SettingsDialog(QDialog):
    """Shows `settings` and lets the user change them.

    Args:
        settings: The current settings.
        theme: The fonts and colors.
        pages: By section, creates a widget for anything but plain values when the section is built.
        editors: By section and setting, creates the editor in place of the default one when the section is
            built.

    Signals:
        changed: The new `Settings`, after every valid change.
        command_requested: A command to run now that the dialog is closed.
    """

    changed = Signal(object)
    command_requested = Signal(str)

    def __init__(
        self,
        settings: Settings,
        theme: ThemeSource,
        pages: dict[str, PageFactory] | None = None,
        parent: QWidget | None = None,
        *,
        editors: dict[tuple[str, str], EditorFactory] | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Settings"))
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.settings = settings
        self._pages = pages or {}
        self._editor_factories = editors or {}
        self._rows: list[_SettingRow] = []
        self._sections: dict[str, QWidget] = {}
        self._theme = theme
        self._section_before_search = 0
        self._unbuilt_parts = {name: deque(self._parts(name)) for name in Settings.model_fields}
        self._build_queue = TimeSlicedQueue(self._process, self)
        self._build()
        zoom = theme.zoom
        resize_within_screen(self, round(820 * zoom), round(600 * zoom))
        QWidget.setTabOrder(self.search, self.list)
        self.search.setFocus()

    def show_section(self, name: str) -> None:
        """Show the section `name` ("model", "permissions", …)."""
        for row in range(self.list.count()):
            if self.list.item(row).data(Qt.ItemDataRole.UserRole) == name:
                self.list.setCurrentRow(row)

    def showEvent(self, event: QShowEvent) -> None:
        """Build the selected section now, and the others between events."""
        self._show_item(self.list.currentItem())
        super().showEvent(event)
        self._build_queue.add_later(name for name, parts in self._unbuilt_parts.items() for _ in parts)

    def close_and_run(self, command: str) -> None:
        """Close the settings and emit `command_requested`."""
        self.accept()
        self.command_requested.emit(command)

    def editor_of(self, section: str, name: str) -> Editor:
        """Return the editor of one setting, building its section if necessary.

        Raises:
            KeyError: There is no such setting.
        """
        self._build_section(section)
        return self._editors[section, name]

    def _build(self) -> None:
        self._editors: dict[tuple[str, str], Editor] = {}
        self.search = SearchField(self._theme, self.tr("Search settings"))
        self.search.textChanged.connect(self._filter)
        # Parents first: adding a populated widget to a parent restyles all of its children.
        sidebar = QWidget(self)
        self.list = QListWidget(sidebar)
        self.list.setObjectName("sections")
        self.list.setAccessibleName(self.tr("Sections"))
        sidebar.setObjectName("page")
        sidebar.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(sidebar)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(8)
        column.addWidget(self.search)
        column.addWidget(self.list, 1)
        sidebar.setFixedWidth(round(220 * self._theme.zoom))
        self.area = QScrollArea(self)
        self.area.setWidgetResizable(True)
        page = QWidget(self.area)
        self.area.setWidget(page)
        self._column = QVBoxLayout(page)
        self._column.setContentsMargins(28, 20, 28, 28)
        self._column.setSpacing(28)
        for name, field in Settings.model_fields.items():
            self._add_section(name, translate_setting(field.title or name), page)
        text = self.tr("No settings found")
        self._no_match = EmptyState(self._theme, "magnifying-glass", text, "", parent=page)
        self._no_match.hide()
        self._column.addWidget(self._no_match)
        self._column.addStretch(1)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(sidebar)
        layout.addWidget(self.area, 1)
        self.list.setCurrentRow(0)
        self.list.currentItemChanged.connect(lambda item, _: self._show_item(item))

    def _add_section(self, name: str, title: str, page: QWidget) -> None:
        """Add the section's list entry and an empty page; its content is built later."""
        self.list.addItem(item := QListWidgetItem(title))
        item.setData(Qt.ItemDataRole.UserRole, name)
        item.setSizeHint(QSize(0, round(30 * self._theme.zoom)))
        block = QWidget(page)
        block.hide()
        column = QVBoxLayout(block)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(16)
        heading = QLabel(title, block)
        heading.setProperty("textSize", "heading")
        column.addWidget(heading)
        self._sections[name] = block
        self._column.addWidget(block)

    def _parts(self, section: str) -> list[str]:
        """Return the parts of a section from top to bottom: its settings' names, and "" for its page."""
        fields = type(getattr(self.settings, section)).model_fields
        names = [name for name, field in fields.items() if field.json_schema_extra != {"form": False}]
        page = [""] if section in self._pages else []
        return [*page, *names] if section in _PAGE_FIRST_SECTIONS else [*names, *page]

    def _process(self, part: object) -> None:
        """Build the next part of a section, given by name, or polish a widget that was built."""
        if isinstance(part, QWidget):
            if isValid(part):
                part.ensurePolished()
        elif self._unbuilt_parts[str(part)]:
            self._build_next(str(part))
            self._build_queue.add_later([self._rows[-1].widget])

    def _build_next(self, section: str) -> None:
        name = self._unbuilt_parts[section].popleft()
        block = self._sections[section]
        column = block.layout()
        assert column is not None
        column.addWidget(self._create_setting(section, name) if name else self._create_page(section, block))

    def _build_section(self, section: str) -> None:
        """Build the rest of a section."""
        while self._unbuilt_parts[section]:
            self._build_next(section)

    def _build_all(self) -> None:
        for section in self._unbuilt_parts:
            self._build_section(section)

    def _create_page(self, section: str, block: QWidget) -> QWidget:
        """Create the section's page; the search finds it by the section and by `searchKeywords`."""
        widget = self._pages[section](block)
        if widget.sizePolicy().verticalPolicy() == QSizePolicy.Policy.Expanding:
            self._column.setStretchFactor(block, _FILLING_STRETCH)
        title = translate_setting(Settings.model_fields[section].title or section)
        text = f"{title} {widget.property('searchKeywords') or ''} {section}".casefold()
        self._rows.append(_SettingRow(section, "", text, widget, QLabel()))
        return widget

    def _create_setting(self, section: str, name: str) -> QWidget:
        model: BaseModel = getattr(self.settings, section)
        field = type(model).model_fields[name]
        value = getattr(model, name)
        editor = (
            self._editor_factories[section, name](value)
            if (section, name) in self._editor_factories
            else create_editor(name, field, value)
        )
        editor.changed.connect(lambda value: self.set_value(section, name, value))
        self._editors[section, name] = editor
        widget = QWidget(self._sections[section])
        column = QVBoxLayout(widget)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        title = translate_setting(field.title or name)
        description = translate_setting(field.description or "")
        column.addWidget(with_description(title, description, editor))
        error = wrapped_label(tone="danger", parent=widget)
        error.hide()
        column.addWidget(error)
        text = f"{title} {description} {section} {name}".casefold()
        self._rows.append(_SettingRow(section, name, text, widget, error))
        return widget

    def set_value(self, section: str, name: str, value: object) -> None:
        """Apply a valid value; show the error next to an invalid one and do not save it.

        Raises:
            ValidationError: The value is invalid, and the dialog has no place to show the error.
        """
        row = next((row for row in self._rows if (row.section, row.name) == (section, name)), None)
        model = getattr(self.settings, section)
        values = {**model.model_dump(), name: value}
        try:
            validated = type(model).model_validate(values)
        except ValidationError as error:
            if row is None:
                raise
            problems = dict.fromkeys(problem_text(problem, type(model)) for problem in error.errors())
            row.error.setText(" ".join(problems))
            row.error.show()
            return
        if row is not None:
            row.error.hide()
        self.settings = self.settings.model_copy(update={section: validated})
        self.changed.emit(self.settings)

    def _show_item(self, item: QListWidgetItem | None) -> None:
        """Show one section alone, unless a search is active."""
        if item is None or self.search.text().strip():
            return
        selected = item.data(Qt.ItemDataRole.UserRole)
        self._build_section(selected)
        for name, block in self._sections.items():
            block.setVisible(name == selected)
        self.area.verticalScrollBar().setValue(0)

    def _filter(self, text: str) -> None:
        """Show the settings that contain all words; without words, the section that was selected before."""
        self._build_all()
        words = text.casefold().split()
        for row in self._rows:
            row.widget.setVisible(all(word in row.search_text for word in words))
        self.list.setEnabled(not words)
        if not words:
            self._no_match.hide()
            self.list.setCurrentRow(max(0, self._section_before_search))
            self._show_item(self.list.currentItem())
            return
        if self.list.currentRow() >= 0:
            self._section_before_search = self.list.currentRow()
            # The results may belong to any section, so none is selected.
            self.list.setCurrentRow(-1)
        matching_sections = {row.section for row in self._rows if not row.widget.isHidden()}
        for name, block in self._sections.items():
            block.setVisible(name in matching_sections)
        self._no_match.setVisible(not matching_sections)
