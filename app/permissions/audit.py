"""The audit log: every call, append-only, in a chain of hashes that shows each later change.

Each row holds the hash of the row before it, and the last row's number and hash are also kept in a second
file, so that a log whose end was cut off differs from what that file says. New rows go on from that file:
what was cut off stays visible as a gap for ever. A row is committed before the second file is written; a
crash between the two leaves the file one row behind, which is no damage.

A log that can't be opened is renamed (`.damaged-<time>`) and a new one is started whose first row says so;
`problem` has the words for the user.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from app.errors import NotFoundError, StorageError
from app.events import Event
from app.permissions.audit_chain import SELECT, AuditCheck, Head, check, read_head, write_head
from app.permissions.audit_entry import STORED, AuditEntry, AuditFilter, Decided, from_row, row_hash, to_row
from app.permissions.audit_export import export_csv, export_jsonl

log = logging.getLogger(__name__)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS audit (
  id INTEGER PRIMARY KEY, time REAL NOT NULL, caller_kind TEXT NOT NULL, caller TEXT NOT NULL,
  tool TEXT NOT NULL, operation TEXT NOT NULL, scope TEXT NOT NULL, arguments TEXT NOT NULL,
  decision TEXT NOT NULL, reason TEXT NOT NULL, result TEXT NOT NULL, call TEXT NOT NULL,
  conversation TEXT NOT NULL, turn TEXT NOT NULL, "grant" TEXT NOT NULL, duration_ms REAL NOT NULL,
  "commit" INTEGER, undoes TEXT NOT NULL, tokens INTEGER NOT NULL, cost REAL NOT NULL, paths TEXT NOT NULL,
  previous TEXT NOT NULL, hash TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS audit_turn ON audit (turn) WHERE turn != '';
CREATE INDEX IF NOT EXISTS audit_commit ON audit ("commit") WHERE "commit" IS NOT NULL;
CREATE INDEX IF NOT EXISTS audit_undoes ON audit (id) WHERE undoes != '[]';
"""
EVERYTHING = AuditFilter()
_PLACES = ", ".join("?" * (len(STORED) + 2))
_INSERT = f"INSERT INTO audit ({', '.join(STORED)}, previous, hash) VALUES ({_PLACES})"


@dataclass(frozen=True, slots=True)
class AuditAppended(Event):
    """A row was added to the log."""

    entry: AuditEntry


