"""Candidates: the possible meanings of a request according to the request model."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cache, partial

from app.agent.language.changes.undo import resolve_undo
from app.agent.language.grammar.request import Request
from app.agent.language.lookups.listed_notes import with_listed_note
from app.agent.language.lookups.negations import with_negated_change
from app.agent.language.meaning.actions import WITHOUT_NOTES
from app.agent.language.meaning.conditions import top_level_parts
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading, parenthesize
from app.agent.language.model.item_spans import request_items
from app.agent.language.model.program import ProgramReader
from app.agent.language.model.request_model import (
    MAX_ITEMS,
    field_inputs,
    item_inputs,
    request_model,
    state_symbols,
)
from app.agent.language.model.symbols import OUTCOMES
from app.index.query_serializer import quote_text
from app.index.value_order import property_of
from app.vault.path import NotePath

_QUOTED = re.compile(r'"([^"]+)"')


@dataclass(frozen=True, slots=True)
class MeaningCandidate:
    """A possible meaning of a request, with its probability: a reading, or an outcome without a step."""

    probability: float
    reading: Reading | None = None
    outcome: str = ""


def candidates(request: Request) -> list[MeaningCandidate]:
    """Return the possible meanings of a request according to the request model, likeliest first.

    Programs with the same meaning are one candidate; programs that can't be read are left out. Items after
    the first `MAX_ITEMS` are ignored.
    """
    request = with_listed_note(request)
    items = request_items(request)[:MAX_ITEMS]
    named = {item.mention.notes.notes for item in items if item.mention.notes is not None}
    reader, frames = ProgramReader(request, items), request.frame_parser(follows=False)
    meanings: list[MeaningCandidate] = []
    programs = request_model().programs(
        item_inputs(request, items), field_inputs(request), state_symbols(request.dialog)
    )
    for program in programs:
        first = program.symbols[0] if program.symbols else ""
        if first in OUTCOMES and len(program.symbols) == 1:
            meanings.append(MeaningCandidate(program.probability, outcome=str(first)))
            continue
        reading = reader.read(program.symbols, program.probability)
        if reading is not None and len(reading.steps) == 1:
            step = frames.complete_step(reading.last, request.tokens)
            reading = resolve_undo(request, replace(reading, steps=(_with_special_action(step),)))
            reading = with_negated_change(request, reading)
        elif reading is not None:
            steps = tuple(frames.with_items(step, request.tokens) for step in reading.steps)
            reading = replace(reading, steps=steps)
        if reading is not None and _sets_property_twice(reading):
            continue
        if reading is not None and all(
            step.target is None or step.action not in WITHOUT_NOTES for step in reading.steps
        ):
            meanings += _with_each_note(request, named, MeaningCandidate(program.probability, reading))
    person = _person(request)
    meanings = [
        _worst_first(request, _without_focus(request, _about(person, request, meaning)))
        for meaning in meanings
    ]
    meanings = [meaning for meaning in meanings if not _repeats_list(request, meaning.reading)]
    return sorted(_with_ordinals(request, _merged(meanings)), key=lambda meaning: -meaning.probability)


def _sets_property_twice(reading: Reading) -> bool:
    """Return whether a reading gives a property of a note two values."""
    steps = reading.steps
    target = steps[0].target
    is_same = all(step.target is not None and (step.target == target or step.target.source) for step in steps)
    keys = [step.arguments.get("key") for step in steps if step.action == "set_property"]
    return is_same and len(keys) > len(set(keys))


def _repeats_list(request: Request, reading: Reading | None) -> bool:
    """Return whether a reading lists or counts all notes just listed, but the request narrows them down.

    After a list, "how many of those are tools?" is not the number of all of them.
    """
    language, dialog, tokens = request.language, request.dialog, request.tokens
    target = reading.last.target if reading is not None and len(reading.steps) == 1 else None
    if reading is None or target is None or dialog.last is None or not dialog.has_list:
        return False
    after = max(language.match_prefix(tokens, 0, "refine", kind) for kind in ("only", "count_only"))
    plain = language.words("fillers") | language.words("determiners") | language.words("result_pronouns")
    adds = any(token.kind != "mark" and token.key not in plain for token in tokens[after:])
    last = dialog.last.last.target
    is_same = target in (NoteSet(notes=dialog.them), NoteSet(source="previous")) or (
        last is not None
        and set(top_level_parts(target.query)) == set(top_level_parts(last.query))
        and replace(target, query=last.query) == last
    )
    return after > 0 and adds and is_same and reading.last.action in ("find", "count")


def _with_each_note(
    request: Request, named: Collection[tuple[str, ...]], meaning: MeaningCandidate
) -> list[MeaningCandidate]:
    """Return a meaning once for each note that an ambiguous name may mean: two notes named "Mercator".

    If the request has all words of a longer name, it means that note: "the film version of The Long Goodbye".

    Args:
        request: The request.
        named: The notes that it names.
        meaning: One of its meanings.
    """
    reading = meaning.reading
    target = reading.last.target if reading is not None and len(reading.steps) == 1 else None
    if reading is None or target is None:
        return [meaning]
    if reading.last.action == "merge" and reading.last.arguments.get("other") == target:
        return _with_similar_note(request, meaning.probability, reading, target.notes)
    paths: tuple[str, ...] = ()
    if len(request.vocabulary.notes(target.unknown)) > 1:
        paths = target.candidates
    elif target.notes and target.notes in named:
        words = {token.key for token in request.tokens}
        longer = request.vocabulary.note_with_longer_name(target.notes[0], words)
        paths = (longer,) if longer is not None else ()
    probability = meaning.probability / max(1, len(paths))
    return [
        MeaningCandidate(
            probability,
            replace(
                reading,
                steps=(
                    replace(reading.last, target=replace(target, unknown="", candidates=(), notes=(path,))),
                ),
            ),
        )
        for path in paths
    ] or [meaning]


def _with_similar_note(
    request: Request, probability: float, reading: Reading, notes: tuple[str, ...]
) -> list[MeaningCandidate]:
    """Return the merges of a note with each note of a similar name: "merge the two descaling notes"."""
    names = [NotePath.on_disk(path).name for path in notes]
    similar = [path for name in names for path in request.vocabulary.find_similar_notes(name).paths]
    others = [path for path in dict.fromkeys(similar) if path not in notes]
    steps = [reading.last.with_argument("other", NoteSet(notes=(path,))) for path in others]
    return [MeaningCandidate(probability / len(steps), replace(reading, steps=(step,))) for step in steps]


def _person(request: Request) -> NoteSet | None:
    """Return the note that "his" means after a list of notes by or about a person, or None."""
    dialog = request.dialog
    last = dialog.last.last.target if dialog.last is not None else None
    pronouns = request.language.words("personal_pronouns")
    if last is None or not dialog.has_list or not any(token.key in pronouns for token in request.tokens):
        return None
    named = {request.vocabulary.notes(name) for name in _QUOTED.findall(last.query)} - {()}
    paths = named.pop() if len(named) == 1 else ()
    return NoteSet(notes=paths) if len(paths) == 1 else None


def _about(person: NoteSet | None, request: Request, meaning: MeaningCandidate) -> MeaningCandidate:
    """Return a meaning with the person in place of notes of the list."""
    reading = meaning.reading
    target = reading.last.target if reading is not None and len(reading.steps) == 1 else None
    if person is None or reading is None or target is None or target != NoteSet(notes=target.notes):
        return meaning
    if not target.notes or not set(request.dialog.them).issuperset(target.notes):
        return meaning
    return replace(meaning, reading=replace(reading, steps=(replace(reading.last, target=person),)))


def _without_focus(request: Request, meaning: MeaningCandidate) -> MeaningCandidate:
    """Return a change of "the other essays" without the note of the last change."""
    reading, dialog = meaning.reading, request.dialog
    others = request.language.words("other_words")
    target = reading.last.target if reading is not None and len(reading.steps) == 1 else None
    if reading is None or target is None or not dialog.focus or not request.writes(reading):
        return meaning
    follows_change = dialog.last is not None and request.writes(dialog.last)
    is_search = bool(target.query) and target == NoteSet(query=target.query)
    if not is_search or not follows_change or not any(token.key in others for token in request.tokens):
        return meaning
    query = f"{parenthesize(target.query)} -path:{quote_text(dialog.focus[0])}"
    step = replace(reading.last, target=NoteSet(query=query))
    return replace(meaning, reading=replace(reading, steps=(step,)))


def _worst_first(request: Request, meaning: MeaningCandidate) -> MeaningCandidate:
    """Return a search for "the worst films" in the order of the lowest value first."""
    reading = meaning.reading
    target = reading.last.target if reading is not None and len(reading.steps) == 1 else None
    if reading is None or target is None or not property_of(target.order) or target.order.startswith("-"):
        return meaning
    worst = {phrase.text for phrase in request.language.phrases("order_words", "worst")}
    if worst.isdisjoint(token.key for token in request.tokens):
        return meaning
    step = replace(reading.last, target=replace(target, order=f"-{target.order}"))
    return replace(meaning, reading=replace(reading, steps=(step,)))


def _with_ordinals(request: Request, meanings: list[MeaningCandidate]) -> list[MeaningCandidate]:
    """Let ordinals decide between the listed notes: "tag the first two", "in which room is the third one?".

    Changes of other notes are left out if one is of the note that an ordinal names.
    """
    tokens, them = request.tokens, request.dialog.them
    sets = request.set_parser()
    ordinals = request.language.table("ordinals")
    named: set[tuple[str, ...]] = set()
    for token, following in zip(tokens, (*tokens[1:], None), strict=True):
        number = request.dates.parse_number(following.key) if following is not None else None
        # "Last" may be part of a date.
        if ordinals.get(token.key, -1) > 0 and number in (None, 1):
            parsed = sets.parse_reference((token,))
            named.add(parsed.notes.notes if parsed is not None else ())
        elif ordinals.get(token.key) == 1 and number is not None:
            named.add(them[:number])
    if len(named) != 1 or () in named:
        return meanings
    notes = named.pop()

    def is_about(meaning: MeaningCandidate) -> bool:
        target = meaning.reading.last.target if meaning.reading is not None else None
        return target is not None and target.notes == notes

    def is_change(meaning: MeaningCandidate) -> bool:
        reading = meaning.reading
        return reading is not None and len(reading.steps) == 1 and request.writes(reading)

    def about_named(meaning: MeaningCandidate) -> MeaningCandidate:
        reading = meaning.reading
        if reading is None or len(reading.steps) > 1 or reading.last.action in ("find", "count"):
            return meaning
        target = reading.last.target
        is_listed = target is not None and target == NoteSet(notes=target.notes) and bool(target.notes)
        if target is None or not is_listed or not set(them).issuperset(target.notes):
            return meaning
        if is_change(meaning) and len(notes) == 1:
            return meaning
        return replace(
            meaning, reading=replace(reading, steps=(replace(reading.last, target=NoteSet(notes=notes)),))
        )

    meanings = _merged(map(about_named, meanings))
    if not any(is_change(meaning) and is_about(meaning) for meaning in meanings):
        return meanings
    return [meaning for meaning in meanings if is_about(meaning) or not is_change(meaning)]


def _merged(meanings: Iterable[MeaningCandidate]) -> list[MeaningCandidate]:
    """Return the meanings with one candidate for readings with the same meaning."""
    merged: list[MeaningCandidate] = []
    for meaning in meanings:
        reading = meaning.reading
        same = next(
            (
                at
                for at, other in enumerate(merged)
                if reading and other.reading and have_same_meaning(other.reading, reading)
            ),
            None,
        )
        if same is None:
            merged.append(meaning)
        else:
            total = merged[same].probability + meaning.probability
            merged[same] = replace(merged[same], probability=total)
    return merged


def _with_special_action(step: PipelineStep) -> PipelineStep:
    """Return a step with the grammar's own action for what it does; return other steps unchanged.

    A numeric change of `confidence` is `set_confidence`; a replacement by nothing is `remove_text`.
    """
    values, target = step.arguments, step.target
    if step.action == "replace" and values.get("text") == "" and values.keys() == {"old", "text"}:
        return PipelineStep("remove_text", target, {"old": values["old"]})
    value = values.get("value")
    is_confidence = step.action == "set_property" and values.get("key") == "confidence"
    if is_confidence and isinstance(value, int | float) and target is not None:
        return PipelineStep("set_confidence", target, {"confidence": float(value)})
    return step


def have_same_meaning(reading: Reading, other: Reading) -> bool:
    """Return whether two readings have the same steps, ignoring the order and case of their conditions."""
    return len(reading.steps) == len(other.steps) and all(
        step.action == other_step.action
        and _unordered(step.target) == _unordered(other_step.target)
        and {name: _unordered(value) for name, value in step.arguments.items()}
        == {name: _unordered(value) for name, value in other_step.arguments.items()}
        for step, other_step in zip(
            map(_with_special_action, reading.steps),
            map(_with_special_action, other.steps),
            strict=True,
        )
    )


def _unordered(value: object) -> object:
    if isinstance(value, NoteSet):
        words = frozenset(value.query.casefold().replace('/"', '"').replace("/ ", " ").rstrip("/").split())
        return words, frozenset(value.notes), value.source, value.pick, value.order, value.limit
    return frozenset(map(str, value)) if isinstance(value, tuple) else str(value)


def candidates_once(request: Request) -> Callable[[], list[MeaningCandidate]]:
    """Return a function that runs the request model at most once, since that is slow."""
    return cache(partial(candidates, request))
