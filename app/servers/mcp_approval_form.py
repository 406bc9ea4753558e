"""A question to the user that a client forwards: the exact change as text, and the form for the decision.

The text is built from the proposal's own bytes; invisible characters are named, and the caller's claim is
separate. Since the form passes through the client, it contains nothing that the client may not see: warnings
are left out, and a change that the user can't judge without such parts is not asked about here. A question
that is too long for a form is not asked, either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import mcp_types as t

from app.errors import LimitError, PermissionDeniedError
from app.permissions.approval import ApprovalRequest, Approved, Decision, Denied, Effect
from app.permissions.request_labels import (
    caller_label,
    change_name,
    format_extent,
    request_title,
)
from app.vault.changes import ChangeSet, FileChange, after_of, before_of
from app.vault.diff import compare
from app.vault.escaped_line import escape_line
from app.vault.invisible_chars import escape_hidden
from app.vault.unified_diff import unified_diff

MAX_QUESTION_CHARS = 60_000
_MAX_BACKLINKS = 20
_APPROVE_FIELD, _WORDS_FIELD = "approve", "words"
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        _APPROVE_FIELD: {"type": "boolean", "title": "Approve exactly this change", "default": False},
        _WORDS_FIELD: {"type": "string", "title": "Comment for the agent", "maxLength": 1000},
    },
    "required": [_APPROVE_FIELD],
}


def question_text(request: ApprovalRequest) -> str:
    """Return the question about a request as text.

    Raises:
        PermissionDeniedError: the client may not see all that the user must know; nothing was asked.
        LimitError: the text is too long for a form; nothing was asked.
    """
    if request.has_hidden_parts or _concerns_access(request.proposal):
        raise PermissionDeniedError(
            "This client can't show the whole change. Nothing was changed. Open the vault in Scriptorium, or "
            "call again without waiting for the user."
        )
    lines = [
        f"{request_title(request).english}.",
        f"({caller_label(request.caller).english}; {escape_hidden(request.reason)}.)",
    ]
    if request.caller.claim:
        lines.append(f"Reason given by the agent (unverified): “{escape_hidden(request.caller.claim)}”")
    if request.scope.backlinks:
        backlinks = request.scope.backlinks
        names = [escape_hidden(str(path)) for path in backlinks[:_MAX_BACKLINKS]]
        if len(backlinks) > len(names):
            names.append(f"and {len(backlinks) - len(names):,} more")
        lines.append(f"Backlinks: {', '.join(names)}")
    lines.append("")
    if isinstance(request.proposal, Effect):
        lines += _effect_lines(request.proposal)
    else:
        extent = format_extent(request)
        lines += [extent.english if extent else "", "", *_change_lines(request.proposal)]
    text = "\n".join(lines)
    if len(text) > MAX_QUESTION_CHARS:
        message = (
            "The change is too long to show in this client. Nothing was changed. Review it in Scriptorium."
        )
        raise LimitError(message, limit=MAX_QUESTION_CHARS)
    return text


def question_form(request: ApprovalRequest) -> t.ElicitRequestFormParams:
    """Return the question as an MCP form; raises the same errors as `question_text`."""
    return t.ElicitRequestFormParams(message=question_text(request), requested_schema=dict(SCHEMA))


def parse_decision(request: ApprovalRequest, answer: t.ElicitResult) -> Decision:
    """Parse the user's decision; anything but an explicit approval is a denial."""
    content = answer.content or {}
    comment = content.get(_WORDS_FIELD)
    comment_text = comment.strip() if isinstance(comment, str) else ""
    if answer.action == "accept" and content.get(_APPROVE_FIELD) is True:
        return Approved(request.proposal)
    return Denied(comment_text)


def _concerns_access(proposal: ChangeSet | Effect) -> bool:
    warnings = proposal.warnings if isinstance(proposal, ChangeSet) else ()
    return any(warning.concerns_access for warning in warnings)


def _effect_lines(effect: Effect) -> Iterator[str]:
    yield escape_hidden(effect.kind)
    yield from _escaped_lines(effect.text.encode("utf-8", "surrogatepass"))
    for name, value in effect.arguments:
        yield f"{escape_hidden(name)}:"
        yield from (f"  {line}" for line in _escaped_lines(value.encode("utf-8", "surrogatepass")))


def _change_lines(proposal: ChangeSet) -> Iterator[str]:
    for change in proposal.changes:
        yield f"=== {type(change).__name__}: {change_name(change)}"
        yield from _diff_lines(change)
        yield ""


def _diff_lines(change: FileChange) -> Iterator[str]:
    name = change_name(change)
    text = unified_diff(compare(before_of(change) or b"", after_of(change) or b""), name, name)
    yield from _escaped_lines(text.encode("utf-8", "surrogateescape"))


def _escaped_lines(content: bytes) -> Iterator[str]:
    for line in content.splitlines(keepends=True):
        yield escape_line(line).text
