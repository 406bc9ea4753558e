"""Repeat a search for another period: "and in 2020?", "only March"."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from app.agent.language.grammar.note_facts import PropertiesOf
from app.agent.language.grammar.property_conditions import EVENT_PROPERTIES
from app.agent.language.grammar.request import Request
from app.agent.language.lookups.negations import change_words
from app.agent.language.meaning.conditions import date_slot, top_level_parts
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.dates import DateSpan, Days, day_name_conditions
from app.agent.language.words.tokens import Token

_CHANGE_SLOTS = ("modified", "created")
_YEAR = re.compile(r"\d{4}")
_STATED_YEARS = re.compile(r"\(?\[[\w -]+:\d{4}\](?: OR \[[\w -]+:\d{4}\])*\)?")
"""A condition that one of several properties is a year: "movies from 1999"."""
_MONTH = re.compile(r"\d{4}-\d\d")
_CHANGED_IN = re.compile(r"modified:>=(?P<first>\d{4}-\d\d-\d\d) modified:<=(?P<last>\d{4}-\d\d-\d\d)")
_CHANGED_UNTIL = re.compile(r"modified:<=(?P<last>\d{4}-\d\d-\d\d)")
_CHANGED_THEN = re.compile(
    r"(?<!-)(?P<field>modified|created):"
    r"(?:>=(?P<first>[\d-]{10}) (?P=field):<=(?P<last>[\d-]{10})|(?P<day>[\d-]{10}))"
)
_DATE = re.compile(r"\d{4}(?!\d)")
_MAX_LISTED = 100
"""The maximum number of listed notes whose dates are looked at."""


def moved_in_time(request: Request, period: Days) -> list[str]:
    """Return the last search's conditions with another period in place of its own; empty without one."""
    last = request.dialog.last.last.target if request.dialog.last is not None else None
    known = top_level_parts(last.query) if last is not None else []
    slots = [slot for part in known if (slot := date_slot(part))]
    if not slots or "OR" in known:
        return []
    match slots[0]:
        case "file":
            moved = day_name_conditions(*period, request.vocabulary.day_separator)
        case "modified" | "created" as field:
            moved = DateSpan(*period, 0).query(field)
        case name:
            moved = within_period(name, period) or ""
    return [*(part for part in known if date_slot(part) != slots[0]), moved] if moved else []


def within_period(name: str, period: Days) -> str | None:
    """Return the conditions that limit a property to a period; None if both sides are open.

    The first and last day of a year are written as years.
    """
    first, last = period
    parts: list[str] = []
    if first is not None:
        parts.append(f"[{name}:>={first.year if (first.month, first.day) == (1, 1) else first}]")
    if last is not None:
        is_end_of_year = (last.month, last.day) == (12, 31)
        parts.append(f"[{name}:<{last.year + 1}]" if is_end_of_year else f"[{name}:<={last}]")
    return " ".join(parts) or None


def search_of_period(request: Request, tokens: Sequence[Token], step: PipelineStep) -> PipelineStep | None:
    """Return the last search for the period that the tokens name, if it selects by names or a property.

    A month without a year is one of the year of that search. Return None for other words, and after a search
    for the time of a change.
    """
    target = step.target
    if step.action not in ("find", "count") or target is None or target.notes or target.source:
        return None
    parts = top_level_parts(target.query)
    dated = [part for part in parts if date_slot(part)]
    span = request.dates.parse_period(tokens)
    stated = [part for part in parts if _STATED_YEARS.fullmatch(part)]
    if len(stated) == 1 and span is not None and _YEAR.fullmatch(span.note_name):
        year_only = re.sub(r":\d{4}\]", f":{span.note_name}]", stated[0])
        query = " ".join(year_only if part == stated[0] else part for part in parts)
        return replace(step, target=replace(target, query=query))
    if not dated or date_slot(dated[0]) in _CHANGE_SLOTS or span is None:
        return None
    year = _YEAR.search(dated[0])
    if _is_month(request, tokens, span) and year is not None:
        if date_slot(dated[0]) != "file" and not _MONTH.search(dated[0]):
            return None  # a property that may hold years only
        span = _in_year(span, int(year[0]))
    conditions = moved_in_time(request, (span.first, span.last))
    moved = NoteSet(query=" ".join(conditions), order=target.order, limit=target.limit)
    return replace(step, target=moved) if conditions else None


