"""Tool calls over MCP: arguments, progress, and outcomes as MCP results."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mcp_types as t
from mcp.shared.exceptions import MCPError

from app.errors import ScriptoriumError
from app.servers.mcp_progress import Context, ProgressReporter
from app.servers.mcp_tools import McpTool, ToolCallRequest
from app.toolkit.outcome import ToolOutcome

if TYPE_CHECKING:
    from app.servers.mcp_context import McpContext

log = logging.getLogger(__name__)

_INVALID_RESULT_MESSAGE = "The result of {tool} does not match its schema ({problem}), so it was omitted."
Result = dict[str, Any]
# Created once: `json.dumps` with these options creates one for each call.
_TEXT_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)


async def list_tools(context: McpContext, ctx: Context, params: t.PaginatedRequestParams | None) -> Result:
    """Return the tools that the client may call, on one page: few clients ask for a second one."""
    tools = await context.session(ctx).tools()
    return {"tools": [tool.wire for tool in tools.values()]}


async def call_tool(
    context: McpContext, ctx: Context, params: t.CallToolRequestParams
) -> Result | t.InputRequiredResult:
    """Call a tool.

    Returns:
        The outcome, or a request for the user's input if the client must ask the user first.

    Raises:
        MCPError: there is no such tool; the audit log records that too.
    """
    client, arguments = context.client(ctx), params.arguments or {}
    tool = (await context.session(ctx).tools()).get(params.name)
    try:
        request = (
            tool.parse_call(arguments, ctx.meta or {})
            if tool is not None
            else ToolCallRequest(arguments, "wait", "")
        )
    except ScriptoriumError as error:
        return error_result(error)
    reporter = ProgressReporter(ctx, context.heartbeat)

    async def work() -> ToolOutcome:
        call = context.service.call(
            client,
            params.name,
            request.arguments,
            wait_mode=request.wait_mode,
            claim=request.claim,
            progress=reporter.report,
        )
        return await call

    try:
        outcome = await reporter.run(
            context.elicitation.run(
                ctx, params, client, (params.name, arguments), work, reporter.report_question
            )
        )
    except ScriptoriumError as error:
        return error_result(error)
    if isinstance(outcome, t.InputRequiredResult):
        return outcome
    if tool is None and (outcome.error or {}).get("type") == "not_found":
        raise MCPError(t.INVALID_PARAMS, outcome.message, dict(outcome.error or {}))
    return outcome_result(outcome, tool)


def outcome_result(outcome: ToolOutcome, tool: McpTool | None) -> Result:
    """Convert an outcome to an MCP result.

    A denial by the user is not an error; data that violates the tool's output schema is one.
    """
    data = outcome.as_dict()
    if outcome.error is not None and not outcome.success:
        return _result(data, is_error=True)
    if tool is not None and (problem := tool.find_problem(data)):
        log.error("%s violates its output schema: %s", tool.descriptor.name, problem)
        message = _INVALID_RESULT_MESSAGE.format(tool=tool.descriptor.name, problem=problem)
        commit = {"commit": outcome.commit} if outcome.commit is not None else {}
        error = {"type": "internal", "message": message, **commit}
        return _result({"success": False, "error": error}, is_error=True)
    return _result(data)


def error_result(error: ScriptoriumError) -> Result:
    """Convert an error to an MCP result."""
    return _result({"success": False, "error": error.as_dict()}, is_error=True)


def _result(data: Mapping[str, object], *, is_error: bool = False) -> Result:
    """Return `data` as structured content, and as text for clients that do not support it."""
    return {
        "content": [{"type": "text", "text": _TEXT_ENCODER.encode(data)}],
        "structuredContent": data,
        "isError": is_error,
    }
