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


def asks_for_newest(request: Request, reading: Reading) -> bool:
    """Return whether a reading sorts by changes for "the newest", which may be about the age."""
    target = reading.last.target
    is_by_change = len(reading.steps) == 1 and target is not None and target.order == "modified"
    return is_by_change and any(
        token.key in request.language.table("doubts")["newest"] for token in request.tokens
    )


def by_age(reading: Reading, paths: Sequence[str], properties_of: PropertiesOf) -> Reading:
    """Return "the newest boat" as the one built or dated last if most of the notes at some paths say so."""
    target = reading.last.target
    known = [
        {name_key(name) for name, value in properties_of(path).items() if value}
        for path in paths[:_MAX_COMPARED]
    ]
    aged = sum(not names.isdisjoint((*AGE_PROPERTIES, *EVENT_PROPERTIES)) for names in known)
    if target is None or 2 * aged <= len(known):
        return reading
    return replace(reading, steps=(replace(reading.last, target=replace(target, order="dated")),))


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
    order = name if _says(request, "downward") else f"-{name}"
    return replace(reading, steps=(replace(reading.last, target=replace(target, order=order)),))


def asks_by_length(request: Request, reading: Reading) -> bool:
    """Return whether a reading sorts for "the longest", which may be a length that the notes state."""
    target = reading.last.target
    has_order = target is not None and bool(target.order)
    return len(reading.steps) == 1 and has_order and _says(request, "by_length")


def by_stated_length(reading: Reading, paths: Sequence[str], properties_of: PropertiesOf) -> Reading:
    """Return "the longest" as the one with the most minutes or pages if most of some notes state them."""
    names = languages()[0].table("facts")["durations"]
    known = [properties_of(path) for path in paths[:_MAX_COMPARED]]
    ordered = property_of(reading.last.target.order) if reading.last.target is not None else ""
    if any(_DAY.match(str(own.get(ordered, ""))) for own in known):
        return reading  # "which of them did I cook longest ago?"
    counts = Counter(name for own in known for name, value in own.items() if isinstance(value, int | float))
    name = max((name for name in counts if name_key(name) in names), key=counts.__getitem__, default="")
    target = reading.last.target
    if target is None or 2 * counts[name] <= len(known):
        return reading
    order = f"-{name}" if target.order.startswith("-") else name
    return replace(reading, steps=(replace(reading.last, target=replace(target, order=order)),))


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
