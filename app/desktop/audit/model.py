"""The model of the audit table: pages of older entries on demand, new entries on top."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from app.desktop.runtime.translation import PluralText, translate
from app.permissions.audit_entry import AuditEntry, AuditFilter
from app.vault.escaped_line import escape_hidden

PAGE_SIZE = 200
ENTRY_ROLE = Qt.ItemDataRole.UserRole
_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
TIME, CALLER, TOOL, RESULT, DECISION, DURATION = range(6)


class AuditEntriesModel(QAbstractTableModel):
    """Audit entries, newest first; the panel supplies them.

    Consecutive saves of one editing session are one row, that of the newest, until `expand` shows them all.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: list[AuditEntry] = []
        self._steps: dict[int, list[AuditEntry]] = {}  # by the id of the row, newest first
        self._expanded: set[str] = set()

    @property
    def entries(self) -> Sequence[AuditEntry]:
        """The entries of the rows."""
        return self._entries

    @property
    def oldest_id(self) -> int | None:
        """The number of the entry in the last row; None without rows."""
        if not self._entries:
            return None
        last = self._entries[-1]
        return self._steps.get(last.id, [last])[-1].id

    def merged_saves(self, row: int) -> Sequence[AuditEntry]:
        """Return the older saves of the session that a row represents."""
        return self._steps.get(self._entries[row].id, ())

    def expand(self, row: int) -> None:
        """Show all saves of the session that a row represents."""
        steps = self._steps.pop(self._entries[row].id, [])
        if steps:
            self._expanded.add(self._entries[row].turn)
            self.beginInsertRows(_NO_INDEX, row + 1, row + len(steps))
            self._entries[row + 1 : row + 1] = steps
            self.endInsertRows()
            self.dataChanged.emit(self.index(row, 0), self.index(row, DURATION))

    def replace_all(self, entries: Sequence[AuditEntry]) -> None:
        """Replace all rows by `entries`."""
        self.beginResetModel()
        self._steps.clear()
        self._entries = self._grouped(entries)
        self.endResetModel()

    def add_older(self, entries: Sequence[AuditEntry]) -> None:
        """Add a page of older entries at the end."""
        rest = list(entries)
        while rest and self._entries and self._joins(self._entries[-1], rest[0]):
            self._steps.setdefault(self._entries[-1].id, []).append(rest.pop(0))
        if rows := self._grouped(rest):
            first = len(self._entries)
            self.beginInsertRows(_NO_INDEX, first, first + len(rows) - 1)
            self._entries += rows
            self.endInsertRows()

    def add_newer(self, entries: Sequence[AuditEntry]) -> None:
        """Add new entries, oldest first, on top."""
        known = self._entries[0].id if self._entries else 0
        new = [entry for entry in reversed(entries) if entry.id > known]
        if new and self._entries and self._joins(new[-1], self._entries[0]):
            # The session's row moves to the top with the new save, and contains the others.
            self.beginRemoveRows(_NO_INDEX, 0, 0)
            top = self._entries.pop(0)
            self.endRemoveRows()
            new += [top, *self._steps.pop(top.id, [])]
        if rows := self._grouped(new):
            self.beginInsertRows(_NO_INDEX, 0, len(rows) - 1)
            self._entries[:0] = rows
            self.endInsertRows()

    def _joins(self, newer: AuditEntry, older: AuditEntry) -> bool:
        """Return whether two consecutive entries are saves of a session that is shown as one row."""
        same = newer.is_of_session and older.is_of_session and newer.turn == older.turn
        return same and newer.turn not in self._expanded

    def _grouped(self, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
        """Return the rows for `entries`, newest first; store the other saves of a session as its steps."""
        rows: list[AuditEntry] = []
        for entry in entries:
            if rows and self._joins(rows[-1], entry):
                self._steps.setdefault(rows[-1].id, []).append(entry)
            else:
                rows.append(entry)
        return rows

    def mark_undone(self, commits: Sequence[int], by: int) -> None:
        """Mark the entries of `commits` as undone by entry `by`."""
        for steps in self._steps.values():
            steps[:] = [replace(each, undone_by=by) if each.commit in commits else each for each in steps]
        for row, entry in enumerate(self._entries):
            if entry.commit is not None and entry.commit in commits:
                self._entries[row] = replace(entry, undone_by=by)
                self.dataChanged.emit(self.index(row, 0), self.index(row, DURATION))

    def row_of(self, id: int) -> int | None:
        """Return the row of an entry or of its session; None if it is not shown."""
        for row, entry in enumerate(self._entries):
            if id in (entry.id, *(step.id for step in self._steps.get(entry.id, ()))):
                return row
        return None

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        """Return one row for each entry."""
        return 0 if parent.isValid() else len(self._entries)

    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        """Return the number of columns: time, caller, tool, result, decision, duration."""
        return 0 if parent.isValid() else DURATION + 1

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return the name of a column."""
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
        """Return the text or another role of a cell."""
        entry = self._entries[index.row()]
        if role == ENTRY_ROLE:
            return entry
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            text = cell_text(entry, index.column())
            times = len(self.merged_saves(index.row())) + 1
            if index.column() == RESULT and times > 1:
                return PluralText("Audit", "{1} ({0} time)", "{1} ({0} times)").format(times, text)
            return text
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == DURATION:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None


def cell_text(entry: AuditEntry, column: int) -> str:
    """Return the text of a cell, with hidden characters named."""
    if column == TIME:
        return format_time(entry.time)
    if column == RESULT and entry.undone_by is not None:
        return translate("Audit", "{0} (undone)").format(escape_hidden(entry.result))
    labels = {
        CALLER: entry.caller,
        TOOL: entry.tool,
        RESULT: entry.result,
        DECISION: entry.decision,
        DURATION: format_duration(entry.duration_ms),
    }
    return escape_hidden(labels[column])


def matches_filter(entry: AuditEntry, criteria: AuditFilter) -> bool:
    """Return whether the filter shows a new entry."""
    paths = json.dumps(entry.paths, ensure_ascii=False)
    searched = (entry.tool, entry.caller, entry.arguments, entry.result, entry.reason, paths)
    tests = (
        not criteria.text or any(criteria.text.lower() in text.lower() for text in searched),
        criteria.caller in ("", entry.caller),
        criteria.tool in ("", entry.tool),
        criteria.decision in ("", entry.decision),
        criteria.turn in ("", entry.turn),
        criteria.conversation in ("", entry.conversation),
        criteria.since is None or entry.time >= criteria.since,
        criteria.until is None or entry.time <= criteria.until,
    )
    return all(tests)


def format_time(seconds: float) -> str:
    """Return a time in local time: the clock time for today, else also the date."""
    moment = datetime.fromtimestamp(seconds)
    today = moment.date() == datetime.now().date()
    return moment.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M:%S")


def format_duration(milliseconds: float) -> str:
    """Return a duration in milliseconds or seconds."""
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"
