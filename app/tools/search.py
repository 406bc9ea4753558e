"""Category search: find notes by words, tags, properties, links and meaning. Read-only."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.analysis.sentences import first_prose_line
from app.analysis.summary import truncate
from app.errors import NotFoundError
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import (
    Limit,
    NoteName,
    Offset,
    Properties,
    Proportion,
    SearchQuery,
    Sorting,
    TagName,
)
from app.toolkit.context import ToolContext
from app.toolkit.related import RelatednessReason, find_related_notes
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool
from app.tools.node_common import readable
from app.vault.path import NotePath, name_key

if TYPE_CHECKING:
    from app.embeddings.vector_table import VectorHit
    from app.index.records import TagCount

_MAX_PASSAGE_CHARS = 240
_MAX_EXAMPLES = 5
"""The number of folders, tags and notes that describe a vault."""
_ALL_NOTES = "modified:>=1970"


class HitLine(BaseModel):
    """A matching line of a note."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    line: int
    text: str


class Hit(BaseModel):
    """A search hit; `group` is its group, if hits are grouped."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    path: str
    score: float
    lines: list[HitLine]
    group: str = ""


class HitGroup(BaseModel):
    """A group of hits by folder, type or first tag, and its size; `name` is empty for notes without one."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    count: int


class Hits(ToolResult):
    """Search hits in the requested order, the total number of matches, and the groups."""

    hits: list[Hit]
    total: int
    groups: list[HitGroup] = Field(default_factory=list)


class NotePaths(ToolResult):
    """The paths of matching notes, and the total number of matches."""

    notes: list[str]
    total: int


class RelatedReason(BaseModel):
    """One reason why a note is related, and its strength (0 to 1)."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    relationship: str
    score: float


class Related(BaseModel):
    """A related note: the main reason, the total strength (0 to 1), and all reasons."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    path: str
    relationship: str
    score: float
    reasons: list[RelatedReason]


class RelatedNotes(ToolResult):
    """Related notes, closest first."""

    related: list[Related]


class TagEntry(BaseModel):
    """A tag, the number of notes that have it or one nested in it, and the tag it is nested in."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    tag: str
    count: int
    parent: str | None


class Tags(ToolResult):
    """The tags of the vault."""

    tags: list[TagEntry]


class IndexProblem(BaseModel):
    """A file that is not completely indexed, and why."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    path: str
    reason: str


class VaultInfo(ToolResult):
    """Counts of the vault and of its index, its largest folders, most used tags and most linked notes."""

    notes: int
    attachments: int
    links: int
    tags: int
    unresolved: int
    orphans: int
    indexed: int
    skipped: int
    failed: int
    problems: list[IndexProblem]
    largest_folders: list[HitGroup] = Field(default_factory=list)
    most_used_tags: list[TagEntry] = Field(default_factory=list)
    most_linked: list[str] = Field(default_factory=list)


