"""The operations of the memory panel on the open vault, run in the vault's own loop. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.errors import ConflictError, NotFoundError
from app.memory.archive import ArchiveHit
from app.memory.block import Block
from app.memory.changes import MEMORY_PLACE
from app.memory.serialization import parse_block, serialize_block
from app.permissions.caller import Caller
from app.toolkit.call import Call
from app.toolkit.memory_service import OWN_AGENT
from app.toolkit.outcome import ToolOutcome
from app.vault.commits import Version
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.workspace import Workspace

MAX_ENTRIES = 200


@dataclass(frozen=True, slots=True)
class MemoryOverview:
    """All blocks of all agents, and archive entries: the newest, or the results of a search."""

    blocks: tuple[Block, ...]
    entries: tuple[ArchiveHit, ...]
    total: int


@dataclass(frozen=True, slots=True)
class BlockHistory:
    """The versions of a block, newest first, and its current bytes (None if it has none)."""

    versions: tuple[Version, ...]
    now: bytes | None


async def read_overview(workspace: Workspace, query: str) -> MemoryOverview:
    """Return the current state of the memory."""
    memory = workspace.memory
    kept = {block.path.key: block for block in memory.store.all_blocks()}
    start = {block.path.key: block for block in memory.store.blocks(OWN_AGENT)}
    agents = {OWN_AGENT, *memory.store.agents()}
    entries: list[ArchiveHit] = []
    for agent in sorted(agents):
        if query:
            meaning = workspace.runner.services.semantic_search
            entries += await memory.recall(agent, query, MAX_ENTRIES, meaning=meaning)
        else:
            entries += memory.archive.newest(agent, MAX_ENTRIES)
    entries.sort(key=lambda one: -one.score if query else 0.0)
    total = sum(memory.archive.count(agent) for agent in agents)
    return MemoryOverview(tuple({**start, **kept}.values()), tuple(entries), total)


def read_history(workspace: Workspace, path: NotePath) -> BlockHistory:
    """Return the history of a block."""
    store = workspace.memory.store
    try:
        now: bytes | None = store.read(path)
    except NotFoundError:
        now = None
    return BlockHistory(workspace.journal.history(path, place=MEMORY_PLACE), now)


async def save_text(workspace: Workspace, before: Block, text: str) -> ToolOutcome:
    """Save the user's text; if an agent changed the block meanwhile, merge both edits.

    Raises:
        InvalidParametersError: The text does not fit the block's layout.
    """
    return await _save(workspace, before, before.with_text(text))


async def save_settings(workspace: Workspace, before: Block, change: Callable[[Block], Block]) -> ToolOutcome:
    """Save another permission or view of a block."""
    return await _save(workspace, before, change(before))


def known_agents(workspace: Workspace) -> tuple[str, ...]:
    """Return the names of the agents that a block can be shared with."""
    return workspace.memory.agents()


def with_pinned(block: Block, on: bool) -> Block:
    """Return the block pinned to the context of its owner, or unpinned."""
    return block.with_view(block.owner, replace(block.view_of(block.owner), pinned=on))


async def _save(workspace: Workspace, before: Block, after: Block) -> ToolOutcome:
    after = replace(after, kept=True)
    store, base = workspace.memory.store, serialize_block(before)
    if not before.kept and store.block_at(before.path) is None:
        return await workspace.runner.run(
            Call.save(before.path, None, serialize_block(after), place=MEMORY_PLACE)
        )
    for _ in range(3):
        try:
            current = store.read(before.path)
        except NotFoundError:
            return await workspace.runner.run(
                Call.save(before.path, None, serialize_block(after), place=MEMORY_PLACE)
            )
        merged = store.merge_edit(before.path, base, serialize_block(after))
        outcome = await workspace.runner.run(Call.save(before.path, current, merged, place=MEMORY_PLACE))
        if outcome.success or (outcome.error or {}).get("type") != ConflictError.type:
            return outcome
    return outcome


async def roll_back(workspace: Workspace, path: NotePath, key: str) -> ToolOutcome:
    """Restore a version of a block."""
    now = read_history(workspace, path).now
    content = workspace.journal.content(key)
    parse_block(content)
    return await workspace.runner.run(Call.save(path, now, content, place=MEMORY_PLACE))


async def delete_block(workspace: Workspace, label: str) -> ToolOutcome:
    """Delete a block of the app's own agent after the user has reviewed it."""
    return await workspace.runner.run(Call.of("block", {"op": "delete", "label": label}, Caller.user()))


async def create_block(workspace: Workspace, label: str) -> ToolOutcome:
    """Create a text block for the app's own agent."""
    made = Block.new(OWN_AGENT, label)
    if workspace.memory.store.block_at(made.path) is not None:
        raise ConflictError(f"There is a block {label!r} already.", label=label)
    return await workspace.runner.run(Call.save(made.path, None, serialize_block(made), place=MEMORY_PLACE))
