"""Restore the negation of a request in a search that leaves it out: "what isn't serviced?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from app.agent.language.grammar.note_sets import negated
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.clarifications import with_readings_first
from app.agent.language.meaning.conditions import top_level_parts
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import Clarification, Interpretation, Reading
from app.agent.language.words.lexicon import Language

_NEGATIVE = re.compile(
    r'-|\(?(?:\[[^\]]*:(?:<|false)|orphan:|untagged:|unresolved:|modified:<|created:<|\w+:"")'
)
"""A condition that may express a negation: "not since 2024", "unread"."""
_CHANGED = re.compile(r"(?P<name>modified|created):(?P<sign>[<>]?=?)\d{4}(?:-\d\d){0,2}")
_LACKING = re.compile(r"-\[([^:\]]+)\]")
_PRESENCE = re.compile(r"(-?\[)([^:\]]+)\]")
_OPPOSITES = {">=": "<", ">": "<="}


def with_negation(request: Request, interpretation: Interpretation) -> Interpretation:
    """Return a question that offers the negated search instead of a search without the request's negation."""
    if not isinstance(interpretation, Reading) or not is_negated(request):
        return interpretation
    step = interpretation.last
    if len(interpretation.steps) > 1 or step.action not in ("find", "count") or step.target is None:
        return interpretation
    *others, last = top_level_parts(step.target.query) or [""]
    if not last or step.target.notes or has_negation((*others, last)):
        return interpretation
    query = " ".join((*others, _opposite(last)))
    opposite = replace(interpretation, steps=(replace(step, target=replace(step.target, query=query)),))
    return with_readings_first(Clarification("", ()), (opposite, interpretation))


def with_empty_values(request: Request, interpretation: Interpretation) -> Interpretation:
    """Return searches for notes without a property with those in which it is empty, and without templates.

    "No rating field" means notes without the property, and "which templates have no rating?" templates. For a
    checkbox, "with a contract" means `[contract:true]` and "without" the other notes. A condition in the
    search language stays.
    """
    if "[" in request.text or _says_property(request):
        return interpretation
    if isinstance(interpretation, Reading):
        return _with_empty_values(request, interpretation)
    if not isinstance(interpretation, Clarification):
        return interpretation
    readings = [_with_empty_values(request, option.reading) for option in interpretation.options]
    options = tuple(
        option if reading is option.reading else replace(option, label=serialize(reading), reading=reading)
        for option, reading in zip(interpretation.options, readings, strict=True)
    )
    return replace(interpretation, options=options)


def _says_property(request: Request) -> bool:
    words = request.language.words("introduces_property") | {*request.language.table("doubts")["templates"]}
    return any(token.key in words for token in request.tokens)


def _with_empty_values(request: Request, reading: Reading) -> Reading:
    step, *others = reading.steps
    parts = top_level_parts(step.target.query) if step.target is not None else []
    stated = [_with_state(request, part) for part in parts]
    if step.target is not None and stated != parts:
        step, parts = replace(step, target=replace(step.target, query=" ".join(stated))), stated
        reading = replace(reading, steps=(step, *others))
    templates = request.vocabulary.excluded_templates
    is_of_templates = bool(templates) and templates.removeprefix("-") in parts
    if step.target is None or is_of_templates or not any(map(_LACKING.fullmatch, parts)):
        return reading
    parts = [_LACKING.sub(r"(-[\1] OR [\1:null])", part) for part in parts]
    is_limited = bool(step.target.notes or step.target.source) or any("path:" in part for part in parts)
    query = " ".join(parts if is_limited or not templates else [*parts, templates])
    return replace(reading, steps=(replace(step, target=replace(step.target, query=query)), *others))


def _with_state(request: Request, condition: str) -> str:
    """Return the presence of a checkbox as the condition that it is true; other conditions unchanged."""
    presence = _PRESENCE.fullmatch(condition)
    if presence is None or not request.vocabulary.is_checkbox(presence[2].strip('"')):
        return condition
    return f"{presence[1]}{presence[2]}:true]"


def with_negated_change(request: Request, reading: Reading) -> Reading:
    """Return a search for changes of a time as one for notes not changed since, if the request negates it.

    The request model drops the negation of "pages that haven't been touched in 2026". Other readings are
    returned unchanged.
    """
    step = reading.last
    if len(reading.steps) > 1 or step.action not in ("find", "count") or step.target is None:
        return reading
    parts = top_level_parts(step.target.query)
    changed = [match for part in parts if (match := _CHANGED.fullmatch(part))]
    is_one = len({match["name"] for match in changed}) == 1
    if not is_one or has_negation(parts) or not _negates_change(request, changed[0]["name"]):
        return reading
    spans = [match[0] for match in changed]
    query = " ".join((*(part for part in parts if part not in spans), negated(" ".join(spans))))
    return replace(reading, steps=(replace(step, target=replace(step.target, query=query)),))


def has_negation(parts: Sequence[str]) -> bool:
    """Return whether a condition of a search may express a negation; the end of a period does not."""
    changed = {part: match for part in parts if (match := _CHANGED.fullmatch(part))}
    starts = {match["name"] for match in changed.values() if match["sign"] == ">="}
    return any(
        _NEGATIVE.match(part) for part in parts if part not in changed or changed[part]["name"] not in starts
    )


def is_negated(request: Request) -> bool:
    """Return whether a request has a negation, or a word such as "without"."""
    language, tokens = request.language, request.tokens
    words = language.words("negations") | language.words("lacking")
    return any(
        token.key in words or language.match_prefix(tokens, at, "not") > at for at, token in enumerate(tokens)
    )


def _negates_change(request: Request, field: str) -> bool:
    """Return whether a request negates a word for a field's changes: "not edited", "unchanged"."""
    language, tokens = request.language, request.tokens
    changes = change_words(language, field) | _date_words(language, field)
    prefixes = language.words("negating_prefixes")
    for at, token in enumerate(tokens):
        if any(token.key == prefix + word for prefix in prefixes for word in changes):
            return True
        if token.key not in language.words("negations"):
            continue
        following = (word.key for word in tokens[at + 1 :] if word.key not in language.words("fillers"))
        if next(following, "") in changes:
            return True
    return False


def change_words(language: Language, field: str) -> set[str]:
    """Return the words for the time of a change: "edited" and "touched" for `modified`."""
    filters = [known for known in language.filters if known.query == f"{field}:{{}}"]
    words = {
        word for known in filters if known.value == "date" for phrase in known.say for word in phrase.words
    }
    plain = language.words("fillers") | set(language.table("ordinals"))  # "last" may be "last year"
    return words - plain - _date_words(language, field)


def _date_words(language: Language, field: str) -> set[str]:
    """Return the words before a date that name no change: "from", "in"."""
    filters = (
        known for known in language.filters if known.query == f"{field}:{{}}" and known.value != "date"
    )
    return {word for known in filters for phrase in known.say for word in phrase.words} - language.words(
        "fillers"
    )


def _opposite(condition: str) -> str:
    """Return the opposite of a condition; "not since 2024" is before it rather than without a date."""
    if compared := re.fullmatch(r"(\[?[\w -]+:)(>=?)([^\]]+\]?)", condition):
        return compared[1] + _OPPOSITES[compared[2]] + compared[3]
    return f"-{condition}"
