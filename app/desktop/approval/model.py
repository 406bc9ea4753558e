"""The Qt model of the files in a draft decision."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.desktop.runtime.translation import PluralText, translate, translate_text
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.permissions.partial_approval import ApprovalDraft, FileDraft, SelectionState
from app.permissions.request_labels import KIND_NAMES, change_name
from app.vault.changes import Create, Delete, Move, Update
from app.vault.invisible_chars import escape_hidden

COUNTS_ROLE = Qt.ItemDataRole.UserRole
_KIND_ICONS = {Create: "file-plus", Update: "pencil-simple", Move: "arrow-bend-up-right", Delete: "trash"}
_STATES = {
    SelectionState.NONE: Qt.CheckState.Unchecked,
    SelectionState.SOME: Qt.CheckState.PartiallyChecked,
    SelectionState.ALL: Qt.CheckState.Checked,
}
_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()


class ChangedFilesModel(QAbstractTableModel):
    """The files of a draft decision.

    Toggling a file changes the draft; `file_toggled` then carries the file's row.
    """

    file_toggled = Signal(int)

    def __init__(self, draft: ApprovalDraft, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.files = draft.files
        self._icons = {
            kind: icon(theme, _KIND_ICONS[kind], color)
            for kind, color in (
                (Create, theme.success),
                (Update, theme.muted),
                (Move, theme.accent),
                (Delete, theme.danger),
            )
        }

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        """Return the number of files."""
        return 0 if parent.isValid() else len(self.files)

    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        """Return one column; the line counts are painted into it."""
        return 0 if parent.isValid() else 1

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Make files selectable and checkable."""
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the text or another role of a cell."""
        file = self.files[index.row()]
        if role == COUNTS_ROLE:
            return self._line_counts(file)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return _file_label(file)
            case Qt.ItemDataRole.ToolTipRole:
                return f"{_kind_name(file)}: {change_name(file.change)}"
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{_kind_name(file)}, {change_name(file.change)}, {self._counts_text(file)}"
            case Qt.ItemDataRole.DecorationRole:
                return self._icons[type(file.change)]
            case Qt.ItemDataRole.CheckStateRole:
                return _STATES[file.selection_state]
        return None

    def setData(self, index: _Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Toggle a file: include an excluded file with all of its hunks, or exclude any other."""
        if role != Qt.ItemDataRole.CheckStateRole:
            return False
        file = self.files[index.row()]
        file.set_selected(file.selection_state is SelectionState.NONE)
        self.refresh(index.row())
        self.file_toggled.emit(index.row())
        return True

    def refresh(self, row: int) -> None:
        """Update a row."""
        self.dataChanged.emit(self.index(row, 0), self.index(row, 0))

    def _line_counts(self, file: FileDraft) -> tuple[int, int] | None:
        return (file.diff.added, file.diff.removed) if file.diff is not None else None

    def _counts_text(self, file: FileDraft) -> str:
        counts = self._line_counts(file)
        if not counts:
            return translate("Approval", "not compared yet")
        return PluralText("Approval", "{0} line added, {1} removed", "{0} lines added, {1} removed").format(
            counts[0], f"{counts[1]:,}"
        )


def _kind_name(file: FileDraft) -> str:
    return translate_text(KIND_NAMES[type(file.change)])


def _file_label(file: FileDraft) -> str:
    """Return the file's name and folder; for a move, the name and the new name or path."""
    change = file.change
    name = escape_hidden(change.path.name)
    if isinstance(change, Move):
        target = change.to.name if change.to.folder == change.path.folder else str(change.to)
        return f"{name} → {escape_hidden(target)}"
    return f"{name}   {escape_hidden(change.path.folder)}" if change.path.folder else name
