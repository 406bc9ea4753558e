"""A dialog that shows the files of a commit before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.dialogs import resize_within_screen
from app.desktop.widgets.diff.view import DiffView
from app.desktop.widgets.panel import ElidedLabel
from app.desktop.widgets.plain_labels import heading_label
from app.errors import NotFoundError
from app.vault.commits import CommittedFile
from app.vault.invisible_chars import escape_hidden
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.workspace import VaultService


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file of a commit, with its contents before and after.

    Args:
        path: The path before the commit.
        to: The new path of a moved file, otherwise None.
        before: The bytes before the commit; None for a new file.
        after: The bytes after the commit; None for a deleted file.
        problem: Why both contents are missing; empty if they are not.
    """

    path: str
    to: str | None
    before: bytes | None
    after: bytes | None
    problem: str = ""

    @property
    def name(self) -> str:
        """The path; for a moved file, also the new path."""
        name = escape_hidden(self.path)
        return f"{name} → {escape_hidden(self.to)}" if self.to else name

    @property
    def icon_name(self) -> str:
        """The name of the icon for the kind of change."""
        if self.to:
            return "arrow-bend-up-right"
        return "file-plus" if self.before is None else "trash" if self.after is None else "pencil-simple"


def read_commit(vault: VaultService, number: int) -> tuple[str, tuple[ShownFile, ...]]:
    """Return the summary and the files of a commit, from the journal. Runs in the service thread.

    Raises:
        NotFoundError: The journal has no such commit.
    """
    commit = vault.history.commit(number)
    return commit.summary, tuple(_read_file(vault, change) for change in commit.changes)


def read_session(vault: VaultService, turn: str) -> tuple[str, tuple[ShownFile, ...]]:
    """Return the last summary and the files of an editing session, before its first and after its last save.

    Runs in the service thread.

    Raises:
        NotFoundError: The journal no longer has the saves.
    """
    commits = vault.history.commits_of_turn(turn)
    files: dict[NotePath, CommittedFile] = {}
    for path, to, before, after in (change for commit in commits for change in commit.changes):
        previous = files.pop(path, None)
        combined = CommittedFile(path, to, before, after)
        new_path = path if to is None else to
        if previous is not None:
            target = None if new_path == previous.path else new_path
            combined = CommittedFile(previous.path, target, previous.before, after)
        files[new_path] = combined
    summary = commits[-1].summary if commits else ""
    return summary, tuple(_read_file(vault, change) for change in files.values())


def _read_file(vault: VaultService, change: CommittedFile) -> ShownFile:
    path, target = str(change.path), None if change.to is None else str(change.to)
    try:
        return ShownFile(
            path, target, _read_content(vault, change.before), _read_content(vault, change.after)
        )
    except NotFoundError as error:
        return ShownFile(path, target, None, None, error.message)


def _read_content(vault: VaultService, key: str | None) -> bytes | None:
    return None if key is None else vault.history.content(key)


class ChangesDialog(QDialog):
    """Lists the files of a change, if there are several, and shows the diff of the selected one."""

    def __init__(
        self, title: str, files: Sequence[ShownFile], theme: ThemeSource, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(self.tr("Changes"))
        resize_within_screen(self, 960, 640)
        self._files = tuple(files)
        self.diff_view = DiffView(theme)
        self._path_label = ElidedLabel()
        self.diff_view.set_header(self._path_label)
        self._path_label.setContentsMargins(0, 0, 12, 0)
        self.list = QListWidget()
        self.list.setIconSize(QSize(16, 16))
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(self.tr("Files in this change"))
        for file in self._files:
            item = QListWidgetItem(icon(theme.theme, file.icon_name), file.name)
            item.setToolTip(file.name)
            self.list.addItem(item)
        body = QSplitter()
        body.addWidget(self.list)
        body.addWidget(self.diff_view)
        body.setSizes([240, 720])
        body.setStretchFactor(1, 1)
        self.list.setVisible(len(self._files) > 1)
        label = heading_label(escape_hidden(title))
        label.setContentsMargins(16, 14, 16, 10)
        close_button = QPushButton(self.tr("Close"))
        close_button.setDefault(True)
        close_button.clicked.connect(self.reject)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(16, 10, 16, 12)
        buttons.addStretch(1)
        buttons.addWidget(close_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(label)
        layout.addWidget(body, 1)
        layout.addLayout(buttons)
        self.list.currentRowChanged.connect(self._show)
        self.list.setCurrentRow(0)

    def _show(self, row: int) -> None:
        if not 0 <= row < len(self._files):
            self.diff_view.show_message(self.tr("This entry changed no files."))
            return
        file = self._files[row]
        self._path_label.setText(file.name)
        if file.problem:
            self.diff_view.show_message(file.problem)
        else:
            self.diff_view.show_contents(file.before, file.after)
