"""Validate the arguments of a call, and build its outcome."""

from __future__ import annotations

from collections.abc import Mapping
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
from app.toolkit.outcome import UNTRUSTED_NOTICE, ToolOutcome
from app.toolkit.result import ToolResult
from app.vault.invisible_chars import escape_hidden

if TYPE_CHECKING:
    from app.toolkit.approval_gate import Rejected
    from app.toolkit.tool import Tool

_MAX_LISTED_UNKNOWN_ARGUMENTS = 10


def validate_arguments(tool: Tool, values: Mapping[str, object]) -> BaseModel:
    """Return the arguments as an instance of the tool's model.

    Raises:
        InvalidParametersError: They are invalid; `problems` says where and why.
    """
    try:
        return tool.arguments.model_validate(dict(values))
    except ValidationError as error:
        problems = [
            {"argument": ".".join(map(str, detail["loc"])), "problem": detail["msg"]}
            for detail in error.errors(include_url=False, include_input=False, include_context=False)
        ]
        first = "; ".join(f"{problem['argument']}: {problem['problem']}" for problem in problems[:3])
        raise InvalidParametersError(
            f"Invalid arguments for {tool.name}: {first}.",
            problems=problems,
            arguments=[parameter.name for parameter in tool.parameters],
        ) from error


def check_names_and_size(tool: Tool, values: Mapping[str, object]) -> None:
    """Check the arguments' names and number of values before each of them is validated.

    Raises:
        InvalidParametersError: Some are unknown; the error names the first few.
        LimitError: They hold too many values.
    """
    known_names = {parameter.name for parameter in tool.parameters}
    unknown = list(
        islice((name for name in values if name not in known_names), _MAX_LISTED_UNKNOWN_ARGUMENTS)
    )
    if unknown:
        missing = [
            parameter.name
            for parameter in tool.parameters
            if parameter.required and parameter.name not in values
        ]
        names = ", ".join(f"“{escape_hidden(name[:60])}”" for name in unknown)
        raise InvalidParametersError(
            f"Invalid arguments for {tool.name}: there is no argument {names}.",
            problems=[
                *({"argument": name[:60], "problem": "There is no such argument"} for name in unknown),
                *({"argument": name, "problem": "Field required"} for name in missing),
            ],
            arguments=sorted(known_names),
        )
    remaining = MAX_VALUES
    pending: list[object] = [values]
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping | list | tuple):
            remaining -= len(value)
            if remaining < 0:
                raise LimitError(f"{tool.name} takes at most {MAX_VALUES:,} values.", limit=MAX_VALUES)
            pending.extend(value.values() if isinstance(value, Mapping) else value)


def success_outcome(tool: Tool, result: ToolResult, extra: Mapping[str, object] | None = None) -> ToolOutcome:
    """Return the outcome of a successful call, with `extra` fields in addition to the tool's own."""
    fields = {**result.model_dump(mode="json", exclude={"message"}), **(extra or {})}
    untrusted = tool.taints or result.is_untrusted
    return ToolOutcome(True, fields, result.message, untrusted=untrusted, ends_turn=result.is_last)


def failure_outcome(error: ScriptoriumError) -> ToolOutcome:
    """Return the outcome of a failed call; text from outside in the error taints its reader."""
    notice = {"untrusted": UNTRUSTED_NOTICE} if error.has_outside_text else {}
    data = {**error.as_dict(), **notice}
    return ToolOutcome(False, message=error.message, error=data, untrusted=error.has_outside_text)


def rejected_outcome(rejected: Rejected) -> ToolOutcome:
    """Return the outcome of a call that the gate rejected."""
    if rejected.by_user:
        return ToolOutcome(False, message=rejected.message, denied=True, words=rejected.words)
    kind = TimeoutExpiredError if rejected.decision is AuditDecision.TIMED_OUT else PermissionDeniedError
    error = kind(rejected.message, reason=rejected.decision.value).as_dict()
    is_unanswered = rejected.decision is not AuditDecision.RULE
    return ToolOutcome(False, message=rejected.message, error=error, denied=is_unanswered)


def outcome_without_changes(tool: Tool, result: ToolResult, rejected: Rejected) -> ToolOutcome:
    """Return the outcome of a call whose changes were rejected but which has a result without them."""
    outcome = success_outcome(tool, result, {"changes_refused": rejected.message})
    return replace(outcome, message=f"{result.message} {rejected.message}".strip(), words=rejected.words)
