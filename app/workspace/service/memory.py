"""The agents' memory, as the user sees and edits it."""

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
    from app.toolkit.memory_service import Memory
    from app.toolkit.runner import ToolRunner
    from app.toolkit.semantic_search import SemanticSearch
    from app.vault.journal import Journal

MAX_ENTRIES = 200
_MAX_MERGE_TRIES = 3


@dataclass(frozen=True, slots=True)
class MemoryOverview:
    """All agents' blocks, and entries of their archives: the newest, or those that a search found.

    `total` counts all entries of the archives.
    """

    blocks: tuple[Block, ...]
    entries: tuple[ArchiveHit, ...]
    total: int


@dataclass(frozen=True, slots=True)
class BlockHistory:
    """The versions of a block, newest first, and its current bytes (None if it is not stored)."""

    versions: tuple[Version, ...]
    current: bytes | None


class MemoryService:
    """Reads the memory, and changes it through logged calls.

    Args:
        semantic_search: Returns the semantic search, or None while it is off.
    """

    def __init__(
        self,
        memory: Memory,
        journal: Journal,
        runner: ToolRunner,
        semantic_search: Callable[[], SemanticSearch | None],
    ) -> None:
        self._memory = memory
        self._journal = journal
        self._runner = runner
        self._semantic_search = semantic_search

    async def overview(self, query: str) -> MemoryOverview:
        """Return all blocks, and up to `MAX_ENTRIES` entries per agent: the newest, or `query`'s matches."""
        memory = self._memory
        saved_blocks = {block.path.key: block for block in memory.store.all_blocks()}
        initial_blocks = {block.path.key: block for block in memory.store.blocks(OWN_AGENT)}
        agents = {OWN_AGENT, *memory.store.agents()}
        entries: list[ArchiveHit] = []
        for agent in sorted(agents):
            if query:
                entries += await memory.recall(
                    agent, query, MAX_ENTRIES, semantic_search=self._semantic_search()
                )
            else:
                entries += memory.archive.newest(agent, MAX_ENTRIES)
        if query:
            entries.sort(key=lambda hit: -hit.score)
        total = sum(memory.archive.count(agent) for agent in agents)
        return MemoryOverview(tuple({**initial_blocks, **saved_blocks}.values()), tuple(entries), total)

    def agents(self) -> tuple[str, ...]:
        """Return the names of the agents with which a block can be shared."""
        return self._memory.agents()

    def history(self, path: NotePath) -> BlockHistory:
        """Return the versions of a block and its current bytes."""
        try:
            current: bytes | None = self._memory.store.read(path)
        except NotFoundError:
            current = None
        return BlockHistory(self._journal.history(path, place=MEMORY_PLACE), current)

    async def save_text(self, before: Block, text: str) -> ToolOutcome:
        """Write a block's text; if an agent has changed the block in the meantime, both edits are kept.

        Raises:
            InvalidParametersError: The text does not have the format of the block.
            ConflictError: Both changed the same lines, and `before` is no longer stored.
        """
        return await self._save(before, before.with_text(text))

    async def save_settings(self, before: Block, change: Callable[[Block], Block]) -> ToolOutcome:
        """Save `change(before)`, which changes a block's permissions or view.

        Raises:
            InvalidParametersError: The merged block is not valid.
            ConflictError: An agent changed the same lines, and `before` is no longer stored.
        """
        return await self._save(before, change(before))

    async def roll_back(self, path: NotePath, key: str) -> ToolOutcome:
        """Replace a block with the version `key`.

        Raises:
            NotFoundError: The version is no longer stored.
            InvalidParametersError: The version is not a valid block.
        """
        current = self.history(path).current
        content = self._journal.content(key)
        parse_block(content)
        return await self._write(path, current, content)

    async def create(self, label: str) -> ToolOutcome:
        """Create a text block for the app's own agent.

        Raises:
            InvalidParametersError: The label is not valid.
            ConflictError: There is already a block with this label.
        """
        block = Block.new(OWN_AGENT, label)
        if self._memory.store.block_at(block.path) is not None:
            raise ConflictError(f"There is already a block {label!r}.", label=label)
        return await self._write(block.path, None, serialize_block(block))

    async def delete(self, label: str) -> ToolOutcome:
        """Delete a block of the app's own agent, after the user's approval."""
        return await self._runner.run(Call.of("block", {"op": "delete", "label": label}, Caller.user()))

    async def _save(self, before: Block, after: Block) -> ToolOutcome:
        after = replace(after, is_stored=True)
        store, base = self._memory.store, serialize_block(before)
        if not before.is_stored and store.block_at(before.path) is None:
            return await self._write(before.path, None, serialize_block(after))
        for _ in range(_MAX_MERGE_TRIES):
            try:
                current = store.read(before.path)
            except NotFoundError:
                return await self._write(before.path, None, serialize_block(after))
            merged = store.merge_edit(before.path, base, serialize_block(after))
            outcome = await self._write(before.path, current, merged)
            if outcome.success or (outcome.error or {}).get("type") != ConflictError.type:
                return outcome
        return outcome

    async def _write(self, path: NotePath, before: bytes | None, after: bytes) -> ToolOutcome:
        return await self._runner.run(Call.save(path, before, after, place=MEMORY_PLACE))
