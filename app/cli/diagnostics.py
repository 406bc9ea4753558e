"""What the doctor's checks found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How it stands: a warning is something that works less well than it could, or will stop to work."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One thing that was looked at; `hint` says what to do where it is not well."""

    what: str
    state: Severity
    words: str
    hint: str = ""


def ok(what: str, words: str) -> CheckResult:
    """It is as it should be."""
    return CheckResult(what, Severity.OK, words)


def warning(what: str, words: str, hint: str) -> CheckResult:
    """It works less well than it could."""
    return CheckResult(what, Severity.WARNING, words, hint)


def failure(what: str, words: str, hint: str) -> CheckResult:
    """Something does not work."""
    return CheckResult(what, Severity.WRONG, words, hint)
