"""The list of an analysis's results in the settings panel; selecting a row shows it in the graph."""

from __future__ import annotations

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.desktop.graph.analysis.result import AnalysisResult, AnalysisResultRow
from app.desktop.widgets.enter_list_view import EnterListView

_ROOT_INDEX = QModelIndex()
_VISIBLE_ROWS = 7


class _ResultModel(QAbstractListModel):
    """The rows as a Qt model."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.lines: tuple[AnalysisResultRow, ...] = ()

    def show(self, lines: tuple[AnalysisResultRow, ...]) -> None:
        """Replace the rows."""
        self.beginResetModel()
        self.lines = lines
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _ROOT_INDEX) -> int:
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self.lines)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = 0) -> object:
        """Return the data of a row."""
        line = self.lines[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{line.text}  ·  {line.note}" if line.note else line.text
        return ("\n".join((*line.paths, line.note))).strip() if role == Qt.ItemDataRole.ToolTipRole else None


class AnalysisResultList(QWidget):
    """A list of results; its signals carry the current `AnalysisResultRow`, or the one clicked."""

    chosen = Signal(object)
    accepted = Signal(object)
    hidden = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.model = _ResultModel(self)
        self.view = EnterListView()
        self.view.setObjectName("graphFindings")
        self.view.setModel(self.model)
        self.view.setUniformItemSizes(True)
        self.view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.accept = QPushButton(self.tr("Link"))
        self.accept.setToolTip(self.tr("Propose the most likely relation between the two notes"))
        self.hide_one = QPushButton(self.tr("Dismiss"))
        self.hide_one.setToolTip(self.tr("Don't suggest this link again"))
        self.hide_one.setProperty("role", "quiet")
        buttons = QHBoxLayout()
        buttons.setSpacing(4)
        buttons.addWidget(self.accept)
        buttons.addWidget(self.hide_one)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.view)
        column.addLayout(buttons)
        self.view.selectionModel().currentChanged.connect(self._choose)
        self.view.clicked.connect(self._choose)
        self.view.enter_pressed.connect(self._choose)
        self.accept.clicked.connect(lambda: self._emit_current(self.accepted))
        self.hide_one.clicked.connect(lambda: self._emit_current(self.hidden))

    @property
    def current(self) -> AnalysisResultRow | None:
        """The selected row."""
        at = self.view.currentIndex()
        return self.model.lines[at.row()] if at.isValid() and at.row() < len(self.model.lines) else None

    def show_finding(self, finding: AnalysisResult) -> None:
        """List the rows of a result; if the selected row is gone, the next one is selected."""
        row = max(0, self.view.currentIndex().row())
        blocked = self.view.selectionModel().blockSignals(True)
        self.model.show(finding.lines)
        if finding.can_accept and finding.lines:
            self.view.setCurrentIndex(self.model.index(min(row, len(finding.lines) - 1)))
        self.view.selectionModel().blockSignals(blocked)
        self.view.setAccessibleName(f"{finding.title}: {finding.words}")
        for button in (self.accept, self.hide_one):
            button.setVisible(finding.can_accept and bool(finding.lines))
        self.view.setVisible(bool(finding.lines))
        line = max(self.view.sizeHintForRow(0), 20)
        self.view.setFixedHeight(line * min(len(finding.lines), _VISIBLE_ROWS) + 10)

    def _choose(self, index: QModelIndex) -> None:
        if index.isValid():
            self.chosen.emit(self.model.lines[index.row()])

    def _emit_current(self, signal: object) -> None:
        if (line := self.current) is not None:
            signal.emit(line)  # type: ignore[attr-defined]
