"""A call's arguments as the tool takes them, and what comes of a call as an outcome."""

from __future__ import annotations

import logging
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from app.encoding import MAX_VALUES
from app.errors import (
    InvalidParametersError,
    LimitError,
    PermissionDeniedError,
    ScriptoriumError,
    TimeoutExpiredError,
)
from app.permissions.audit_entry import AuditDecision
from app.toolkit.call_record import CallRecord
from app.toolkit.outcome import UNTRUSTED_NOTICE, ToolOutcome
from app.toolkit.result import ToolResult

if TYPE_CHECKING:
    from app.toolkit.approval_gate import Rejected
    from app.toolkit.tool import Tool

log = logging.getLogger(__name__)

MAX_LISTED_UNKNOWN = 10
"""How many unknown arguments an error names."""


async def capture_errors(record: CallRecord, work: Coroutine[object, object, ToolOutcome]) -> ToolOutcome:
    """The outcome of `work`; its errors become data."""
    try:
        return await work
    except ScriptoriumError as error:
        record.fail(f"{error.type}: {error.message}")
        return failure(error)
    except Exception as error:
        log.exception("%s failed", record.tool)
        record.fail(f"internal: {type(error).__name__}")
        message = f"{record.tool} failed by a mistake of the app ({type(error).__name__})."
        return ToolOutcome(False, message=message, error={"type": "internal", "message": message})


def validate_arguments(tool: Tool, given: Mapping[str, object]) -> BaseModel:
    """The arguments as the tool's model.

    Raises:
        InvalidParametersError: they are not what the tool takes; `problems` says where and why.
    """
    try:
        return tool.arguments.model_validate(dict(given))
    except ValidationError as error:
        problems = [
            {"argument": ".".join(map(str, one["loc"])), "problem": one["msg"]}
            for one in error.errors(include_url=False, include_input=False, include_context=False)
        ]
        first = "; ".join(f"{one['argument']}: {one['problem']}" for one in problems[:3])
        raise InvalidParametersError(
            f"{tool.name} was called wrongly: {first}.",
            problems=problems,
            arguments=[parameter.name for parameter in tool.parameters],
        ) from error


def check_size(tool: Tool, given: Mapping[str, object]) -> None:
    """Refuse unknown and too many arguments before each of them is looked at and reported.

    Raises:
        InvalidParametersError: some are unknown; the first few are named.
        LimitError: they hold too many values.
    """
    known = {parameter.name for parameter in tool.parameters}
    unknown = list(islice((name for name in given if name not in known), MAX_LISTED_UNKNOWN))
    if unknown:
        missing = [one.name for one in tool.parameters if one.required and one.name not in given]
        names = ", ".join(repr(name[:60]) for name in unknown)
        raise InvalidParametersError(
            f"{tool.name} was called wrongly: it takes no argument {names}.",
            problems=[
                *({"argument": name[:60], "problem": "There is no such argument"} for name in unknown),
                *({"argument": name, "problem": "Field required"} for name in missing),
            ],
            arguments=sorted(known),
        )
    left = MAX_VALUES
    pending: list[object] = [given]
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping | list | tuple):
            left -= len(value)
            if left < 0:
                raise LimitError(f"{tool.name} takes {MAX_VALUES:,} values at most.", limit=MAX_VALUES)
            pending.extend(value.values() if isinstance(value, Mapping) else value)


def success(tool: Tool, result: ToolResult, extra: Mapping[str, object] | None = None) -> ToolOutcome:
    """The outcome of a call that did what it was to do; `extra` fields stand beside the tool's own."""
    fields = {**result.model_dump(mode="json", exclude={"message"}), **(extra or {})}
    untrusted = tool.taints or result.is_untrusted
    return ToolOutcome(True, fields, result.message, untrusted=untrusted, ends_turn=result.is_last)


def failure(error: ScriptoriumError) -> ToolOutcome:
    """The outcome of a call that failed; what somebody outside said of it taints who reads it."""
    marks = {"untrusted": UNTRUSTED_NOTICE} if error.has_outside_text else {}
    told = {**error.as_dict(), **marks}
    return ToolOutcome(False, message=error.message, error=told, untrusted=error.has_outside_text)


def rejected_outcome(refused: Rejected) -> ToolOutcome:
    """The outcome of a call that the gate has refused."""
    if refused.by_user:
        return ToolOutcome(False, message=refused.message, denied=True, words=refused.words)
    kind = TimeoutExpiredError if refused.decided is AuditDecision.TIMED_OUT else PermissionDeniedError
    error = kind(refused.message, reason=refused.decided.value).as_dict()
    unanswered = refused.decided is not AuditDecision.RULE
    return ToolOutcome(False, message=refused.message, error=error, denied=unanswered)


def without_changes(tool: Tool, result: ToolResult, refused: Rejected) -> ToolOutcome:
    """The outcome of a call whose changes were refused and which has come to something without them."""
    made = success(tool, result, {"changes_refused": refused.message})
    return replace(made, message=f"{result.message} {refused.message}".strip(), words=refused.words)
