"""The list of a change set's files, with the operation, selection state and changed lines of each."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QTreeView, QVBoxLayout, QWidget

from app.desktop.approval.delegate import ChangedFileDelegate
from app.desktop.approval.model import ChangedFilesModel
from app.desktop.runtime.translation import translate
from app.desktop.theme.theme import ThemeSource
from app.permissions.partial_approval import ApprovalDraft, SelectionState


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
        self.view.setItemDelegate(ChangedFileDelegate(theme, self.view))
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