class MentionEntry(BaseModel):
    """An occurrence of a note's name without a link."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    path: str
    line: int
    text: str


class Mentions(ToolResult):
    """Unlinked mentions of a note."""

    mentions: list[MentionEntry]


@tool(
    category="search",
    examples=(
        "find notes about {query}",
        "search for {query}",
        "which notes mention {query}?",
        "find {query}",
        "look for {query}",
        "where did I write about {query}?",
        "notes containing {query}",
    ),
    usage_rule=(
        'search_notes takes words (all must occur), "phrases", OR, -not, tag:x, path:x, file:x and '
        "[property:value]."
    ),
)
async def search_notes(
    context: ToolContext,
    query: SearchQuery,
    limit: Limit = 20,
    offset: Offset = 0,
    order: Sorting = "relevance",
    group: Literal["none", "folder", "type", "tag"] = "none",
) -> Hits:
    """Find notes with a query in the search language.

    Args:
        query: Words that must all occur; "phrases", OR, -not, tag:, path:, file:, [property:value].
        limit: The maximum number of results.
        offset: The number of results to skip.
        order: relevance, name, modified, created, links, backlinks, outgoing, size, words, dated or a
            property; largest or newest first, or reversed with a `-` prefix.
        group: Group the notes by folder, type or first tag; `order` applies within a group.
    """
    page = await context.index.search_by_words_and_meaning(
        query, limit, offset, order=order, group="" if group == "none" else group
    )
    hits = [
        Hit(
            name=hit.path.name,
            path=str(hit.path),
            score=round(hit.score, 4),
            lines=[HitLine(line=part.line, text=part.text) for part in hit.snippets],
            group=hit.group,
        )
        for hit in page.hits
    ]
    groups = [HitGroup(name=hit_group.name, count=hit_group.count) for hit_group in page.groups]
    found = f"{pluralize(page.total, 'note')} found."
    message = f"{len(hits):,} of {found}" if 0 < len(hits) < page.total else found
    result = Hits(hits=hits, total=page.total, groups=groups, message=message)
    return result.from_notes(context.index.is_from_web(hit.path) for hit in page.hits)


@tool(
    category="search",
    examples=(
        "notes similar in meaning to {query}",
        "search by meaning for {query}",
        "semantic search {query}",
    ),
)
async def semantic_search(
    context: ToolContext, query: SearchQuery, limit: Limit = 10, min_similarity: Proportion = 0.3
) -> Hits:
    """Find notes by meaning, even if they use other words.

    Args:
        query: What the notes should be about, in plain words.
        limit: The maximum number of results.
        min_similarity: The minimum cosine similarity, 0 to 1.
    """
    chunks = await context.index.like_text(query, limit, min_similarity)
    hits = [
        Hit(
            name=chunk.path.name,
            path=str(chunk.path),
            score=round(chunk.score, 4),
            lines=_passage_lines(context, chunk),
        )
        for chunk in chunks
    ]
    message = f"{pluralize(len(hits), 'note')} similar in meaning."
    if missing := context.index.count_without_embedding():
        verb = "is" if missing == 1 else "are"
        message += f" {pluralize(missing, 'note')} {verb} not in the semantic index, and can't be found here."
    result = Hits(hits=hits, total=len(hits), message=message)
    return result.from_notes(context.index.is_from_web(chunk.path) for chunk in chunks)


def _passage_lines(context: ToolContext, chunk: VectorHit) -> list[HitLine]:
    """Return the first line of prose at or after the passage's start; empty if there is none."""
    note = readable(context, chunk.path)
    first_line = first_prose_line(note.readable_text, chunk.line) if note is not None else None
    return (
        [HitLine(line=first_line[0], text=truncate(first_line[1], _MAX_PASSAGE_CHARS))] if first_line else []
    )


@tool(
    category="search",
    examples=("find notes tagged {tags}", "which notes have the tag {tags}?", "notes with tag {tags}"),
)
async def search_by_tags(
    context: ToolContext, tags: list[TagName], match: Literal["all", "any"] = "all", limit: Limit = 100
) -> NotePaths:
    """Find the notes with the given tags; a tag includes those nested in it.

    Args:
        tags: The tags, with or without #.
        match: Require all of the tags or any of them.
        limit: The maximum number of results.
    """
    sets = [set(context.index.notes_with_tag(tag.lstrip("#"))) for tag in tags]
    paths = set.intersection(*sets) if match == "all" and sets else set().union(*sets)
    return _sorted_paths(paths, limit)


@tool(category="search", examples=("find notes where {properties}", "notes with the property {properties}"))
async def search_by_properties(context: ToolContext, properties: Properties, limit: Limit = 100) -> NotePaths:
    """Find notes whose properties all match; a list of values matches if one of them does.

    Args:
        properties: Values by property name; null means that the note lacks the property.
        limit: The maximum number of results.
    """
    wanted_values = {name_key(key): value for key, value in properties.items()}
    paths = []
    for record in context.index.notes():
        record_values = {name_key(key): value for key, value in record.properties.items()}
        if all(_matches_value(record_values.get(key), value) for key, value in wanted_values.items()):
            paths.append(record.path)
    return _sorted_paths(paths, limit)


def _matches_value(actual: object, expected: JsonValue) -> bool:
    """Return whether a value or one of its items equals the expected value, or one of several."""
    if isinstance(expected, list):
        return any(_matches_value(actual, item) for item in expected)
    if actual is None or expected is None:
        return actual is expected
    values = actual if isinstance(actual, list | tuple) else [actual]
    return any(_normalize_value(value) == _normalize_value(expected) for value in values)


def _normalize_value(value: object) -> str:
    """Return the form for comparison: the target of a link or any text as a name key, and `2` for 2.0."""
    link = re.fullmatch(r"\[\[([^|\]#]+)[^\]]*\]\]", value.strip()) if isinstance(value, str) else None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return name_key(link[1] if link else str(value).strip())


