"""The query groups in the graph's settings: a query and a color each, the first match counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.desktop.graph.settings.controls import GraphQueryField
from app.desktop.graph.settings.model import PALETTE, QueryGroup
from app.desktop.runtime.translation import PluralText
from app.desktop.search.query_field import Suggest
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.errors import QueryError
from app.index.saved_searches import SavedSearch

_SWATCH_SIZE = 14


class GroupRows(QWidget):
    """Edits the groups; `changed` carries the new ones after every edit."""

    changed = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._suggest: Suggest | None = None
        self._rows: list[_GroupRow] = []
        self._searches: tuple[SavedSearch, ...] = ()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self._settled_groups: tuple[QueryGroup, ...] = ()
        self.add_button = QPushButton(self.tr("Add group"))
        self.add_button.setProperty("role", "quiet")
        self.add_button.setToolTip(self.tr("Color the notes that match a search"))
        self.add_button.clicked.connect(self._add)
        self._column.addWidget(self.add_button, 0, Qt.AlignmentFlag.AlignLeft)

    @property
    def groups(self) -> tuple[QueryGroup, ...]:
        """The current groups."""
        return tuple(row.group for row in self._rows)

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme to the swatches and icons."""
        self._theme = theme
        for row in self._rows:
            row.set_theme(theme)

    def show_saved_searches(self, searches: Sequence[SavedSearch]) -> None:
        """Offer saved searches to each group."""
        self._searches = tuple(searches)
        for row in self._rows:
            row.query.show_saved_searches(self._searches)

    def set_suggest(self, suggest: Suggest) -> None:
        """Suggest what this function returns in each query."""
        self._suggest = suggest
        for row in self._rows:
            row.query.field.set_suggest(suggest)

    def show_groups(self, groups: Sequence[QueryGroup]) -> None:
        """Show `groups` if they differ from those last shown or edited; what is being typed is kept."""
        if tuple(groups) == self._settled_groups:
            return
        self._settled_groups = tuple(groups)
        for row in self._rows:
            row.hide()
            row.deleteLater()
        self._rows = []
        for group in groups:
            self._insert(group)
        self._mark_first()

    def show_count(self, place: int, count: int) -> None:
        """Show how many notes a group has."""
        if place < len(self._rows) and self._rows[place].query.text:
            words = PluralText("GroupRows", "{0} note", "{0} notes").format(count)
            self._rows[place].query.show_answer("" if count else words)

    def show_error(self, place: int, query: str, error: QueryError) -> None:
        """Show why the query of a group is invalid."""
        if place < len(self._rows):
            self._rows[place].query.show_error(query, error)

    def _add(self) -> None:
        taken = {row.group.color for row in self._rows}
        free = [color for color in PALETTE if color not in taken]
        color = free[0] if free else PALETTE[len(self._rows) % len(PALETTE)]
        row = self._insert(QueryGroup(color=color))
        self._mark_first()
        row.query.field.setFocus()

    def _insert(self, group: QueryGroup) -> _GroupRow:
        row = _GroupRow(self._theme, group)
        row.edited.connect(self._emit_changed)
        row.raised.connect(partial(self._raise, row))
        row.removed.connect(partial(self._remove, row))
        self._rows.append(row)
        self._column.insertWidget(self._column.count() - 1, row)
        row.query.show_saved_searches(self._searches)
        if self._suggest is not None:
            row.query.field.set_suggest(self._suggest)
        return row

    def _raise(self, row: _GroupRow) -> None:
        place = self._rows.index(row)
        if place:
            self._rows.insert(place - 1, self._rows.pop(place))
            self._column.removeWidget(row)
            self._column.insertWidget(place - 1, row)
            self._mark_first()
            self._emit_changed()

    def _remove(self, row: _GroupRow) -> None:
        place = self._rows.index(row)
        self._rows.remove(row)
        self._column.removeWidget(row)
        row.hide()
        row.deleteLater()
        self._mark_first()
        next_one = self._rows[min(place, len(self._rows) - 1)].query.field if self._rows else self.add_button
        next_one.setFocus()
        self._emit_changed()

    def _mark_first(self) -> None:
        for place, row in enumerate(self._rows):
            row.set_place(place)

    def _emit_changed(self) -> None:
        self._settled_groups = self.groups
        self.changed.emit(self._settled_groups)


class _GroupRow(QWidget):
    """One group."""

    edited = Signal()
    raised = Signal()
    removed = Signal()

    def __init__(self, theme: Theme, group: QueryGroup) -> None:
        super().__init__()
        self._color = group.color
        self._swatch = self._button(self.tr("Group color"))
        self._swatch.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._colors = QMenu(self._swatch)
        self._swatch.setMenu(self._colors)
        words = self.tr("Search that selects the notes of the group")
        self.query = GraphQueryField(theme, self.tr("tag:project"), words)
        self.query.set_query(group.query)
        self._up = self._button(self.tr("Move up (the first matching group colors a note)"))
        self._up.clicked.connect(self.raised)
        self._off = self._button(self.tr("Remove group"))
        self._off.clicked.connect(self.removed)
        self.query.asked.connect(self.edited)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        for widget in (self._swatch, self.query, self._up, self._off):
            row.addWidget(widget, 1 if widget is self.query else 0, Qt.AlignmentFlag.AlignTop)
        self.set_theme(theme)

    @property
    def group(self) -> QueryGroup:
        """The current group."""
        return QueryGroup(query=self.query.text, color=self._color)

    def set_place(self, place: int) -> None:
        """Set its position from 0: the first row can't move up."""
        self._up.setEnabled(place > 0)
        self.query.field.setAccessibleName(self.tr("Search of group {0}").format(place + 1))

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        self._theme = theme
        self._swatch.setIcon(_disc(theme.node_colors[self._color]))
        self.query.set_theme(theme)
        self._up.setIcon(icon(theme, "arrow-up"))
        self._off.setIcon(icon(theme, "x"))
        self._colors.clear()
        for place, color in enumerate(PALETTE):
            words = self.tr("Color {0}").format(place + 1)
            self._colors.addAction(_disc(theme.node_colors[color]), words, partial(self._set_color, color))

    def _set_color(self, color: str) -> None:
        self._color = color
        self._swatch.setIcon(_disc(self._theme.node_colors[color]))
        self.edited.emit()

    def _button(self, words: str) -> QToolButton:
        made = QToolButton()
        made.setAutoRaise(True)
        made.setIconSize(QSize(_SWATCH_SIZE, _SWATCH_SIZE))
        made.setToolTip(words)
        made.setAccessibleName(words)
        return made


def _disc(color: str) -> QIcon:
    """Return an icon of a filled disc."""
    side = 4 * _SWATCH_SIZE
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(color))
    painter.drawEllipse(3, 3, side - 6, side - 6)
    painter.end()
    return QIcon(pixmap)