class AuditLog:
    """The log of one vault. Belongs to the thread that made it; `verify` may run in any.

    Args:
        folder: Where the log is kept; made if missing.
        head: The second file; by default beside the log. Better somewhere else.

    Raises:
        StorageError: the folder can't be written.
    """

    def __init__(self, folder: Path, head: Path | None = None) -> None:
        self._file = folder / "audit.sqlite3"
        self._head_file = head or folder / "audit.head"
        self._floor = Head()
        self._undone: dict[int, list[tuple[int, int | None]]] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._head_file.parent.mkdir(parents=True, exist_ok=True)
            self._connection, self.problem = self._open()
        except (OSError, sqlite3.Error) as error:
            message = f"The audit log in {folder} can't be opened: {error}"
            raise StorageError(message, path=str(folder)) from error
        self._read_undone()
        self.problem = self.problem or self._compare_heads()
        if self.problem:
            self._tell(self.problem)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def append(self, entry: AuditEntry) -> AuditEntry:
        """Add `entry` as the last row; the entry with its number.

        Raises:
            StorageError: it can't be written; nothing was.
        """
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            last = self._last()
            follows = self._floor if self._floor.id > last.id else last
            numbered = replace(entry, id=follows.id + 1, undone_by=None)
            row = to_row(numbered)
            hash = row_hash(follows.hash, row)
            self._connection.execute(_INSERT, (*row, follows.hash, hash))
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise StorageError(f"The audit log can't be written: {error}", path=str(self._file)) from error
        self._keep_head(Head(numbered.id, hash))
        self._note_undo(numbered.id, numbered.commit, numbered.undoes)
        return numbered

    def entry(self, id: int) -> AuditEntry:
        """The entry with that number.

        Raises:
            NotFoundError: there is none.
        """
        row = self._connection.execute(f"{SELECT} WHERE id = ?", (id,)).fetchone()
        if row is None:
            raise NotFoundError(f"The audit log has no entry {id}.", entry=id)
        return self._entry(row)

    def entries(
        self, filter: AuditFilter = EVERYTHING, limit: int = 100, before_id: int | None = None
    ) -> tuple[AuditEntry, ...]:
        """The newest entries that match, newest first; `before_id` goes on from an earlier page."""
        where, values = _where(filter, before_id)
        rows = self._connection.execute(f"{SELECT}{where} ORDER BY id DESC LIMIT ?", (*values, limit))
        return tuple(self._entry(row) for row in rows)

    def matching(self, filter: AuditFilter = EVERYTHING) -> Iterator[AuditEntry]:
        """Every entry that matches, oldest first, one after the other."""
        where, values = _where(filter, None)
        for row in self._connection.execute(f"{SELECT}{where} ORDER BY id", values):
            yield self._entry(row)

    def commits_of_entry(self, id: int) -> tuple[int, ...]:
        """The commits that an entry made: one or none.

        Raises:
            NotFoundError: there is no such entry.
        """
        commit = self.entry(id).commit
        return () if commit is None else (commit,)

    def commits_of_turn(self, turn: str) -> tuple[int, ...]:
        """The commits that the calls of a turn made, oldest first."""
        rows = self._connection.execute(
            'SELECT "commit" FROM audit WHERE turn = ? AND turn != \'\' AND "commit" IS NOT NULL ORDER BY id',
            (turn,),
        )
        return tuple(commit for (commit,) in rows)

    def entry_of_commit(self, commit: int) -> AuditEntry | None:
        """The entry of the call that made a commit, if there is one."""
        row = self._connection.execute(f'{SELECT} WHERE "commit" = ? ORDER BY id', (commit,)).fetchone()
        return None if row is None else self._entry(row)

    @property
    def last_commit(self) -> int:
        """The greatest commit id in the log, 0 if there is none."""
        (found,) = self._connection.execute('SELECT max("commit") FROM audit').fetchone()
        return int(found or 0)

    def export_csv(self, file: Path, filter: AuditFilter = EVERYTHING) -> int:
        """Write the entries that match to `file` as CSV; how many there were."""
        return export_csv(self.matching(filter), file)

    def export_jsonl(self, file: Path, filter: AuditFilter = EVERYTHING) -> int:
        """Write the entries that match to `file`, one JSON object a line; how many there were."""
        return export_jsonl(self.matching(filter), file)

    def verify(self) -> AuditCheck:
        """Check every row against its hash, its neighbour and the kept head; may run in any thread."""
        try:
            return check(self._file, self._head_file)
        except sqlite3.Error as error:
            return AuditCheck(False, 0, None, f"the log can't be read: {error}")

    def _entry(self, row: tuple[object, ...]) -> AuditEntry:
        commit = row[STORED.index('"commit"')]
        return from_row(row, self._undone_by(commit) if isinstance(commit, int) else None)

    def _undone_by(self, commit: int) -> int | None:
        """The entry that took a commit back and was not taken back itself."""
        for id, by in reversed(self._undone.get(commit, [])):
            if by is None or by == commit or self._undone_by(by) is None:
                return id
        return None

    def _note_undo(self, id: int, commit: int | None, undoes: tuple[int, ...]) -> None:
        for undone in undoes:
            self._undone.setdefault(undone, []).append((id, commit))

    def _last(self) -> Head:
        row = self._connection.execute("SELECT id, hash FROM audit ORDER BY id DESC LIMIT 1").fetchone()
        return Head(*row) if row else Head()

    def _keep_head(self, head: Head) -> None:
        # The row is safe already; a head that stays behind is caught up with by the next row.
        try:
            write_head(self._head_file, head)
        except OSError as error:
            log.warning("the head of the audit log could not be kept: %s", error)

    def _open(self) -> tuple[sqlite3.Connection, str]:
        """The open log, and what was wrong with it."""
        try:
            return _connected(self._file), ""
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            return self._start_anew(error)

    def _start_anew(self, error: sqlite3.Error) -> tuple[sqlite3.Connection, str]:
        """Set the damaged log aside and start a new one; its first row will have the words returned."""
        aside = self._file.with_name(f"{self._file.name}.damaged-{int(time.time())}")
        self._file.replace(aside)
        for suffix in ("-wal", "-shm"):
            rest = self._file.with_name(self._file.name + suffix)
            if rest.exists():
                rest.replace(aside.with_name(aside.name + suffix))
        old = read_head(self._head_file)
        was = f"row {old.id} with the hash {old.hash}" if old else "missing"
        words = f"The audit log was damaged ({error}) and set aside as {aside.name}; a new one was started."
        connection = _connected(self._file)
        write_head(self._head_file, Head())
        return connection, f"{words} Its kept head was {was}."

    def _compare_heads(self) -> str:
        """What is wrong with the end of the log; new rows follow the kept head where that is ahead."""
        last, kept = self._last(), read_head(self._head_file)
        if kept is not None and kept.id > last.id:
            self._floor = kept
            return f"The audit log lacks rows {last.id + 1} to {kept.id}: its end was cut off."
        if kept is None and last.id > 1:
            return "The kept head of the audit log is missing, so its end may have been cut off."
        return ""

    def _read_undone(self) -> None:
        rows = self._connection.execute("SELECT id, \"commit\", undoes FROM audit WHERE undoes != '[]'")
        for id, commit, undoes in rows:
            self._note_undo(id, commit, tuple(json.loads(undoes)))

    def _tell(self, words: str) -> None:
        """Write a finding about the log into the log."""
        who = ("app", "Scriptorium", "audit")
        self.append(AuditEntry(time.time(), *who, "", "", "{}", Decided.FAILED, words, words))


def _connected(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, isolation_level=None, timeout=5)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError(found)
        connection.executescript(_SCHEMA)
        connection.execute(f"{SELECT} LIMIT 1").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _where(filter: AuditFilter, before_id: int | None) -> tuple[str, tuple[object, ...]]:
    like = "%" + filter.text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    searched = " || char(10) || ".join(("tool", "caller", "arguments", "result", "reason", "paths"))
    tests: list[tuple[str, object, bool]] = [
        (f"({searched}) LIKE ? ESCAPE '\\'", like, bool(filter.text)),
        ("caller = ?", filter.caller, bool(filter.caller)),
        ("tool = ?", filter.tool, bool(filter.tool)),
        ("decision = ?", filter.decision, bool(filter.decision)),
        ("turn = ?", filter.turn, bool(filter.turn)),
        ("conversation = ?", filter.conversation, bool(filter.conversation)),
        ("time >= ?", filter.since, filter.since is not None),
        ("time <= ?", filter.until, filter.until is not None),
        ("id < ?", before_id, before_id is not None),
    ]
    used = [(test, value) for test, value, given in tests if given]
    clause = " WHERE " + " AND ".join(test for test, _ in used) if used else ""
    return clause, tuple(value for _, value in used)
