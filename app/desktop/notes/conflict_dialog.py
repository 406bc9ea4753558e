"""A dialog for choosing one of two versions of a note, or parts of both.

It shows both versions; each difference can be picked, and the result can be edited before it is accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QListWidget,
    QPushButton,
    QRadioButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app.desktop.runtime.translation import translate
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.dialogs import resize_within_screen
from app.desktop.widgets.diff.view import DiffView
from app.desktop.widgets.panel import ElidedLabel
from app.desktop.widgets.plain_labels import heading_label, plain_label
from app.desktop.widgets.text_editor import TextEditor
from app.vault.diff import Diff, compare
from app.vault.editable_text import NotEditableError
from app.vault.invisible_chars import escape_hidden
from app.vault.path import NotePath
from app.vault.undo import MergeConflict


@dataclass(frozen=True, slots=True)
class ConflictTexts:
    """The dialog's texts: title, heading, explanation, choices and the labels of both buttons."""

    title: str
    heading: str
    explanation: str
    ours: str
    theirs: str
    merged: str
    picked: str
    cancel_label: str
    accept_label: str


def undo_conflict_texts(is_plural: bool) -> ConflictTexts:
    """Return the texts for changes that undo can't revert without overwriting later ones."""
    return ConflictTexts(
        title=translate("ConflictDialog", "Resolve conflicts"),
        heading=translate("ConflictDialog", "These notes have later changes in the same lines")
        if is_plural
        else translate("ConflictDialog", "This note has later changes in the same lines"),
        explanation=translate(
            "ConflictDialog",
            "The current text is on the left, and the text after the undo is on the right. Select the "
            "changes to take; you can review the result before it is written.",
        ),
        ours=translate("ConflictDialog", "Keep current text"),
        theirs=translate("ConflictDialog", "Undo the change"),
        merged="",
        picked=translate("ConflictDialog", "Use the choices and edits below"),
        cancel_label=translate("ConflictDialog", "Cancel"),
        accept_label=translate("ConflictDialog", "Continue…"),
    )


@dataclass
class ConflictResolution:
    """One conflict and the user's choices for it; initially, the file stays as it is."""

    conflict: MergeConflict
    result: bytes | None
    excluded_hunks: frozenset[int]

    @classmethod
    def of(cls, conflict: MergeConflict) -> ConflictResolution:
        """Create a resolution without picked differences."""
        hunks = compare(conflict.ours, conflict.theirs).hunks
        return cls(conflict, None if conflict.ours_missing else conflict.ours, frozenset(range(len(hunks))))

    @property
    def name(self) -> str:
        """The file's path and, if undo moves it, its earlier path, with hidden characters escaped."""
        path, target = self.conflict.path, self.conflict.restored_path
        return escape_hidden(f"{path} → {target}" if target is not None else str(path))

    @property
    def has_both_sides(self) -> bool:
        """True if the file exists on both sides, so that individual differences can be picked."""
        return not (self.conflict.ours_missing or self.conflict.theirs_missing)

    def keep_ours(self) -> None:
        """Keep the current file."""
        self.result = None if self.conflict.ours_missing else self.conflict.ours
        self.excluded_hunks = frozenset(range(len(self._diff.hunks)))

    def take_theirs(self) -> None:
        """Replace the file with the other version; delete it if it does not exist there."""
        self.result = None if self.conflict.theirs_missing else self.conflict.theirs
        self.excluded_hunks = frozenset()

    def pick(self, excluded_hunks: frozenset[int]) -> None:
        """Take the differences from the other version, except these."""
        diff = self._diff
        self.excluded_hunks = excluded_hunks
        self.result = diff.apply(set(range(len(diff.hunks))) - excluded_hunks)

    @property
    def _diff(self) -> Diff:
        return compare(self.conflict.ours, self.conflict.theirs)


