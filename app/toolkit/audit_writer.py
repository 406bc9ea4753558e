"""Write calls to the audit log, and block changes while it can't be written."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.errors import StorageError
from app.events import EventBus
from app.permissions.audit import AuditAppended, AuditLog
from app.permissions.audit_entry import AuditDecision, AuditEntry, minimal_entry
from app.permissions.caller import Caller
from app.permissions.pluralize import pluralize
from app.permissions.scope import Operation
from app.toolkit.audit_draft import MAX_RESULT_CHARS, AuditDraft
from app.toolkit.call import Call
from app.vault.commits import Commit

if TYPE_CHECKING:
    from app.vault.journal import Journal

# SQLite's errors for a row that it will never accept; any other error may be temporary.
_PERMANENT_ERRORS = (
    sqlite3.IntegrityError,
    sqlite3.DataError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
)

log = logging.getLogger(__name__)

BURST_WINDOW_S = 60.0
"""How long refused calls by one caller to one tool are counted before they are logged as one row."""


@dataclass(slots=True)
class _Burst:
    """Refused calls by one caller to one tool: the number of the first entry, and the later calls."""

    first_id: int
    timer: asyncio.TimerHandle
    count: int = 0
    last_entry: AuditEntry | None = None


class AuditWriter:
    """Appends entries. After a disk error, an entry is kept and written before the next one.

    An entry that can't be logged for another reason is logged without its external text, or dropped
    with an error in the app's log, so that it never blocks a call.
    """

    def __init__(self, audit: AuditLog, events: EventBus) -> None:
        self._audit = audit
        self._events = events
        self._unwritten: list[AuditEntry] = []
        self._bursts: dict[tuple[str, str, str], _Burst] = {}

    def close(self) -> None:
        """Log the throttled calls that have only been counted so far."""
        for key in list(self._bursts):
            self._end_burst(key)

    def append_throttled(self, entry: AuditEntry) -> tuple[int, int]:
        """Log a call that a limit refused: the first of a burst immediately, the rest as a row with a count.

        Returns:
            The number of the burst's first entry, and how many calls were refused after that one.
        """
        key = (entry.caller_kind, entry.caller, entry.tool)
        burst = self._bursts.get(key)
        if burst is None:
            timer = asyncio.get_running_loop().call_later(BURST_WINDOW_S, self._end_burst, key)
            self._bursts[key] = _Burst(self.append(entry), timer)
            return self._bursts[key].first_id, 0
        burst.count += 1
        burst.last_entry = entry
        return burst.first_id, burst.count

    def _end_burst(self, key: tuple[str, str, str]) -> None:
        burst = self._bursts.pop(key)
        burst.timer.cancel()
        if (last := burst.last_entry) is not None:
            calls = pluralize(burst.count, "more call was", "more calls were")
            line = f"{calls} refused by the limit after entry {burst.first_id}; the last: {last.result}"
            self.append(replace(last, result=line[:MAX_RESULT_CHARS]))

    def append(self, entry: AuditEntry) -> int:
        """Log `entry` and return its number; 0 if it can't be written yet, or was dropped."""
        self._unwritten.append(entry)
        try:
            return self._flush()
        except StorageError as error:
            log.error("%d audit entries are waiting to be written: %s", len(self._unwritten), error)
            return 0

    def log_read(self, caller: Caller, tool: str, arguments: Mapping[str, object], result: str) -> None:
        """Log that a program read the data of `tool` without calling it, such as a page of note names."""
        draft = AuditDraft(Call(tool, arguments, caller), result)
        draft.decide(AuditDecision.NO_APPROVAL_NEEDED, "reading in the vault")
        self.append(draft.entry())

    def log_user_setting(self, setting: str, arguments: Mapping[str, object], result: str) -> None:
        """Log that the user changed a setting of the vault that decides what agents and programs may do."""
        draft = AuditDraft(Call(setting, arguments, Caller.user()), result)
        draft.operation = Operation.ADMINISTRATIVE
        draft.decide(AuditDecision.NO_APPROVAL_NEEDED, "the user's own setting")
        self.append(draft.entry())

    def ensure_flushed(self) -> None:
        """Write the entries that are still waiting; called before any change.

        Raises:
            StorageError: They still can't be written.
        """
        self._flush()

    def log_lost(self, journal: Journal) -> int:
        """Log the latest commits that are missing from the log after a crash; return their number."""
        if self._audit.is_replaced:
            # The lost log may have had these commits: don't log them twice.
            return 0
        last_logged = self._audit.last_commit
        lost = [commit for commit in journal.commits(100) if commit.id > last_logged]
        for commit in reversed(lost):
            self.append(_lost_entry(commit))
        return len(lost)

    def _flush(self) -> int:
        number = 0
        while self._unwritten:
            entry = self._write(self._unwritten[0])
            del self._unwritten[0]
            number = 0 if entry is None else entry.id
            if entry is not None:
                self._events.publish(AuditAppended(entry))
        return number

    def _write(self, entry: AuditEntry) -> AuditEntry | None:
        """Log an entry, or a minimal one if it can't be logged in full; return None if that fails, too.

        Raises:
            StorageError: A temporary disk error.
        """
        try:
            return self._audit.append(entry)
        except Exception as error:
            if isinstance(error, StorageError) and not _is_unloggable(error):
                raise
            log.exception("an audit entry for %s can't be logged in full", entry.tool)
            return self._write_minimal(entry, error)

    def _write_minimal(self, entry: AuditEntry, error: Exception) -> AuditEntry | None:
        try:
            return self._audit.append(minimal_entry(entry, error))
        except Exception as second_error:
            if isinstance(second_error, StorageError) and not _is_unloggable(second_error):
                raise
            log.exception("the audit entry for %s was dropped", entry.tool)
            return None


def _is_unloggable(error: StorageError) -> bool:
    """Return whether SQLite will never accept the row; a closed log is a temporary error."""
    return isinstance(error.__cause__, _PERMANENT_ERRORS) and "closed database" not in str(error.__cause__)


def _lost_entry(commit: Commit) -> AuditEntry:
    return AuditEntry(
        time=commit.time,
        caller_kind="app",
        caller=commit.author,
        tool="",
        operation="",
        scope="",
        arguments="{}",
        decision=AuditDecision.FAILED,
        reason="the app stopped after the change was written and before the call was logged",
        result=f"written: {commit.summary}",
        call=commit.entry,
        turn=commit.turn,
        commit=commit.id,
        undoes=commit.undoes,
        paths=tuple(map(str, commit.paths)),
    )
