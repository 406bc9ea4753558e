"""Recognize requests that narrow the list just shown: "only the rowers", "which of them are insured?"."""

from __future__ import annotations

from app.agent.language.grammar.request import Request
from app.agent.language.meaning.conditions import top_level_parts
from app.agent.language.meaning.readings import Reading

PART, WHOLE, OUTSIDE = range(3)
"""The order of searches that may narrow a list."""


def narrows_list(request: Request) -> bool:
    """Return whether a request selects some of the notes just listed."""
    language, tokens = request.language, request.tokens
    start = language.match_prefix(tokens, 0, "and")
    is_led = language.match_prefix(tokens, start, "refine", "only") > start
    return request.dialog.has_list and (
        is_led
        or any(0 < at < language.match_prefix(tokens, at, "refine", "among") for at in range(len(tokens)))
    )


def place_in_list(request: Request, reading: Reading, found: Reading) -> int:
    """Return `PART` for a search that finds only some of the notes just listed, `WHOLE` for all of them.

    Return `OUTSIDE` for other searches.

    Args:
        request: The request.
        reading: The search.
        found: The search with its notes in place.
    """
    dialog, target, notes = request.dialog, reading.last.target, found.last.target
    if reading.last.action != "find" or target is None or notes is None or target.is_single:
        return OUTSIDE
    if not target.order and set(notes.notes) == set(dialog.them):
        return WHOLE
    last = dialog.last.last.target if dialog.last is not None else None
    known = set(top_level_parts(last.query)) if last is not None else set()
    is_part = bool(target.source) or (bool(known) and known <= set(top_level_parts(target.query)))
    is_part = is_part or (bool(notes.notes) and set(notes.notes) <= set(dialog.them))
    return PART if is_part else OUTSIDE
