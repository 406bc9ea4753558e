"""The tools that a server lists, as far as they can be taken."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from app.errors import LimitError, ScriptoriumError
from app.external.foreign_text import one_line
from app.external.foreign_tool import ForeignTool
from app.external.schemas import checked_schema
from app.external.shown_schema import shown_schema

if TYPE_CHECKING:
    from mcp.client import ClientSession
    from mcp_types import Tool as ListedTool

MOST_TOOLS = 200
"""How many tools of one server are taken."""
_MOST_PAGES = 50
_LONGEST_NAME, _LONGEST_DESCRIPTION = 200, 20_000


@dataclass(frozen=True, slots=True)
class Listing:
    """What a server offers: tools by their names, and why others were left out."""

    tools: Mapping[str, ForeignTool]
    problems: tuple[str, ...] = ()


async def read_listing(session: ClientSession) -> Listing:
    """Ask a server for all of its tools, and take those that can be taken."""
    from mcp_types import PaginatedRequestParams

    listed: list[ListedTool] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        listed += page.tools
        cursor = page.next_cursor
        if not cursor or len(listed) > MOST_TOOLS:
            break
    return await asyncio.to_thread(taken, listed, more=bool(cursor))


def taken(listed: list[ListedTool], *, more: bool = False) -> Listing:
    """What is taken of a list; of two tools with one name neither is, as a call could mean either."""
    tools: dict[str, ForeignTool] = {}
    problems: list[str] = []
    names = [one.name for one in listed]
    for one in listed[:MOST_TOOLS]:
        shown = one_line(one.name, 60) or "(no name)"
        if names.count(one.name) > 1:
            problems.append(f"{shown}: there are several tools of this name.")
            continue
        try:
            tools[one.name] = _read(one)
        except (ScriptoriumError, ValidationError, TypeError, ValueError) as error:
            problems.append(f"{shown}: {_why(error)}")
    if more or len(listed) > MOST_TOOLS:
        problems.append(f"It offers more than {MOST_TOOLS} tools: the rest is left out.")
    return Listing(tools, tuple(dict.fromkeys(problems)))


def _why(error: Exception) -> str:
    if isinstance(error, ScriptoriumError):
        return error.message
    return f"what it says of itself can't be read ({type(error).__name__})."


def _read(one: ListedTool) -> ForeignTool:
    if not one.name or len(one.name) > _LONGEST_NAME:
        raise LimitError(f"Its name is empty or longer than {_LONGEST_NAME} characters.")
    description = one.description or ""
    if len(description) > _LONGEST_DESCRIPTION:
        raise LimitError(f"Its description is longer than {_LONGEST_DESCRIPTION} characters.")
    shown_schema(checked_schema(one.input_schema), "tool")
    if one.output_schema is not None:
        checked_schema(one.output_schema)
    hints = one.annotations.model_dump(by_alias=True, exclude_none=True) if one.annotations else {}
    return ForeignTool(
        name=one.name,
        title=(one.title or "")[:_LONGEST_NAME],
        description=description,
        input_schema=one.input_schema,
        output_schema=one.output_schema,
        hints={key: value for key, value in hints.items() if isinstance(value, bool)},
    )