def with_stated_dates(request: Request, reading: Reading, properties_of: PropertiesOf) -> Reading:
    """Return a search for listed notes of a period as one by the dates that the notes state.

    After "the posts by Ann", "only those from 2022" are those published in that year, if the posts say so.
    The reading is unchanged if the request has a word for a change, or if no listed note states a date.
    """
    step, last, listed = reading.last, request.dialog.last, request.dialog.results
    target = step.target
    is_search = len(reading.steps) == 1 and step.action in ("find", "count") and target is not None
    known = last.last.target if last is not None else None
    if not is_search or target is None or known is None or not listed:
        return reading
    parts = top_level_parts(target.query)
    both, one = _CHANGED_IN.fullmatch(" ".join(parts[-2:])), _CHANGED_UNTIL.fullmatch(" ".join(parts[-1:]))
    period, others = (both, parts[:-2]) if both is not None else (one, parts[:-1])
    is_narrower = bool(target.source) or (others == top_level_parts(known.query) and bool(others))
    tokens = {token.key for token in request.tokens}
    if period is None or not is_narrower or tokens & change_words(request.language, "modified"):
        return reading
    stated = [
        {name for name in EVENT_PROPERTIES if _DATE.match(str(properties.get(name) or ""))}
        for properties in map(properties_of, listed[:_MAX_LISTED])
    ]
    first = date.fromisoformat(both["first"]) if both is not None else None
    end = date.fromisoformat(period["last"])
    is_year = first is not None and (first, end) == (date(end.year, 1, 1), date(end.year, 12, 31))
    conditions = [
        f"[{name}:{end.year}]" if is_year else f"({within_period(name, (first, end))})"
        for name in EVENT_PROPERTIES
        if any(name in names for names in stated)
    ]
    if not conditions:
        return reading
    condition = conditions[0].strip("()") if len(conditions) == 1 else f"({' OR '.join(conditions)})"
    narrower = replace(target, query=" ".join((*others, condition)))
    return replace(reading, steps=(replace(step, target=narrower),))


def asks_for_period(request: Request, reading: Reading) -> bool:
    """Return whether a reading searches for notes of a period, and its request has no word for a change."""
    target = reading.last.target
    if len(reading.steps) > 1 or reading.last.action not in ("find", "count") or target is None:
        return False
    if (period := _CHANGED_THEN.search(target.query)) is None:
        return False
    changed = change_words(request.language, period["field"])
    changed -= {word for phrase in request.language.phrases("periods", "written") for word in phrase.words}
    return changed.isdisjoint(token.key for token in request.tokens)


def by_day_names(request: Request, reading: Reading) -> Reading | None:
    """Return a search for notes of a period as one for notes with a day of it in their names, or None."""
    target = reading.last.target
    period = _CHANGED_THEN.search(target.query) if target is not None else None
    if target is None or period is None:
        return None
    try:
        first, last = (date.fromisoformat(period["day"] or period[side]) for side in ("first", "last"))
    except ValueError:
        return None  # a day that does not exist
    names = day_name_conditions(first, last, request.vocabulary.day_separator)
    query = target.query.replace(period[0], names)
    return (
        replace(reading, steps=(replace(reading.last, target=replace(target, query=query)),))
        if names
        else None
    )


def _is_month(request: Request, tokens: Sequence[Token], span: DateSpan) -> bool:
    """Return whether the tokens of a span name only a month: "March", "in March"."""
    after = request.language.match_prefix(tokens, 0, "dates", "span")
    is_word = len(tokens) == after + 1 and tokens[after].value.isalpha()
    return is_word and _MONTH.fullmatch(span.note_name) is not None


def _in_year(span: DateSpan, year: int) -> DateSpan:
    """Return the month of a span in another year."""
    first = span.first.replace(year=year) if span.first is not None else None
    last = first.replace(day=monthrange(year, first.month)[1]) if first is not None else None
    return DateSpan(first, last, span.end)
