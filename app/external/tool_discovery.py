"""List a server's tools and accept the usable ones."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from app.errors import LimitError, ScriptoriumError
from app.external.remote_tool import RemoteTool
from app.external.sanitize import one_line
from app.external.schema_simplifier import simplify_schema
from app.external.schemas import sanitize_schema

if TYPE_CHECKING:
    from mcp.client import ClientSession
    from mcp_types import Tool as ListedTool

MAX_TOOLS = 200
"""Maximum number of tools accepted from one server."""
_MAX_PAGES = 50
_MAX_NAME_CHARS = 200
_MAX_DESCRIPTION_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class ToolListing:
    """The tools of a server by name, and why others were left out."""

    tools: Mapping[str, RemoteTool]
    problems: tuple[str, ...] = ()


async def list_tools(session: ClientSession) -> ToolListing:
    """Ask a server for its tools, page by page up to a limit, and return the usable ones."""
    from mcp_types import PaginatedRequestParams

    tools: list[ListedTool] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        tools += page.tools
        cursor = page.next_cursor
        if not cursor or len(tools) > MAX_TOOLS:
            break
    return await asyncio.to_thread(accept_tools, tools, has_more=bool(cursor))


def accept_tools(listed_tools: list[ListedTool], *, has_more: bool = False) -> ToolListing:
    """Return the usable tools of a list; tools that share a name are left out, because they are ambiguous."""
    tools: dict[str, RemoteTool] = {}
    problems: list[str] = []
    names = [tool.name for tool in listed_tools]
    for tool in listed_tools[:MAX_TOOLS]:
        label = one_line(tool.name, 60) or "(no name)"
        if names.count(tool.name) > 1:
            problems.append(f"{label}: several tools have this name.")
            continue
        try:
            tools[tool.name] = _to_remote_tool(tool)
        except (ScriptoriumError, ValidationError, TypeError, ValueError) as error:
            problems.append(f"{label}: {_error_text(error)}")
    if has_more or len(listed_tools) > MAX_TOOLS:
        count = min(len(listed_tools), MAX_TOOLS)
        problems.append(f"The server offers more than {count} tools; the others are left out.")
    return ToolListing(tools, tuple(dict.fromkeys(problems)))


def _error_text(error: Exception) -> str:
    if isinstance(error, ScriptoriumError):
        return error.message
    return f"its description can't be parsed ({type(error).__name__})."


def _to_remote_tool(tool: ListedTool) -> RemoteTool:
    if not tool.name or len(tool.name) > _MAX_NAME_CHARS:
        raise LimitError(f"Its name is empty or longer than {_MAX_NAME_CHARS} characters.")
    description = tool.description or ""
    if len(description) > _MAX_DESCRIPTION_CHARS:
        raise LimitError(f"Its description is longer than {_MAX_DESCRIPTION_CHARS} characters.")
    simplify_schema(sanitize_schema(tool.input_schema), "tool")
    if tool.output_schema is not None:
        sanitize_schema(tool.output_schema)
    hints = tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations else {}
    return RemoteTool(
        name=tool.name,
        title=(tool.title or "")[:_MAX_NAME_CHARS],
        description=description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        hints={key: value for key, value in hints.items() if isinstance(value, bool)},
    )
