"""Find the notes of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.agent.language.meaning.readings import NoteSet
from app.agent.pipeline.host import Arguments
from app.agent.pipeline.tool_calls import ToolCalls, items_of
from app.permissions.pluralize import pluralize
from app.toolkit.outcome import ToolOutcome

MAX_WRITTEN_NOTES = 500
ALL_NOTES_QUERY = "modified:>=1970"
_MAX_SEARCH_HITS = 1000


@dataclass(frozen=True, slots=True)
class Selection:
    """The notes of a set, and the number of notes that they were chosen from: given ones, or hits."""

    paths: tuple[str, ...]
    total: int
    is_from_given: bool


class NoteSearch:
    """Searches for notes with the tool of the user, who sees each search.

    Args:
        tools: Calls the tool and shows its failures.
    """

    def __init__(self, tools: ToolCalls) -> None:
        self._tools = tools

    async def resolve(self, notes: NoteSet, previous: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return the paths of a note set; None if a search failed."""
        selection = await self.select(notes, previous)
        return selection.paths if selection is not None else None

    async def select(self, notes: NoteSet, previous: tuple[str, ...]) -> Selection | None:
        """Return the notes of a note set; None if a search failed.

        A set that does not start from given notes has at most `MAX_WRITTEN_NOTES`.
        """
        base: tuple[str, ...] | None = None
        if notes.source:
            base = previous
        elif notes.notes:
            base = notes.notes
        is_from_given, total = base is not None, len(base or ())
        if notes.query or notes.order or base is None:
            query = notes.ordered_query or ALL_NOTES_QUERY
            limit = _search_limit(notes) if base is None else _MAX_SEARCH_HITS
            hits: tuple[str, ...] = ()
            is_complete = False
            while not is_complete:
                outcome = await self.search(query, limit, notes.order, len(hits), among=base)
                if outcome is None:
                    return None
                page = tuple(str(hit["path"]) for hit in items_of(outcome.result, "hits"))
                hits += page
                # A given note may be on any page of the hits.
                is_complete = base is None or len(page) < limit or set(base).issubset(hits)
                total = total if is_from_given else int(str(outcome.result["total"]))
            base_paths = set(base or ())
            if base is None or notes.order:
                base = hits if base is None else tuple(path for path in hits if path in base_paths)
            else:
                hit_paths = set(hits)
                base = tuple(path for path in base if path in hit_paths)
        return Selection(notes.first_notes(base), total, is_from_given)

    async def search(
        self,
        query: str,
        limit: int,
        order: str = "",
        offset: int = 0,
        *,
        among: Sequence[str] | None = None,
    ) -> ToolOutcome | None:
        """Search for notes; if the search fails, show the failure and return None.

        If only the hits `among` some notes matter, the user sees the number of those.
        """

        def count_among(outcome: ToolOutcome) -> str:
            found = {str(hit["path"]) for hit in items_of(outcome.result, "hits")} & set(among or ())
            return f"{len(found):,} of these {pluralize(len(among or ()), 'note')} found."

        # A trailing space makes the last word a whole word instead of a prefix.
        arguments: Arguments = {"query": f"{query} ", "limit": limit}
        if order:
            arguments["order"] = order
        if offset:
            arguments["offset"] = offset
        summarize = count_among if among is not None else None
        outcome = await self._tools.call("search_notes", arguments, summarize=summarize)
        if not outcome.success:
            self._tools.say_result("search_notes", {}, outcome)
            return None
        return outcome

    async def search_all(self, query: str) -> list[dict[str, Any]] | None:
        """Search for notes and return all hits; if a search fails, show the failure and return None."""
        hits: list[dict[str, Any]] = []
        while True:
            outcome = await self.search(query, _MAX_SEARCH_HITS, offset=len(hits))
            if outcome is None:
                return None
            page = items_of(outcome.result, "hits")
            hits += page
            if len(page) < _MAX_SEARCH_HITS:
                return hits


def _search_limit(notes: NoteSet) -> int:
    """Return the number of hits that a set needs; a position or limit from the end needs all of them."""
    needed = notes.limit if notes.pick is None else notes.pick
    # Without an order, the search ranks a few hits in another way than many.
    if not notes.order or needed is None or needed < 0:
        return MAX_WRITTEN_NOTES
    return min(needed, MAX_WRITTEN_NOTES)
