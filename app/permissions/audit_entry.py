"""A row of the audit log, its hash, and the filter that finds rows."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from operator import attrgetter
from typing import Any

from app.encoding import escaped


class Decided(StrEnum):
    """How the gate's decision came about."""

    NO_APPROVAL_NEEDED = "no-approval-needed"
    AUTO_APPROVED = "auto-approved"
    USER_APPROVED = "user-approved"
    USER_DENIED = "user-denied"
    TIMED_OUT = "timed-out"
    RULE = "rule"
    FAILED = "failed"
    CANCELLED = "cancelled"
    NOT_ASKED = "not-asked"
    """A program did it by itself, past the gate, and it was found afterwards."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One call: who called what with which arguments, what was decided why, and what came of it.

    `id` is 0 until the entry is in the log. `time` is in Unix seconds, `duration_ms` the whole call
    without the time the user took to answer, `arguments` redacted JSON, `result` one line, `commit` and
    `undoes` ids of the journal, `paths` what was touched or read by name, `cost` in US dollars. `call` is
    the id that the events of the call have. `undone_by` is the entry that took this one back; it is found,
    not stored, since a row never changes.
    """

    time: float
    caller_kind: str
    caller: str
    tool: str
    operation: str
    scope: str
    arguments: str
    decision: str
    reason: str
    result: str
    id: int = 0
    call: str = ""
    conversation: str = ""
    turn: str = ""
    grant: str = ""
    duration_ms: float = 0.0
    commit: int | None = None
    undoes: tuple[int, ...] = ()
    tokens: int = 0
    cost: float = 0.0
    paths: tuple[str, ...] = ()
    undone_by: int | None = None

    @property
    def is_of_session(self) -> bool:
        """Whether it is a save of a writing session, whose saves belong together."""
        return self.tool == "save" and bool(self.turn) and self.commit is not None


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries: those that match everything given.

    `text` is looked for in tool, caller, arguments, result, reason and paths; `since` and `until` are Unix
    seconds.
    """

    text: str = ""
    caller: str = ""
    tool: str = ""
    decision: str = ""
    since: float | None = None
    until: float | None = None
    turn: str = ""
    conversation: str = ""


_FIELDS = tuple(field.name for field in fields(AuditEntry) if field.name != "undone_by")
STORED = tuple(f'"{name}"' if name in ("grant", "commit") else name for name in _FIELDS)
"""The columns of a row, as SQL spells them."""

_LARGEST = 2**63 - 1
GENESIS = "0" * 64

# Made once, since every call writes a row.
_VALUES = attrgetter(*_FIELDS)
_ID, _UNDOES, _PATHS = (_FIELDS.index(name) for name in ("id", "undoes", "paths"))
_IS_REAL = tuple(name in ("time", "duration_ms", "cost") for name in _FIELDS)
_LIST = json.JSONEncoder(ensure_ascii=False)
_HASHED = json.JSONEncoder(separators=(",", ":"), default=repr)


def numbered(entry: AuditEntry, id: int) -> AuditEntry:
    """The entry as row `id`; in half the time of `replace`, for every call."""
    values = list(map(_storable, _VALUES(entry), _IS_REAL))
    values[_ID] = id
    return AuditEntry(*values)  # type: ignore[arg-type]


def minimal(entry: AuditEntry, error: Exception) -> AuditEntry:
    """The entry without what came from outside, for one that can't be logged as it is."""
    words = f"The whole entry could not be logged ({type(error).__name__})."
    return AuditEntry(
        time=time.time(),
        caller_kind=str(entry.caller_kind),
        caller="",
        tool="",
        operation="",
        scope="",
        arguments="{}",
        decision=str(entry.decision),
        reason=words,
        result=words,
        call=escaped(str(entry.call)),
        commit=entry.commit if isinstance(entry.commit, int) else None,
        undoes=tuple(number for number in entry.undoes if isinstance(number, int)),
    )


def _storable(value: object, is_real: bool) -> object:
    """A value as SQLite keeps it and JSON can say it: a row is logged whatever came from outside."""
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, tuple):
        return tuple(_storable(one, False) for one in value)
    if isinstance(value, int) and not -_LARGEST <= value <= _LARGEST:
        value = _LARGEST if value > 0 else -_LARGEST
    if is_real and isinstance(value, int | float):
        # SQLite gives back what it keeps: no minus zero, no integer; the hash is of that.
        return float(value) + 0.0 if math.isfinite(value) else 0.0
    return value


def to_row(entry: AuditEntry) -> tuple[Any, ...]:
    """The stored values of an entry, in the order of `STORED`."""
    row = list(_VALUES(entry))
    row[_UNDOES], row[_PATHS] = _LIST.encode(entry.undoes), _LIST.encode(entry.paths)
    return tuple(row)


def from_row(row: Sequence[Any], undone_by: int | None) -> AuditEntry:
    """The entry of a stored row."""
    values = dict(zip(_FIELDS, row, strict=False))
    values["undoes"] = tuple(json.loads(values["undoes"]))
    values["paths"] = tuple(json.loads(values["paths"]))
    return AuditEntry(**values, undone_by=undone_by)


def row_hash(previous: str, row: Sequence[Any]) -> str:
    """The hash of a stored row that stands after the row with the hash `previous`."""
    return hashlib.sha256(_HASHED.encode([previous, *row]).encode("ascii")).hexdigest()
