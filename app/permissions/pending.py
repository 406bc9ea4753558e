"""Pending operations: calls whose callers do not wait for the user's decision. Each runs at most once.

Each is one row in SQLite. A row changes from `waiting` to `running` just before its change is written or its
effect happens, back to `waiting` if the user must be asked again, and at the end to its final state. A row
that is found `running` at the next start was interrupted: the journal decides its outcome, and it never runs
again.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from app.errors import LimitError, NotFoundError, StorageError
from app.permissions.caller import Caller, CallerKind
from app.storage.sqlite import Schema, open_database

_COLUMNS = "id, created, expires, caller, tool, arguments, state, settled, outcome"
_MAX_OPEN_OPERATIONS = 1000
_MAX_LISTED_OPERATIONS = 100
_RETENTION_S = 30 * 86_400.0


def m001_pending(db: sqlite3.Connection) -> None:
    """Create the table of operations with their state and outcome."""
    db.execute(
        """CREATE TABLE IF NOT EXISTS pending (
            id TEXT PRIMARY KEY, created REAL NOT NULL, expires REAL NOT NULL, caller TEXT NOT NULL,
            tool TEXT NOT NULL, arguments TEXT NOT NULL, state TEXT NOT NULL, settled REAL,
            outcome TEXT NOT NULL) STRICT"""
    )
    db.execute(
        "CREATE INDEX IF NOT EXISTS pending_open ON pending (created) WHERE state IN ('waiting', 'running')"
    )


SCHEMA = Schema(
    store="The list of pending operations",
    migrations=(m001_pending,),
    probes=(f"SELECT {_COLUMNS} FROM pending LIMIT 1",),
)


class PendingState(StrEnum):
    """The state of a pending operation."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    DENIED = "denied"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"

    @property
    def is_open(self) -> bool:
        """True if the operation is undecided or running."""
        return self in (PendingState.WAITING, PendingState.RUNNING)


@dataclass(frozen=True, slots=True)
class PendingOperation:
    """One operation. Times are Unix seconds; `outcome` is the final result for the caller."""

    id: str
    created: float
    expires: float
    caller: Caller
    tool: str
    arguments: Mapping[str, object]
    state: PendingState = PendingState.WAITING
    settled: float | None = None
    outcome: Mapping[str, object] | None = None


class PendingStore:
    """The pending operations of one vault. Belongs to the thread that created it.

    Operations in an unreadable file do not run, which is safe; `problem` then explains the damage.

    Args:
        folder: The vault's data folder.
        clock: Returns the time in Unix seconds.

    Raises:
        StorageError: The file can't be opened. Methods raise it if the file can't be read or written.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._file = folder / "pending.sqlite"
        self._clock = clock
        self._db, damage = open_database(self._file, SCHEMA)
        self.problem = None if damage is None else f"{damage.message} Pending operations will not run."
        try:
            self._write("DELETE FROM pending WHERE settled < ?", (clock() - _RETENTION_S,))
        except StorageError:
            self._db.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def add(self, operation: PendingOperation) -> None:
        """Save a new operation; it is on disk when this returns.

        Raises:
            LimitError: Too many operations are open.
            StorageError: The operation can't be written.
        """
        if len(self.open_operations()) >= _MAX_OPEN_OPERATIONS:
            message = (
                f"{_MAX_OPEN_OPERATIONS:,} operations are already pending. Wait until some are decided,"
                " or cancel some."
            )
            raise LimitError(message, limit=_MAX_OPEN_OPERATIONS)
        row = (
            operation.id,
            operation.created,
            operation.expires,
            json.dumps(asdict(operation.caller)),
            operation.tool,
            json.dumps(operation.arguments, ensure_ascii=True),
            operation.state.value,
            None,
            "null",
        )
        self._write(f"INSERT INTO pending ({_COLUMNS}) VALUES ({', '.join('?' * 9)})", row)

    def transition(self, operation_id: str, before: PendingState, after: PendingState) -> bool:
        """Change an operation's state; return False if it is no longer in the state `before`."""
        changed = self._write(
            "UPDATE pending SET state = ? WHERE id = ? AND state = ?",
            (after.value, operation_id, before.value),
        )
        return changed == 1

    def finish(self, operation_id: str, state: PendingState, outcome: Mapping[str, object]) -> None:
        """Finish an open operation; one that is already finished stays unchanged."""
        self._write(
            "UPDATE pending SET state = ?, settled = ?, outcome = ? "
            "WHERE id = ? AND state IN ('waiting', 'running')",
            (state.value, self._clock(), json.dumps(outcome, ensure_ascii=True, default=str), operation_id),
        )

    def get(self, operation_id: str) -> PendingOperation:
        """Return the operation with this id.

        Raises:
            NotFoundError: There is no such operation.
        """
        operations = self._read("id = ?", (operation_id,))
        if not operations:
            raise NotFoundError(
                f"There is no pending operation {operation_id}.", pending_operation_id=operation_id
            )
        return operations[0]

    def open_operations(self) -> tuple[PendingOperation, ...]:
        """Return the operations that are undecided or running, oldest first."""
        return self._read("state IN ('waiting', 'running')", ())

    def list_for(self, caller: Caller) -> tuple[PendingOperation, ...]:
        """Return at most 100 operations of one caller, newest first."""
        matching = (
            operation
            for operation in reversed(self._read("1", ()))
            if is_same_caller(operation.caller, caller)
        )
        return tuple(operation for operation, _ in zip(matching, range(_MAX_LISTED_OPERATIONS), strict=False))

    def _read(self, where: str, values: tuple[object, ...]) -> tuple[PendingOperation, ...]:
        try:
            rows = self._db.execute(
                f"SELECT {_COLUMNS} FROM pending WHERE {where} ORDER BY created, rowid", values
            ).fetchall()
        except sqlite3.Error as error:
            raise self._storage_error(error) from error
        return tuple(_parse_row(row) for row in rows)

    def _write(self, statement: str, values: tuple[object, ...]) -> int:
        try:
            return self._db.execute(statement, values).rowcount
        except sqlite3.Error as error:
            raise self._storage_error(error) from error

    def _storage_error(self, error: sqlite3.Error) -> StorageError:
        return StorageError(f"The pending operations can't be accessed: {error}.", path=str(self._file))


def is_same_caller(caller: Caller, other: Caller) -> bool:
    """Return whether two callers are the same program, regardless of the turn."""
    return (caller.kind, caller.name) == (other.kind, other.name)


def _parse_row(row: tuple[str, float, float, str, str, str, str, float | None, str]) -> PendingOperation:
    operation_id, created, expires, encoded_caller, tool, arguments, state, settled, outcome = row
    data = json.loads(encoded_caller)
    caller = Caller(**{**data, "kind": CallerKind(data["kind"])})
    return PendingOperation(
        operation_id,
        created,
        expires,
        caller,
        tool,
        json.loads(arguments),
        PendingState(state),
        settled,
        json.loads(outcome),
    )
