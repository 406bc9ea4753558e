"""The list of an analysis's results in the settings panel; choosing a row shows it in the graph."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal, SignalInstance
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.desktop.graph.analysis.result import AnalysisResult, AnalysisResultRow
from app.desktop.widgets.enter_list_view import EnterListView
from app.desktop.widgets.tuple_list_model import TupleListModel

_VISIBLE_ROWS = 7


class _ResultModel(TupleListModel[AnalysisResultRow]):
    """The rows as a Qt model."""

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = 0) -> object:
        """Return the data of a row."""
        row = self.rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{row.text}  ·  {row.detail}" if row.detail else row.text
        return ("\n".join((*row.paths, row.detail))).strip() if role == Qt.ItemDataRole.ToolTipRole else None


class AnalysisResultList(QWidget):
    """A list of results; its signals carry the chosen, accepted or dismissed `AnalysisResultRow`."""

    chosen = Signal(object)
    accepted = Signal(object)
    dismissed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.model = _ResultModel(self)
        self.view = EnterListView()
        self.view.setObjectName("graphFindings")
        self.view.setModel(self.model)
        self.view.setUniformItemSizes(True)
        self.view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.accept_button = QPushButton(self.tr("Link"))
        self.accept_button.setToolTip(self.tr("Propose the most likely relation between the two notes"))
        self.dismiss_button = QPushButton(self.tr("Dismiss"))
        self.dismiss_button.setToolTip(self.tr("Don't suggest this link again"))
        self.dismiss_button.setProperty("role", "quiet")
        buttons = QHBoxLayout()
        buttons.setSpacing(4)
        buttons.addWidget(self.accept_button)
        buttons.addWidget(self.dismiss_button)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.view)
        column.addLayout(buttons)
        self.view.selectionModel().currentChanged.connect(self._emit_chosen)
        self.view.clicked.connect(self._emit_chosen)
        self.view.enter_pressed.connect(self._emit_chosen)
        self.accept_button.clicked.connect(lambda: self._emit_current(self.accepted))
        self.dismiss_button.clicked.connect(lambda: self._emit_current(self.dismissed))

    @property
    def current(self) -> AnalysisResultRow | None:
        """The selected row; None if there is none."""
        index = self.view.currentIndex()
        return (
            self.model.rows[index.row()] if index.isValid() and index.row() < len(self.model.rows) else None
        )

    def show_result(self, result: AnalysisResult) -> None:
        """List the rows of a result; among suggestions, the row at the selected position stays selected."""
        selected_row = max(0, self.view.currentIndex().row())
        blocked = self.view.selectionModel().blockSignals(True)
        self.model.show(result.rows)
        if result.can_accept and result.rows:
            self.view.setCurrentIndex(self.model.index(min(selected_row, len(result.rows) - 1)))
        self.view.selectionModel().blockSignals(blocked)
        self.view.setAccessibleName(f"{result.title}: {result.summary}")
        for button in (self.accept_button, self.dismiss_button):
            button.setVisible(result.can_accept and bool(result.rows))
        self.view.setVisible(bool(result.rows))
        row_height = max(self.view.sizeHintForRow(0), 20)
        self.view.setFixedHeight(row_height * min(len(result.rows), _VISIBLE_ROWS) + 10)

    def _emit_chosen(self, index: QModelIndex) -> None:
        if index.isValid():
            self.chosen.emit(self.model.rows[index.row()])

    def _emit_current(self, signal: SignalInstance) -> None:
        if (row := self.current) is not None:
            signal.emit(row)
