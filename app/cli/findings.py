"""What the doctor's checks found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How it stands: a warning is something that works less well than it could, or will stop to work."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `hint` says what to do where it is not well."""

    what: str
    state: State
    words: str
    hint: str = ""


def ok(what: str, words: str) -> Finding:
    """It is as it should be."""
    return Finding(what, State.OK, words)


def warning(what: str, words: str, hint: str) -> Finding:
    """It works less well than it could."""
    return Finding(what, State.WARNING, words, hint)


def wrong(what: str, words: str, hint: str) -> Finding:
    """Something does not work."""
    return Finding(what, State.WRONG, words, hint)
