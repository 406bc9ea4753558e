"""Category memory: manage an agent's memory blocks, and select those that its context shows."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.errors import ConflictError, InvalidParametersError, NotFoundError
from app.memory import changes
from app.memory.block import Block, BlockType, BlockView, Permission
from app.memory.schema import parse_schema, schema_json
from app.memory.serialization import parse_block
from app.memory.store import MemoryStore
from app.permissions.pluralize import pluralize
from app.toolkit.memory_service import Memory, VisibleBlocks, agent_key
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.services import MemoryContext
from app.toolkit.tool import tool
from app.tools.source_files import readable_copy
from app.vault.changes import ChangeSet, after_of

Label = Annotated[str, Field(min_length=1, max_length=200)]
LineNumber = Annotated[int, Field(ge=1, le=10_000_000)]
Permissions = Literal["read_only", "partner", "human", "append", "read_write", "admin"]


class BlockInfo(BaseModel):
    """Information about a block; `size` is in characters, `permission` is the caller's."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    label: str
    type: str
    kind: str
    permission: str
    owner: str
    size: int
    pinned: bool
    description: str = ""
    shares: dict[str, str] = Field(default_factory=dict)


class BlockResult(ToolResult):
    """One or several blocks; `text` is set if the block was read, `layout` is its schema.

    `leaves_context`: the block is not pinned, so its text leaves the context after the turn.
    """

    blocks: list[BlockInfo] = Field(default_factory=list)
    text: str | None = None
    start_line: int | None = None
    total_lines: int | None = None
    layout: dict[str, JsonValue] | None = None
    leaves_context: bool = False


@tool(
    category="memory",
    examples={
        "list": ("list the memory blocks", "which memory blocks are there?", "show my memory blocks"),
        "load": ("load the memory block {label}", "show the memory block {label}"),
        "pin": ("pin the memory block {label}",),
        "unpin": ("unpin the memory block {label}",),
        "archive": ("archive the memory block {label}", "put away the memory block {label}"),
        "info": ("info about the memory block {label}",),
        "create": ("make a memory block called {label}", "new memory block {label}"),
        "delete": ("delete the memory block {label}",),
    },
    read_operations=("list", "load", "info"),
    operations={
        "list": "",
        "load": "label source_id?",
        "pin": "label",
        "unpin": "label",
        "archive": "label",
        "info": "label",
        "viewport": "label start_line display_lines",
        "share": "label agent permission",
        "unshare": "label agent",
        "create": "label content? type? layout? permission? description?",
        "delete": "label",
    },
    usage_rule=(
        "block manages memory that lasts beyond this conversation: load reads a block, pin keeps "
        "it in your context, create creates one; edit it with block_edit."
    ),
)
async def block(
    context: MemoryContext,
    op: Literal[
        "list", "load", "pin", "unpin", "archive", "info", "viewport", "share", "unshare", "create", "delete"
    ],
    label: Label | None = None,
    source_id: str | None = None,
    start_line: LineNumber | None = None,
    display_lines: LineNumber | None = None,
    agent: Label | None = None,
    permission: Permissions | None = None,
    content: str | None = None,
    type: Literal["core", "working", "archival", "log"] | None = None,
    layout: dict[str, JsonValue] | None = None,
    description: Annotated[str, Field(max_length=2000)] | None = None,
) -> Proposal[BlockResult]:
    """Manage the blocks of your memory: read, pin, archive, share, create and delete them.

    Args:
        op: load reads a block and restores an archived one; pin keeps it in your context, unpin removes it
            after the turn; archive archives it; info returns its layout and permission; viewport selects the
            lines in your context; share and unshare grant and revoke another agent's access; list
            returns all blocks; create and delete create or delete one.
        label: The block; with source_id, a file's path in that folder.
        source_id: For load: the external folder with the file `label`, by id or name.
        start_line: The first visible line, from 1.
        display_lines: The number of visible lines.
        agent: The agent to share with.
        permission: What that agent may do with the block; for create, what you may do.
        content: The content of a new block.
        type: The type of a new block: core, working (the default), archival or log.
        layout: The layout of a new block, such as {"kind": "list", "max_items": 50}; text by default. Kinds:
            text, list, log (display_limit), map (fields with name, kind, read_only, required, default) and
            composite (sections with name, content, read_only).
        description: What a new block is for, in a sentence.
    """
    memory, own_agent = context.services.memory, agent_key(context.caller)
    if op == "list":
        return context.propose(ChangeSet(()), _list_blocks(blocks_of(context), own_agent))
    if op == "create":
        new_block = Block.new(
            own_agent,
            label or "",
            block_type=BlockType(type or "working"),
            schema=parse_schema(layout) if layout else None,
            permission=Permission(permission or "read_write"),
            description=description or "",
            text=content,
        )
        return _create(context, memory, new_block)
    if op == "load" and source_id is not None:
        return await asyncio.to_thread(_load_file, context, memory.store, source_id, label or "")
    selected = blocks_of(context).block(label or "", own_agent)
    if op == "viewport":
        view = replace(selected.view_of(own_agent), start=start_line or 1, lines=display_lines)
        return _select_lines(context, selected, selected.with_view(own_agent, view))
    if op in ("share", "unshare"):
        # A share with an agent that no longer exists can still be revoked.
        is_known_share = op == "unshare" and agent in selected.shares
        other_agent = (agent or "") if is_known_share else memory.agent(agent or "")
        shared = _with_share(selected, other_agent, Permission(permission) if permission else None)
        relation = "shared with" if op == "share" else "no longer shared with"
        message = f"{selected.label} is {relation} {other_agent}."
        return _propose_edit(
            context, selected, shared, message, f"{op.capitalize()} {selected.label} ({other_agent})"
        )
    return _run_operation(context, op, selected)


