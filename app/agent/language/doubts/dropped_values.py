"""Ask about a search that leaves out a value of the request: "my portugese recipes"."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from rapidfuzz import fuzz

from app.agent.language.grammar.request import Request
from app.agent.language.meaning.clarifications import with_readings_first
from app.agent.language.meaning.conditions import property_value, top_level_parts
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import (
    Clarification,
    Interpretation,
    NoteSet,
    Reading,
)
from app.agent.language.model.candidates import MeaningCandidate
from app.vault.path import name_key

_MIN_VALUE_PROBABILITY = 0.02
"""Minimum probability of a search with a further value that is offered with the likeliest search."""
_MIN_SIMILARITY, _MIN_LENGTH = 80.0, 4
_TAG = re.compile(r"tag:(?:\S+/)?([^\s/]+)")


def with_dropped_value(
    request: Request, interpretation: Interpretation, written: Callable[[], Sequence[MeaningCandidate]]
) -> Interpretation:
    """Return a question that offers a search with one more value, if the request states that value.

    Args:
        request: The request.
        interpretation: Its interpretation.
        written: Returns the candidates of the request model for it.
    """
    searched = _conditions(interpretation) if isinstance(interpretation, Reading) else None
    if not isinstance(interpretation, Reading) or not searched:
        return interpretation
    for candidate in written():
        reading = candidate.reading
        if reading is None or candidate.probability < _MIN_VALUE_PROBABILITY:
            continue
        conditions = _conditions(reading) or set()
        is_narrower = conditions > searched and _without_query(reading) == _without_query(interpretation)
        extra = conditions - searched
        known = serialize(interpretation).casefold()
        if is_narrower and len(extra) == 1 and _is_stated(request, extra.pop(), known):
            return with_readings_first(Clarification("", ()), (reading, interpretation))
    return interpretation


def _conditions(reading: Reading) -> set[str] | None:
    """Return the conditions of a search without alternatives; None for other readings."""
    step = reading.last
    if len(reading.steps) > 1 or step.action not in ("find", "count") or step.target is None:
        return None
    parts = set(top_level_parts(step.target.query))
    return None if "OR" in parts else parts


def _without_query(reading: Reading) -> tuple[str, NoteSet | None]:
    """Return the action and the notes of a reading without its search."""
    target = reading.last.target
    return reading.last.action, replace(target, query="") if target is not None else None


def _is_stated(request: Request, condition: str, known: str) -> bool:
    """Return whether a word of the request that a reading leaves out resembles a condition's value."""
    tag, stated = _TAG.fullmatch(condition), property_value(condition)
    value = name_key(tag[1] if tag else stated[1] if stated else "")
    return bool(value) and any(
        len(token.key) >= _MIN_LENGTH
        and fuzz.ratio(token.key, value) >= _MIN_SIMILARITY
        and token.key not in known
        for token in request.tokens
    )
