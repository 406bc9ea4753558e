"""The page of one request: header, files, the diff of the selected file and, on demand, an editor.

Parts are created only when needed: most requests have one file, and few are edited.
"""

from __future__ import annotations

import asyncio

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from app.desktop.approval.effect_view import EffectView
from app.desktop.approval.files_panel import ChangedFilesPanel
from app.desktop.approval.header import RequestHeader
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import translate, translate_text
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.diff.view import DiffView
from app.desktop.widgets.panel import ElidedLabel
from app.desktop.widgets.text_editor import MAX_TEXT_BYTES, TextEditor
from app.encoding import is_binary
from app.permissions.approval import Effect
from app.permissions.partial_approval import ApprovalDraft, FileDraft, SelectionState
from app.permissions.request_labels import KIND_NAMES, change_name, format_size
from app.vault.editable_text import EditableText, NotEditableError

# Comparing this much takes milliseconds; larger changes are compared in a thread, file by file.
_MAX_SYNC_BYTES = 48_000
# The height in pixels for the exact text of an effect.
_EFFECT_HEIGHT = 240


class ReviewPage(QWidget):
    """Shows a draft, and applies the user's selection and edits to it.

    `changed` is emitted when the draft, the shown file, the editor's visibility or `problem` changes.
    `problem` explains why the edited text can't be approved; it is empty if it can.

    Only the header exists until `fill` is called, and no text is shown until `show_first` is called.
    `height_changed` is emitted when the result of `height_for` may have changed.
    """

    changed = Signal()
    height_changed = Signal()

    def __init__(self, draft: ApprovalDraft, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.draft = draft
        self.problem = ""
        self.files: ChangedFilesPanel | None = None
        self._editor: TextEditor | None = None
        self._row = 0
        self._editable: dict[int, tuple[bytes, str]] = {}
        self._theme = theme
        self._column = layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self.header = RequestHeader(draft.request, theme.theme, self)
        layout.addWidget(self.header)
        layout.addWidget(_create_line(self))

    def fill(self) -> None:
        """Create the parts below the header."""
        if isinstance(proposal := self.draft.request.proposal, Effect):
            self._column.addWidget(EffectView(proposal, self._theme.theme, self), 1)
            return
        self._column.addWidget(self._build_body(), 1)
        self._connect()

    def show_first(self) -> None:
        """Show the first file, and count the changed lines of all files."""
        if self.files is not None:
            self.files.choose(0)
        elif self.draft.files:
            self._show_row(0)
        self._count_lines()

    def height_for(self, width: int) -> int:
        """Return the height at which the whole current file is visible, or a fixed one for an effect."""
        has_height_for_width = self.header.hasHeightForWidth()
        header_height = 1 + (
            self.header.heightForWidth(width) if has_height_for_width else self.header.sizeHint().height()
        )
        if not self.draft.files:
            return header_height + _EFFECT_HEIGHT
        files_height = self.files.preferred_height if self.files is not None else 0
        return header_height + max(self.diff_view.preferred_height, files_height)

    @property
    def file(self) -> FileDraft | None:
        """The current file; None for an effect."""
        return self.draft.files[self._row] if self.draft.files else None

    @property
    def is_editing(self) -> bool:
        """True if the editor is open."""
        return self._editor is not None and not self._editor.isHidden()

    @property
    def editor(self) -> TextEditor:
        """The editor below the diff, created on first use."""
        if self._editor is None:
            text = translate("Approval", "Text after the change; edits update the comparison")
            self._editor = editor = TextEditor(text, self._theme.zoom, self._panes)
            editor.hide()
            editor.changed.connect(self._apply_edit)
            editor.invalid.connect(self._set_problem)
            editor.reset_requested.connect(self._reset_text)
            self._panes.addWidget(editor)
        return self._editor

    def read_only_reason(self) -> str:
        """Return the reason why the text of the current file can't be edited; empty if it can."""
        if (file := self.file) is None:
            return translate("Approval", "There is no text to edit.")
        if (content := file.chosen_bytes()) is None:
            return translate("Approval", "A deleted file has no text to edit.")
        cached = self._editable.get(self._row)
        if cached is None or cached[0] is not content:
            cached = self._editable[self._row] = (content, _read_only_reason(content))
        return cached[1]

    def set_editing(self, editing: bool) -> None:
        """Open the editor on the current draft, or close it and keep the edits.

        If the text can't be edited without loss, set `problem` instead.
        """
        if not editing:
            self.flush()
            self.editor.hide()
        elif (file := self.file) is not None and (content := file.chosen_bytes()) is not None:
            try:
                self.editor.load(content)
            except NotEditableError as error:
                self._set_problem(_loss_message(error))
                return
            file.edit(content)
            self._show_file(keep_scroll=True)
            self.editor.show()
            self._panes.setSizes([1, 1])
            self.editor.field.setFocus()
        self.changed.emit()

    def flush(self) -> None:
        """Apply pending edits to the draft."""
        if self.is_editing:
            self.editor.flush()

    def _build_body(self) -> QWidget:
        body = QSplitter(self)
        if len(self.draft.files) > 1:
            self.files = ChangedFilesPanel(self.draft, self._theme, body)
            self.files.setMinimumWidth(200)
            body.addWidget(self.files)
        self._panes = panes = QSplitter(Qt.Orientation.Vertical, body)
        body.addWidget(panes)
        self.diff_view = DiffView(self._theme, panes)
        panes.addWidget(self.diff_view)
        self.diff_view.set_header(self._build_diff_header())
        body.setStretchFactor(body.count() - 1, 1)
        body.setSizes([280, 720][-body.count() :])
        for splitter in (panes, body):
            splitter.setChildrenCollapsible(False)
        return body

    def _build_diff_header(self) -> QWidget:
        header = QWidget(self.diff_view)
        self._path_label = ElidedLabel(parent=header)
        self._facts_label = ElidedLabel(tone="muted", parent=header)
        row = QHBoxLayout(header)
        row.setContentsMargins(0, 0, 12, 0)
        row.setSpacing(12)
        row.addWidget(self._path_label)
        row.addWidget(self._facts_label)
        row.addStretch(1)
        return header

    def _connect(self) -> None:
        if self.files is not None:
            self.files.file_chosen.connect(self._show_row)
            self.files.file_toggled.connect(self._update_file)
        self.diff_view.canvas.height_changed.connect(self.height_changed)
        self.diff_view.excluded_hunks_changed.connect(self._exclude_hunks)
        self.diff_view.compared.connect(lambda _: self._show_facts())

    def _show_row(self, row: int) -> None:
        if row == self._row and self.diff_view.diff is not None:
            return
        if self.is_editing:
            self.set_editing(False)
        self._row = row
        self._show_file()
        self.changed.emit()

    def _show_file(self, *, keep_scroll: bool = False) -> None:
        if (file := self.file) is None:
            return
        self._path_label.setText(change_name(file.change))
        self.diff_view.canvas.setAccessibleName(
            translate("Approval", "Changes in {0}").format(change_name(file.change))
        )
        self.diff_view.show_contents(
            file.before,
            file.after,
            comparison=file.compare,
            selectable=file.is_divisible,
            excluded_hunks=file.excluded_hunks,
            keep_scroll=keep_scroll,
        )
        self._show_facts()

    def _show_facts(self) -> None:
        if (file := self.file) is None:
            return
        sizes = [
            translate_text(format_size(len(content)))
            for content in (file.before, file.chosen_bytes())
            if content is not None
        ]
        edited_label = translate("Approval", "edited by you") if file.is_edited else ""
        excluded = translate("Approval", "excluded") if file.selection_state is SelectionState.NONE else ""
        kind = translate_text(KIND_NAMES[type(file.change)])
        facts = (kind, " → ".join(dict.fromkeys(sizes)), edited_label, excluded)
        self._facts_label.setText("   ·   ".join(fact for fact in facts if fact))

    def _update_file(self, row: int) -> None:
        if row == self._row:
            self._show_file(keep_scroll=True)
        self._show_change(row)

    def _exclude_hunks(self, hunks: frozenset[int]) -> None:
        if (file := self.file) is not None:
            file.leave_out(hunks)
            self._show_change(self._row)

    def _apply_edit(self, content: bytes) -> None:
        if (file := self.file) is not None and content != file.after:
            file.edit(content)
            self._show_file(keep_scroll=True)
            self._show_change(self._row)

    def _set_problem(self, problem: str) -> None:
        self.problem = problem
        self.changed.emit()

    def _reset_text(self) -> None:
        if (file := self.file) is not None:
            file.edit(None)
            if (content := file.after) is not None:
                self.editor.load(content)
            self._show_file()
            self._show_change(self._row)

    def _show_change(self, row: int) -> None:
        if self.files is not None:
            self.files.refresh(row)
        self._show_facts()
        self.changed.emit()

    def _count_lines(self) -> None:
        """Count the changed lines of all files: directly if they are small, otherwise in a thread."""
        files = self.draft.files
        if sum(len(file.before or b"") + len(file.after or b"") for file in files) <= _MAX_SYNC_BYTES:
            for row, file in enumerate(files):
                file.compare()
                self._show_counts(row)
        else:
            tasks.start(
                self._count_in_thread(), owner=self, action=translate("Approval", "compare the files")
            )

    async def _count_in_thread(self) -> None:
        for row, file in enumerate(self.draft.files):
            await asyncio.to_thread(file.compare)
            self._show_counts(row)

    def _show_counts(self, row: int) -> None:
        if self.files is not None:
            self.files.model.refresh(row)


def _read_only_reason(content: bytes) -> str:
    if len(content) > MAX_TEXT_BYTES:
        return translate("Approval", "This text is too large to edit here.")
    if is_binary(content):
        return translate("Approval", "This file is not text.")
    try:
        EditableText.of(content)
    except NotEditableError as error:
        return _loss_message(error)
    return ""


def _loss_message(error: NotEditableError) -> str:
    text = translate("Approval", "This text can't be edited without loss: {0}.")
    return text.format(translate_text(error.reason))


def _create_line(parent: QWidget) -> QFrame:
    line = QFrame(parent)
    line.setObjectName("line")
    return line
