"""Agent memory for tools: its owners, permission checks and search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rapidfuzz import process

from app.embeddings import EmbedderUnavailableError
from app.embeddings.rank_fusion import MAX_FUSED_HITS
from app.errors import NotFoundError
from app.memory import acl
from app.memory.acl import BlockVerdict
from app.memory.archive import ANY_TIME, Archive, ArchiveHit, TimeRange
from app.memory.block import Block, default_blocks
from app.memory.entry import parse_entry
from app.memory.labels import is_entry
from app.memory.serialization import parse_block
from app.permissions.caller import Caller, CallerKind
from app.permissions.store_policy import StoreVerdict
from app.toolkit.document_stores import StoreBinding, StorePolicy
from app.vault.changes import ChangeSet, Create, Delete, FileChange, after_of, before_of
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.memory.store import MemoryStore, PinnedBlock
    from app.toolkit.semantic_search import SemanticSearch

OWN_AGENT = "scriptorium"
"""The desktop agent, regardless of its model; the user and the command line share its memory."""

_OWN_KINDS = (CallerKind.USER, CallerKind.DESKTOP_AGENT, CallerKind.CLI)
_MIN_SIMILARITY = 0.25
_SEVERITY = {"allow": 0, "ask": 1, "deny": 2}


def agent_key(caller: Caller) -> str:
    """Return the key of the agent whose memory a caller uses; it is stable across restarts."""
    if caller.agent:
        return caller.agent
    return OWN_AGENT if caller.kind in _OWN_KINDS else f"{caller.kind.value}:{caller.name}"


@dataclass(frozen=True, slots=True)
class ConversationQuery:
    """A search of the saved conversations; `since` and `until` are Unix times in seconds.

    `shown_to_model`: exclude the built-in agent's messages, because it can read private notes.
    """

    words: str
    limit: int
    role: Literal["user", "agent", ""] = ""
    since: float | None = None
    until: float | None = None
    shown_to_model: bool = False


@dataclass(frozen=True, slots=True)
class ConversationHit:
    """A message in a conversation; `time` is a Unix time in seconds; a higher `score` is a better match."""

    conversation: str
    title: str
    position: int
    role: str
    time: float
    text: str
    score: float


SearchConversations = Callable[[ConversationQuery], Sequence[ConversationHit]]


class Memory:
    """The memory of one vault.

    Args:
        store: The memory's blocks and entries.
        search_conversations: Searches the saved conversations.
        named_agents: Returns the names of known agents, including those that have written nothing yet.
    """

    def __init__(
        self,
        store: MemoryStore,
        search_conversations: SearchConversations,
        named_agents: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self.store = store
        self.archive = Archive(store.database)
        self.search_conversations = search_conversations
        self._named_agents = named_agents

    def agents(self) -> tuple[str, ...]:
        """Return the names of the agents with which a block can be shared."""
        return tuple(sorted({OWN_AGENT, *self.store.agents(), *self._named_agents()}))

    def agent(self, name: str) -> str:
        """Return the agent's name as originally spelled; prefer an exact match to one that ignores case.

        Raises:
            NotFoundError: No agent has that name; `suggestions` are near misses.
        """
        agents = self.agents()
        key = name.strip().casefold()
        for agent in sorted(agents, key=lambda agent: agent != name):
            if agent.casefold() == key:
                return agent
        suggestions = [match[0] for match in process.extract(name, agents, limit=3, score_cutoff=50)]
        raise NotFoundError(f"There is no agent called {name!r}.", agent=name, suggestions=suggestions)

    async def recall(
        self,
        agent: str,
        query: str,
        limit: int,
        time_range: TimeRange = ANY_TIME,
        semantic_search: SemanticSearch | None = None,
    ) -> tuple[ArchiveHit, ...]:
        """Return the agent's entries that best match the query by words and, if possible, by meaning."""
        words = self.archive.search_text(agent, query, max(limit, MAX_FUSED_HITS), time_range)
        best = max((score for _, score in words), default=0.0)
        ranked = [(number, score / best if best > 0 else 1.0) for number, score in words]
        if semantic_search is not None:
            try:
                semantic_hits = await self._search_vectors(
                    agent, query, max(limit, MAX_FUSED_HITS), time_range, semantic_search
                )
                terms = self.archive.term_statistics(query, words[0][0] if words else None)
                ranked = semantic_search.fuse(words, semantic_hits, terms)
            except EmbedderUnavailableError:
                # The word matches are a valid answer; the missing vectors are reported elsewhere.
                pass
        return self.archive.get(ranked[:limit])

    async def _search_vectors(
        self, agent: str, query: str, limit: int, time_range: TimeRange, semantic_search: SemanticSearch
    ) -> list[tuple[int, float]]:
        """Return the numbers and similarities of the closest entries, after computing missing vectors.

        Raises:
            EmbedderUnavailableError: the texts can't be embedded, or the model was changed during the search.
        """
        model = semantic_search.model_key
        if missing := self.archive.missing_vectors(agent, model):
            vectors = await semantic_search.vectors_of([text for _, text in missing])
            self.archive.save_vectors(
                model, [(number, vector) for (number, _), vector in zip(missing, vectors, strict=True)]
            )
        (vector,) = await semantic_search.vectors_of([query], query=True)
        if semantic_search.model_key != model:
            raise EmbedderUnavailableError("The embedding model was changed during the search.")
        hits = self.archive.search_vectors(agent, model, vector, limit, time_range)
        return [(number, cosine) for number, cosine in hits if cosine >= _MIN_SIMILARITY]


