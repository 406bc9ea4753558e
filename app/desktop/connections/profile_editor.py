"""The editor of a program's permissions: read-only access, tools, folders."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QRadioButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.desktop.connections.queries import CategoryState, ProfileChoices
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.completion_popup import CompletionPopup
from app.desktop.widgets.panel import ThemedButton
from app.desktop.widgets.plain_labels import wrapped_label
from app.errors import ScriptoriumError
from app.index.completion import complete
from app.settings import CallerProfile
from app.vault.globs import word_matches
from app.vault.path import NotePath

_COLUMN_COUNT = 3
_MAX_FOLDERS = 30


class ProfileEditor(QScrollArea):
    """Edits a `CallerProfile`; `changed` carries the profile after every valid change."""

    changed = Signal(object)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._profile = CallerProfile()
        self._current_choices: ProfileChoices | None = None
        self._categories: tuple[CategoryState, ...] = ()
        self._tools: tuple[str, ...] = ()
        self._known_folders: tuple[str, ...] = ()
        self.boxes: dict[str, QCheckBox] = {}
        self.read_only = QCheckBox(self.tr("Read-only: can't propose changes"))
        self.read_only.setToolTip(
            self.tr("If off, the program can propose changes; your approval rules apply")
        )
        self.all_categories = QRadioButton(self.tr("All enabled categories"))
        self.selected_categories = QRadioButton(self.tr("Only these categories:"))
        self.tools = QLineEdit()
        self.tools.setPlaceholderText(self.tr("All tools in these categories"))
        self.tools.setToolTip(
            self.tr("Comma-separated names or patterns, for example search_*, read_note, edit_note.append")
        )
        self.tools.setAccessibleName(self.tr("Only these tools"))
        self.folders = QListWidget()
        self.folders.setAccessibleName(self.tr("Accessible folders"))
        self.folders.setMaximumHeight(round(84 * theme.zoom))
        self.folder = QLineEdit()
        self.folder.setPlaceholderText(self.tr("Add a folder (default: the whole vault)"))
        self.folder.setAccessibleName(self.tr("Folder to add"))
        self.folder.setToolTip(
            self.tr("Press Enter to add the folder. The program can't see notes outside these folders.")
        )
        self._folder_popup = CompletionPopup(self.folder, preselect=False)
        self.add_button = ThemedButton(theme, "plus", self.tr("Add folder"))
        self.remove_button = ThemedButton(theme, "minus", self.tr("Remove the selected folder"))
        self.problem = wrapped_label(tone="danger")
        self._category_boxes = QWidget()
        self._grid = QGridLayout(self._category_boxes)
        self._build()
        self._connect()

    def show_choices(self, choices: ProfileChoices) -> None:
        """Offer these categories, folders and tools, if they have changed."""
        if choices is self._current_choices:
            return
        self._current_choices = choices
        self._tools, self._known_folders = choices.tools, choices.folders
        if choices.categories == self._categories:
            return
        self._categories = choices.categories
        for box in self.boxes.values():
            box.deleteLater()
        self.boxes.clear()
        for number, category in enumerate(self._categories):
            box = QCheckBox(
                category.name if category.is_enabled else self.tr("{0} (off)").format(category.name)
            )
            disabled_tip = self.tr("Turned off for all callers in the settings; can't be turned on here")
            box.setToolTip("" if category.is_enabled else disabled_tip)
            box.toggled.connect(self._emit_profile)
            self.boxes[category.id] = box
            self._grid.addWidget(box, number // _COLUMN_COUNT, number % _COLUMN_COUNT)
        self._fill()

    def show_profile(self, profile: CallerProfile) -> None:
        """Show a program's permissions, keeping unsaved input for the same program."""
        if profile == self._profile:
            return
        if profile.caller != self._profile.caller:
            self.folder.clear()
        self._profile = profile
        self._fill()

    def _fill(self) -> None:
        profile = self._profile
        for widget in (self.read_only, self.all_categories, self.selected_categories, *self.boxes.values()):
            widget.blockSignals(True)
        self.read_only.setChecked(profile.read_only)
        (self.selected_categories if profile.categories else self.all_categories).setChecked(True)
        for category_id, box in self.boxes.items():
            box.setChecked(
                category_id in profile.categories if profile.categories else self._is_enabled(category_id)
            )
        for widget in (self.read_only, self.all_categories, self.selected_categories, *self.boxes.values()):
            widget.blockSignals(False)
        self._category_boxes.setVisible(bool(profile.categories))
        if not self.tools.hasFocus():
            self.tools.setText(", ".join(profile.tools))
        with QSignalBlocker(self.folders):
            self.folders.clear()
            self.folders.addItems(list(profile.folders))
        self.folders.setVisible(bool(profile.folders))
        self.remove_button.setEnabled(bool(profile.folders))
        self._set_problem("")

    def _show_category_boxes(self, visible: bool) -> None:
        self._category_boxes.setVisible(visible)
        self._emit_profile()

    def _is_enabled(self, category_id: str) -> bool:
        return any(category.id == category_id and category.is_enabled for category in self._categories)

    def _emit_profile(self, *_: object) -> None:
        """Emit the profile that the controls describe, if it is valid."""
        category_ids = tuple(category_id for category_id, box in self.boxes.items() if box.isChecked())
        if self.selected_categories.isChecked() and not category_ids:
            # An empty list would allow every category; to deny everything, the user removes the program.
            self._set_problem(self.tr("Select at least one category, or remove the program."))
            return
        tools = tuple(dict.fromkeys(part.strip() for part in self.tools.text().split(",") if part.strip()))
        unknown_patterns = [pattern for pattern in tools if not self._matches_tool(pattern)]
        if unknown_patterns:
            self._set_problem(self.tr("No tool matches {0}.").format(", ".join(unknown_patterns)))
            return
        profile = CallerProfile(
            caller=self._profile.caller,
            categories=category_ids if self.selected_categories.isChecked() else (),
            tools=tools,
            folders=tuple(self.folders.item(row).text() for row in range(self.folders.count())),
            read_only=self.read_only.isChecked(),
        )
        self._set_problem("")
        if profile != self._profile:
            self._profile = profile
            self.changed.emit(profile)

    def _matches_tool(self, pattern: str) -> bool:
        name = pattern.partition(".")[0]
        return any(word_matches(name, tool) for tool in self._tools)

    def add_folder(self) -> None:
        """Add the typed folder to the accessible folders, if its path is valid."""
        text = self.folder.text().strip().strip("/")
        if not text:
            return
        try:
            folder = text if text in self._known_folders else str(NotePath.parse(text))
        except ScriptoriumError as error:
            self._set_problem(error.message)
            return
        folders = [self.folders.item(row).text() for row in range(self.folders.count())]
        if folder not in folders:
            self.folders.addItem(folder)
            self.folders.setVisible(True)
            self.remove_button.setEnabled(True)
        self.folder.clear()
        self._emit_profile()

    def remove_folder(self) -> None:
        """Remove the selected folder, or else the last one; no folders means the whole vault."""
        row = self.folders.currentRow() if self.folders.currentRow() >= 0 else self.folders.count() - 1
        if row >= 0:
            self.folders.takeItem(row)
            self.folders.setVisible(self.folders.count() > 0)
            self.remove_button.setEnabled(self.folders.count() > 0)
            self._emit_profile()

    def _set_problem(self, text: str) -> None:
        self.problem.setText(text)
        self.problem.setVisible(bool(text))

    def _connect(self) -> None:
        self.read_only.toggled.connect(self._emit_profile)
        self.selected_categories.toggled.connect(self._show_category_boxes)
        self.tools.editingFinished.connect(self._emit_profile)
        self.folder.returnPressed.connect(self.add_folder)
        self.folder.textEdited.connect(
            lambda typed: self._folder_popup.offer(complete(self._known_folders, typed, _MAX_FOLDERS))
        )
        self._folder_popup.chosen.connect(lambda _, folder: self.folder.setText(folder))
        self.add_button.clicked.connect(self.add_folder)
        self.remove_button.clicked.connect(self.remove_folder)

    def _build(self) -> None:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(14, 10, 14, 12)
        column.setSpacing(6)
        column.addWidget(self.read_only)
        column.addSpacing(4)
        column.addWidget(_heading(self.tr("Tools")))
        choice = QHBoxLayout()
        choice.setSpacing(16)
        choice.addWidget(self.all_categories)
        choice.addWidget(self.selected_categories)
        choice.addStretch(1)
        column.addLayout(choice)
        self._grid.setContentsMargins(4, 0, 0, 0)
        self._grid.setHorizontalSpacing(18)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(_COLUMN_COUNT, 1)
        column.addWidget(self._category_boxes)
        column.addWidget(self.tools)
        column.addSpacing(4)
        column.addWidget(_heading(self.tr("Folders")))
        column.addWidget(self.folders)
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(self.folder, 1)
        row.addWidget(self.add_button)
        row.addWidget(self.remove_button)
        column.addLayout(row)
        column.addWidget(self.problem)
        column.addStretch(1)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(page)
        self.problem.hide()


def _heading(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("textSize", "strong")
    return label
