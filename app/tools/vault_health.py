"""Category search: find unresolved links and near-duplicate notes."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import Limit
from app.toolkit.context import ToolContext
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool


class UnresolvedLink(BaseModel):
    """The target of unresolved links, and the number of links to it."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    links: int


class UnresolvedLinks(ToolResult):
    """Unresolved targets, most linked first, and their total number."""

    links: list[UnresolvedLink]
    total: int


class DuplicatePair(BaseModel):
    """Two near-duplicate notes; `words` is the fraction of text they share, 0 to 1."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    first: str
    second: str
    words: float


class Duplicates(ToolResult):
    """Pairs of near-duplicate notes, most similar first, and their total number."""

    pairs: list[DuplicatePair]
    total: int


@tool(
    category="search",
    examples=("are there any broken links?", "list unresolved links", "which links lead nowhere?"),
)
async def list_unresolved_links(context: ToolContext, limit: Limit = 50) -> UnresolvedLinks:
    """List the targets of links to missing notes.

    Args:
        limit: The maximum number of results.
    """
    unresolved = sorted(
        context.index.unresolved(), key=lambda target: (-target.count, target.name.casefold())
    )
    links = [UnresolvedLink(name=target.name, links=target.count) for target in unresolved[:limit]]
    return UnresolvedLinks(
        links=links, total=len(unresolved), message=f"{pluralize(len(unresolved), 'unresolved link')}."
    )


@tool(
    category="search",
    examples=("find duplicates", "which notes say the same?", "are there duplicate notes?"),
)
async def find_duplicates(context: ToolContext, limit: Limit = 20) -> Duplicates:
    """Find pairs of notes with nearly the same content, by meaning and by words.

    Needs semantic search; without it no pairs are found.

    Args:
        limit: The maximum number of pairs.
    """
    search = context.semantic_search
    duplicates = await search.near_duplicates(context.vault.read) if search is not None else ()
    visible = [
        pair
        for pair in duplicates
        if context.vault.can_see(pair.first) and context.vault.can_see(pair.second)
    ]
    pairs = [
        DuplicatePair(first=str(pair.first), second=str(pair.second), words=round(pair.word_similarity, 3))
        for pair in visible[:limit]
    ]
    return Duplicates(
        pairs=pairs, total=len(visible), message=f"{pluralize(len(visible), 'pair')} of near-duplicates."
    )