class VisibleBlocks:
    """The blocks that a caller may read; blocks hidden by a rule seem not to exist.

    Args:
        store: The memory.
        can_read: Returns whether the caller may read a document in a store: a block, or the file loaded
            into it.
    """

    def __init__(self, store: MemoryStore, can_read: Callable[[str, NotePath], bool]) -> None:
        self._store = store
        self._can_read = can_read

    def can_see(self, block: Block) -> bool:
        """Return whether the caller may read the block."""
        if not self._can_read(self._store.place, block.path):
            return False
        kind, _, rest = block.label.partition(":")
        folder, _, path = rest.partition(":")
        return kind != "file" or not path or self._can_read(f"files-{folder}", NotePath.on_disk(path))

    def blocks(self, agent: str) -> tuple[Block, ...]:
        """Return the visible blocks; see `MemoryStore.blocks`."""
        return tuple(block for block in self._store.blocks(agent) if self.can_see(block))

    def find(self, label: str, agent: str) -> Block | None:
        """Return a block if it is visible; see `MemoryStore.find`."""
        block = self._store.find(label, agent)
        return block if block is not None and self.can_see(block) else None

    def block(self, label: str, agent: str) -> Block:
        """Return a visible block; see `MemoryStore.block`. Errors suggest only visible blocks.

        Raises:
            NotFoundError: The caller can't see such a block.
            InvalidParametersError: The label is not valid.
        """
        block = self.find(label, agent)
        if block is not None:
            return block
        labels = [visible_block.label for visible_block in self.blocks(agent)]
        suggestions = [match[0] for match in process.extract(label, labels, limit=3, score_cutoff=60)]
        message = f"The memory has no block “{label}”."
        raise NotFoundError(message, label=label, suggestions=suggestions, blocks=labels[:50])

    def pinned(self, agent: str) -> tuple[PinnedBlock, ...]:
        """Return the visible pinned blocks; see `MemoryStore.pinned`."""
        visible_labels = {block.label for block in self.blocks(agent)}
        return tuple(block for block in self._store.pinned(agent) if block.label in visible_labels)


def memory_binding(store: MemoryStore, loaded_policy: StorePolicy | None = None) -> StoreBinding:
    """Return the memory's binding, which checks changes against the blocks' permissions.

    Args:
        store: The memory.
        loaded_policy: A policy for files loaded unchanged, consulted first; if it returns None, the blocks'
            permissions decide.
    """

    def store_policy(change_set: ChangeSet, caller: Caller) -> StoreVerdict | None:
        verdict = loaded_policy(change_set, caller) if loaded_policy is not None else None
        return verdict or authorize_memory_change(change_set, caller)

    return StoreBinding(store, "the memory", store_policy)


def authorize_memory_change(change_set: ChangeSet, caller: Caller) -> StoreVerdict | None:
    """Return the strictest verdict on the changes to blocks and entries; None for the user, who is exempt.

    Raises:
        InvalidParametersError: a document is not a valid block or entry.
    """
    if caller.kind is CallerKind.USER:
        return None
    agent = agent_key(caller)
    verdicts = [_authorize(change, agent) for change in change_set.changes]
    worst = max(verdicts, key=lambda verdict: _SEVERITY[verdict.effect])
    return StoreVerdict(worst.effect, worst.reason)


def _authorize(change: FileChange, agent: str) -> BlockVerdict:
    if is_entry(change.path):
        return _verdict_on_entry(change, agent)
    before, after = before_of(change), after_of(change)
    old_block = None if before is None else parse_block(before)
    new_block = None if after is None else parse_block(after)
    if old_block is None and new_block is not None:
        old_block = _default_block(new_block, agent)
    return acl.authorize_change(old_block, new_block, agent)


def _default_block(block: Block, agent: str) -> Block | None:
    """Return the default block with this label, or None if there is none."""
    return next((default for default in default_blocks(agent) if default.path.key == block.path.key), None)


def _verdict_on_entry(change: FileChange, agent: str) -> BlockVerdict:
    data = after_of(change) or before_of(change) or b""
    if parse_entry(data).owner != agent:
        return BlockVerdict("deny", "the archive belongs to another agent")
    match change:
        case Create():
            return BlockVerdict("allow", "a new entry in its own archive")
        case Delete():
            return BlockVerdict("ask", "the deletion of an archive entry")
        case _:
            return BlockVerdict("deny", "archive entries can't be changed")
