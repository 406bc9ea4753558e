"""The chain of the audit log: the file that keeps its head, and the check of every row."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from app.permissions.audit_entry import GENESIS, STORED, row_hash
from app.storage.sqlite import connect_read_only

_READS = 50
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_BOOT_LENGTH = 36
_STARTED = "started "
_CLOCK_CORRECTION_S = 300
TELLER = ("app", "audit")
"""The caller's kind and the tool of a row that the log writes about itself."""

_ID = STORED.index("id")
_TOLD = tuple(map(STORED.index, ("caller_kind", "tool", "arguments")))
SELECT = f"SELECT {', '.join(STORED)}, previous, hash FROM audit"


Cause = Literal["crash", "cut-off", "set-aside"]


@dataclass(frozen=True, slots=True)
class Head:
    """The last row of a log, and the session that wrote it.

    Attributes:
        id: The row's number.
        hash: The row's hash.
        boot: Which run of the computer has the log open; empty once it was closed in order.
        base: The last row when that session began.
    """

    id: int = 0
    hash: str = GENESIS
    boot: str = ""
    base: int = 0


@dataclass(frozen=True, slots=True)
class Gap:
    """Rows that are missing, and why: told by the row that follows them.

    Attributes:
        first: The first missing row.
        last: The last one.
        cause: "crash" where the computer stopped before the rows were on the disk, "set-aside" where they
            are in a damaged file, "cut-off" where nothing explains it.
        file: The damaged file's name.
    """

    first: int
    last: int
    cause: Cause
    file: str = ""

    @property
    def message(self) -> str:
        """The gap in one sentence."""
        rows = f"row {self.first}" if self.first >= self.last else f"rows {self.first} to {self.last}"
        if self.cause == "crash":
            return f"The audit log lacks {rows}: the computer stopped before they were on the disk."
        if self.cause == "set-aside":
            return f"The audit log continues after {rows}, which are in {self.file}."
        return f"The audit log lacks {rows}: its end was cut off."


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """Whether the log is intact.

    Attributes:
        ok: Whether no row was changed or removed.
        rows: How many rows were read.
        first_bad: The first bad row's number.
        reason: What is wrong.
        gaps: Missing rows that a crash or a damaged file explains.
    """

    ok: bool
    rows: int
    first_bad: int | None = None
    reason: str = ""
    gaps: tuple[Gap, ...] = ()


def boot_id() -> str:
    """Return what identifies this run of the computer: another one after each start of it."""
    try:
        return _BOOT_ID.read_text("ascii").strip()[:_BOOT_LENGTH]
    except (OSError, ValueError):
        import psutil

        return f"{_STARTED}{int(psutil.boot_time())}"


def is_same_boot(one: str, other: str) -> bool:
    """Return whether both are of one run; a time of start may differ by a correction of the clock."""
    if one.startswith(_STARTED) and other.startswith(_STARTED):
        return abs(int(one[len(_STARTED) :]) - int(other[len(_STARTED) :])) < _CLOCK_CORRECTION_S
    return one == other


def gap_at_end(last: Head, kept: Head) -> Gap | None:
    """Return the rows that the kept head knows and the log lacks.

    They count as lost in a crash only where the computer was started again since, without the log being
    closed, and where they are of that session: a killed process loses no row.
    """
    if kept.id <= last.id:
        return None
    stopped = bool(kept.boot) and not is_same_boot(kept.boot, boot_id())
    return Gap(last.id + 1, kept.id, "crash" if stopped and last.id >= kept.base else "cut-off")


def write_head(file: Path, head: Head) -> None:
    """Keep `head` in `file`, in one step.

    The text always has the same length and lies in one sector, so it is overwritten in place by a single
    write: no crash leaves half of it, and it costs a tenth of a rename, which every call would pay.
    """
    session = f'"boot": "{head.boot:{_BOOT_LENGTH}s}", "base": {head.base:16d}'
    text = f'{{"id": {head.id:16d}, "hash": "{head.hash}", {session}}}\n'.encode("ascii")
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        os.write(descriptor, text)
        if os.fstat(descriptor).st_size != len(text):
            os.ftruncate(descriptor, len(text))
    finally:
        os.close(descriptor)