class ConflictDialog(QDialog):
    """Resolves conflicts file by file; after acceptance, `choices` returns the results.

    Args:
        conflicts: The files and their texts.
        theme: The current theme.
        parent: The window.
        texts: The dialog's texts; by default, those for undo.
        merged: For a single conflict, both texts, merged where they do not conflict.
        resolution: An earlier resolution of a single conflict to continue with.
    """

    def __init__(
        self,
        conflicts: Sequence[MergeConflict],
        theme: ThemeSource,
        parent: QWidget | None = None,
        *,
        texts: ConflictTexts | None = None,
        merged: bytes | None = None,
        resolution: bytes | None = None,
    ) -> None:
        super().__init__(parent)
        self._texts = texts or undo_conflict_texts(len(conflicts) > 1)
        self._merged = merged
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(self._texts.title)
        resize_within_screen(self, 980, 700)
        self.resolutions = tuple(ConflictResolution.of(conflict) for conflict in conflicts)
        if resolution is not None:
            self.resolutions[0].result = resolution
        self._row = 0
        self.files = QListWidget()
        self.files.setAccessibleName(self.tr("Files in conflict"))
        self.files.addItems([item.name for item in self.resolutions])
        self.files.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.files.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.diff_view = DiffView(theme)
        self._name_label = ElidedLabel()
        self._name_label.setContentsMargins(0, 0, 12, 0)
        self.diff_view.set_header(self._name_label)
        self.editor = TextEditor(self.tr("Text to write (editable)"), theme.zoom)
        self.ours_button = QRadioButton(self._texts.ours)
        self.theirs_button = QRadioButton(self._texts.theirs)
        self.merged_button = QRadioButton(self._texts.merged)
        self.merged_button.setVisible(merged is not None)
        self.picked_button = QRadioButton(self._texts.picked)
        self._build()
        self._connect()
        self.files.setCurrentRow(0)

    def choices(self) -> dict[NotePath, bytes | None]:
        """Return the chosen content of each file that changes; None deletes the file."""
        self.editor.flush()
        choices: dict[NotePath, bytes | None] = {}
        for resolution in self.resolutions:
            ours = None if resolution.conflict.ours_missing else resolution.conflict.ours
            if resolution.result != ours:
                choices[resolution.conflict.path] = resolution.result
        return choices

    @property
    def current(self) -> ConflictResolution:
        """The conflict that is shown."""
        return self.resolutions[self._row]

    def _build(self) -> None:
        label = heading_label(self._texts.heading)
        label.setContentsMargins(16, 14, 16, 2)
        explanation = plain_label(self._texts.explanation, "muted")
        explanation.setWordWrap(True)
        explanation.setContentsMargins(16, 0, 16, 8)
        sides = QHBoxLayout()
        sides.setContentsMargins(12, 4, 12, 4)
        sides.setSpacing(16)
        group = QButtonGroup(self)
        for button in (self.ours_button, self.theirs_button, self.merged_button, self.picked_button):
            group.addButton(button)
            sides.addWidget(button)
        sides.addStretch(1)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(sides)
        panes = QSplitter(Qt.Orientation.Vertical)
        panes.addWidget(self.diff_view)
        panes.addWidget(self.editor)
        panes.setChildrenCollapsible(False)
        column.addWidget(panes, 1)
        body = QSplitter()
        body.addWidget(self.files)
        body.addWidget(right)
        body.setSizes([220, 760])
        body.setStretchFactor(1, 1)
        self.files.setVisible(len(self.resolutions) > 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(label)
        layout.addWidget(explanation)
        layout.addWidget(body, 1)
        layout.addWidget(self._build_buttons())

    def _build_buttons(self) -> QDialogButtonBox:
        box = QDialogButtonBox()
        box.setContentsMargins(16, 10, 16, 12)
        cancel = QPushButton(self._texts.cancel_label)
        cancel.setDefault(True)
        cancel.clicked.connect(self.reject)
        self.save_button = QPushButton(self._texts.accept_label)
        self.save_button.setProperty("role", "primary")
        self.save_button.setAutoDefault(False)
        self.save_button.clicked.connect(self.accept)
        box.addButton(cancel, QDialogButtonBox.ButtonRole.RejectRole)
        box.addButton(self.save_button, QDialogButtonBox.ButtonRole.AcceptRole)
        return box

    def _connect(self) -> None:
        self.files.currentRowChanged.connect(self._show)
        self.ours_button.clicked.connect(lambda: self._resolve(ConflictResolution.keep_ours))
        self.theirs_button.clicked.connect(lambda: self._resolve(ConflictResolution.take_theirs))
        self.merged_button.clicked.connect(self._use_merged)
        self.diff_view.excluded_hunks_changed.connect(self._pick)
        self.editor.changed.connect(self._handle_edit)
        self.editor.invalid.connect(lambda problem: self.save_button.setEnabled(not problem))
        self.editor.reset_button.hide()

    def _show(self, row: int) -> None:
        if row < 0:
            return
        self.editor.flush()
        self._row = row
        self._show_sides()
        self._show_result()

    def _show_sides(self) -> None:
        resolution = self.current
        conflict = resolution.conflict
        self._name_label.setText(resolution.name)
        self.diff_view.show_contents(
            None if conflict.ours_missing else conflict.ours,
            None if conflict.theirs_missing else conflict.theirs,
            selectable=resolution.has_both_sides,
            excluded_hunks=resolution.excluded_hunks,
            keep_scroll=True,
        )

    def _show_result(self) -> None:
        resolution = self.current
        ours = None if resolution.conflict.ours_missing else resolution.conflict.ours
        theirs = None if resolution.conflict.theirs_missing else resolution.conflict.theirs
        self.picked_button.setEnabled(resolution.has_both_sides)
        choices = {self._merged: self.merged_button, ours: self.ours_button, theirs: self.theirs_button}
        button = choices.get(resolution.result, self.picked_button)
        button.setChecked(True)
        is_editable = resolution.result is not None
        try:
            if resolution.result is not None:
                self.editor.load(resolution.result)
        except NotEditableError:
            is_editable = False
        if not is_editable:
            self.editor.unload()
        self.editor.setVisible(is_editable)

    def _resolve(self, choose: Callable[[ConflictResolution], None]) -> None:
        choose(self.current)
        self._show_sides()
        self._show_result()

    def _use_merged(self) -> None:
        self.current.result = self._merged
        self._show_result()

    def _pick(self, excluded_hunks: frozenset[int]) -> None:
        self.current.pick(excluded_hunks)
        self._show_result()

    def _handle_edit(self, content: bytes) -> None:
        if content != self.current.result:
            self.current.result = content
            self.picked_button.setChecked(True)
