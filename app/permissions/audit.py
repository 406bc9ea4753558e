"""The audit log: every call, append-only, in a chain of hashes that shows each later change.

Each row holds the hash of the row before it, and the last row's number and hash are also kept in a second
file, so that a log whose end was cut off differs from what that file says. A row is on the disk before the
second file is written; a crash between the two leaves the file one row behind, which is no damage.

New rows continue after the kept head, so no number is used twice. Missing rows stay visible for ever, and
the row after them tells why they are missing: lost when the computer stopped, in a damaged file that was set
aside, or cut off. `problem` has the words for the user, and
`is_replaced` says that the log before this one was damaged.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from app.errors import StorageError
from app.events import Event
from app.permissions.audit_chain import (
    SELECT,
    TELLER,
    AuditCheck,
    Gap,
    Head,
    begin_session,
    check,
    gap_at_end,
    read_head,
    write_head,
)
from app.permissions.audit_entry import STORED, AuditEntry, Decided, numbered, row_hash, to_row
from app.permissions.audit_reading import AuditReading
from app.storage.private import make_private_folder
from app.storage.quarantine import Damage
from app.storage.sqlite import Schema, open_database

log = logging.getLogger(__name__)

_PLACES = ", ".join("?" * (len(STORED) + 2))
_TRIES = 100
_INSERT = (
    f"INSERT INTO audit ({', '.join(STORED)}, previous, hash) SELECT {_PLACES} "
    "WHERE ifnull((SELECT max(id) FROM audit), 0) = ?"
)


def m001_audit(db: sqlite3.Connection) -> None:
    """The rows, and the indexes that undo and the turns of an agent need."""
    for statement in (
        """CREATE TABLE IF NOT EXISTS audit (
            id INTEGER PRIMARY KEY, time REAL NOT NULL, caller_kind TEXT NOT NULL, caller TEXT NOT NULL,
            tool TEXT NOT NULL, operation TEXT NOT NULL, scope TEXT NOT NULL, arguments TEXT NOT NULL,
            decision TEXT NOT NULL, reason TEXT NOT NULL, result TEXT NOT NULL, call TEXT NOT NULL,
            conversation TEXT NOT NULL, turn TEXT NOT NULL, "grant" TEXT NOT NULL, duration_ms REAL NOT NULL,
            "commit" INTEGER, undoes TEXT NOT NULL, tokens INTEGER NOT NULL, cost REAL NOT NULL,
            paths TEXT NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL) STRICT""",
        "CREATE INDEX IF NOT EXISTS audit_turn ON audit (turn) WHERE turn != ''",
        'CREATE INDEX IF NOT EXISTS audit_commit ON audit ("commit") WHERE "commit" IS NOT NULL',
        "CREATE INDEX IF NOT EXISTS audit_undoes ON audit (id) WHERE undoes != '[]'",
    ):
        db.execute(statement)


SCHEMA = Schema(store="The audit log", migrations=(m001_audit,), probes=(f"{SELECT} LIMIT 1",))


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
        connection, damage = open_database(self._file, SCHEMA)
        self.is_replaced = damage is not None
        super().__init__(connection)
        self._end: Head | None = None
        try:
            make_private_folder(self._head_file.parent)
            self.problem, gap = self._compare_heads(damage)
            begin_session(self._head_file, self._follows(self._last()))
        except (OSError, sqlite3.Error) as error:
            connection.close()
            message = f"The audit log in {folder} can't be opened: {error}"
            raise StorageError(message, path=str(folder)) from error
        self._session = read_head(self._head_file) or Head()
        if self.problem:
            self._tell(self.problem, gap)

    def close(self) -> None:
        """Close the file; the kept head says that it was closed in order, if it is what it should be."""
        try:
            last, kept = self._last(), read_head(self._head_file)
            if kept is not None and (kept.id, kept.hash) == (last.id, last.hash):
                write_head(self._head_file, last)
        except (OSError, sqlite3.Error) as error:
            log.warning("the head of the audit log could not be kept: %s", error)
        super().close()

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
            follows = self._follows(last)
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

    def _follows(self, last: Head) -> Head:
        """Return what the next row follows: the last one, or the kept head where that is ahead."""
        return self._floor if self._floor.id > last.id else last

    def _last(self) -> Head:
        row = self._connection.execute("SELECT id, hash FROM audit ORDER BY id DESC LIMIT 1").fetchone()
        return Head(*row) if row else Head()

    def _keep_head(self, head: Head) -> None:
        # The row is safe already; a head that stays behind is caught up with by the next row.
        try:
            write_head(self._head_file, replace(self._session, id=head.id, hash=head.hash))
        except OSError as error:
            log.warning("the head of the audit log could not be kept: %s", error)

    def _compare_heads(self, damage: Damage | None) -> tuple[str, Gap | None]:
        """Return what is wrong with the log, in words, and which rows it lacks.

        New rows follow the kept head where that is ahead: no number is used twice.
        """
        last, kept = self._last(), read_head(self._head_file)
        gap = None if kept is None else gap_at_end(last, kept)
        if gap is not None and kept is not None:
            self._floor = kept
        if damage is not None and damage.aside is not None:
            if gap is None:
                # Which numbers were used is not known; no log has as many rows as the time has seconds.
                self._floor = Head(int(time.time()))
                gap = Gap(1, self._floor.id, "cut-off")
            # An empty file holds none of the rows that are missing.
            if damage.aside.stat().st_size:
                gap = replace(gap, cause="set-aside", file=damage.aside.name)
            was = f"row {kept.id} with the hash {kept.hash}" if kept else "missing"
            return f"{damage.message} {gap.message} Its kept head was {was}.", gap
        if gap is not None:
            return gap.message, gap
        if kept is None and last.id > 1:
            return "The kept head of the audit log is missing, so its end may have been cut off.", None
        return "", None

    def _tell(self, words: str, gap: Gap | None) -> None:
        """Write a finding about the log into the log."""
        kind, tool = TELLER
        arguments = json.dumps({} if gap is None else {"gap": asdict(gap)})
        self.append(
            AuditEntry(
                time.time(), kind, "Scriptorium", tool, "", "", arguments, Decided.FAILED, words, words
            )
        )
