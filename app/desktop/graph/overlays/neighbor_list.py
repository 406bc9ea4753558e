"""The selected node's links as a list, for screen readers, the keyboard and nodes without labels.

The list belongs to one note. Up and Down select its neighbors in the graph; Right shows the links of the
selected neighbor, Left goes back, Enter opens the neighbor, Escape returns to the graph.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QIcon, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListView, QToolButton, QVBoxLayout, QWidget

from app.desktop.runtime.translation import PluralText, translate
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.widgets.plain_labels import wrapped_label
from app.desktop.widgets.tuple_list_model import TupleListModel
from app.graph.model import PLAIN_LINK, Graph
from app.vault.markdown.relations import relation_phrase

_MIN_WIDTH = 280


@dataclass(frozen=True, slots=True)
class NeighborItem:
    """One link of a note: the other note, the relation (empty for a plain link) and the direction."""

    row: int
    name: str
    relation: str
    outgoing: bool

    @property
    def text(self) -> str:
        """The row's text, next to its arrow."""
        return f"{self.name}  ·  {self.relation}" if self.relation else self.name

    @property
    def accessible_text(self) -> str:
        """The text for a screen reader."""
        if self.relation:
            template = (
                translate("NeighborList", "{0}, {1}, from this note")
                if self.outgoing
                else translate("NeighborList", "{0}, {1}, to this note")
            )
            return template.format(self.name, self.relation)
        template = (
            translate("NeighborList", "{0}, linked from this note")
            if self.outgoing
            else translate("NeighborList", "{0}, links to this note")
        )
        return template.format(self.name)


def neighbors_of(graph: Graph, row: int) -> tuple[NeighborItem, ...]:
    """Return a node's links: outgoing first, relations before plain links, then by name."""
    links = (graph.edges == row).any(axis=1).nonzero()[0].tolist()
    neighbors: list[NeighborItem] = []
    for link in links:
        source, target = graph.edges[link].tolist()
        kind = graph.edge_types[graph.edge_codes[link]]
        relation = "" if kind == PLAIN_LINK else relation_phrase(kind)
        neighbor_row = target if source == row else source
        neighbors.append(NeighborItem(neighbor_row, graph.names[neighbor_row], relation, source == row))
    neighbors.sort(
        key=lambda neighbor: (
            not neighbor.outgoing,
            not neighbor.relation,
            neighbor.name.casefold(),
            neighbor.row,
        )
    )
    return tuple(neighbors)


class _NeighborModel(TupleListModel[NeighborItem]):
    """The neighbors as a Qt model."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.arrows: dict[bool, QIcon] = {}

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = 0) -> object:
        """Return the data of a row."""
        neighbor = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return neighbor.text
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return neighbor.accessible_text
        return self.arrows.get(neighbor.outgoing) if role == Qt.ItemDataRole.DecorationRole else None


class _NeighborListView(QListView):
    """A list view that reports navigation keys."""

    open_requested = Signal()
    follow_requested = Signal()
    back_requested = Signal()
    leave_requested = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the keys: Enter opens, Right follows the link, Left and Backspace go back, Escape leaves."""
        signal = {
            Qt.Key.Key_Return: self.open_requested,
            Qt.Key.Key_Enter: self.open_requested,
            Qt.Key.Key_Right: self.follow_requested,
            Qt.Key.Key_Left: self.back_requested,
            Qt.Key.Key_Backspace: self.back_requested,
            Qt.Key.Key_Escape: self.leave_requested,
        }.get(Qt.Key(event.key()))
        if signal is None:
            super().keyPressEvent(event)
        else:
            signal.emit()


class NeighborList(QFrame):
    """Lists the selected node's links in a panel over the graph; hidden at first.

    Signals:
        chosen: A row to select: that of the current neighbor, or of the note that the list belongs to.
        open_requested: A row to open.
        leave_requested: The focus returns to the graph.
        closed: The user closed the panel.
    """

    chosen = Signal(int)
    open_requested = Signal(int)
    leave_requested = Signal()
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("graphNeighbors")
        self._graph: Graph | None = None
        self._center = ""
        self._history: list[str] = []
        self._is_choosing = False
        self._name = wrapped_label()
        self._name.setProperty("textSize", "strong")
        self._close_button = QToolButton()
        self._close_button.setAutoRaise(True)
        self._close_button.setToolTip(self.tr("Hide list (L)"))
        self._close_button.setAccessibleName(self.tr("Hide list of links"))
        self._close_button.clicked.connect(self.closed)
        self.list = _NeighborListView()
        self.list.setObjectName("graphNeighborList")
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
        self._close_button.setIcon(icon(theme, "x"))
        self._model.arrows = {True: icon(theme, "arrow-right"), False: icon(theme, "arrow-left")}
        self.list.viewport().update()

    @property
    def preferred_width(self) -> int:
        """The width for the current font, in pixels."""
        return max(_MIN_WIDTH, self.fontMetrics().averageCharWidth() * 36)

    @property
    def rows(self) -> tuple[NeighborItem, ...]:
        """The listed rows."""
        return self._model.rows

    def follow(self, graph: Graph, row: int) -> None:
        """List the selected node's links (-1 for no node), unless the node was selected in this list."""
        path = graph.paths[row] if row >= 0 else ""
        if self._is_choosing and graph is self._graph:
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
        header = QHBoxLayout()
        header.addWidget(self._name, 1)
        header.addWidget(self._close_button, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 6, 6, 6)
        column.setSpacing(4)
        column.addLayout(header)
        column.addWidget(self.list, 1)

    def _connect(self) -> None:
        self.list.selectionModel().currentChanged.connect(self._emit_chosen)
        self.list.doubleClicked.connect(self._open)
        self.list.open_requested.connect(self._open)
        self.list.follow_requested.connect(self._go_to_current)
        self.list.back_requested.connect(self._go_back)
        self.list.leave_requested.connect(self.leave_requested)

    def _current(self) -> NeighborItem | None:
        index = self.list.currentIndex()
        return self.rows[index.row()] if index.isValid() and index.row() < len(self.rows) else None

    def _emit_chosen(self) -> None:
        if (neighbor := self._current()) is not None and self.list.hasFocus():
            self._is_choosing = True
            self.chosen.emit(neighbor.row)
            self._is_choosing = False

    def _open(self) -> None:
        if (neighbor := self._current()) is not None:
            self.open_requested.emit(neighbor.row)

    def _go_to_current(self) -> None:
        if (neighbor := self._current()) is not None and self._graph is not None:
            self._history.append(self._center)
            self._show_links_of(self._graph, self._graph.paths[neighbor.row])
            self.chosen.emit(neighbor.row)

    def _go_back(self) -> None:
        while self._history and self._graph is not None:
            path, graph = self._history.pop(), self._graph
            if (row := graph.rows.get(path)) is not None:
                self._show_links_of(graph, path)
                self.chosen.emit(row)
                return
