"""Completion of the names of notes, tags and blocks in URIs and prompt arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as t
from mcp.shared.exceptions import MCPError

from app.errors import ScriptoriumError
from app.servers.mcp_progress import Context
from app.servers.mcp_prompts import PROMPTS
from app.servers.mcp_uris import BLOCK_TEMPLATE, NOTE_TEMPLATE
from app.servers.vault_access import NameKind

if TYPE_CHECKING:
    from app.servers.mcp_context import McpContext

_MAX_COMPLETIONS = 100
_TEMPLATE_KINDS: dict[tuple[str, str], NameKind] = {
    (NOTE_TEMPLATE, "path"): "note",
    (BLOCK_TEMPLATE, "label"): "block",
}


async def complete(context: McpContext, ctx: Context, params: t.CompleteRequestParams) -> dict[str, Any]:
    """Return up to 100 completions of the typed text; none for a free-text argument.

    Raises:
        MCPError: there is no such prompt or template, or the vault can't complete the text.
    """
    kind = _name_kind(params)
    if kind is None:
        return {"completion": {"values": [], "total": 0, "hasMore": False}}
    try:
        names = await context.service.complete(context.client(ctx), kind, params.argument.value)
    except ScriptoriumError as error:
        raise MCPError(t.INTERNAL_ERROR, error.message) from error
    return {"completion": {"values": names[:_MAX_COMPLETIONS], "hasMore": len(names) >= _MAX_COMPLETIONS}}


def _name_kind(params: t.CompleteRequestParams) -> NameKind | None:
    ref, name = params.ref, params.argument.name
    if isinstance(ref, t.PromptReference):
        prompt = PROMPTS.get(ref.name)
        if prompt is None:
            raise MCPError(t.INVALID_PARAMS, f"There is no prompt called {ref.name}.")
        return prompt.kind_of(name)
    if ref.uri not in (NOTE_TEMPLATE, BLOCK_TEMPLATE):
        raise MCPError(t.INVALID_PARAMS, "There is no resource template with this URI.")
    return _TEMPLATE_KINDS.get((ref.uri, name))
