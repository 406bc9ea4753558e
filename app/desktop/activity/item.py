"""An activity in the feed: a tool call from start to finish, or background work by the app."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from app.desktop.audit.labels import result_text
from app.desktop.runtime.translation import PluralText, translate, translate_text
from app.permissions.approval import ApprovalRequest
from app.permissions.audit_entry import AuditDecision, AuditEntry
from app.permissions.caller import Caller, CallerKind
from app.permissions.request_labels import request_title
from app.vault.markdown.links import quote_wikilinks


class ActivityKind(StrEnum):
    """The kind of an activity."""

    TOOL = "tool_execution"
    INDEX = "index"
    EMBEDDING = "embedding"
    VAULT = "vault"


class ActivityStatus(StrEnum):
    """The state of an activity. A withdrawn call counts as failed."""

    RUNNING = "running"
    PENDING = "pending"
    COMPLETED = "completed"
    FAILED = "failed"
    DENIED = "denied"


class ActivityOrigin(StrEnum):
    """The initiator of an activity."""

    AGENT = "agent"
    USER = "user"
    CLIENT = "client"
    SYSTEM = "system"


_ORIGINS = {"user": ActivityOrigin.USER, "desktop-agent": ActivityOrigin.AGENT, "app": ActivityOrigin.SYSTEM}
_APPROVED_DECISIONS = (
    AuditDecision.NO_APPROVAL_NEEDED,
    AuditDecision.AUTO_APPROVED,
    AuditDecision.USER_APPROVED,
    AuditDecision.NOT_ASKED,
)
_DENIED_DECISIONS = (AuditDecision.USER_DENIED, AuditDecision.TIMED_OUT)


@dataclass(frozen=True, slots=True)
class ActivityItem:
    """An activity; `key` is the id of the call or of the work, `name` the tool or work, `time` a Unix time.

    `summary` describes the result. `request` is set while the call waits for approval, `entry` once it is
    in the audit log. `paths` are the affected files. `saves` counts the saves of an editing session.
    """

    key: str
    kind: ActivityKind
    name: str
    status: ActivityStatus
    summary: str
    origin: ActivityOrigin
    caller: str
    time: float
    request: ApprovalRequest | None = None
    entry: AuditEntry | None = None
    paths: tuple[str, ...] = ()
    saves: int = 1


def started_item(key: str, tool: str, caller: Caller, time: float) -> ActivityItem:
    """Return the activity for a call that has started."""
    return ActivityItem(
        key,
        ActivityKind.TOOL,
        tool,
        ActivityStatus.RUNNING,
        "",
        caller_origin(caller.kind),
        caller.name,
        time,
    )


def waiting_item(activity: ActivityItem, request: ApprovalRequest) -> ActivityItem:
    """Return the activity while it waits for approval."""
    return replace(
        activity,
        status=ActivityStatus.PENDING,
        summary=translate("Activity", "{0}; waiting for your answer").format(
            translate_text(request_title(request))
        ),
        request=request,
        paths=tuple(map(str, request.scope.paths)),
    )


def answered_item(activity: ActivityItem) -> ActivityItem:
    """Return the activity after the user's decision: it runs until the call ends."""
    return replace(activity, status=ActivityStatus.RUNNING, request=None)


def item_from_entry(entry: AuditEntry, saves: int = 1) -> ActivityItem:
    """Return the activity for an audit entry.

    The saves in an editing session form one activity: `entry` is the last one, and `saves` is the count.
    """
    summary = result_text(entry.result)
    if saves > 1:
        summary = PluralText("Activity", "{1} ({0} time)", "{1} ({0} times)").format(saves, summary)
    if entry.decision in _DENIED_DECISIONS or entry.is_denied:
        summary = quote_wikilinks(entry.reason) or summary
    if entry.undone_by is not None:
        summary = translate("Activity", "{0} (undone)").format(summary)
    return ActivityItem(
        key=entry_key(entry),
        kind=ActivityKind.TOOL,
        name=entry.tool or entry.caller,
        status=entry_status(entry),
        summary=summary,
        origin=caller_origin(entry.caller_kind),
        caller=entry.caller,
        time=entry.time,
        entry=entry,
        paths=entry.paths,
        saves=saves,
    )


def entry_key(entry: AuditEntry) -> str:
    """Return the key of the activity for an entry."""
    if entry.is_session_save:
        return f"{entry.turn}:{':'.join(entry.paths)}"
    return entry.call or f"entry:{entry.id}"


def entry_status(entry: AuditEntry) -> ActivityStatus:
    """Return the status of a logged call."""
    if entry.decision in _DENIED_DECISIONS:
        return ActivityStatus.DENIED
    if entry.decision == AuditDecision.RULE:
        is_denied = entry.is_denied or entry.result.startswith("permission_denied")
        return ActivityStatus.DENIED if is_denied else ActivityStatus.COMPLETED
    return ActivityStatus.COMPLETED if entry.decision in _APPROVED_DECISIONS else ActivityStatus.FAILED


def caller_origin(kind: CallerKind | str) -> ActivityOrigin:
    """Return the origin of a call, given the kind of its caller."""
    return _ORIGINS.get(str(kind), ActivityOrigin.CLIENT)
