"""The query groups in the graph's settings: a query and a color each; the first match takes precedence."""

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
    """Edits the groups; `changed` carries all of them after an edit, but not when an empty one is added."""

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
        self._submitted_groups: tuple[QueryGroup, ...] = ()
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
        """Set the function that suggests completions in each query."""
        self._suggest = suggest
        for row in self._rows:
            row.query.field.set_suggest(suggest)

    def show_groups(self, groups: Sequence[QueryGroup]) -> None:
        """Show `groups`, unless they were last shown or edited here, so that a query being typed is kept."""
        if tuple(groups) == self._submitted_groups:
            return
        self._submitted_groups = tuple(groups)
        for row in self._rows:
            row.hide()
            row.deleteLater()
        self._rows = []
        for group in groups:
            self._insert(group)
        self._update_positions()

    def show_count(self, index: int, count: int) -> None:
        """Show that a query finds no notes; the legend shows the other counts."""
        if index < len(self._rows) and self._rows[index].query.text:
            no_notes = PluralText("GroupRows", "{0} note", "{0} notes").format(0)
            self._rows[index].query.show_result("" if count else no_notes)

    def show_error(self, index: int, query: str, error: QueryError) -> None:
        """Show an error in a group's query."""
        if index < len(self._rows):
            self._rows[index].query.show_error(query, error)

    def _add(self) -> None:
        used_colors = {row.group.color for row in self._rows}
        unused_colors = [color for color in PALETTE if color not in used_colors]
        color = unused_colors[0] if unused_colors else PALETTE[len(self._rows) % len(PALETTE)]
        row = self._insert(QueryGroup(color=color))
        self._update_positions()
        row.query.field.setFocus()

    def _insert(self, group: QueryGroup) -> _GroupRow:
        row = _GroupRow(self._theme, group)
        row.edited.connect(self._emit_changed)
        row.moved_up.connect(partial(self._move_up, row))
        row.removed.connect(partial(self._remove, row))
        self._rows.append(row)
        self._column.insertWidget(self._column.count() - 1, row)
        row.query.show_saved_searches(self._searches)
        if self._suggest is not None:
            row.query.field.set_suggest(self._suggest)
        return row

    def _move_up(self, row: _GroupRow) -> None:
        index = self._rows.index(row)
        if index:
            self._rows.insert(index - 1, self._rows.pop(index))
            self._column.removeWidget(row)
            self._column.insertWidget(index - 1, row)
            self._update_positions()
            self._emit_changed()

    def _remove(self, row: _GroupRow) -> None:
        index = self._rows.index(row)
        self._rows.remove(row)
        self._column.removeWidget(row)
        row.hide()
        row.deleteLater()
        self._update_positions()
        focus_target = (
            self._rows[min(index, len(self._rows) - 1)].query.field if self._rows else self.add_button
        )
        focus_target.setFocus()
        self._emit_changed()

    def _update_positions(self) -> None:
        for index, row in enumerate(self._rows):
            row.set_position(index)

    def _emit_changed(self) -> None:
        self._submitted_groups = self.groups
        self.changed.emit(self._submitted_groups)


class _GroupRow(QWidget):
    """The row of one group."""

    edited = Signal()
    moved_up = Signal()
    removed = Signal()

    def __init__(self, theme: Theme, group: QueryGroup) -> None:
        super().__init__()
        self._color = group.color
        self._color_button = self._create_button(self.tr("Group color"))
        self._color_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._color_menu = QMenu(self._color_button)
        self._color_button.setMenu(self._color_menu)
        description = self.tr("Search that selects the notes in the group")
        self.query = GraphQueryField(theme, self.tr("tag:project"), description)
        self.query.set_query(group.query)
        self._up_button = self._create_button(
            self.tr("Move up (the first matching group sets a note's color)")
        )
        self._up_button.clicked.connect(self.moved_up)
        self._remove_button = self._create_button(self.tr("Remove group"))
        self._remove_button.clicked.connect(self.removed)
        self.query.submitted.connect(self.edited)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        for widget in (self._color_button, self.query, self._up_button, self._remove_button):
            row.addWidget(widget, 1 if widget is self.query else 0, Qt.AlignmentFlag.AlignTop)
        self.set_theme(theme)

    @property
    def group(self) -> QueryGroup:
        """The current group."""
        return QueryGroup(query=self.query.text, color=self._color)

    def set_position(self, index: int) -> None:
        """Set the position, from 0; the first row can't move up."""
        self._up_button.setEnabled(index > 0)
        self.query.field.setAccessibleName(self.tr("Search for group {0}").format(index + 1))

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        self._theme = theme
        self._color_button.setIcon(_disc_icon(theme.node_colors[self._color]))
        self.query.set_theme(theme)
        self._up_button.setIcon(icon(theme, "arrow-up"))
        self._remove_button.setIcon(icon(theme, "x"))
        self._color_menu.clear()
        for index, color in enumerate(PALETTE):
            label = self.tr("Color {0}").format(index + 1)
            self._color_menu.addAction(
                _disc_icon(theme.node_colors[color]), label, partial(self._set_color, color)
            )

    def _set_color(self, color: str) -> None:
        self._color = color
        self._color_button.setIcon(_disc_icon(self._theme.node_colors[color]))
        self.edited.emit()

    def _create_button(self, label: str) -> QToolButton:
        button = QToolButton()
        button.setAutoRaise(True)
        button.setIconSize(QSize(_SWATCH_SIZE, _SWATCH_SIZE))
        button.setToolTip(label)
        button.setAccessibleName(label)
        return button


def _disc_icon(color: str) -> QIcon:
    """Return an icon of a filled disc."""
    size = 4 * _SWATCH_SIZE
    pixmap = QPixmap(size, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(color))
    painter.drawEllipse(3, 3, size - 6, size - 6)
    painter.end()
    return QIcon(pixmap)
