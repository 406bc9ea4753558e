"""Notes and memory blocks as resources. Reading one calls the tool that reads it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

import mcp_types as t
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from app.errors import LimitError, ScriptoriumError
from app.servers.mcp_progress import Context
from app.servers.mcp_uris import (
    BLOCK_TEMPLATE,
    NOTE_TEMPLATE,
    ResourceAddress,
    block_uri,
    note_uri,
    parse_uri,
)
from app.toolkit.outcome import ToolOutcome

if TYPE_CHECKING:
    from app.servers.mcp_context import McpContext

log = logging.getLogger(__name__)

READ_NOTE_TOOL, BLOCK_TOOL = "read_note", "block"
_MARKDOWN = "text/markdown"
_NOT_FOUND_2025 = -32002
_MAX_PARTS = 64
_MAX_READ_CHARS = 200_000
"""Maximum number of characters that read_note returns; longer lines are truncated."""
Result = dict[str, Any]


async def list_resources(
    context: McpContext, ctx: Context, params: t.PaginatedRequestParams | None
) -> Result:
    """Return a page of the notes that the client may see; the first page starts with its blocks.

    Raises:
        MCPError: the notes can't be listed.
    """
    after = (params.cursor if params is not None else None) or ""
    try:
        blocks = await _list_blocks(context, ctx) if not after else []
        page = await context.service.notes(context.client(ctx), after)
    except ScriptoriumError as error:
        raise _protocol_error(ctx, error, "") from error
    result: Result = {"resources": [*blocks, *map(_note_resource, page.paths)]}
    return {**result, "nextCursor": page.next} if page.next else result


async def list_templates(
    context: McpContext, ctx: Context, params: t.PaginatedRequestParams | None
) -> Result:
    """Return the URI templates for notes and blocks, if the client may read them.

    Raises:
        LimitError: there are too many clients.
    """
    note = {
        "uriTemplate": NOTE_TEMPLATE,
        "name": "note",
        "title": "A note",
        "description": "A note, given its path (Ideas/Tea.md) or its name (Tea).",
        "mimeType": _MARKDOWN,
    }
    block = {
        "uriTemplate": BLOCK_TEMPLATE,
        "name": "block",
        "title": "A memory block",
        "description": "A memory block, given its label.",
        "mimeType": "text/plain",
    }
    templates = [note] if await context.has_tools(ctx, READ_NOTE_TOOL) else []
    if await context.has_tools(ctx, BLOCK_TOOL):
        templates.append(block)
    return {"resourceTemplates": templates}


async def read_resource(context: McpContext, ctx: Context, params: t.ReadResourceRequestParams) -> Result:
    """Return the content of a resource.

    Raises:
        MCPError: there is no such resource, the client may not read it, or it is too long.
    """
    address = parse_uri(params.uri)
    if address is None:
        raise _not_found_error(ctx, params.uri, "There is no resource with this URI.")
    try:
        text = await _read_text(context, ctx, address)
    except ScriptoriumError as error:
        raise _protocol_error(ctx, error, params.uri) from error
    mime_type = _MARKDOWN if address.kind == "note" else "text/plain"
    return {"contents": [{"uri": params.uri, "mimeType": mime_type, "text": text}]}


async def _read_text(context: McpContext, ctx: Context, address: ResourceAddress) -> str:
    if address.kind == "block":
        outcome = await context.call(ctx, BLOCK_TOOL, {"op": "load", "label": address.name})
        return str(_check_result(outcome).get("text") or "")
    parts: list[str] = []
    start = 1
    for _ in range(_MAX_PARTS):
        arguments = {"name": address.name, "start_line": start}
        result = _check_result(await context.call(ctx, READ_NOTE_TOOL, arguments))
        parts.append(str(result["text"]))
        end, total = cast("int", result["end_line"]), cast("int", result["total_lines"])
        is_cut = len(parts[-1]) >= _MAX_READ_CHARS and not parts[-1].endswith("\n")
        if end >= total and not is_cut:
            return "".join(parts)
        if is_cut:
            break
        start = end + 1
    raise LimitError("The note is too long for a resource. Read it in parts with read_note.")


async def _list_blocks(context: McpContext, ctx: Context) -> list[Result]:
    if not await context.has_tools(ctx, BLOCK_TOOL):
        return []
    outcome = await context.call(ctx, BLOCK_TOOL, {"op": "list"})
    if not outcome.success:
        log.info("could not list the memory blocks: %s", outcome.message)
        return []
    return [
        _block_resource(block) for block in cast("list[dict[str, Any]]", outcome.result.get("blocks", []))
    ]


def _block_resource(block: dict[str, Any]) -> Result:
    label = str(block["label"])
    description = str(block.get("description") or f"A memory block ({block['kind']}).")
    return {
        "uri": block_uri(label),
        "name": label,
        "title": label,
        "description": description,
        "mimeType": "text/plain",
    }


def _note_resource(path: str) -> Result:
    name = path.rpartition("/")[2].removesuffix(".md")
    return {"uri": note_uri(path), "name": path, "title": name, "mimeType": _MARKDOWN}


class _CallFailedError(ScriptoriumError):
    """A tool call failed; `kind` is the type of its error."""


def _check_result(outcome: ToolOutcome) -> dict[str, Any]:
    """Return the result of a call.

    Raises:
        _CallFailedError: the call failed.
    """
    if outcome.success:
        return dict(outcome.result)
    raise _CallFailedError(outcome.message, kind=(outcome.error or {}).get("type", "denied"))


def _protocol_error(ctx: Context, error: ScriptoriumError, uri: str) -> MCPError:
    """Convert an app error to a protocol error."""
    kind = str(error.data.get("kind", error.type))
    if kind in ("not_found", "ambiguous"):
        return _not_found_error(ctx, uri, error.message)
    code = t.INVALID_PARAMS if kind == "invalid_parameters" else t.INTERNAL_ERROR
    return MCPError(code, error.message, {"uri": uri, "type": kind})


def _not_found_error(ctx: Context, uri: str, message: str) -> MCPError:
    """Return a not-found error, whose code depends on the protocol version."""
    code = t.INVALID_PARAMS if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else _NOT_FOUND_2025
    return MCPError(code, message, {"uri": uri})
