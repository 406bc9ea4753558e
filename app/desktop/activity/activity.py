"""One line of the feed: a tool call from its start to its end, or something that the app does by itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from PySide6.QtCore import QCoreApplication

from app.permissions.approval import ApprovalRequest
from app.permissions.audit_entry import AuditEntry, Decided
from app.permissions.caller import Caller, CallerKind
from app.permissions.request_words import title
from app.vault.visible import describe


class Kind(StrEnum):
    """What it is about."""

    TOOL = "tool_execution"
    INDEX = "index"
    MEANING = "embedding"
    VAULT = "vault"


class Status(StrEnum):
    """How it stands. A call that was withdrawn has failed: nothing came of it."""

    RUNNING = "running"
    PENDING = "pending"
    COMPLETED = "completed"
    FAILED = "failed"
    DENIED = "denied"


class Starter(StrEnum):
    """Who began it."""

    AGENT = "agent"
    USER = "user"
    CLIENT = "client"
    SYSTEM = "system"


_STARTERS = {"user": Starter.USER, "desktop-agent": Starter.AGENT, "app": Starter.SYSTEM}
_ERROR_TYPE = re.compile(r"^[a-z]+(_[a-z]+)*: (?=\S)")
_WIKILINK = re.compile(r"\[\[(?:[^|\]]*\|)?([^|\]]+)\]\]")
_WENT_WELL = (Decided.NO_APPROVAL_NEEDED, Decided.AUTO_APPROVED, Decided.USER_APPROVED, Decided.NOT_ASKED)
_SAID_NO = (Decided.USER_DENIED, Decided.TIMED_OUT)


@dataclass(frozen=True, slots=True)
class Activity:
    """A line. `key` is the call's id, or names the system's work; `at` a Unix time in seconds.

    `summary` says what came of it, `request` is set while the user is asked, `entry` once it is in the
    audit log; `paths` are the files that it is about. `saves` counts the saves of a writing session.
    """

    key: str
    kind: Kind
    what: str
    status: Status
    summary: str
    starter: Starter
    who: str
    at: float
    request: ApprovalRequest | None = None
    entry: AuditEntry | None = None
    paths: tuple[str, ...] = ()
    saves: int = 1


def begun(key: str, tool: str, caller: Caller, at: float) -> Activity:
    """A call that has just begun."""
    return Activity(key, Kind.TOOL, tool, Status.RUNNING, "", starter_of(caller.kind), caller.name, at)


def asked(activity: Activity, request: ApprovalRequest) -> Activity:
    """The call while the user is asked about it."""
    return replace(
        activity,
        status=Status.PENDING,
        summary=_tr("{0}; waits for your answer").format(title(request)),
        request=request,
        paths=tuple(map(str, request.scope.paths)),
    )


def answered(activity: Activity) -> Activity:
    """The call once the user has answered: it goes on, or ends at once."""
    return replace(activity, status=Status.RUNNING, request=None)


def of_entry(entry: AuditEntry, saves: int = 1) -> Activity:
    """A call that has ended, by its entry in the audit log.

    The saves of a writing session are one line: `entry` is the last of so many.
    """
    summary = _ERROR_TYPE.sub("", entry.result)
    if saves > 1:
        summary = _tr("{0} ({1} times)").format(summary, f"{saves:,}")
    if entry.decision in _SAID_NO or summary == "denied":
        summary = entry.reason or summary
    if entry.undone_by is not None:
        summary = _tr("{0} (undone)").format(summary)
    return Activity(
        key=key_of(entry),
        kind=Kind.TOOL,
        what=entry.tool or entry.caller,
        status=status_of(entry),
        summary=without_brackets(summary),
        starter=starter_of(entry.caller_kind),
        who=entry.caller,
        at=entry.time,
        entry=entry,
        paths=entry.paths,
        saves=saves,
    )


def key_of(entry: AuditEntry) -> str:
    """What names the line of an entry."""
    if entry.is_of_session:
        return f"{entry.turn}:{':'.join(entry.paths)}"
    return entry.call or f"entry:{entry.id}"


def without_brackets(words: str) -> str:
    """A sentence with its wikilinks as names in quotes."""
    return _WIKILINK.sub(r"“\1”", words)


def status_of(entry: AuditEntry) -> Status:
    """How a logged call ended."""
    if entry.decision in _SAID_NO:
        return Status.DENIED
    if entry.decision == Decided.RULE:
        refused = entry.result == "denied" or entry.result.startswith("permission_denied")
        return Status.DENIED if refused else Status.COMPLETED
    return Status.COMPLETED if entry.decision in _WENT_WELL else Status.FAILED


def starter_of(kind: CallerKind | str) -> Starter:
    """Who a caller is to the person at the window."""
    return _STARTERS.get(str(kind), Starter.CLIENT)


def status_words(status: Status) -> str:
    """A status in a word."""
    return {
        Status.RUNNING: _tr("running"),
        Status.PENDING: _tr("waits for you"),
        Status.COMPLETED: _tr("completed"),
        Status.FAILED: _tr("failed"),
        Status.DENIED: _tr("denied"),
    }[status]


def starter_words(starter: Starter) -> str:
    """Who began it, in a word."""
    return {
        Starter.AGENT: _tr("agent"),
        Starter.USER: _tr("you"),
        Starter.CLIENT: _tr("client"),
        Starter.SYSTEM: _tr("system"),
    }[starter]


def name_of(activity: Activity) -> str:
    """What is done, as a person reads it."""
    words = describe(activity.what).replace("_", " ")
    return words[:1].upper() + words[1:]


def in_a_line(activity: Activity) -> str:
    """All of it in a sentence, for a screen reader."""
    state = status_words(activity.status)
    return f"{name_of(activity)}, {state}: {describe(activity.summary)} ({who(activity)})"


def who(activity: Activity) -> str:
    """The name of who began it."""
    return starter_words(activity.starter) if activity.starter is Starter.USER else describe(activity.who)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Activity", text)