def _run_operation(context: MemoryContext, op: str, block: Block) -> Proposal[BlockResult]:
    """Return the proposal for an operation that needs no argument but the block."""
    agent = agent_key(context.caller)
    match op:
        case "load":
            return _load(context, block, agent)
        case "info":
            return context.propose(ChangeSet(()), _describe_block(block, agent))
        case "pin" | "unpin":
            view = replace(block.view_of(agent), pinned=op == "pin")
            message = f"{block.label} {'is pinned' if op == 'pin' else 'leaves the context after the turn'}."
            title = f"{op.capitalize()} {block.label}"
            return _propose_edit(context, block, block.with_view(agent, view), message, title)
        case "archive":
            return _propose_edit(
                context,
                block,
                archive_block(block),
                f"{block.label} is archived.",
                f"Archive {block.label}",
            )
        case _:
            return _delete(context, block)


def blocks_of(context: MemoryContext) -> VisibleBlocks:
    """Return the blocks that the caller may read."""
    return VisibleBlocks(context.services.memory.store, context.can_read)


def _delete(context: MemoryContext, block: Block) -> Proposal[BlockResult]:
    if not block.is_stored:
        message = f"The block {block.label!r} is still empty; nothing was deleted."
        raise NotFoundError(message, label=block.label)
    result = BlockResult(message=f"Deleted the block {block.label}.")
    return context.propose(changes.delete_block(block), result)


def _list_blocks(blocks: VisibleBlocks, agent: str) -> BlockResult:
    visible = blocks.blocks(agent)
    return BlockResult(
        blocks=[info_of(visible_block, agent) for visible_block in visible],
        message=f"{pluralize(len(visible), 'block')} in memory.",
    )


def info_of(block: Block, agent: str) -> BlockInfo:
    """Return information about a block."""
    return BlockInfo(
        label=block.label,
        type=block.type.value,
        kind=block.schema.kind,
        permission=str(block.permission_of(agent) or "none"),
        owner=block.owner,
        size=block.size,
        pinned=block.view_of(agent).pinned,
        description=block.description,
        shares={name: shared.value for name, shared in block.shares.items()},
    )


def _create(context: MemoryContext, memory: Memory, new_block: Block) -> Proposal[BlockResult]:
    existing = memory.store.block_at(new_block.path)
    if existing is not None:
        raise ConflictError(f"A block named {existing.label!r} already exists.", label=existing.label)
    result = BlockResult(
        blocks=[info_of(new_block, new_block.owner)], message=f"Created the block {new_block.label}."
    )
    return context.propose(changes.create_block(new_block), result)


