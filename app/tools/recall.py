"""Categories memory and memory_context: the archive, the combined search and the legacy tool context."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.errors import InvalidParametersError, PermissionDeniedError
from app.memory import changes, edits
from app.memory.archive import ANY_TIME, ArchiveHit, TimeRange
from app.memory.block import Block, BlockType
from app.memory.entry import ArchiveEntry
from app.memory.labels import entry_path
from app.permissions.caller import CallerKind
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import SearchQuery
from app.toolkit.memory_service import OWN_AGENT, ConversationQuery, Memory, agent_key
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.services import MemoryContext
from app.toolkit.tool import tool
from app.tools.memory import Label, archive_block, blocks_of
from app.tools.memory_blocks import BlockEdited
from app.vault.changes import ChangeSet
from app.vault.path import NotePath

Count = Annotated[int, Field(ge=1, le=100)]
_MAX_TEXT_CHARS = 1000
_MAX_RECALLED_ENTRIES = 1000


class RecalledEntry(BaseModel):
    """An archive entry; `score` is from 0 to 1, `created` is in ISO 8601."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    entry: str
    content: str
    created: str
    score: float
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class Recalled(ToolResult):
    """The inserted entry, or the entries found in the archive, best first."""

    entries: list[RecalledEntry]


@tool(
    category="memory",
    examples={
        "insert": ("remember that {content}", "keep in mind that {content}", "remember: {content}"),
        "search": (
            "what do you remember about {query}?",
            "what do you know about me and {query}?",
            "recall {query}",
            "search your memory for {query}",
        ),
    },
    read_operations=("search",),
    operations={"insert": "content metadata?", "search": "query limit?"},
    usage_rule=(
        "recall insert stores a lasting fact in words that make sense on their own; recall search finds "
        "such facts. Search before you say that you don't know something about the user or "
        "earlier work."
    ),
)
async def recall(
    context: MemoryContext,
    op: Literal["insert", "search"],
    content: str | None = None,
    metadata: dict[str, JsonValue] | None = None,
    query: SearchQuery | None = None,
    limit: Count | None = None,
) -> Proposal[Recalled]:
    """Add permanent entries to your archive and find them by words and meaning. Entries never change.

    Args:
        op: insert an entry, or search.
        content: The text to remember; it must make sense without its context.
        metadata: Data to store with the entry, such as {"topic": "travel"}.
        query: The text to search for.
        limit: The maximum number of results; 10 by default.
    """
    memory, agent = context.services.memory, agent_key(context.caller)
    if op == "insert":
        entry = ArchiveEntry.new(agent, content or "", metadata)
        entry_result = RecalledEntry(
            entry=entry.id,
            content=entry.text,
            created=entry.created,
            score=1.0,
            metadata=dict(entry.metadata),
        )
        result = Recalled(entries=[entry_result], message="I will remember that.")
        return context.propose(changes.insert_entry(entry), result)
    hits = await _recall_visible(context, memory, query or "", limit or 10)
    message = "No matching entry."
    if hits:
        message = f"{pluralize(len(hits), 'entry', 'entries')} found."
    return context.propose(
        ChangeSet(()), Recalled(entries=[_to_result(hit) for hit in hits], message=message)
    )


async def _recall_visible(
    context: MemoryContext, memory: Memory, query: str, limit: int, time_range: TimeRange = ANY_TIME
) -> tuple[ArchiveHit, ...]:
    """Return the best matches that the caller may read, at most `limit`."""
    agent, place = agent_key(context.caller), memory.store.place

    def filter_visible(hits: tuple[ArchiveHit, ...]) -> tuple[ArchiveHit, ...]:
        return tuple(hit for hit in hits if context.can_read(place, entry_path(hit.owner, hit.entry)))

    hits = await memory.recall(agent, query, limit, time_range, context.semantic_search)
    if filter_visible(hits) == hits:
        return hits
    # Some entries are hidden from the caller: search for more to replace them.
    more_hits = await memory.recall(agent, query, _MAX_RECALLED_ENTRIES, time_range, context.semantic_search)
    return filter_visible(more_hits)[:limit]


def _to_result(hit: ArchiveHit) -> RecalledEntry:
    return RecalledEntry(
        entry=hit.entry,
        content=hit.text,
        created=hit.created,
        score=round(hit.score, 3),
        metadata=dict(hit.metadata),
    )


# Search


