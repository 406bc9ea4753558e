"""Candidates: the possible meanings of a request according to the request model."""

from __future__ import annotations

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
from app.agent.language.undo import resolve_undo


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
        same = next(
            (
                meaning
                for meaning in meanings
                if reading and meaning.reading and have_same_meaning(meaning.reading, reading)
            ),
            None,
        )
        if same is not None:
            meanings[meanings.index(same)] = replace(same, probability=same.probability + program.probability)
        elif reading is not None:
            meanings.append(MeaningCandidate(program.probability, reading))
    return sorted(_without_other_notes(request, meanings), key=lambda meaning: -meaning.probability)


def _without_other_notes(request: Request, meanings: list[MeaningCandidate]) -> list[MeaningCandidate]:
    """Leave out changes of other notes if one is of the note that an ordinal names: "tag the second one"."""
    tokens = request.tokens
    sets = request.set_parser()
    ordinals = request.language.table("ordinals")
    named: set[tuple[str, ...]] = set()
    for token, following in zip(tokens, (*tokens[1:], None), strict=True):
        number = request.dates.parse_number(following.key) if following is not None else None
        # "The first two" are several notes, "the second one" is one; "last" may be part of a date.
        if ordinals.get(token.key, -1) > 0 and number in (None, 1):
            parsed = sets.parse_reference((token,))
            named.add(parsed.notes.notes if parsed is not None else ())

    def is_about(meaning: MeaningCandidate) -> bool:
        target = meaning.reading.last.target if meaning.reading is not None else None
        return target is not None and target.notes in named

    def is_change(meaning: MeaningCandidate) -> bool:
        reading = meaning.reading
        return reading is not None and len(reading.steps) == 1 and request.writes(reading)

    if len(named) != 1 or () in named or not any(is_change(m) and is_about(m) for m in meanings):
        return meanings
    return [meaning for meaning in meanings if is_about(meaning) or not is_change(meaning)]


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
