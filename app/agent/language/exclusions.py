"""Exclude notes by a word of their names, too: "just those outside the changelogs"."""

from __future__ import annotations

import re
from dataclasses import replace

from app.agent.language.conditions import top_level_parts
from app.agent.language.notation import serialize
from app.agent.language.readings import Clarification, ClarificationOption, Interpretation, Reading
from app.agent.language.request import Request
from app.vault.path import NotePath, name_key

_EXCLUDED_WORD = re.compile(r"-(\w[\w-]*)")
_NAME_WORD = re.compile(r"[^\W_]+")
_MIN_STEM_LENGTH = 4


def with_excluded_names(request: Request, interpretation: Interpretation) -> Interpretation:
    """Return searches that narrow a list by excluding a plural also without the notes named by its singular.

    After a list with "Changelog 2021", "not the changelogs" excludes this note, which does not contain the
    plural. Other interpretations are returned unchanged.
    """

    def widened(option: ClarificationOption) -> ClarificationOption:
        reading = _without_named(request, option.reading)
        return (
            option
            if reading == option.reading
            else replace(option, label=serialize(reading), reading=reading)
        )

    if not request.dialog.has_list:
        return interpretation
    match interpretation:
        case Reading():
            return _without_named(request, interpretation)
        case Clarification():
            options, spare = (
                tuple(map(widened, part)) for part in (interpretation.options, interpretation.spare)
            )
            return replace(interpretation, options=options, spare=spare)
        case _:
            return interpretation


def _without_named(request: Request, reading: Reading) -> Reading:
    """Return a search with the conditions that it adds to the last one widened to names."""
    step, last = reading.last, request.dialog.last.last.target if request.dialog.last is not None else None
    if len(reading.steps) > 1 or step.action not in ("find", "count") or step.target is None or last is None:
        return reading
    known, parts = top_level_parts(last.query), top_level_parts(step.target.query)
    wider = [part if part in known else _with_names(request, part) for part in parts]
    if wider == parts:
        return reading
    target = replace(step.target, query=" ".join(wider))
    return replace(reading, steps=(replace(step, target=target),))


def _with_names(request: Request, part: str) -> str:
    """Return an excluded plural together with the names that contain its singular; other parts unchanged."""
    excluded = _EXCLUDED_WORD.fullmatch(part)
    if excluded is None:
        return part
    word = excluded[1]
    named = (
        stem
        for stem in request.vocabulary.plural_stems(word.casefold())
        if len(stem) >= _MIN_STEM_LENGTH and any(stem in _names_words(path) for path in request.dialog.them)
    )
    stem = next(named, "")
    # The search has no look-around; "_" separates words in names, too.
    return rf"-({word} OR file:/(^|[\W_]){stem}s?($|[\W_])/)" if stem else part


def _names_words(path: str) -> set[str]:
    """Return the words of a note's name, and their plurals without "s"."""
    words = _NAME_WORD.findall(name_key(NotePath.on_disk(path).name))
    return {form for word in words for form in (word, word.removesuffix("s"))}
