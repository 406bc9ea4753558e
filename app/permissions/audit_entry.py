"""An audit log entry, its stored row and hash, and the filter that selects entries."""

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

from app.encoding import escape_unencodable


class AuditDecision(StrEnum):
    """The gate's decision on a call and how it was made."""

    NO_APPROVAL_NEEDED = "no-approval-needed"
    AUTO_APPROVED = "auto-approved"
    USER_APPROVED = "user-approved"
    USER_DENIED = "user-denied"
    TIMED_OUT = "timed-out"
    RULE = "rule"
    FAILED = "failed"
    CANCELLED = "cancelled"
    NOT_ASKED = "not-asked"
    """A program made the change without the gate; it was detected afterwards."""


DENIED_RESULT = "denied"
"""The result of a call that was denied."""
_APPROVED_DECISIONS = (AuditDecision.USER_APPROVED, AuditDecision.AUTO_APPROVED)


def reason_after_approval(decision: AuditDecision, result: str) -> str:
    """Return the reason of a failed call; it mentions the decision if that was an approval."""
    return f"{decision.value}, then {result}" if decision in _APPROVED_DECISIONS else result


_APPROVED_STARTS = tuple(reason_after_approval(decision, "") for decision in _APPROVED_DECISIONS)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One call: its caller, tool and arguments, the decision with its reason, and the result.

    `id` is 0 until the entry is in the log. `time` is in Unix seconds. `duration_ms` is the call's duration,
    excluding the time that the user took to answer. `arguments` is redacted JSON, `result` one line. `commit`
    and `undoes` are commit ids. `paths` are the files that were changed, or read by name. `cost` is in US
    dollars. `grant` lists the ids of the grants that authorized the call. `call` is the id in the call's
    events. `undone_by` is the entry that undid this one; it is looked up, not stored, since a row never
    changes.
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
    def is_denied(self) -> bool:
        """True if the call was denied; the reason says why."""
        return self.result == DENIED_RESULT

    @property
    def failed_after_approval(self) -> bool:
        """True if the call was approved, and then failed."""
        return self.decision == AuditDecision.FAILED and self.reason.startswith(_APPROVED_STARTS)

    @property
    def is_session_save(self) -> bool:
        """True if the entry is a save in a writing session, whose saves are grouped."""
        return self.tool == "save" and bool(self.turn) and self.commit is not None


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """A filter for entries; an entry must match every criterion given.

    `text` is searched for in the tool, caller, arguments, result, reason and paths, ignoring case. `since`
    and `until` are Unix seconds.
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
"""The names of the stored columns, quoted for SQL where necessary."""

_MAX_INTEGER = 2**63 - 1
GENESIS = "0" * 64

# These are built once, since every call writes a row.
_VALUES = attrgetter(*_FIELDS)
_ID, _UNDOES, _PATHS = (_FIELDS.index(name) for name in ("id", "undoes", "paths"))
_IS_REAL = tuple(name in ("time", "duration_ms", "cost") for name in _FIELDS)
_LIST_ENCODER = json.JSONEncoder(ensure_ascii=False)
_HASH_ENCODER = json.JSONEncoder(separators=(",", ":"), default=repr)


def with_id(entry: AuditEntry, entry_id: int) -> AuditEntry:
    """Return a copy with this `entry_id` and with values that can be stored.

    Every call needs this, and it is twice as fast as `replace`.
    """
    values = list(map(_storable, _VALUES(entry), _IS_REAL))
    values[_ID] = entry_id
    return AuditEntry(*values)  # type: ignore[arg-type]


def minimal_entry(entry: AuditEntry, error: Exception) -> AuditEntry:
    """Return a replacement for an entry that can't be logged in full: no text, and the current time."""
    reason = f"The full entry could not be logged ({type(error).__name__})."
    return AuditEntry(
        time=time.time(),
        caller_kind=str(entry.caller_kind),
        caller="",
        tool="",
        operation="",
        scope="",
        arguments="{}",
        decision=str(entry.decision),
        reason=reason,
        result=reason,
        call=escape_unencodable(str(entry.call)),
        commit=entry.commit if isinstance(entry.commit, int) else None,
        undoes=tuple(number for number in entry.undoes if isinstance(number, int)),
    )


def _storable(value: object, is_real: bool) -> object:
    """Return a value that SQLite stores and JSON encodes unchanged, so that every call can be logged."""
    if isinstance(value, str):
        return escape_unencodable(value)
    if isinstance(value, tuple):
        return tuple(_storable(item, False) for item in value)
    if isinstance(value, int) and not -_MAX_INTEGER <= value <= _MAX_INTEGER:
        value = _MAX_INTEGER if value > 0 else -_MAX_INTEGER
    if is_real and isinstance(value, int | float):
        # SQLite returns neither a negative zero nor an integer here, and the hash must match what it returns.
        return float(value) + 0.0 if math.isfinite(value) else 0.0
    return value


def to_row(entry: AuditEntry) -> tuple[Any, ...]:
    """Return the stored values of an entry, in the order of `STORED`."""
    row = list(_VALUES(entry))
    row[_UNDOES], row[_PATHS] = _LIST_ENCODER.encode(entry.undoes), _LIST_ENCODER.encode(entry.paths)
    return tuple(row)


def from_row(row: Sequence[Any], undone_by: int | None) -> AuditEntry:
    """Return the entry that a stored row represents."""
    values = dict(zip(_FIELDS, row, strict=False))
    values["undoes"] = tuple(json.loads(values["undoes"]))
    values["paths"] = tuple(json.loads(values["paths"]))
    return AuditEntry(**values, undone_by=undone_by)


def row_hash(previous: str, row: Sequence[Any]) -> str:
    """Return the hash of a stored row that follows the row with the hash `previous`."""
    return hashlib.sha256(_HASH_ENCODER.encode([previous, *row]).encode("ascii")).hexdigest()
