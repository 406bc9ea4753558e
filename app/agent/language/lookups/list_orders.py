"""Reorder the notes that were just listed: "the newest?", "and the shortest?"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from app.agent.language.grammar.note_facts import PropertiesOf
from app.agent.language.grammar.property_conditions import DATE_PROPERTIES, EVENT_PROPERTIES
from app.agent.language.grammar.request import Request
from app.agent.language.lookups.negations import change_words
from app.agent.language.meaning.conditions import date_slot, top_level_parts
from app.agent.language.meaning.dialog import MAX_RESULTS, DialogState
from app.agent.language.meaning.readings import NoteSet, Reading
from app.agent.language.words.lexicon import languages
from app.index.value_order import AGE_PROPERTIES, property_of
from app.vault.path import name_key

_MAX_COMPARED = 50
"""The maximum number of notes whose properties are looked at."""
_DAY = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?(?!\d)")
_FULL_DATE = re.compile(r"\d{4}-\d\d")
_DATES = ("modified", "created", "dated", *DATE_PROPERTIES)


def within_list(request: Request, notes: NoteSet) -> NoteSet:
    """Limit an ordered set of all notes to those just listed, if the request continues the list.

    An order by date uses the date by which the list is sorted. If the dialog holds only part of the list,
    return the search that produced the list, in the new order. Daily notes are ordered by their days.
    """
    dialog, notes = request.dialog, _in_time(request, notes)
    means_list = replace(notes, limit=None).is_everything or (notes.notes == dialog.them and not notes.query)
    if not (notes.order and means_list and request.continues_list):
        return notes
    order = continued_order(dialog, notes.order)
    last = dialog.last.last.target if dialog.last is not None and dialog.has_search else None
    is_whole = last is None or (last.limit not in (1, -1) and 0 < len(dialog.results) < MAX_RESULTS)
    if last is None or is_whole or dialog.attached or last.source:
        return replace(notes, notes=dialog.them, order=order)
    return replace(last, order=order, limit=notes.limit)


def asks_for_age(request: Request, reading: Reading) -> bool:
    """Return whether a reading sorts by a date or a property for "the newest", which may be about the age."""
    target = reading.last.target
    if target is None or not target.order or len(reading.steps) > 1 or not (sign := _age_sign(request)):
        return False
    is_by_date = target.order in ("dated", "-dated") or (target.order == "modified" and sign == "+")
    return is_by_date or bool(property_of(target.order))


def _age_sign(request: Request) -> str:
    """Return `+` for "the newest", `-` for "the oldest", and an empty text for other words."""
    keys, words = {token.key for token in request.tokens}, request.language.table("doubts")
    signs = [sign for sign, name in (("+", "newest"), ("-", "oldest")) if not keys.isdisjoint(words[name])]
    return signs[0] if len(signs) == 1 else ""


def by_age(request: Request, reading: Reading, paths: Sequence[str], properties_of: PropertiesOf) -> Reading:
    """Return "the newest boat" as the one built or dated last if most of the notes at some paths say so.

    An order by another property remains if the request names it or if it has dates, from the earliest one
    for "the oldest".
    """
    target = reading.last.target
    properties = [properties_of(path) for path in paths[:_MAX_COMPARED]]
    known = [{name_key(name) for name, value in own.items() if value} for own in properties]
    if target is None or not known:
        return reading
    ordered = name_key(property_of(target.order))
    is_age = ordered in AGE_PROPERTIES
    is_named = any(ordered.startswith(token.key) for token in request.tokens if len(token.key) > 2)
    is_dated = any(_FULL_DATE.match(str(own.get(property_of(target.order), ""))) for own in properties)
    sign = "-" if _age_sign(request) == "-" else ""
    if is_dated and not is_named:
        return _ordered(reading, f"{sign}{property_of(target.order)}")
    if not is_age and ordered and (is_named or ordered in ("age", *_DATES)):
        return reading
    dated = {*AGE_PROPERTIES, *EVENT_PROPERTIES}
    ages = [name for name in languages()[0].table("facts")["ages"] if name not in dated and name != "age"]
    order = ordered if is_age else "dated" if _are_in_most(known, dated) else ""
    order = order or next((name for name in ages if _are_in_most(known, {name})), "")
    if sign and not order and _are_in_most(known, {"age"}):
        return _ordered(reading, "age")  # the largest number first
    return _ordered(reading, f"{sign}{order}") if order else reading


def _are_in_most(known: Sequence[set[str]], names: set[str]) -> bool:
    """Return whether most notes have one of some properties."""
    return 2 * sum(not own.isdisjoint(names) for own in known) > len(known)


def _ordered(reading: Reading, order: str) -> Reading:
    """Return a reading of one step in another order."""
    target = reading.last.target or NoteSet()
    return replace(reading, steps=(replace(reading.last, target=replace(target, order=order)),))


def asks_by_date(request: Request, reading: Reading) -> bool:
    """Return whether a reading sorts by changes for "by date", which may be a date that the notes state."""
    target = reading.last.target
    is_by_change = target is not None and target.order in ("modified", "-modified")
    return len(reading.steps) == 1 and is_by_change and _says(request, "by_date")


def by_stated_date(
    request: Request, reading: Reading, paths: Sequence[str], properties_of: PropertiesOf
) -> Reading:
    """Return "by date" as the order by the date that most of some notes state, the earliest first."""
    properties = [properties_of(path) for path in paths[:_MAX_COMPARED]]
    counts = {
        name: sum(_DAY.match(str(own.get(name, ""))) is not None for own in properties)
        for name in EVENT_PROPERTIES
    }
    name = max(sorted(counts, key=lambda name: name != "date"), key=counts.__getitem__)
    target = reading.last.target
    if target is None or 2 * counts[name] <= len(properties):
        return reading
    return _ordered(reading, name if _says(request, "downward") else f"-{name}")


def asks_by_length(request: Request, reading: Reading) -> bool:
    """Return whether a reading sorts for "the longest", which may be a length that the notes state."""
    target = reading.last.target
    has_order = target is not None and bool(target.order)
    return len(reading.steps) == 1 and has_order and _says(request, "by_length")


def by_stated_length(
    request: Request, reading: Reading, paths: Sequence[str], properties_of: PropertiesOf
) -> Reading:
    """Return "the longest" as the one with the most minutes or pages if most of some notes state them.

    A distance is a length if it is the only one, or if the last list was searched by it.
    """
    facts = [language.table("facts") for language in languages()]
    durations, distances = (
        {name for own in facts for name in own[kind]} for kind in ("durations", "distances")
    )
    known = [properties_of(path) for path in paths[:_MAX_COMPARED]]
    ordered = property_of(reading.last.target.order) if reading.last.target is not None else ""
    if any(_DAY.match(str(own.get(ordered, ""))) for own in known):
        return reading  # "which of them did I cook longest ago?"
    counts = Counter(name for own in known for name, value in own.items() if isinstance(value, int | float))
    lengths = [
        name
        for name, count in counts.items()
        if name_key(name) in durations | distances and 2 * count > len(known)
    ]
    last = request.dialog.last.last.target if request.dialog.last is not None else None
    queried = [name for name in lengths if last is not None and f"[{name}:" in last.query]
    if len(lengths) > 1 and any(name_key(name) in distances for name in lengths):
        lengths = queried if len(queried) == 1 else []
    name = max(lengths, key=counts.__getitem__, default="")
    target = reading.last.target
    if target is None or not name:
        return reading
    return _ordered(reading, f"-{name}" if target.order.startswith("-") else name)


def _says(request: Request, kind: str) -> bool:
    language, tokens = request.language, request.tokens
    return language.has_phrase(tokens, "order_words", kind)


def continued_order(dialog: DialogState, order: str) -> str:
    """Return the order, with its date or size replaced by what the previous list is sorted by, if anything.

    After a list by budget, "and the smallest?" means the smallest budget, and after "sown in 2025", "the
    most recent" the one that was sown last.
    """
    last = dialog.last.last.target if dialog.last is not None else None
    key = last.order.removeprefix("-") if last is not None else ""
    if last is not None and not key:
        dated = {slot for part in top_level_parts(last.query) if (slot := date_slot(part))}
        key = dated.pop() if len(dated) == 1 and "file" not in dated else ""
        if key and order.removeprefix("-") in _DATES:
            return f"-{key}" if order.startswith("-") else key
    is_date = order.removeprefix("-") in _DATES and key in _DATES
    is_amount = order.removeprefix("-") == "size" and bool(property_of(key))
    is_amount = is_amount and key not in (*_DATES, *AGE_PROPERTIES)
    if not (is_date or is_amount):
        return order
    return f"-{key}" if order.startswith("-") else key


def _in_time(request: Request, notes: NoteSet) -> NoteSet:
    """Return "the last three notes about tea" as the newest ones, and daily notes by the days of their names.

    "The daily note changed last" stays ordered by the time of its change.
    """
    is_search = bool(notes.query) and not notes.notes and not notes.source
    if is_search and not notes.order and (notes.limit or 0) < 0:
        notes = replace(notes, order="modified", limit=-(notes.limit or 0))
    last = request.dialog.last.last.target if request.dialog.last is not None else None
    is_listed = bool(notes.source) or notes.notes == request.dialog.them or not notes.query
    query = last.query if is_listed and last is not None else notes.query
    is_by_change = notes.order in ("modified", "-modified")
    if not is_by_change or not request.vocabulary.means_daily_notes(top_level_parts(query)):
        return notes
    if change_words(request.language, "modified") & {token.key for token in request.tokens}:
        return notes
    return replace(notes, order=notes.order.replace("modified", "dated"))
