"""The audit log's hash chain: the file that stores its head, and the verification of every row."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from app.permissions.audit_entry import GENESIS, STORED, row_hash
from app.storage.sqlite import connect_read_only

_MAX_HEAD_READS = 50
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_BOOT_ID_CHARS = 36
_START_PREFIX = "started "
_MAX_CLOCK_CORRECTION_S = 300
_HEAD_MISSING_REASON = "the file that records the end of the log is missing, so its end may have been cut off"
SELF_CALLER = ("app", "audit")
"""The caller's kind and the tool of a row that the log writes about itself."""

_ID = STORED.index("id")
_SELF_COLUMNS = tuple(map(STORED.index, ("caller_kind", "tool", "arguments")))
SELECT = f"SELECT {', '.join(STORED)}, previous, hash FROM audit"


Cause = Literal["crash", "cut-off", "set-aside"]


@dataclass(frozen=True, slots=True)
class Head:
    """The last row of a log, and the session that wrote it.

    Attributes:
        id: The row's number.
        hash: The row's hash.
        boot: The id of the computer's boot session in which the log was opened; empty after a clean close.
        base: The last row when that session began.
    """

    id: int = 0
    hash: str = GENESIS
    boot: str = ""
    base: int = 0


@dataclass(frozen=True, slots=True)
class Gap:
    """A range of missing rows and its cause.

    Attributes:
        first: The first missing row.
        last: The last missing row.
        cause: "crash" if the computer stopped before the rows were written to disk, "set-aside" if they are
            in a damaged file, "cut-off" if nothing explains the gap.
        file: The damaged file's name, for "set-aside".
    """

    first: int
    last: int
    cause: Cause
    file: str = ""

    @property
    def message(self) -> str:
        """The gap in one sentence."""
        is_one = self.first >= self.last
        entries = f"entry {self.first}" if is_one else f"entries {self.first} to {self.last}"
        if self.cause == "crash":
            verb = "it was" if is_one else "they were"
            return f"The audit log lacks {entries}: the computer stopped before {verb} written to disk."
        if self.cause == "set-aside":
            return (
                f"The audit log continues after {entries}, which {'is' if is_one else 'are'} in {self.file}."
            )
        return f"The audit log lacks {entries}: its end was cut off."


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """The result of verifying the log.

    Attributes:
        ok: Whether the rows are intact; rows in `gaps` may be missing.
        rows: The number of rows read.
        first_bad: The number of the first bad row, if known.
        reason: A description of the problem, or empty.
        gaps: Missing rows that a crash or a damaged file explains.
    """

    ok: bool
    rows: int
    first_bad: int | None = None
    reason: str = ""
    gaps: tuple[Gap, ...] = ()


def boot_id() -> str:
    """Return an identifier of the computer's current boot."""
    try:
        return _BOOT_ID.read_text("ascii").strip()[:_BOOT_ID_CHARS]
    except (OSError, ValueError):
        import psutil

        return f"{_START_PREFIX}{int(psutil.boot_time())}"


def is_same_boot(first: str, second: str) -> bool:
    """Return whether both ids belong to the same boot; start times may differ by a clock correction."""
    if first.startswith(_START_PREFIX) and second.startswith(_START_PREFIX):
        return (
            abs(int(first[len(_START_PREFIX) :]) - int(second[len(_START_PREFIX) :]))
            < _MAX_CLOCK_CORRECTION_S
        )
    return first == second


def gap_at_end(last: Head, stored: Head) -> Gap | None:
    """Return the rows that the stored head covers but that are missing from the log.

    They count as lost in a crash only if the computer has been restarted since, the log was not closed, and
    the rows belong to that session: a killed process loses no rows.
    """
    if stored.id <= last.id:
        return None
    was_restarted = bool(stored.boot) and not is_same_boot(stored.boot, boot_id())
    return Gap(last.id + 1, stored.id, "crash" if was_restarted and last.id >= stored.base else "cut-off")


def write_head(file: Path, head: Head) -> None:
    """Write `head` to `file` in one step.

    The text always has the same length and fits in one sector, so a single write overwrites it in place: a
    crash can't leave half of it, and it takes a tenth of the time of a rename, which every call would need.

    Raises:
        OSError: The file can't be written.
    """
    session = f'"boot": "{head.boot:{_BOOT_ID_CHARS}s}", "base": {head.base:16d}'
    text = f'{{"id": {head.id:16d}, "hash": "{head.hash}", {session}}}\n'.encode("ascii")
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        os.write(descriptor, text)
        if os.fstat(descriptor).st_size != len(text):
            os.ftruncate(descriptor, len(text))
    finally:
        os.close(descriptor)