def _load_file(
    context: MemoryContext, store: MemoryStore, source_id: str, path: str
) -> Proposal[BlockResult]:
    """Load an external file, as the `file` tool does, and return it as a block."""
    agent = agent_key(context.caller)
    copy = readable_copy(context, source_id, path)
    change_set = copy.load()
    after = next((after_of(change) for change in change_set.changes), None)
    block = parse_block(after) if after is not None else store.block(copy.label, agent)
    result = BlockResult(
        blocks=[info_of(block, agent)],
        text=block.text_for(agent),
        start_line=block.view_of(agent).start,
        total_lines=len(block.text.splitlines()),
        leaves_context=not block.view_of(agent).pinned,
        message=f"Loaded {copy.path} as {block.label}." if change_set else f"{copy.path} is already loaded.",
    )
    return context.propose(change_set, result.from_outside())


def _load(context: MemoryContext, block: Block, agent: str) -> Proposal[BlockResult]:
    after = replace(block, type=BlockType.WORKING) if block.type is BlockType.ARCHIVAL else block
    view = after.view_of(agent)
    result = BlockResult(
        blocks=[info_of(after, agent)],
        text=after.text_for(agent),
        start_line=view.start,
        total_lines=len(after.text.splitlines()),
        leaves_context=not view.pinned,
        message=f"{after.label}: {pluralize(after.size, 'character')}.",
    )
    change = changes.edit_block(block, after, f"Restore {block.label}") if after != block else ChangeSet(())
    return context.propose(change, _mark_untrusted(result, after))


def _mark_untrusted(result: BlockResult, block: Block) -> BlockResult:
    """Mark a result as untrusted if the block contains a file from outside."""
    return result.from_outside() if block.origin else result


def _describe_block(block: Block, agent: str) -> BlockResult:
    layout = schema_json(block.schema)
    assert isinstance(layout, dict)
    message = f"{block.label}: {block.type} {block.schema.kind}, {pluralize(block.size, 'character')}."
    return BlockResult(
        blocks=[info_of(block, agent)],
        layout=layout,
        total_lines=len(block.text.splitlines()),
        message=message,
    )


def _select_lines(context: MemoryContext, before: Block, after: Block) -> Proposal[BlockResult]:
    agent = agent_key(context.caller)
    view, total = after.view_of(agent), len(before.text.splitlines())
    if view.start > max(total, 1):
        message = f"{before.label} has {pluralize(total, 'line')}."
        raise InvalidParametersError(message, total_lines=total)
    end = min(total, view.start + (view.lines or total) - 1)
    result = BlockResult(
        blocks=[info_of(after, agent)],
        text=after.text_for(agent),
        start_line=view.start,
        total_lines=total,
        leaves_context=not view.pinned,
        message=f"{before.label}: lines {view.start} to {end}.",
    )
    change = changes.edit_block(before, after, f"Select the lines of {before.label}")
    return context.propose(change, _mark_untrusted(result, after))


def archive_block(block: Block) -> Block:
    """Return the block as archived, and unpinned for every agent.

    Raises:
        InvalidParametersError: The block is a core block.
    """
    if block.type is BlockType.CORE:
        message = f"{block.label!r} is a core block, which can't be archived."
        raise InvalidParametersError(message, label=block.label)
    views: Mapping[str, BlockView] = {name: replace(view, pinned=False) for name, view in block.views.items()}
    return replace(block, type=BlockType.ARCHIVAL, views={n: v for n, v in views.items() if v != BlockView()})


def _with_share(block: Block, agent: str, permission: Permission | None) -> Block:
    """Return the block shared with `agent`; None revokes the share."""
    if agent == block.owner:
        raise InvalidParametersError(f"{block.label!r} belongs to {agent}.", label=block.label)
    shares = {name: share for name, share in block.shares.items() if name != agent}
    if permission is None and agent not in block.shares:
        raise NotFoundError(f"{block.label!r} is not shared with {agent}.", shares=list(block.shares))
    return replace(block, shares=shares if permission is None else {**shares, agent: permission})


def _propose_edit(
    context: MemoryContext, before: Block, after: Block, message: str, summary: str
) -> Proposal[BlockResult]:
    result = BlockResult(blocks=[info_of(after, agent_key(context.caller))], message=message)
    return context.propose(changes.edit_block(before, after, summary), result)
