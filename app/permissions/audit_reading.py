"""Read access to the audit log: entries by number, filter, commit and turn."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self

from app import paths
from app.errors import NotFoundError, StorageError
from app.permissions.audit_chain import SELECT
from app.permissions.audit_entry import STORED, AuditEntry, AuditFilter, from_row
from app.permissions.audit_export import export_csv, export_jsonl
from app.permissions.tool_label import tool_label
from app.storage.sqlite import connect_read_only
from app.vault.commits import Commit
from app.vault.journal import Journal

EVERYTHING = AuditFilter()


class AuditLogReader:
    """A reader of one vault's audit log; another process may write the log at the same time.

    Args:
        connection: The connection to the log's file; `close` closes it.

    Raises:
        sqlite3.Error: The log can't be read. Methods that read the log raise it, too.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        # The window shows a tool by its label, so the text filter searches it, too.
        connection.create_function("tool_label", 1, tool_label, deterministic=True)
        self._undone: dict[int, list[tuple[int, int | None]]] = {}
        self._read_undone()

    @classmethod
    def of_vault(cls, root: Path) -> Self:
        """Open the log of the vault at `root` read-only.

        Raises:
            NotFoundError: The vault has no log yet.
            StorageError: The log can't be read.
        """
        file = paths.data_folder() / "vaults" / paths.vault_id(root) / "audit.sqlite3"
        if not file.is_file():
            raise NotFoundError(f"{root} has no audit log yet.", path=str(root))
        try:
            connection = connect_read_only(file)
            try:
                return cls(connection)
            except sqlite3.Error:
                connection.close()
                raise
        except sqlite3.Error as error:
            raise StorageError(f"The audit log can't be read: {error}.", path=str(file)) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def entry(self, entry_id: int) -> AuditEntry:
        """Return the entry with the number `entry_id`.

        Raises:
            NotFoundError: There is no such entry.
        """
        row = self._connection.execute(f"{SELECT} WHERE id = ?", (entry_id,)).fetchone()
        if row is None:
            raise NotFoundError(f"The audit log has no entry {entry_id}.", entry=entry_id)
        return self._entry(row)

    def entries(
        self, entry_filter: AuditFilter = EVERYTHING, limit: int = 100, before_id: int | None = None
    ) -> tuple[AuditEntry, ...]:
        """Return the matching entries, newest first; `before_id` continues from an earlier page."""
        condition, values = _where_clause(entry_filter, before_id)
        rows = self._connection.execute(f"{SELECT}{condition} ORDER BY id DESC LIMIT ?", (*values, limit))
        return tuple(self._entry(row) for row in rows)

    def matching(self, entry_filter: AuditFilter = EVERYTHING) -> Iterator[AuditEntry]:
        """Yield every matching entry, oldest first."""
        condition, values = _where_clause(entry_filter, None)
        for row in self._connection.execute(f"{SELECT}{condition} ORDER BY id", values):
            yield self._entry(row)

    def commits_of_entry(self, entry_id: int, journal: Journal) -> tuple[Commit, ...]:
        """Return a tuple of the entry's commit; empty if the entry made none.

        Raises:
            NotFoundError: There is no such entry, or the journal does not have its commit.
        """
        return _commits([self.entry(entry_id)], journal)

    def commits_of_turn(self, turn: str, journal: Journal) -> tuple[Commit, ...]:
        """Return the commits of a turn's entries, oldest entry first; empty for an unknown turn.

        Raises:
            NotFoundError: The journal does not have one of the commits.
        """
        rows = self._connection.execute(f"{SELECT} WHERE turn = ? AND turn != '' ORDER BY id", (turn,))
        return _commits([self._entry(row) for row in rows], journal)

    def entry_of_commit(self, commit: int) -> AuditEntry | None:
        """Return the first entry for a commit, or None."""
        row = self._connection.execute(f'{SELECT} WHERE "commit" = ? ORDER BY id', (commit,)).fetchone()
        return None if row is None else self._entry(row)

    @property
    def last_commit(self) -> int:
        """The greatest commit id in the log, 0 if there is none."""
        (greatest,) = self._connection.execute('SELECT max("commit") FROM audit').fetchone()
        return int(greatest or 0)

    def export_csv(self, file: Path, entry_filter: AuditFilter = EVERYTHING) -> int:
        """Write the matching entries to `file` as CSV and return their number.

        Raises:
            OSError: The file can't be written; an existing file is unchanged.
        """
        return export_csv(self.matching(entry_filter), file)

    def export_jsonl(self, file: Path, entry_filter: AuditFilter = EVERYTHING) -> int:
        """Write the matching entries to `file` as JSON Lines and return their number.

        Raises:
            OSError: The file can't be written; an existing file is unchanged.
        """
        return export_jsonl(self.matching(entry_filter), file)

    def _entry(self, row: tuple[object, ...]) -> AuditEntry:
        commit = row[STORED.index('"commit"')]
        return from_row(row, self._undone_by(commit) if isinstance(commit, int) else None)

    def _undone_by(self, commit: int) -> int | None:
        """Return the number of the last entry that undid a commit and was not itself undone, or None."""
        for entry_id, by in reversed(self._undone.get(commit, [])):
            if by is None or by == commit or self._undone_by(by) is None:
                return entry_id
        return None

    def _note_undo(self, entry_id: int, commit: int | None, undoes: tuple[int, ...]) -> None:
        for undone in undoes:
            self._undone.setdefault(undone, []).append((entry_id, commit))

    def _read_undone(self) -> None:
        rows = self._connection.execute("SELECT id, \"commit\", undoes FROM audit WHERE undoes != '[]'")
        for entry_id, commit, undoes in rows:
            self._note_undo(entry_id, commit, tuple(json.loads(undoes)))


def _commits(entries: Iterable[AuditEntry], journal: Journal) -> tuple[Commit, ...]:
    """Return the commits of the entries.

    Raises:
        NotFoundError: The journal lacks a commit, or was replaced and has a different one with that number.
    """
    commits = []
    for entry in entries:
        if entry.commit is None:
            continue
        commit = journal.commit(entry.commit)
        if commit.entry and entry.call and commit.entry != entry.call:
            message = f"The journal no longer has the change in audit entry {entry.id}."
            raise NotFoundError(message, entry=entry.id, commit=entry.commit)
        commits.append(commit)
    return tuple(commits)


def _where_clause(entry_filter: AuditFilter, before_id: int | None) -> tuple[str, tuple[object, ...]]:
    columns = ("tool", "tool_label(tool)", "caller", "arguments", "result", "reason", "paths")
    searched = " || char(10) || ".join(columns)
    conditions: list[tuple[str, object, bool]] = [
        (f"contains({searched}, ?)", entry_filter.text, bool(entry_filter.text)),
        ("caller = ?", entry_filter.caller, bool(entry_filter.caller)),
        ("tool = ?", entry_filter.tool, bool(entry_filter.tool)),
        ("decision = ?", entry_filter.decision, bool(entry_filter.decision)),
        ("turn = ?", entry_filter.turn, bool(entry_filter.turn)),
        ("conversation = ?", entry_filter.conversation, bool(entry_filter.conversation)),
        ("time >= ?", entry_filter.since, entry_filter.since is not None),
        ("time <= ?", entry_filter.until, entry_filter.until is not None),
        ("id < ?", before_id, before_id is not None),
    ]
    used = [(condition, value) for condition, value, is_set in conditions if is_set]
    clause = " WHERE " + " AND ".join(condition for condition, _ in used) if used else ""
    return clause, tuple(value for _, value in used)
