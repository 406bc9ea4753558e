"""The model of the audit table: pages of older entries on demand, new entries on top."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from app.desktop.audit.labels import result_text
from app.desktop.runtime.translation import PluralText, translate
from app.desktop.widgets.time_labels import duration_label, exact_time
from app.encoding import contains_folded
from app.permissions.audit_entry import AuditEntry, AuditFilter
from app.permissions.tool_label import tool_label
from app.vault.invisible_chars import escape_hidden

PAGE_SIZE = 200
ENTRY_ROLE = Qt.ItemDataRole.UserRole
_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
TIME, CALLER, TOOL, RESULT, DECISION, DURATION = range(6)


class AuditEntriesModel(QAbstractTableModel):
    """Audit entries, newest first; the panel supplies them.

    Consecutive saves of one editing session share a row, which shows the newest save, until `expand` gives
    each save a row.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: list[AuditEntry] = []
        # The older saves that share a row, newest first, by the id of the row's entry.
        self._merged: dict[int, list[AuditEntry]] = {}
        self._expanded: set[str] = set()

    @property
    def entries(self) -> Sequence[AuditEntry]:
        """The entry of each row."""
        return self._entries

    @property
    def oldest_id(self) -> int | None:
        """The id of the oldest loaded entry; None without rows."""
        if not self._entries:
            return None
        last = self._entries[-1]
        return self._merged.get(last.id, [last])[-1].id

    def all_entries(self) -> tuple[AuditEntry, ...]:
        """Return all loaded entries, newest first, including those that share a row."""
        return tuple(loaded for entry in self._entries for loaded in (entry, *self._merged.get(entry.id, ())))

    def merged_saves(self, row: int) -> Sequence[AuditEntry]:
        """Return the older saves that share a row."""
        return self._merged.get(self._entries[row].id, ())

    def expand(self, row: int) -> None:
        """Give each save that shares a row a row of its own."""
        saves = self._merged.pop(self._entries[row].id, [])
        if saves:
            self._expanded.add(self._entries[row].turn)
            self.beginInsertRows(_NO_INDEX, row + 1, row + len(saves))
            self._entries[row + 1 : row + 1] = saves
            self.endInsertRows()
            self.dataChanged.emit(self.index(row, 0), self.index(row, DURATION))

    def replace_all(self, entries: Sequence[AuditEntry]) -> None:
        """Replace all rows with `entries`, newest first."""
        self.beginResetModel()
        self._merged.clear()
        self._entries = self._group_sessions(entries)
        self.endResetModel()

    def add_older(self, entries: Sequence[AuditEntry]) -> None:
        """Add a page of older entries, newest first, at the end."""
        remaining = list(entries)
        while remaining and self._entries and self._are_same_session(self._entries[-1], remaining[0]):
            self._merged.setdefault(self._entries[-1].id, []).append(remaining.pop(0))
        if rows := self._group_sessions(remaining):
            first = len(self._entries)
            self.beginInsertRows(_NO_INDEX, first, first + len(rows) - 1)
            self._entries += rows
            self.endInsertRows()

    def add_newer(self, entries: Sequence[AuditEntry]) -> None:
        """Add `entries`, given oldest first, at the top; skip those that are already loaded."""
        newest_id = self._entries[0].id if self._entries else 0
        added = [entry for entry in reversed(entries) if entry.id > newest_id]
        if added and self._entries and self._are_same_session(added[-1], self._entries[0]):
            # The new save replaces the session's row, and shares its own row with the older saves.
            self.beginRemoveRows(_NO_INDEX, 0, 0)
            session_entry = self._entries.pop(0)
            self.endRemoveRows()
            added += [session_entry, *self._merged.pop(session_entry.id, [])]
        if rows := self._group_sessions(added):
            self.beginInsertRows(_NO_INDEX, 0, len(rows) - 1)
            self._entries[:0] = rows
            self.endInsertRows()

    def _are_same_session(self, newer: AuditEntry, older: AuditEntry) -> bool:
        """Return whether two consecutive entries are saves of a session that is shown as one row."""
        is_same_turn = newer.is_session_save and older.is_session_save and newer.turn == older.turn
        return is_same_turn and newer.turn not in self._expanded

    def _group_sessions(self, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
        """Return the rows for `entries`, newest first; store the older saves of a session in `_merged`."""
        rows: list[AuditEntry] = []
        for entry in entries:
            if rows and self._are_same_session(rows[-1], entry):
                self._merged.setdefault(rows[-1].id, []).append(entry)
            else:
                rows.append(entry)
        return rows

    def mark_undone(self, commits: Sequence[int], entry_id: int) -> None:
        """Mark the entries of `commits` as undone by the entry with the id `entry_id`."""
        for saves in self._merged.values():
            saves[:] = [
                replace(save, undone_by=entry_id) if save.commit in commits else save for save in saves
            ]
        for row, entry in enumerate(self._entries):
            if entry.commit is not None and entry.commit in commits:
                self._entries[row] = replace(entry, undone_by=entry_id)
                self.dataChanged.emit(self.index(row, 0), self.index(row, DURATION))

    def row_of(self, entry_id: int) -> int | None:
        """Return the row that shows an entry or shares its session; None if it is not loaded."""
        for row, entry in enumerate(self._entries):
            if entry_id in (entry.id, *(save.id for save in self._merged.get(entry.id, ()))):
                return row
        return None

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self._entries)

    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        """Return the number of columns: time, caller, tool, result, decision, duration."""
        return 0 if parent.isValid() else DURATION + 1

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return the name or alignment of a column."""
        if role == Qt.ItemDataRole.TextAlignmentRole and section == DURATION:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if orientation is not Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        return (
            translate("Audit", "Time"),
            translate("Audit", "Caller"),
            translate("Audit", "Tool"),
            translate("Audit", "Result"),
            translate("Audit", "Decision"),
            translate("Audit", "Duration"),
        )[section]

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a cell's text, or its data for another role."""
        entry = self._entries[index.row()]
        if role == ENTRY_ROLE:
            return entry
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            text = cell_text(entry, index.column())
            count = len(self.merged_saves(index.row())) + 1
            if index.column() == RESULT and count > 1:
                return PluralText("Audit", "{1} ({0} time)", "{1} ({0} times)").format(count, text)
            return text
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == DURATION:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None


