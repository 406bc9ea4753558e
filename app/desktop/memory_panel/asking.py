"""What the memory panel asks of the open vault and has it do; run in the vault's own loop. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.errors import ConflictError, NotFoundError
from app.memory.archive import Found
from app.memory.block import Block
from app.memory.changes import PLACE
from app.memory.projection import project, read_block
from app.permissions.caller import Caller
from app.toolkit.memory import OWN_AGENT
from app.toolkit.outcome import ToolOutcome
from app.vault.commits import Version
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.workspace import Workspace

MOST_ENTRIES = 200


@dataclass(frozen=True, slots=True)
class Overview:
    """All blocks of all agents, and entries of their archives: the newest, or those a search found."""

    blocks: tuple[Block, ...]
    entries: tuple[Found, ...]
    total: int


@dataclass(frozen=True, slots=True)
class History:
    """The versions of a block, newest first, and its bytes now (None where nothing is kept)."""

    versions: tuple[Version, ...]
    now: bytes | None


async def read_overview(workspace: Workspace, query: str) -> Overview:
    """The memory as it is now."""
    memory = workspace.memory
    kept = {block.path.key: block for block in memory.store.all_blocks()}
    start = {block.path.key: block for block in memory.store.blocks(OWN_AGENT)}
    agents = {OWN_AGENT, *memory.store.agents()}
    entries: list[Found] = []
    for agent in sorted(agents):
        if query:
            meaning = workspace.runner.services.meaning
            entries += await memory.recall(agent, query, MOST_ENTRIES, meaning=meaning)
        else:
            entries += memory.archive.newest(agent, MOST_ENTRIES)
    entries.sort(key=lambda one: -one.score if query else 0.0)
    total = sum(memory.archive.count(agent) for agent in agents)
    return Overview(tuple({**start, **kept}.values()), tuple(entries), total)


def read_history(workspace: Workspace, path: NotePath) -> History:
    """What a block was."""
    store = workspace.memory.store
    try:
        now: bytes | None = store.read(path)
    except NotFoundError:
        now = None
    return History(workspace.journal.history(path, place=PLACE), now)


async def save_text(workspace: Workspace, before: Block, text: str) -> ToolOutcome:
    """Write what the person typed; where an agent changed the block meanwhile, both edits are kept.

    Raises:
        InvalidParametersError: the text is not written as the block's layout asks.
    """
    return await _save(workspace, before, before.with_text(text))


async def save_settings(workspace: Workspace, before: Block, change: Callable[[Block], Block]) -> ToolOutcome:
    """Write another permission or another view of a block."""
    return await _save(workspace, before, change(before))


def known_agents(workspace: Workspace) -> tuple[str, ...]:
    """The agents that a block can be shared with, as far as they are known by name."""
    return workspace.memory.agents()


def pinned(block: Block, on: bool) -> Block:
    """The block pinned to the context of its owner, or not."""
    return block.with_view(block.owner, replace(block.view_of(block.owner), pinned=on))


async def _save(workspace: Workspace, before: Block, after: Block) -> ToolOutcome:
    after = replace(after, kept=True)
    store, base = workspace.memory.store, project(before)
    if not before.kept and store.at(before.path) is None:
        return await workspace.runner.save(before.path, None, project(after), place=PLACE)
    for _ in range(3):
        try:
            current = store.read(before.path)
        except NotFoundError:
            return await workspace.runner.save(before.path, None, project(after), place=PLACE)
        merged = store.merged(before.path, base, project(after))
        outcome = await workspace.runner.save(before.path, current, merged, place=PLACE)
        if outcome.success or (outcome.error or {}).get("type") != ConflictError.type:
            return outcome
    return outcome


async def roll_back(workspace: Workspace, path: NotePath, key: str) -> ToolOutcome:
    """Make a block what it was in a version."""
    now = read_history(workspace, path).now
    content = workspace.journal.content(key)
    read_block(content)
    return await workspace.runner.save(path, now, content, place=PLACE)


async def delete_block(workspace: Workspace, label: str) -> ToolOutcome:
    """Delete a block of the own agent; the person is shown it first."""
    return await workspace.runner.call("block", {"op": "delete", "label": label}, Caller.user())


async def create_block(workspace: Workspace, label: str) -> ToolOutcome:
    """Make a text block for the own agent."""
    made = Block.new(OWN_AGENT, label)
    if workspace.memory.store.at(made.path) is not None:
        raise ConflictError(f"There is a block {label!r} already.", label=label)
    return await workspace.runner.save(made.path, None, project(made), place=PLACE)
