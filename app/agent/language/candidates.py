"""Candidates: what a request may mean by the request model."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.agent.language.program import OUTCOMES, ProgramReader, request_items
from app.agent.language.readings import NoteSet, PipelineStep, Reading
from app.agent.language.request import Request
from app.agent.language.request_model import MAX_ITEMS, item_inputs, request_model, state_symbols
from app.agent.language.undoing import resolve_undo


@dataclass(frozen=True, slots=True)
class MeaningCandidate:
    """A possible meaning of a request by the request model: a reading, or an outcome without a step."""

    probability: float
    reading: Reading | None = None
    outcome: str = ""


def candidates(request: Request) -> list[MeaningCandidate]:
    """Return what a request may mean by the request model, most likely first."""
    items = request_items(request)[:MAX_ITEMS]
    reader, frames = ProgramReader(request, items), request.frame_parser(follows=False)
    found: list[MeaningCandidate] = []
    for program in request_model().programs(item_inputs(request, items), state_symbols(request.dialog)):
        first = program.symbols[0] if program.symbols else ""
        if first in OUTCOMES and len(program.symbols) == 1:
            found.append(MeaningCandidate(program.probability, outcome=str(first)))
            continue
        reading = reader.read(program.symbols, program.probability)
        if reading is not None and len(reading.steps) == 1:
            step = frames.completed(reading.last, request.tokens)
            reading = resolve_undo(request, replace(reading, steps=(_own_action(step),)))
        same = next(
            (one for one in found if reading and one.reading and means_same(one.reading, reading)), None
        )
        if same is not None:
            found[found.index(same)] = replace(same, probability=same.probability + program.probability)
        elif reading is not None:
            found.append(MeaningCandidate(program.probability, reading))
    return sorted(found, key=lambda one: -one.probability)


def _own_action(step: PipelineStep) -> PipelineStep:
    """Return the step as the action that the grammar has for a note's confidence."""
    value = step.arguments.get("value")
    if step.action != "set_property" or step.arguments.get("key") != "confidence":
        return step
    if not isinstance(value, int | float) or step.target is None:
        return step
    return PipelineStep("set_confidence", step.target, {"confidence": float(value)})


def means_same(reading: Reading, other: Reading) -> bool:
    """Return whether two readings have the same steps, in whatever order their conditions stand."""
    return len(reading.steps) == len(other.steps) and all(
        one.action == two.action
        and _unordered(one.target) == _unordered(two.target)
        and {name: _unordered(value) for name, value in one.arguments.items()}
        == {name: _unordered(value) for name, value in two.arguments.items()}
        for one, two in zip(map(_own_action, reading.steps), map(_own_action, other.steps), strict=True)
    )


def _unordered(value: object) -> object:
    if isinstance(value, NoteSet):
        words = frozenset(value.query.casefold().replace('/"', '"').replace("/ ", " ").rstrip("/").split())
        return words, frozenset(value.notes), value.source, value.pick, value.order, value.limit
    return frozenset(map(str, value)) if isinstance(value, tuple) else str(value)
