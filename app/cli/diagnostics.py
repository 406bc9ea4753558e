"""Results of the doctor's checks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """The severity of a result; a warning is about something degraded or about to stop working."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check; `what` names the subject, and `hint` says what to do about a problem."""

    what: str
    state: Severity
    message: str
    hint: str = ""


def ok(what: str, message: str) -> CheckResult:
    """Return a passing result."""
    return CheckResult(what, Severity.OK, message)


def warning(what: str, message: str, hint: str) -> CheckResult:
    """Return a result about something that is degraded."""
    return CheckResult(what, Severity.WARNING, message, hint)


def failure(what: str, message: str, hint: str) -> CheckResult:
    """Return a result about something that does not work."""
    return CheckResult(what, Severity.WRONG, message, hint)
