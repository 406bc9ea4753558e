"""Find the property that a comparison or a superlative is about."""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from app.agent.comparison.chosen_readings import is_chosen
from app.agent.comparison.found_notes import FoundNotes
from app.agent.language.doubts.stated_amounts import is_number
from app.agent.language.grammar.note_facts import PropertiesOf
from app.agent.language.grammar.property_conditions import EVENT_PROPERTIES
from app.agent.language.grammar.request import Request
from app.agent.language.lookups.compared_sets import (
    ComparedSet,
    Comparison,
    Superlative,
    parse_compared_set,
)
from app.agent.language.lookups.periods import within_period
from app.agent.language.meaning.clarifications import with_readings_first
from app.agent.language.meaning.conditions import condition_slots, date_slot, top_level_parts
from app.agent.language.meaning.readings import (
    Clarification,
    Interpretation,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.agent.language.words.dates import Days
from app.agent.language.words.vault_words import name_parts
from app.index.query_serializer import quote_value
from app.vault.path import name_key

_DAY = re.compile(r"\d{4}-\d\d-\d\d(?!\d)")
_BOUND = re.compile(r"\[(?P<name>[^:\[\]]+):(?P<sign>[<>])=(?P<day>\d{4}-\d\d-\d\d)\]")
_YEAR = re.compile(r"1\d{3}|20\d\d")
_DAY_NAME = re.compile(r"file:\d{4}\S*")
_DATE_PROPERTIES = ("date", *(name for name in EVENT_PROPERTIES if name != "date"))
_MAX_NOTES = 500
_MAX_OPTIONS = 3
_SCORE = 0.97
_MAX_YEARLY_DAYS = 31


class ComparedProperties:
    """Finds the compared property among those of the notes: "lessons next week" are those with a `date` then.

    Args:
        found: Searches for the notes.
        properties_of: Returns the properties of the note at a path.
    """

    def __init__(self, found: FoundNotes, properties_of: PropertiesOf | None) -> None:
        self._found = found
        self._properties_of = properties_of

    async def with_compared_property(
        self, interpretation: Interpretation, request: Request
    ) -> Interpretation:
        """Return the search that a request describes by a date or an amount; others stay unchanged.

        If the notes have several properties that may be meant, the result is a question.
        """
        properties_of = self._properties_of
        if properties_of is None or request.dialog.question is not None:
            return interpretation
        if isinstance(interpretation, Reading) and is_chosen(interpretation, request.text, request.dialog):
            return interpretation
        compared = parse_compared_set(request)
        if compared is None or compared.action not in request.allowed:
            return _with_days_of_any_year(interpretation, request)
        if any(map(_DAY_NAME.fullmatch, top_level_parts(compared.notes.query))):
            return interpretation  # a list of daily notes, whose dates are in their names
        slots = filter(None, map(date_slot, top_level_parts(compared.notes.query)))
        names = compared.names or set(slots)
        paths = await self._paths(_without_dates(compared, ""), names, request)
        # The first notes may all be those of an archive.
        sample = paths[:: max(1, math.ceil(len(paths) / _MAX_NOTES))]
        properties = await asyncio.to_thread(lambda: list(map(properties_of, sample)))
        sets = _compared_notes(request, compared, properties)[:_MAX_OPTIONS]
        readings = [
            Reading(
                (PipelineStep(compared.action, notes),), _SCORE, language=request.language.code, verb_words=1
            )
            for notes in sets
        ]
        if not readings:
            return interpretation
        return readings[0] if len(readings) == 1 else with_readings_first(Clarification("", ()), readings)

    async def _paths(self, notes: NoteSet, names: Collection[str], request: Request) -> Sequence[str]:
        """Return the notes of a set, or those with one of some properties if nothing else describes them.

        The notes may be some of those listed last.
        """
        listed = request.dialog.them
        if notes.source and not notes.query:
            return listed
        query = notes.query or " OR ".join(f"[{quote_value(name)}]" for name in sorted(names))
        hits = (await self._found.with_hits(NoteSet(query=query))).notes
        if not notes.source:
            return hits
        kept = set(listed)
        return [path for path in hits if path in kept]


def _compared_notes(
    request: Request, compared: ComparedSet, notes: Sequence[Mapping[str, object]]
) -> list[NoteSet]:
    """Return the sets that a comparison may mean among notes with the given properties, likeliest first."""
    comparison = compared.comparison
    names = _compared_names(request, compared, notes)
    if isinstance(comparison, Superlative):
        sign = "-" if comparison.is_lowest else ""
        return [replace(compared.notes, order=f"{sign}{name}", limit=comparison.limit) for name in names]
    sets: list[NoteSet] = []
    for name in names:
        if not (condition := _condition(request, name, comparison, notes)):
            continue
        if compared.is_negated:
            condition = f"-({condition})" if " " in condition else f"-{condition}"
        sets.append(_without_dates(compared, name).with_query(condition))
    return sets


def _without_dates(compared: ComparedSet, name: str) -> NoteSet:
    """Return the notes before a comparison with a period, without another period of a property.

    After the lessons of March, "the ones in April" are those of another period. An empty name means all
    properties.
    """
    comparison, parts = compared.comparison, top_level_parts(compared.notes.query)
    if isinstance(comparison, Superlative) or comparison.amount or "OR" in parts:
        return compared.notes
    if any(None in days for days in comparison.periods):
        return compared.notes
    kept = [part for part in parts if not (slot := date_slot(part)) or (name and slot != name_key(name))]
    return replace(compared.notes, query=" ".join(kept))


def _compared_names(
    request: Request, compared: ComparedSet, notes: Sequence[Mapping[str, object]]
) -> list[str]:
    """Return the properties of some notes that a comparison may mean, the most frequent one first."""
    comparison = compared.comparison
    is_order = isinstance(comparison, Superlative) and not comparison.is_by_date
    is_amount = not isinstance(comparison, Superlative) and bool(comparison.amount)
    is_by_year = isinstance(comparison, Comparison) and _is_of_years(request, comparison.periods)
    counts = Counter(
        name
        for properties in notes
        for name, value in properties.items()
        if ((is_order or is_amount) and is_number(value))
        or (not is_amount and _DAY.match(str(value)) is not None)
        or (is_by_year and name_key(name) in EVENT_PROPERTIES and _YEAR.fullmatch(str(value)) is not None)
    )
    known = {name_key(name): name for name in counts}
    parts = top_level_parts(compared.notes.query)
    listed = [known[slot] for part in parts for slot in condition_slots(part) if slot in known]
    is_open = isinstance(comparison, Comparison) and any(None in days for days in comparison.periods)
    if listed and (is_amount or is_open):
        return []  # after "over 500", "and under 200" may replace the limit or add one
    if listed and not compared.names and any(map(date_slot, parts)):
        names = listed[:1]  # after those sown in March, "in February" is about the same property
    elif compared.names:
        said = {token.key for token in request.tokens}
        meant = [name for key, name in known.items() if key in map(name_key, compared.names)]
        names = [name for name in meant if said & name_parts(name_key(name))] or meant
    elif isinstance(comparison, Superlative):
        names = []
    elif is_amount:
        money = request.language.table("stated_values")["money_properties"]
        names = [name for key, name in known.items() if key in money] or list(known.values())
        names = [name for name in names if _divides(notes, name, comparison)] or names
    elif is_by_year:
        names = [known[key] for key in EVENT_PROPERTIES if key in known]
        names = names if len(names) == 1 else []  # notes with different properties
    elif any(last is None or last > request.dates.today for _, last in comparison.periods):
        names = [known[key] for key in _DATE_PROPERTIES if key in known][:1] or list(known.values())
    else:
        names = []  # "notes from last week" were changed in it
    return sorted(names, key=lambda name: -counts[name])


def _is_of_years(request: Request, periods: Sequence[Days]) -> bool:
    """Return whether periods begin and end with years that a request states: "from before 2015"."""
    days = [(first or date.min, last or date.max) for first, last in periods]
    is_whole = all((first.month, first.day, last.month, last.day) == (1, 1, 12, 31) for first, last in days)
    return is_whole and any(_YEAR.fullmatch(token.key) for token in request.tokens)


def _divides(notes: Sequence[Mapping[str, object]], name: str, comparison: Comparison) -> bool:
    """Return whether some of the numbers of a property are above an amount and some below it."""
    numbers = [float(str(own[name])) for own in notes if is_number(own.get(name))]
    return min(numbers) <= float(comparison.amount) <= max(numbers)


def _condition(
    request: Request, name: str, comparison: Comparison, notes: Sequence[Mapping[str, object]]
) -> str:
    """Return the condition that a property meets a comparison; an empty text if there is none."""
    if comparison.amount:
        return f"[{quote_value(name)}:{comparison.sign}{comparison.amount}]"
    is_yearly = name_key(name) in request.language.table("compared_sets")["yearly"]
    if is_yearly and not any(token.key[0].isdigit() for token in request.tokens):
        return _in_any_year(name, comparison.periods[0])
    return within_period(quote_value(name), _period_with_values(name, comparison.periods, notes)) or ""


def _period_with_values(name: str, periods: Sequence[Days], notes: Sequence[Mapping[str, object]]) -> Days:
    """Return the first period in which a property has a value: "January" is the last one or the next one."""
    days = [found[0] for own in notes if (found := _DAY.match(str(own.get(name, ""))))]

    def has_values(period: Days) -> bool:
        first, last = (day.isoformat() if day is not None else "" for day in period)
        return any(first <= day and (not last or day <= last) for day in days)

    return next(filter(has_values, periods), periods[0])


def _with_days_of_any_year(interpretation: Interpretation, request: Request) -> Interpretation:
    """Return a search for birthdays of this year as one for those of any year: "who has birthday in May?"."""
    step = interpretation.last if isinstance(interpretation, Reading) else None
    target = step.target if step is not None else None
    if not isinstance(interpretation, Reading) or step is None or target is None:
        return interpretation
    parts = top_level_parts(target.query)
    bounds = {part: found for part in parts if (found := _BOUND.fullmatch(part))}
    days = {found["sign"]: date.fromisoformat(found["day"]) for found in bounds.values()}
    names = {found["name"] for found in bounds.values()}
    yearly = request.language.table("compared_sets")["yearly"]
    name = names.pop() if len(names) == 1 else ""
    says_year = any(token.key[0].isdigit() for token in request.tokens)
    if len(bounds) != 2 or len(days) != 2 or name_key(name) not in yearly or says_year:
        return interpretation
    if not (condition := _in_any_year(name, (days[">"], days["<"]))):
        return interpretation
    query = " ".join((*(part for part in parts if part not in bounds), condition))
    step = replace(step, target=replace(target, query=query))
    return replace(interpretation, steps=(*interpretation.steps[:-1], step))


def _in_any_year(name: str, period: Days) -> str:
    """Return the condition that a day of a period, in any year, is the value of a property; or no text."""
    first, last = period
    if first is None or last is None or (last - first).days > _MAX_YEARLY_DAYS:
        return ""
    days: list[date] = [first + timedelta(days=days) for days in range((last - first).days + 1)]
    months = {f"{day:%m}" for day in days}
    is_month = len(months) == 1 and first.day == 1 and (last + timedelta(days=1)).day == 1
    dates = [f"{first:%m}-"] if is_month else [f"{day:%m-%d}" for day in days]
    pattern = dates[0] if len(dates) == 1 else f"({'|'.join(dates)})"
    return f"[{quote_value(name)}:/-{pattern}/]"
