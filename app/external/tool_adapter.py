"""Build a registry tool from an allowed external tool; its calls are effects that need approval."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping

from app.external.arguments import translate_arguments
from app.external.names import category_id, tool_name
from app.external.remote_tool import RemoteTool
from app.external.results import RemoteResult
from app.external.sanitize import one_line
from app.external.schemas import sanitize_schema
from app.permissions.approval import Effect
from app.permissions.impact import EXTERNAL_TOOL
from app.settings import ExternalServer
from app.toolkit.context import ToolContext
from app.toolkit.proposal import EffectProposal
from app.toolkit.registry import AccessLevel, Category
from app.toolkit.tool import Tool

Check = Callable[[RemoteTool], Awaitable[None]]
"""Raises an error unless the tool is unchanged, still allowed and available."""
Call = Callable[[RemoteTool, dict[str, object]], Awaitable[RemoteResult]]

_MAX_CALLS_PER_MINUTE = 30
_CALL_TIMEOUT_S = 120.0


def category_for(server: ExternalServer) -> Category:
    """Return the category of a server's tools, with the highest level: their hints are not trusted."""
    name = f"{one_line(server.name, 60)} (external)"
    return Category(
        category_id(server.name), name, AccessLevel.EXECUTE, on=False, rate_per_minute=_MAX_CALLS_PER_MINUTE
    )


def adapt_tool(server: ExternalServer, tool: RemoteTool, check: Check, call: Call) -> Tool:
    """Return the registry tool for an external tool.

    Args:
        server: The tool's server.
        tool: The tool as the user allowed it.
        check: Called before the approval, and again before the call.
        call: Calls the server.

    Raises:
        LimitError, InvalidParametersError: its schema is not supported.
    """
    name = tool_name(server.name, tool.name)
    arguments = translate_arguments(sanitize_schema(tool.input_schema), name)

    async def propose(context: ToolContext, /, **values: object) -> EffectProposal[RemoteResult]:
        await check(tool)
        server_arguments = arguments.for_server(values)

        async def run() -> RemoteResult:
            await check(tool)
            return await call(tool, server_arguments)

        return context.propose_effect(call_effect(server, tool, server_arguments), run)

    return Tool(
        name=name,
        category=category_id(server.name),
        summary=f"{one_line(server.name, 60)}: {tool.summary}",
        description=tool.prompt_description(server.name),
        make_arguments=lambda: arguments.model,
        result=RemoteResult,
        make_schema=lambda: arguments.schema,
        parameters=arguments.parameters,
        examples=(),
        usage_rule="",
        proposes=True,
        changes_notes=False,
        function=propose,
        always_asks=True,
        timeout=_CALL_TIMEOUT_S,
        taints=True,
    )


def call_effect(server: ExternalServer, tool: RemoteTool, arguments: Mapping[str, object]) -> Effect:
    """Return the effect for the approval: the recipient, and exactly what is sent."""
    if server.transport == "http":
        origin = ("address", server.address)
    else:
        origin = ("program", " ".join([server.command, *server.arguments]))
    encoded = ((name, json.dumps(value, ensure_ascii=False)) for name, value in arguments.items())
    description = f"call {one_line(tool.name, 100)} on {one_line(server.name, 60)}"
    return Effect(EXTERNAL_TOOL, description, (origin, *encoded))