def begin_session(file: Path, head: Head) -> None:
    """Write the head of a log that is being opened, and flush it to disk.

    Raises:
        OSError: The file can't be written.
    """
    write_head(file, replace(head, boot=boot_id(), base=head.id))
    descriptor = os.open(file, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_head(file: Path) -> Head | None:
    """Return the head stored in `file`; None if there is none or it can't be read."""
    try:
        data = json.loads(file.read_text("ascii"))
        session = str(data.get("boot", "")).strip(), int(data.get("base", 0))
        if session[0].startswith(_START_PREFIX):
            int(session[0].removeprefix(_START_PREFIX))  # raises ValueError if the start time is damaged
        return Head(int(data["id"]), str(data["hash"]), *session)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def gap_from_row(caller_kind: str, tool: str, arguments: str) -> Gap | None:
    """Return the gap that a row records; None for all other rows."""
    if (caller_kind, tool) != SELF_CALLER:
        return None
    try:
        return Gap(**json.loads(arguments)["gap"])
    except (ValueError, KeyError, TypeError):
        return None


def check(database: Path, head_file: Path) -> AuditCheck:
    """Compare every row with its hash, the previous row and the head.

    The check opens its own connection, so it may run in any thread while rows are added. It repeats a failed
    check once: damage persists, while a log that was just created passes.

    Raises:
        sqlite3.Error: The log can't be read.
    """
    result = _check(database, head_file)
    return result if result.ok else _check(database, head_file)


def _check(database: Path, head_file: Path) -> AuditCheck:
    # Read the head first: otherwise it could count a row that is added during the check, and seem to be
    # ahead.
    head = _read_stable_head(head_file)
    rows, last, hash_at_head = 0, Head(), GENESIS if head is not None and head.id == 0 else ""
    gaps: list[Gap] = []
    with contextlib.closing(connect_read_only(database)) as connection:
        for row in connection.execute(f"{SELECT} ORDER BY id"):
            *stored, previous, stated = row
            entry_id = stored[_ID]
            gap = (
                gap_from_row(*(stored[column] for column in _SELF_COLUMNS))
                if entry_id != last.id + 1
                else None
            )
            if (
                gap is not None
                and gap.cause != "cut-off"
                and (gap.first, gap.last) == (last.id + 1, entry_id - 1)
            ):
                gaps.append(gap)
                last = Head(entry_id - 1, previous)
            if problem := _find_fault(last, entry_id, stored, previous, stated):
                return AuditCheck(False, rows, problem[0], problem[1])
            rows, last = rows + 1, Head(entry_id, stated)
            hash_at_head = stated if head is not None and entry_id == head.id else hash_at_head
    if head is None:
        return _check_without_head(rows, last)
    if (end := gap_at_end(last, head)) is not None and end.cause == "crash":
        return AuditCheck(True, rows, gaps=(*gaps, end))
    if end is not None:
        return AuditCheck(False, rows, last.id + 1, _span(last.id + 1, head.id) + " missing at the end")
    if hash_at_head != head.hash:
        return AuditCheck(False, rows, head.id, "the entry does not match the recorded end of the log")
    return AuditCheck(True, rows, gaps=tuple(gaps))


def _read_stable_head(file: Path) -> Head | None:
    """Return the stored head, read until two reads agree: another process may be overwriting it."""
    head = read_head(file)
    for _ in range(_MAX_HEAD_READS):
        next_head = read_head(file)
        if next_head == head:
            return head
        head = next_head
    return head


def _find_fault(
    last: Head, entry_id: int, stored: list[object], previous: str, stated: str
) -> tuple[int, str] | None:
    """Return the number of the first bad row and the problem; None if this row is intact."""
    if entry_id != last.id + 1:
        return last.id + 1, _span(last.id + 1, entry_id - 1) + " missing"
    if previous != last.hash:
        return entry_id, "the entry does not follow the one before it"
    if row_hash(previous, stored) != stated:
        return entry_id, "the entry was changed"
    return None


def _check_without_head(rows: int, last: Head) -> AuditCheck:
    # The very first row is committed before the head is written for the first time.
    if rows <= 1:
        return AuditCheck(True, rows)
    return AuditCheck(False, rows, last.id, _HEAD_MISSING_REASON)


def _span(first: int, last: int) -> str:
    return f"entry {first} is" if first >= last else f"entries {first} to {last} are"
