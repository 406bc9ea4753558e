"""Candidates: the possible meanings of a request according to the request model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from app.agent.language.program import OUTCOMES, ProgramReader, request_items
from app.agent.language.readings import NoteSet, PipelineStep, Reading
from app.agent.language.request import Request
from app.agent.language.request_model import (
    MAX_ITEMS,
    field_inputs,
    item_inputs,
    request_model,
    state_symbols,
)
from app.agent.language.tokens import Token
from app.agent.language.undo import resolve_undo
from app.vault.path import NotePath

_MAX_NAME_WORDS = 3


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
    request = _with_listed_note(request)
    items = request_items(request)[:MAX_ITEMS]
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
            reading = resolve_undo(request, replace(reading, steps=(_with_confidence_action(step),)))
        if reading is not None:
            meanings += _with_each_note(request, MeaningCandidate(program.probability, reading))
    return sorted(_with_ordinals(request, _merged(meanings)), key=lambda meaning: -meaning.probability)


def _with_listed_note(request: Request) -> Request:
    """Return a request with "the Halden one" as a link to the note that has the word in its name.

    Listed notes take precedence over those in their folders.
    """
    language, tokens = request.language, request.tokens
    pronouns = language.words("result_pronouns") & language.words("single_nouns")
    plain = language.vocabulary() | language.words("adjectives") | language.words("fillers")
    for end in range(2, len(tokens)):
        start = end
        while start > max(0, end - _MAX_NAME_WORDS) and tokens[start - 1].is_word:
            if tokens[start - 1].key in plain:
                break
            start -= 1
        is_definite = start > 0 and tokens[start - 1].key in language.words("determiners")
        if tokens[end].key not in pronouns or start == end or not is_definite:
            continue
        words = [token.key for token in tokens[start:end]]
        if path := request.vocabulary.note_near(words, request.dialog.them):
            name = str(NotePath.on_disk(path).stem_path)
            link = Token("link", "[[]]", name, tokens[start].start, tokens[end].end)
            return replace(request, tokens=(*tokens[: start - 1], link, *tokens[end + 1 :]))
    return request


def _with_each_note(request: Request, meaning: MeaningCandidate) -> list[MeaningCandidate]:
    """Return a meaning once for each note that an ambiguous name may mean: two notes named "Mercator".

    If the request has all words of a longer name, it means that note: "the film version of The Long Goodbye".
    """
    reading = meaning.reading
    target = reading.last.target if reading is not None and len(reading.steps) == 1 else None
    if reading is None or target is None:
        return [meaning]
    paths: tuple[str, ...] = ()
    if len(request.vocabulary.notes(target.unknown)) > 1:
        paths = target.candidates
    elif len(target.notes) == 1 and _is_named(request, target.notes[0]):
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


def _is_named(request: Request, path: str) -> bool:
    """Return whether a request has the name of a note, perhaps misspelled or in part."""
    mentions = request.mentions(request.tokens)
    return any(mention.notes is not None and mention.notes.notes == (path,) for mention in mentions)


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


def _with_confidence_action(step: PipelineStep) -> PipelineStep:
    """Turn a numeric change of `confidence` into the grammar's own action; return other steps unchanged."""
    value = step.arguments.get("value")
    if step.action != "set_property" or step.arguments.get("key") != "confidence":
        return step
    if not isinstance(value, int | float) or step.target is None:
        return step
    return PipelineStep("set_confidence", step.target, {"confidence": float(value)})


def have_same_meaning(reading: Reading, other: Reading) -> bool:
    """Return whether two readings have the same steps, ignoring the order and case of their conditions."""
    return len(reading.steps) == len(other.steps) and all(
        step.action == other_step.action
        and _unordered(step.target) == _unordered(other_step.target)
        and {name: _unordered(value) for name, value in step.arguments.items()}
        == {name: _unordered(value) for name, value in other_step.arguments.items()}
        for step, other_step in zip(
            map(_with_confidence_action, reading.steps),
            map(_with_confidence_action, other.steps),
            strict=True,
        )
    )


def _unordered(value: object) -> object:
    if isinstance(value, NoteSet):
        words = frozenset(value.query.casefold().replace('/"', '"').replace("/ ", " ").rstrip("/").split())
        return words, frozenset(value.notes), value.source, value.pick, value.order, value.limit
    return frozenset(map(str, value)) if isinstance(value, tuple) else str(value)
