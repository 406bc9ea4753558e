"""Category agents: list the tools, and list or cancel pending operations."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from rapidfuzz import fuzz, utils

from app.permissions.pending import PendingOperation, PendingState
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import Limit
from app.toolkit.outcome import is_untrusted
from app.toolkit.pending import PendingOperations
from app.toolkit.result import ToolResult
from app.toolkit.services import AgentContext
from app.toolkit.tool import Tool, tool

_MIN_MATCH_SCORE = 55.0


class ListedTool(BaseModel):
    """A tool that the caller may call."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    category: str
    summary: str
    proposes: bool
    operations: list[str]


class ListedTools(ToolResult):
    """Tools, with the best match first if there is a query."""

    tools: list[ListedTool]


class ListedOperation(BaseModel):
    """An operation that is waiting for the user, is running or has ended; times are in Unix seconds."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    pending_operation_id: str
    tool: str
    state: str
    created: float
    expires: float
    requires_confirmation: bool
    operation: str = ""
    details: dict[str, JsonValue] = Field(default_factory=dict)
    outcome: dict[str, JsonValue] | None = None


class ListedOperations(ToolResult):
    """The caller's operations, newest first; for the user, all open operations, oldest first."""

    operations: list[ListedOperation]


@tool(
    category="agents",
    examples=("which tools are there", "list all the tools there are", "which tool can {query}"),
)
async def list_tools(context: AgentContext, query: str = "", limit: Limit = 50) -> ListedTools:
    """List the tools that you may call, best matches for a query first.

    Args:
        query: Words that describe the task; empty for all tools.
        limit: The maximum number of results.
    """
    available_tools = context.services.registry.tools(context.caller)
    if query.strip():
        ranked = sorted(
            ((_match_score(query, candidate), candidate) for candidate in available_tools),
            key=lambda pair: -pair[0],
        )
        available_tools = [candidate for score, candidate in ranked if score >= _MIN_MATCH_SCORE]
    entries = [
        ListedTool(
            name=candidate.name,
            category=candidate.category,
            summary=candidate.summary,
            proposes=candidate.proposes,
            operations=list(candidate.operations),
        )
        for candidate in available_tools[:limit]
    ]
    return ListedTools(tools=entries, message=f"{pluralize(len(available_tools), 'tool')}.")


def _match_score(query: str, candidate: Tool) -> float:
    """Score a tool against a query, from 0 to 100, by its name, summary and examples."""
    texts = (candidate.name.replace("_", " "), candidate.summary, *candidate.examples)
    return max(fuzz.token_set_ratio(query, text, processor=utils.default_process) for text in texts)


@tool(
    category="agents",
    examples={"list": ("what is still waiting?", "show what is pending", "list the pending operations")},
    operations={"list": "", "status": "pending_operation_id", "cancel": "pending_operation_id"},
    usage_rule=(
        "pending returns the state of a change that is waiting for the user; only the user can decide."
    ),
)
async def pending(
    context: AgentContext, op: Literal["list", "status", "cancel"], pending_operation_id: str | None = None
) -> ListedOperations:
    """List your own operations that are waiting for the user's decision, or cancel one.

    Args:
        op: list the operations, return the status of one, or cancel one that is still undecided.
        pending_operation_id: The id that the call returned when it did not wait.
    """
    operations = context.services.pending
    if op == "list":
        own_operations = operations.list_for(context.caller)
        open_count = sum(operation.state.is_open for operation in own_operations)
        entries = [_to_entry(operation, operations) for operation in own_operations]
        return _mark_untrusted(ListedOperations(operations=entries, message=f"{open_count} open."))
    operation_id = pending_operation_id or ""
    if op == "cancel":
        operation = await operations.cancel(operation_id, context.caller)
    else:
        operation = operations.status(operation_id, context.caller)
    message = f"{operation.tool} is {operation.state.value}."
    return _mark_untrusted(ListedOperations(operations=[_to_entry(operation, operations)], message=message))


def _mark_untrusted(result: ListedOperations) -> ListedOperations:
    """Mark a list as untrusted if an operation returned text from outside the vault."""
    outcomes = [operation.outcome for operation in result.operations if operation.outcome is not None]
    return result.from_outside() if any(is_untrusted(outcome) for outcome in outcomes) else result


def _to_entry(operation: PendingOperation, operations: PendingOperations) -> ListedOperation:
    details = operations.details(operation.id)
    outcome = dict(operation.outcome) if operation.outcome is not None else None
    return ListedOperation.model_validate(
        {
            "pending_operation_id": operation.id,
            "tool": operation.tool,
            "state": operation.state.value,
            "created": operation.created,
            "expires": operation.expires,
            "requires_confirmation": operation.state is PendingState.WAITING,
            "operation": details.get("operation", ""),
            "details": dict(details),
            "outcome": outcome,
        }
    )