def cell_text(entry: AuditEntry, column: int) -> str:
    """Return the text of a cell, with hidden characters shown by name."""
    if column == TIME:
        return exact_time(entry.time)
    if column == RESULT and entry.is_denied:
        return escape_hidden(entry.reason) or translate("Audit", "Denied")
    if column == RESULT and entry.undone_by is not None:
        return translate("Audit", "{0} (undone)").format(escape_hidden(result_text(entry.result)))
    labels = {
        CALLER: entry.caller,
        TOOL: tool_label(entry.tool),
        RESULT: result_text(entry.result),
        DECISION: entry.decision,
        DURATION: duration_label(entry.duration_ms),
    }
    return escape_hidden(labels[column])


def matches_filter(entry: AuditEntry, criteria: AuditFilter) -> bool:
    """Return whether `entry` matches `criteria`."""
    paths = json.dumps(entry.paths, ensure_ascii=False)
    searched = (
        entry.tool,
        tool_label(entry.tool),
        entry.caller,
        entry.arguments,
        entry.result,
        entry.reason,
        paths,
    )
    conditions = (
        not criteria.text or any(contains_folded(text, criteria.text) for text in searched),
        criteria.caller in ("", entry.caller),
        criteria.tool in ("", entry.tool),
        criteria.decision in ("", entry.decision),
        criteria.turn in ("", entry.turn),
        criteria.conversation in ("", entry.conversation),
        criteria.since is None or entry.time >= criteria.since,
        criteria.until is None or entry.time <= criteria.until,
    )
    return all(conditions)