def begin_session(file: Path, head: Head) -> None:
    """Keep the head of a log that is opened now, and wait until it is on the disk."""
    write_head(file, replace(head, boot=boot_id(), base=head.id))
    descriptor = os.open(file, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_head(file: Path) -> Head | None:
    """The head kept in `file`; None when there is none or it can't be read."""
    try:
        read = json.loads(file.read_text("ascii"))
        session = str(read.get("boot", "")).strip(), int(read.get("base", 0))
        return Head(int(read["id"]), str(read["hash"]), *session)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def told_gap(caller_kind: str, tool: str, arguments: str) -> Gap | None:
    """Return the gap that a row tells of; None for all other rows."""
    if (caller_kind, tool) != TELLER:
        return None
    try:
        return Gap(**json.loads(arguments)["gap"])
    except (ValueError, KeyError, TypeError):
        return None


def check(database: Path, head_file: Path) -> AuditCheck:
    """Read every row and compare it with its hash, its neighbour, and the head.

    Opens the log for itself, so it may run in any thread while rows are added. What looks wrong is looked
    at again: damage stays, a log that was begun in this moment does not.
    """
    found = _check(database, head_file)
    return found if found.ok else _check(database, head_file)


def _check(database: Path, head_file: Path) -> AuditCheck:
    # The head first: a row that is added meanwhile must not look like a head that is ahead.
    head = _settled_head(head_file)
    rows, last, at_head = 0, Head(), GENESIS if head is not None and head.id == 0 else ""
    gaps: list[Gap] = []
    with contextlib.closing(connect_read_only(database)) as connection:
        for row in connection.execute(f"{SELECT} ORDER BY id"):
            *stored, previous, stated = row
            id = stored[_ID]
            gap = told_gap(*(stored[column] for column in _TOLD)) if id != last.id + 1 else None
            if gap is not None and gap.cause != "cut-off" and (gap.first, gap.last) == (last.id + 1, id - 1):
                gaps.append(gap)
                last = Head(id - 1, previous)
            if problem := _problem(last, id, stored, previous, stated):
                return AuditCheck(False, rows, problem[0], problem[1])
            rows, last = rows + 1, Head(id, stated)
            at_head = stated if head is not None and id == head.id else at_head
    if head is None:
        return _without_head(rows, last)
    if (end := gap_at_end(last, head)) is not None and end.cause == "crash":
        return AuditCheck(True, rows, gaps=(*gaps, end))
    if end is not None:
        return AuditCheck(False, rows, last.id + 1, _span(last.id + 1, head.id) + " missing at the end")
    if at_head != head.hash:
        return AuditCheck(False, rows, head.id, f"row {head.id} is not the one that the kept head names")
    return AuditCheck(True, rows, gaps=tuple(gaps))


def _settled_head(file: Path) -> Head | None:
    """The kept head, read until it stays the same: it may be overwritten in this moment."""
    head = read_head(file)
    for _ in range(_READS):
        again = read_head(file)
        if again == head:
            return head
        head = again
    return head


def _problem(last: Head, id: int, stored: list[object], previous: str, stated: str) -> tuple[int, str] | None:
    """What is wrong with a row, and from which number on."""
    if id != last.id + 1:
        return last.id + 1, _span(last.id + 1, id - 1) + " missing"
    if previous != last.hash:
        return id, f"row {id} does not follow the row before it"
    if row_hash(previous, stored) != stated:
        return id, f"row {id} was changed"
    return None


def _without_head(rows: int, last: Head) -> AuditCheck:
    # The very first row is committed before the head is kept for the first time.
    if rows <= 1:
        return AuditCheck(True, rows)
    return AuditCheck(False, rows, last.id, "the kept head is missing, so the end may have been cut off")


def _span(first: int, last: int) -> str:
    return f"row {first} is" if first >= last else f"rows {first} to {last} are"
