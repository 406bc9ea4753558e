"""The files of a change set, with the operation, selection state and changed lines of each."""

from __future__ import annotations

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import (
    QLabel,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app.desktop.runtime.translation import PluralText, translate, translate_text
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.permissions.partial_approval import ApprovalDraft, FileDraft, SelectionState
from app.permissions.request_labels import KIND_NAMES, change_name
from app.vault.changes import Create, Delete, Move, Update
from app.vault.invisible_chars import escape_hidden

_KIND_ICONS = {Create: "file-plus", Update: "pencil-simple", Move: "arrow-bend-up-right", Delete: "trash"}
_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_STATES = {
    SelectionState.NONE: Qt.CheckState.Unchecked,
    SelectionState.SOME: Qt.CheckState.PartiallyChecked,
    SelectionState.ALL: Qt.CheckState.Checked,
}
_COUNTS_ROLE = Qt.ItemDataRole.UserRole
# Pixels for the check box, the icon and their margins.
_NAME_MARGIN = 72


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
        if role == _COUNTS_ROLE:
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


class ChangedFilesPanel(QWidget):
    """The list of files; arrow keys select one, Space toggles it.

    `file_chosen` carries the selected row, `file_toggled` the row whose check box changed.
    """

    file_chosen = Signal(int)
    file_toggled = Signal(int)

    def __init__(self, draft: ApprovalDraft, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._draft = draft
        self.model = ChangedFilesModel(draft, theme.theme, self)
        self.view = QTreeView(self)
        self.view.setModel(self.model)
        self.view.setHeaderHidden(True)
        self.view.setRootIsDecorated(False)
        self.view.setUniformRowHeights(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setAccessibleName(translate("Approval", "Files in this change"))
        self.view.setItemDelegate(_ChangedFileDelegate(theme, self.view))
        self._heading = QLabel(self)
        self._heading.setProperty("tone", "muted")
        self._heading.setContentsMargins(12, 8, 8, 4)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._heading)
        layout.addWidget(self.view, 1)
        self.view.selectionModel().currentRowChanged.connect(
            lambda index, _: self.file_chosen.emit(index.row())
        )
        self.model.file_toggled.connect(self.file_toggled)
        self.refresh()

    @property
    def preferred_height(self) -> int:
        """The height in pixels that shows all files and an empty row."""
        row_height = max(self.view.sizeHintForRow(0), 1)
        return self._heading.sizeHint().height() + row_height * len(self._draft.files) + row_height

    def choose(self, row: int) -> None:
        """Select the file in `row`."""
        self.view.setCurrentIndex(self.model.index(row, 0))

    def refresh(self, row: int | None = None) -> None:
        """Update the heading, and a row if one is given."""
        if row is not None:
            self.model.refresh(row)
        selected = sum(file.selection_state is not SelectionState.NONE for file in self._draft.files)
        total = len(self._draft.files)
        if selected == total:
            text = translate("Approval", "Files   {0}").format(f"{total:,}")
        else:
            text = translate("Approval", "Files   {0} of {1}").format(f"{selected:,}", f"{total:,}")
        self._heading.setText(text)


class _ChangedFileDelegate(QStyledItemDelegate):
    """Paints a file with "+n −m" on the right, in the colors of added and removed lines."""

    def __init__(self, theme: ThemeSource, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def initStyleOption(self, option: QStyleOptionViewItem, index: _Index) -> None:
        """Elide the name so that the counts fit after it."""
        super().initStyleOption(option, index)
        metrics = option.fontMetrics
        width = option.rect.width() - metrics.horizontalAdvance(self._counts_label(index)) - _NAME_MARGIN
        option.text = metrics.elidedText(option.text, Qt.TextElideMode.ElideRight, width)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint the file, then the counts, right-aligned."""
        super().paint(painter, option, index)
        theme = self._theme.theme
        rect = QRect(option.rect).adjusted(0, 0, -8, 0)
        painter.save()
        painter.setFont(option.font)
        for text in reversed(self._counts_label(index).split()):
            painter.setPen(QColor(theme.success if text.startswith("+") else theme.danger))
            painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
            rect.setRight(rect.right() - painter.fontMetrics().horizontalAdvance(text + " "))
        painter.restore()

    def _counts_label(self, index: _Index) -> str:
        counts = index.data(_COUNTS_ROLE)
        if not counts:
            return ""
        return " ".join(f"{sign}{count:,}" for sign, count in zip("+−", counts, strict=True) if count)


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
