"""The model of the search results: hits, their snippets and the names of groups."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.desktop.runtime.translation import PluralText
from app.index.records import SearchGroup, SearchHit, Snippet

ROW_ROLE = int(Qt.ItemDataRole.UserRole)
_Index = QModelIndex | QPersistentModelIndex
_ROOT_INDEX = QModelIndex()


@dataclass(frozen=True, slots=True)
class SearchResultRow:
    """A row: the heading of a hit, one of its snippets, or the number of its hidden lines.

    A row with `group` is the name above the first hit of that group.
    """

    hit: SearchHit
    snippet: Snippet | None = None
    hidden_lines: int = 0
    group: SearchGroup | None = None

    @property
    def is_heading(self) -> bool:
        """True for the heading row of a hit."""
        return self.snippet is None and self.group is None and not self.hidden_lines


class SearchResultsModel(QAbstractListModel):
    """Rows of hits: each heading is followed by its snippets and the number of hidden lines, if any."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[SearchResultRow] = []
        self._groups: dict[str, SearchGroup] = {}
        self.hit_count = 0

    def show(self, hits: tuple[SearchHit, ...], groups: tuple[SearchGroup, ...] = ()) -> None:
        """Replace the results with these hits, under the names of their groups."""
        self.beginResetModel()
        self._groups = {group.name: group for group in groups}
        self._rows = []
        self._rows = self._create_rows(hits)
        self.hit_count = len(hits)
        self.endResetModel()

    def append(self, hits: tuple[SearchHit, ...], groups: tuple[SearchGroup, ...] = ()) -> None:
        """Append these hits; `groups` adds groups that have appeared since the first hits."""
        self._groups |= {group.name: group for group in groups}
        rows = self._create_rows(hits)
        if rows:
            self.beginInsertRows(QModelIndex(), len(self._rows), len(self._rows) + len(rows) - 1)
            self._rows += rows
            self.hit_count += len(hits)
            self.endInsertRows()

    def expand(self, hit: SearchHit, snippets: tuple[Snippet, ...]) -> None:
        """Replace the snippets of a hit, and its number of hidden lines, with `snippets`."""
        row_numbers = [
            number
            for number, row in enumerate(self._rows)
            if row.hit is hit and (row.snippet or row.hidden_lines)
        ]
        if not row_numbers:
            return
        first, last = row_numbers[0], row_numbers[-1]
        self.beginRemoveRows(QModelIndex(), first, last)
        del self._rows[first : last + 1]
        self.endRemoveRows()
        rows = [SearchResultRow(hit, snippet) for snippet in snippets]
        if rows:
            self.beginInsertRows(QModelIndex(), first, first + len(rows) - 1)
            self._rows[first:first] = rows
            self.endInsertRows()

    @property
    def rows(self) -> tuple[SearchResultRow, ...]:
        """The displayed rows."""
        return tuple(self._rows)

    def rowCount(self, parent: _Index = _ROOT_INDEX) -> int:
        """Return the number of rows of `parent`."""
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Make group names unselectable."""
        if index.isValid() and self._rows[index.row()].group is not None:
            return Qt.ItemFlag.NoItemFlags
        return super().flags(index)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the data of `index` for `role`."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._accessible_text(row)
        if role == Qt.ItemDataRole.ToolTipRole and row.group is None:
            return f"{row.hit.path.text}:{row.snippet.line}" if row.snippet else row.hit.path.text
        return None

    def _accessible_text(self, row: SearchResultRow) -> str:
        if row.group is not None:
            return row.group.name or self.tr("none")
        if row.hidden_lines:
            return PluralText("SearchResultsModel", "{0} more line", "{0} more lines").format(
                row.hidden_lines
            )
        return row.snippet.text if row.snippet else row.hit.title

    def _create_rows(self, hits: tuple[SearchHit, ...]) -> list[SearchResultRow]:
        rows: list[SearchResultRow] = []
        last_group = self._rows[-1].hit.group if self._rows and self._groups else None
        for hit in hits:
            if self._groups and hit.group != last_group:
                rows.append(SearchResultRow(hit, group=self._groups.get(hit.group)))
                last_group = hit.group
            rows.append(SearchResultRow(hit))
            rows += [SearchResultRow(hit, snippet) for snippet in hit.snippets]
            if hit.lines > len(hit.snippets):
                rows.append(SearchResultRow(hit, hidden_lines=hit.lines - len(hit.snippets)))
        return rows
