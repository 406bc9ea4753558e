"""Changes of properties that a request states without their names: "rate it 4", "from 2 to 9 May"."""

from __future__ import annotations

import re

from app.agent.language.changes.property_lines import bound_value, order_words
from app.agent.language.grammar.note_facts import PropertiesOf
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.lexicon import languages
from app.agent.language.words.tokens import Token
from app.answering.question import stems
from app.vault.path import NotePath, name_key

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def change_by_verb(request: Request, words: tuple[Token, ...], properties_of: PropertiesOf) -> Reading | None:
    """Return the change of a note's property with the stem of the verb: "rate it 4", "date it 3 May"."""
    sets, code = request.set_parser(), request.language.code
    if len(words) < 3 or sets.parse_reference(words[1:]) or sets.find_named(words[1:]):
        return None  # a name with a number
    for end in range(len(words) - 1, 1, -1):
        parsed = sets.parse_reference(words[1:end]) or sets.find_named(words[1:end])
        if parsed is None or not parsed.notes.is_single or not parsed.notes.notes:
            continue
        known, verb = properties_of(parsed.notes.notes[0]), stems(words[0].key, code)
        keys = [own for own in known if verb and stems(own, code) == verb]
        cue = request.language.match_prefix(words, end, "property_values", "at")
        value = bound_value(request, words[cue:])
        if len(keys) != 1 or not _is_like(value, known[keys[0]]):
            return None
        step = PipelineStep("set_property", parsed.notes, {"key": keys[0], "value": value})
        return Reading((step,), 0.97, language=code, is_certain=parsed.is_certain)
    return None


def change_of_period(
    request: Request, words: tuple[Token, ...], properties_of: PropertiesOf
) -> Reading | None:
    """Return the change of the only first and last day of the note in talk: "it's from 2 to 9 May".

    The year may be that of the note's name or of its days. The change is certain if the note has no days yet,
    and is new or has a year.
    """
    dialog, language = request.dialog, request.language
    table = language.table("property_values")
    leads = order_words(language)[1].union(table["copulas"], table["set"])
    words = words[next((at for at, own in enumerate(words) if own.key not in leads), 0) :]
    is_period = language.match_prefix(words, 0, "dates", "between") > 0
    days = request.dates.days_ahead(words) if is_period else None
    if days is None or ".." not in days or dialog.has_list or len(dialog.it) != 1:
        return None
    known = properties_of(dialog.it[0])
    own = {name_key(key): key for key, old in known.items() if not old or _is_like(str(old), old)}
    pairs = {
        (own[first], own[last])
        for language in languages()
        for part, other in language.table("property_values")["periods"]
        for first in own
        if part in first and (last := first.replace(part, other)) in own
    }
    if len(pairs) != 1:
        return None
    (keys,) = pairs
    stated, name = _YEAR.search(request.text), NotePath.on_disk(dialog.it[0]).name
    year = _YEAR.search(f"{name} {known[keys[0]]}")
    values = days.split("..")
    if year and not stated and "-02-29" not in days:
        values = [f"{int(day[:4]) + int(year[0]) - int(days[:4])}{day[4:]}" for day in values]
    is_new = dialog.last is not None and dialog.last.steps[0].action == "create_note"
    is_certain = not any(known[key] for key in keys) and bool(is_new or stated or year)
    steps = [
        PipelineStep("set_property", NoteSet(notes=dialog.it), {"key": key, "value": value})
        for key, value in zip(keys, values, strict=True)
    ]
    return Reading(tuple(steps), 0.97, language=request.language.code, is_certain=is_certain)


def _is_like(value: object, old: object) -> bool:
    """Return whether a value is a number or a day, and an old one is none of another kind."""
    if isinstance(value, int | float):
        return not old or (isinstance(old, int | float) and old is not True)
    return bool(ISO_DAY.match(str(value)) and (not old or ISO_DAY.match(str(old))))