@tool(
    category="search",
    examples=(
        "what is related to {name}?",
        "find notes related to {name}",
        "show related notes for {name}",
        "notes similar to {name}",
    ),
)
async def find_related(context: ToolContext, name: NoteName, limit: Limit = 10) -> RelatedNotes:
    """Find notes related to a note by links, meaning or shared tags, with the reason for each.

    Args:
        name: The note.
        limit: The maximum number of results.
    """
    note = await context.vault.resolve_for_reading(name)
    index = context.index
    like = index.like_note if index.has_embeddings else None
    related = [
        Related(
            name=hit.path.name,
            path=str(hit.path),
            relationship=_relationship(hit.reasons[0]),
            score=hit.score,
            reasons=[
                RelatedReason(relationship=_relationship(reason), score=reason.score)
                for reason in hit.reasons
            ],
        )
        for hit in find_related_notes(index, like, note.path, note.parsed.tag_names, limit)
    ]
    message = f"{pluralize(len(related), 'note')} related to [[{note.name}]]."
    return RelatedNotes(related=related, message=message)


def _relationship(reason: RelatednessReason) -> str:
    return f"{reason.kind}:{reason.tag}" if reason.tag else reason.kind


@tool(category="search", examples=("list all tags", "which tags are there?", "show me the tags"))
async def list_tags(context: ToolContext) -> Tags:
    """List the tags of the vault with the number of notes for each."""
    tags = [_tag_entry(tag) for tag in context.index.tags()]
    return Tags(tags=tags, message=f"{pluralize(len(tags), 'tag')}.")


@tool(
    category="search",
    examples=(
        "how many notes are there?",
        "vault statistics",
        "tell me about this vault",
        "state of the index",
    ),
)
async def vault_info(context: ToolContext) -> VaultInfo:
    """Describe the vault: counts, largest folders, most used tags, most linked notes, state of the index."""
    stats = context.index.stats()
    page = await context.index.search(_ALL_NOTES, _MAX_EXAMPLES, order="backlinks")
    # The hits of a grouped search are ordered by their groups first.
    grouped = await context.index.search(_ALL_NOTES, 1, group="folder")
    folders = sorted(grouped.groups, key=lambda group: (-group.count, group.name))
    used_tags = sorted(context.index.tags(), key=lambda tag: (-tag.count, tag.tag))
    problems = [IndexProblem(path=str(p.path), reason=p.reason) for p in context.index.problems()[:100]]
    counts = pluralize(stats.notes, "note"), pluralize(stats.links, "link"), pluralize(stats.tags, "tag")
    return VaultInfo(
        notes=stats.notes,
        attachments=stats.attachments,
        links=stats.links,
        tags=stats.tags,
        unresolved=stats.unresolved,
        orphans=stats.orphans,
        indexed=stats.indexed,
        skipped=stats.skipped,
        failed=stats.failed,
        problems=problems,
        largest_folders=[HitGroup(name=f.name, count=f.count) for f in folders if f.name][:_MAX_EXAMPLES],
        most_used_tags=[_tag_entry(tag) for tag in used_tags[:_MAX_EXAMPLES]],
        most_linked=[str(hit.path) for hit in page.hits if context.index.backlinks(hit.path)],
        message=f"{', '.join(counts)}.",
    )


@tool(
    category="search",
    examples=("where is {name} mentioned without a link?", "unlinked mentions of {name}"),
)
async def unlinked_mentions(context: ToolContext, name: NoteName) -> Mentions:
    """Find mentions of a note's name or aliases that are not links.

    Args:
        name: The note.
    """
    note = await context.vault.resolve_for_reading(name)
    if context.index.note(note.path) is None:
        raise NotFoundError(f"{note.path} is not in the index yet.", path=str(note.path))
    index_mentions = context.index.unlinked_mentions(note.path)
    entries = [MentionEntry(path=str(m.source), line=m.line, text=m.text) for m in index_mentions]
    message = f"{pluralize(len(entries), 'mention')} of [[{note.name}]] without a link."
    mentions = Mentions(mentions=entries, message=message)
    return mentions.from_notes(context.index.is_from_web(mention.source) for mention in index_mentions)


def _tag_entry(tag: TagCount) -> TagEntry:
    return TagEntry(tag=tag.tag, count=tag.count, parent=tag.parent)


def _sorted_paths(paths: Iterable[NotePath], limit: int) -> NotePaths:
    ordered = sorted(str(path) for path in paths)
    message = f"{pluralize(len(ordered), 'note')} found."
    return NotePaths(notes=ordered[:limit], total=len(ordered), message=message)
