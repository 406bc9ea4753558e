"""The chain of the audit log: the file that keeps its head, and the check of every row."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from app.permissions.audit_entry import GENESIS, STORED, row_hash

_READS = 50
SELECT = f"SELECT {', '.join(STORED)}, previous, hash FROM audit"


@dataclass(frozen=True, slots=True)
class Head:
    """The last row of a log: its number and its hash."""

    id: int = 0
    hash: str = GENESIS


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """Whether the log is whole: how many rows were read, the first bad row's number, and what is wrong."""

    ok: bool
    rows: int
    first_bad: int | None = None
    reason: str = ""


def write_head(file: Path, head: Head) -> None:
    """Keep `head` in `file`, in one step.

    The text always has the same length and lies in one sector, so it is overwritten in place by a single
    write: no crash leaves half of it, and it costs a tenth of a rename, which every call would pay.
    """
    text = f'{{"id": {head.id:16d}, "hash": "{head.hash}"}}\n'.encode("ascii")
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        os.write(descriptor, text)
        if os.fstat(descriptor).st_size != len(text):
            os.ftruncate(descriptor, len(text))
    finally:
        os.close(descriptor)


def read_head(file: Path) -> Head | None:
    """The head kept in `file`; None when there is none or it can't be read."""
    try:
        read = json.loads(file.read_text("ascii"))
        return Head(int(read["id"]), str(read["hash"]))
    except (OSError, ValueError, KeyError, TypeError):
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
    with contextlib.closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        for row in connection.execute(f"{SELECT} ORDER BY id"):
            *stored, previous, stated = row
            id = stored[STORED.index("id")]
            if problem := _problem(last, id, stored, previous, stated):
                return AuditCheck(False, rows, problem[0], problem[1])
            rows, last = rows + 1, Head(id, stated)
            at_head = stated if head is not None and id == head.id else at_head
    if head is None:
        return _without_head(rows, last)
    if head.id > last.id:
        return AuditCheck(False, rows, last.id + 1, _span(last.id + 1, head.id) + " missing at the end")
    if at_head != head.hash:
        return AuditCheck(False, rows, head.id, f"row {head.id} is not the one that the kept head names")
    return AuditCheck(True, rows)


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