class FoundText(BaseModel):
    """A search hit: `where` is archival_memory, conversations or vault.

    `title` names the entry, conversation or note; `role` is the speaker in a conversation.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    where: str
    title: str
    text: str
    score: float
    time: str = ""
    role: str = ""


class FoundTexts(ToolResult):
    """Search hits by domain, best first in each."""

    results: list[FoundText]


@tool(
    category="memory",
    examples=(
        "what did we talk about {query}?",
        "search our conversations and your memory for {query}",
        "search everything for {query}",
    ),
    usage_rule="search covers your archive, earlier conversations and the notes at once.",
)
async def search(
    context: MemoryContext,
    query: SearchQuery,
    domain: Literal["archival_memory", "conversations", "vault", "all"] = "all",
    limit: Count = 10,
    role: Literal["user", "agent"] | None = None,
    since: str | None = None,
    until: str | None = None,
) -> FoundTexts:
    """Search your archive, earlier conversations and the notes.

    Args:
        query: The text to search for.
        domain: Where to search: archival_memory, conversations, vault, or all.
        limit: The maximum number of results in each domain.
        role: In conversations, the author of the message.
        since: Only results from this day or time onward, such as 2026-01-31 or 2026-01-31T12:00:00Z.
        until: Only results before this day or time.
    """
    memory = context.services.memory
    start, end = _parse_time(since), _parse_time(until)
    results: list[FoundText] = []
    if domain in ("archival_memory", "all") and role is None:
        results += await _search_archive(context, memory, query, limit, start, end)
    if domain == "conversations" or (domain == "all" and _may_read_conversations(context)):
        results += _search_conversations(context, memory, query, limit, role, start, end)
    if domain in ("vault", "all") and role is None:
        results += await _search_vault(context, query, limit, start, end)
    texts = FoundTexts(results=results, message=f"{pluralize(len(results), 'result')}.")
    notes = (NotePath.on_disk(result.title) for result in results if result.where == "vault")
    return texts.from_notes(context.index.is_from_web(path) for path in notes)


def _may_read_conversations(context: MemoryContext) -> bool:
    """Return whether the conversations of the desktop app belong to the caller."""
    kinds = (CallerKind.USER, CallerKind.DESKTOP_AGENT, CallerKind.CLI)
    return context.caller.kind in kinds and agent_key(context.caller) == OWN_AGENT


async def _search_archive(
    context: MemoryContext,
    memory: Memory,
    query: str,
    limit: int,
    since: datetime | None,
    until: datetime | None,
) -> list[FoundText]:
    time_range = TimeRange(_format_iso(since), _format_iso(until))
    hits = await _recall_visible(context, memory, query, limit, time_range)
    return [
        FoundText(
            where="archival_memory",
            title=hit.entry,
            text=hit.text[:_MAX_TEXT_CHARS],
            score=round(hit.score, 3),
            time=hit.created,
        )
        for hit in hits
    ]


def _search_conversations(
    context: MemoryContext,
    memory: Memory,
    query: str,
    limit: int,
    role: Literal["user", "agent"] | None,
    since: datetime | None,
    until: datetime | None,
) -> list[FoundText]:
    if not _may_read_conversations(context):
        raise PermissionDeniedError("The conversations of the desktop app are hidden from other agents.")
    messages = memory.search_conversations(
        ConversationQuery(
            query,
            limit,
            role or "",
            since.timestamp() if since else None,
            until.timestamp() if until else None,
            shown_to_model=context.caller.uses_model,
        )
    )
    best = max((message.score for message in messages), default=1.0) or 1.0
    return [
        FoundText(
            where="conversations",
            title=message.title,
            text=message.text[:_MAX_TEXT_CHARS],
            score=round(message.score / best, 3),
            time=_format_iso(datetime.fromtimestamp(message.time, UTC)),
            role=message.role,
        )
        for message in messages
    ]


async def _search_vault(
    context: MemoryContext, query: str, limit: int, since: datetime | None, until: datetime | None
) -> list[FoundText]:
    page = await context.index.search_by_words_and_meaning(query, 100 if since or until else limit, 0)
    results = []
    for hit in page.hits:
        record = context.index.note(hit.path)
        changed = datetime.fromtimestamp(record.modified if record else 0.0, UTC)
        if (since and changed < since) or (until and changed >= until):
            continue
        text = "\n".join(part.text for part in hit.snippets)
        results.append(
            FoundText(
                where="vault",
                title=str(hit.path),
                text=text,
                score=round(hit.score, 3),
                time=_format_iso(changed),
            )
        )
    return results[:limit]


def _parse_time(text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidParametersError(
            f"{text[:80]!r} is not a date or time. Use a format such as 2026-01-31."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _format_iso(moment: datetime | None) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else ""


# Legacy tool


@tool(
    category="memory_context",
    operations={
        "append": "label content",
        "replace": "label old new",
        "archive": "label",
        "load_from_archival": "label",
        "swap": "archive_label load_label",
    },
    usage_rule="context is the older form of block and block_edit; prefer those.",
)
async def context(
    context: MemoryContext,
    op: Literal["append", "replace", "archive", "load_from_archival", "swap"],
    label: Label | None = None,
    content: str | None = None,
    old: str | None = None,
    new: str | None = None,
    archive_label: Label | None = None,
    load_label: Label | None = None,
) -> Proposal[BlockEdited]:
    """Manage the blocks in your context; the older form of block and block_edit.

    Args:
        op: append to a block, replace in it, archive it, load_from_archival, or swap two.
        label: The block.
        content: The text to add.
        old: The text to replace.
        new: The replacement.
        archive_label: The block to remove from the context.
        load_label: The block to load in its place.
    """
    store, agent = blocks_of(context), agent_key(context.caller)
    if op == "swap":
        archived, loaded = store.block(archive_label or "", agent), store.block(load_label or "", agent)
        block_changes = (
            changes.block_change(archived, archive_block(archived)),
            changes.block_change(loaded, _restore_block(loaded, agent)),
        )
        change = ChangeSet.of(
            *block_changes,
            summary=f"Load {loaded.label} in place of {archived.label}",
            place=changes.MEMORY_PLACE,
        )
        message = f"{archived.label} is archived and {loaded.label} is in the context."
        return context.propose(change, BlockEdited(label=loaded.label, size=loaded.size, message=message))
    before = store.block(label or "", agent)
    match op:
        case "append":
            after = edits.append(before, content or "")
        case "replace":
            after = edits.replace(before, old or "", new or "")
        case "archive":
            after = archive_block(before)
        case _:
            after = _restore_block(before, agent)
    text = after.text_for(agent) if op == "load_from_archival" else None
    result = BlockEdited(label=before.label, size=after.size, text=text, message=f"{before.label}: done.")
    return context.propose(
        changes.edit_block(before, after), result.from_outside() if before.origin else result
    )


def _restore_block(before: Block, agent: str) -> Block:
    if before.type is not BlockType.ARCHIVAL:
        raise InvalidParametersError(f"{before.label!r} is not archived.", label=before.label)
    view = replace(before.view_of(agent), pinned=True)
    return replace(before, type=BlockType.WORKING).with_view(agent, view)
