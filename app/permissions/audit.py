"""The audit log: every call, append-only, in a chain of hashes that reveals any later change.

Each row holds the hash of the previous row. The number and the hash of the last row are also stored in a
second file, so that a truncated log differs from that file. A row reaches the disk before the second file is
written; a crash between the two leaves the file one row behind, which is not damage.

New rows continue after the stored head, so no number is used twice. Missing rows stay visible, and the row
after them states the cause: lost when the computer stopped, in a damaged file that was set aside, or
truncated.
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
    SELF_CALLER,
    AuditCheck,
    Gap,
    Head,
    begin_session,
    check,
    gap_at_end,
    read_head,
    write_head,
)
from app.permissions.audit_entry import STORED, AuditDecision, AuditEntry, row_hash, to_row, with_id
from app.permissions.audit_reading import AuditLogReader
from app.storage.private import make_private_folder
from app.storage.quarantine import Damage
from app.storage.sqlite import Schema, open_database

log = logging.getLogger(__name__)

_PLACEHOLDERS = ", ".join("?" * (len(STORED) + 2))
_MAX_APPEND_TRIES = 100
_INSERT = (
    f"INSERT INTO audit ({', '.join(STORED)}, previous, hash) SELECT {_PLACEHOLDERS} "
    "WHERE ifnull((SELECT max(id) FROM audit), 0) = ?"
)


def m001_audit(db: sqlite3.Connection) -> None:
    """Create the table, and the indexes for undo and for agent turns."""
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


class AuditLog(AuditLogReader):
    """The audit log of one vault.

    Belongs to the thread that created it; `verify` may run in any thread. `problem` is a message for the user
    about damage found on opening, or empty; `is_replaced` is true if the previous file was damaged.

    Args:
        folder: The log's folder; created if missing.
        head: The second file, preferably in another folder; by default in `folder`.

    Raises:
        StorageError: The log can't be opened or written.
    """

    def __init__(self, folder: Path, head: Path | None = None) -> None:
        self._file = folder / "audit.sqlite3"
        self._head_file = head or folder / "audit.head"
        self._floor = Head()
        connection, damage = open_database(self._file, SCHEMA)
        self.is_replaced = damage is not None
        self._end: Head | None = None
        try:
            super().__init__(connection)
            make_private_folder(self._head_file.parent)
            self.problem, gap = self._compare_heads(damage)
            begin_session(self._head_file, self._chain_end(self._last_head()))
        except (OSError, sqlite3.Error) as error:
            connection.close()
            message = f"The audit log in {folder} can't be opened: {error}."
            raise StorageError(message, path=str(folder)) from error
        self._session = read_head(self._head_file) or Head()
        if self.problem:
            self._log_finding(self.problem, gap)

    def close(self) -> None:
        """Close the file, and mark the stored head as cleanly closed if it matches the last row."""
        try:
            last, stored = self._last_head(), read_head(self._head_file)
            if stored is not None and (stored.id, stored.hash) == (last.id, last.hash):
                write_head(self._head_file, last)
        except (OSError, sqlite3.Error) as error:
            log.warning("the head of the audit log could not be stored: %s", error)
        super().close()

    def append(self, entry: AuditEntry) -> AuditEntry:
        """Append `entry` and return it with its number.

        Raises:
            StorageError: The entry can't be written; the log is unchanged.
        """
        try:
            added = self._insert(entry, self._end or self._last_head())
        except sqlite3.Error as error:
            self._end = None
            raise StorageError(f"The audit log can't be written: {error}.", path=str(self._file)) from error
        assert self._end is not None
        self._save_head(self._end)
        self._note_undo(added.id, added.commit, added.undoes)
        return added

    def _insert(self, entry: AuditEntry, last: Head) -> AuditEntry:
        """Insert the row after `last` in one statement, so that the log holds all of it or nothing.

        If another process has written in the meantime, the row follows that process's last row.
        """
        for _ in range(_MAX_APPEND_TRIES):
            chain_end = self._chain_end(last)
            numbered = with_id(entry, chain_end.id + 1)
            row = to_row(numbered)
            new_hash = row_hash(chain_end.hash, row)
            if self._connection.execute(_INSERT, (*row, chain_end.hash, new_hash, last.id)).rowcount:
                self._end = Head(numbered.id, new_hash)
                return numbered
            last = self._last_head()
        raise sqlite3.OperationalError("other processes keep writing")

    def verify(self) -> AuditCheck:
        """Check every row against its hash, the previous row and the stored head; may run in any thread.

        A log that can't be read fails the check.
        """
        try:
            return check(self._file, self._head_file)
        except sqlite3.Error as error:
            return AuditCheck(False, 0, None, f"the log can't be read: {error}")

    def _chain_end(self, last: Head) -> Head:
        """Return the end of the chain: the last row, or the stored head if that is ahead."""
        return self._floor if self._floor.id > last.id else last

    def _last_head(self) -> Head:
        row = self._connection.execute("SELECT id, hash FROM audit ORDER BY id DESC LIMIT 1").fetchone()
        return Head(*row) if row else Head()

    def _save_head(self, head: Head) -> None:
        # The row is already on disk; the next row brings a stale head up to date.
        try:
            write_head(self._head_file, replace(self._session, id=head.id, hash=head.hash))
        except OSError as error:
            log.warning("the head of the audit log could not be stored: %s", error)

    def _compare_heads(self, damage: Damage | None) -> tuple[str, Gap | None]:
        """Return the log's problem as a message, and the rows that it lacks.

        New rows follow the stored head if that is ahead: no number is used twice.
        """
        last, stored = self._last_head(), read_head(self._head_file)
        gap = None if stored is None else gap_at_end(last, stored)
        if gap is not None and stored is not None:
            self._floor = stored
        if damage is not None and damage.moved_to is not None:
            if gap is None:
                # The numbers in use are unknown; no log has as many rows as Unix time has seconds.
                self._floor = Head(int(time.time()))
                gap = Gap(1, self._floor.id, "cut-off")
            # An empty file holds none of the rows that are missing.
            if damage.moved_to.stat().st_size:
                gap = replace(gap, cause="set-aside", file=damage.moved_to.name)
            head_label = f"entry {stored.id} with the hash {stored.hash}" if stored else "missing"
            return f"{damage.message} {gap.message} The recorded end of the log was {head_label}.", gap
        if gap is not None:
            return gap.message, gap
        if stored is None and last.id > 1:
            message = (
                "The file that records the end of the audit log is missing, so its end may have been cut off."
            )
            return message, None
        return "", None

    def _log_finding(self, message: str, gap: Gap | None) -> None:
        """Write a finding about the log into the log."""
        kind, tool = SELF_CALLER
        arguments = json.dumps({} if gap is None else {"gap": asdict(gap)})
        self.append(
            AuditEntry(
                time.time(),
                kind,
                "Scriptorium",
                tool,
                "",
                "",
                arguments,
                AuditDecision.FAILED,
                message,
                message,
            )
        )
