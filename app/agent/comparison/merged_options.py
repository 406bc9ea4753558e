"""Merge the options of a question that do the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from app.agent.comparison.found_notes import FoundNotes, finds_nothing
from app.agent.comparison.narrowed_lists import narrows_list, place_in_list
from app.agent.language.changes.undo import undoes_nothing, undone_changes
from app.agent.language.doubts.option_order import UNUSUAL, USEFUL, USELESS, OptionRanker, meaning_key
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import ClarificationOption


@dataclass(frozen=True, slots=True)
class MergedOption:
    """An option of a question, and all others that do the same.

    Args:
        option: The first of them.
        is_change: Whether they change something.
        share: Their total probability.
        rank: `USEFUL`, `UNUSUAL` or `USELESS`.
        place: The place of a search that may narrow the list just shown; None for other options.
    """

    option: ClarificationOption
    is_change: bool
    share: float = 0.0
    rank: int = USEFUL
    place: int | None = None


async def merge_options(
    options: Iterable[ClarificationOption], request: Request, found_notes: FoundNotes, ranker: OptionRanker
) -> list[MergedOption]:
    """Return options with those that do the same merged, the most useful ones first."""
    is_of_list, changes = narrows_list(request), request.dialog.changes
    merged: dict[str, MergedOption] = {}
    for option in options:
        reading = option.reading
        found = await found_notes.with_listed_hits(request.dialog, reading)
        undone = undone_changes(reading, changes)
        meaning = f"undo {[own.entry for own in undone]}" if undone else meaning_key(found)
        is_useless = finds_nothing(reading, found) or undoes_nothing(reading, changes)
        is_search = is_of_list and reading.last.action == "find"
        known = merged.get(meaning, MergedOption(option, request.writes(reading)))
        merged[meaning] = replace(
            known,
            share=known.share + option.share,
            rank=USELESS if is_useless else await ranker.rank(found),
            place=place_in_list(request, reading, found) if is_search else None,
        )
    ordered = sorted(merged.values(), key=lambda own: own.rank)
    # Searches for a part of the list come before those for all of it, and those of the whole vault.
    searches = [own for own in ordered if own.place is not None]
    following = iter(sorted(searches, key=lambda own: (own.rank, own.place or 0)))
    return [own if own.place is None else next(following) for own in ordered]


def meant_options(merged: Sequence[MergedOption]) -> tuple[ClarificationOption, ...]:
    """Return the options without changes that change nothing, and without unusual ones if others are left."""
    worst = min((UNUSUAL, *(own.rank for own in merged if own.is_change)))
    return tuple(own.option for own in merged if not own.is_change or own.rank <= worst)
