"""The audit log: every call, append-only, in a chain of hashes that shows each later change.

Each row holds the hash of the row before it, and the last row's number and hash are also kept in a second
file, so that a log whose end was cut off differs from what that file says. New rows go on from that file:
what was cut off stays visible as a gap for ever. A row is committed before the second file is written; a
crash between the two leaves the file one row behind, which is no damage.

A log that can't be opened is renamed (`.damaged-<time>`) and a new one is started whose first row says so;
`problem` has the words for the user.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from app.errors import StorageError
from app.events import Event
from app.permissions.audit_chain import SELECT, AuditCheck, Head, check, read_head, write_head
from app.permissions.audit_entry import STORED, AuditEntry, Decided, numbered, row_hash, to_row
from app.permissions.audit_reading import AuditReading

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
_PLACES = ", ".join("?" * (len(STORED) + 2))
_TRIES = 100
_INSERT = (
    f"INSERT INTO audit ({', '.join(STORED)}, previous, hash) SELECT {_PLACES} "
    "WHERE ifnull((SELECT max(id) FROM audit), 0) = ?"
)


@dataclass(frozen=True, slots=True)
class AuditAppended(Event):
    """A row was added to the log."""

    entry: AuditEntry


class AuditLog(AuditReading):
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
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._head_file.parent.mkdir(parents=True, exist_ok=True)
            connection, self.problem = self._open()
        except (OSError, sqlite3.Error) as error:
            message = f"The audit log in {folder} can't be opened: {error}"
            raise StorageError(message, path=str(folder)) from error
        super().__init__(connection)
        self._end: Head | None = None
        self.problem = self.problem or self._compare_heads()
        if self.problem:
            self._tell(self.problem)

    def append(self, entry: AuditEntry) -> AuditEntry:
        """Add `entry` as the last row; the entry with its number.

        Raises:
            StorageError: it can't be written; nothing was.
        """
        try:
            added = self._insert(entry, self._end or self._last())
        except sqlite3.Error as error:
            self._end = None
            raise StorageError(f"The audit log can't be written: {error}", path=str(self._file)) from error
        assert self._end is not None
        self._keep_head(self._end)
        self._note_undo(added.id, added.commit, added.undoes)
        return added

    def _insert(self, entry: AuditEntry, last: Head) -> AuditEntry:
        """Write the row that follows `last`, in one statement: it is in the log whole or not at all.

        Where another process has written since, another row is the last: then it follows that one.
        """
        for _ in range(_TRIES):
            follows = self._floor if self._floor.id > last.id else last
            made = numbered(entry, follows.id + 1)
            row = to_row(made)
            hash = row_hash(follows.hash, row)
            if self._connection.execute(_INSERT, (*row, follows.hash, hash, last.id)).rowcount:
                self._end = Head(made.id, hash)
                return made
            last = self._last()
        raise sqlite3.OperationalError("other processes write all the time")

    def verify(self) -> AuditCheck:
        """Check every row against its hash, its neighbour and the kept head; may run in any thread."""
        try:
            return check(self._file, self._head_file)
        except sqlite3.Error as error:
            return AuditCheck(False, 0, None, f"the log can't be read: {error}")

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
