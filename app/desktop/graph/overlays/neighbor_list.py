"""The links of the selected node as a list, for screen readers, the keyboard and hidden labels.

The list belongs to one note. Up and Down select its neighbors in the graph; Right shows the links of the
selected neighbor, Left goes back, Enter opens, Escape returns to the graph.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QIcon, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QListView, QToolButton, QVBoxLayout, QWidget

from app.desktop.runtime.translation import PluralText, translate
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.graph.model import PLAIN_LINK, Graph

MIN_WIDTH = 280
_ROOT_INDEX = QModelIndex()


@dataclass(frozen=True, slots=True)
class NeighborItem:
    """One link of a note: the other note, the relation (empty for a plain link) and the direction."""

    row: int
    name: str
    relation: str
    outgoing: bool

    @property
    def shown(self) -> str:
        """The text of the row, next to its arrow."""
        return f"{self.name}  ·  {self.relation}" if self.relation else self.name

    @property
    def spoken(self) -> str:
        """The text for a screen reader."""
        if self.relation:
            words = (
                translate("NeighborList", "{0}, {1}, from this note")
                if self.outgoing
                else translate("NeighborList", "{0}, {1}, to this note")
            )
            return words.format(self.name, self.relation)
        words = (
            translate("NeighborList", "{0}, linked from this note")
            if self.outgoing
            else translate("NeighborList", "{0}, links to this note")
        )
        return words.format(self.name)


def neighbors_of(graph: Graph, row: int) -> tuple[NeighborItem, ...]:
    """Return the links of a node: outgoing first, relations before plain links, then by name."""
    touching = (graph.edges == row).any(axis=1).nonzero()[0].tolist()
    found: list[NeighborItem] = []
    for each in touching:
        source, target = graph.edges[each].tolist()
        kind = graph.edge_types[graph.edge_codes[each]]
        words = "" if kind == PLAIN_LINK else kind.replace("_", " ").lower()
        other = target if source == row else source
        found.append(NeighborItem(other, graph.names[other], words, source == row))
    found.sort(key=lambda one: (not one.outgoing, not one.relation, one.name.casefold(), one.row))
    return tuple(found)


class _NeighborModel(QAbstractListModel):
    """The neighbors as a Qt model."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: tuple[NeighborItem, ...] = ()
        self.arrows: dict[bool, QIcon] = {}

    def show(self, rows: tuple[NeighborItem, ...]) -> None:
        """Replace the rows."""
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _ROOT_INDEX) -> int:
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = 0) -> object:
        """Return the data of a row."""
        one = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return one.shown
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return one.spoken
        return self.arrows.get(one.outgoing) if role == Qt.ItemDataRole.DecorationRole else None


class _NeighborListView(QListView):
    """A list view that reports navigation keys."""

    entered = Signal()
    followed = Signal()
    returned = Signal()
    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the keys: Enter opens, Right follows the link, Left goes back, Escape closes."""
        signal = {
            Qt.Key.Key_Return: self.entered,
            Qt.Key.Key_Enter: self.entered,
            Qt.Key.Key_Right: self.followed,
            Qt.Key.Key_Left: self.returned,
            Qt.Key.Key_Backspace: self.returned,
            Qt.Key.Key_Escape: self.left,
        }.get(Qt.Key(event.key()))
        if signal is None:
            super().keyPressEvent(event)
        else:
            signal.emit()


class NeighborList(QFrame):
    """A panel over the graph, hidden at first.

    Signals:
        chosen: A row to select: that of the list's current line, or of the note it belongs to.
        opened: A row to open.
        left: The focus returns to the graph.
        closed: The user closed the panel.
    """

    chosen = Signal(int)
    opened = Signal(int)
    left = Signal()
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("graphNeighbours")
        self._graph: Graph | None = None
        self._center = ""
        self._way: list[str] = []
        self._choosing = False
        self._name = QLabel()
        self._name.setTextFormat(Qt.TextFormat.PlainText)
        self._name.setProperty("textSize", "strong")
        self._name.setWordWrap(True)
        self._close = QToolButton()
        self._close.setAutoRaise(True)
        self._close.setToolTip(self.tr("Hide list (L)"))
        self._close.setAccessibleName(self.tr("Hide list of links"))
        self._close.clicked.connect(self.closed)
        self.list = _NeighborListView()
        self.list.setObjectName("graphNeighbourList")
        self.list.setUniformItemSizes(True)
        self.list.setIconSize(QSize(14, 14))
        self._model = _NeighborModel(self)
        self.list.setModel(self._model)
        self.setFocusProxy(self.list)
        self._arrange()
        self._connect()
        self.set_theme(theme)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme to the icons."""
        self._close.setIcon(icon(theme, "x"))
        self._model.arrows = {True: icon(theme, "arrow-right"), False: icon(theme, "arrow-left")}
        self.list.viewport().update()

    @property
    def preferred_width(self) -> int:
        """The preferred width."""
        return max(MIN_WIDTH, self.fontMetrics().averageCharWidth() * 36)

    @property
    def rows(self) -> tuple[NeighborItem, ...]:
        """The listed rows."""
        return self._model.rows

    def follow(self, graph: Graph, row: int) -> None:
        """List the links of the selected node (-1 for none), unless it was selected in this list."""
        path = graph.paths[row] if row >= 0 else ""
        if self._choosing and graph is self._graph:
            return
        if graph is not self._graph or path != self._center:
            self._show_links_of(graph, path)

    def _show_links_of(self, graph: Graph, path: str) -> None:
        self._graph, self._center = graph, path
        row = graph.rows.get(path, -1)
        rows = neighbors_of(graph, row) if row >= 0 else ()
        self._model.show(rows)
        if row >= 0:
            name = graph.names[row]
            count = (
                PluralText("NeighborList", "{0} link", "{0} links").format(len(rows))
                if rows
                else self.tr("no links")
            )
            self._name.setText(f"{name}: {count}")
            self.list.setAccessibleName(self.tr("Links of {0}, {1}").format(name, count))
        else:
            self._name.setText(self.tr("Select a note to list its links"))
            self.list.setAccessibleName(self.tr("Links"))
        if rows:
            blocked = self.list.selectionModel().blockSignals(True)
            self.list.setCurrentIndex(self._model.index(0))
            self.list.selectionModel().blockSignals(blocked)

    def _arrange(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self._name, 1)
        head.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 6, 6, 6)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.list, 1)

    def _connect(self) -> None:
        self.list.selectionModel().currentChanged.connect(self._choose)
        self.list.doubleClicked.connect(self._open)
        self.list.entered.connect(self._open)
        self.list.followed.connect(self._go_to_current)
        self.list.returned.connect(self._go_back)
        self.list.left.connect(self.left)

    def _current(self) -> NeighborItem | None:
        at = self.list.currentIndex()
        return self.rows[at.row()] if at.isValid() and at.row() < len(self.rows) else None

    def _choose(self) -> None:
        if (one := self._current()) is not None and self.list.hasFocus():
            self._choosing = True
            self.chosen.emit(one.row)
            self._choosing = False

    def _open(self) -> None:
        if (one := self._current()) is not None:
            self.opened.emit(one.row)

    def _go_to_current(self) -> None:
        if (one := self._current()) is not None and self._graph is not None:
            self._way.append(self._center)
            self._show_links_of(self._graph, self._graph.paths[one.row])
            self.chosen.emit(one.row)

    def _go_back(self) -> None:
        while self._way and self._graph is not None:
            path, graph = self._way.pop(), self._graph
            if (row := graph.rows.get(path)) is not None:
                self._show_links_of(graph, path)
                self.chosen.emit(row)
                return
