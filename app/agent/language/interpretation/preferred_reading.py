"""Find the reading that the request model prefers to a change on which the grammar decided.

The grammar parses a request by its words, and the model by its examples. If the model gives another meaning a
higher probability, one of the two is wrong.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from app.agent.language.changes.new_folders import parse_move_to_new_folder
from app.agent.language.changes.property_lines import stated_lines
from app.agent.language.changes.undo import parse_undo
from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.grammar.said_words import WORD
from app.agent.language.interpretation.corrections import parse_correction
from app.agent.language.meaning.actions import GRAMMAR_ACTIONS, TASK_ACTIONS, TOOL_PREFIX
from app.agent.language.meaning.readings import (
    NoteSet,
    PipelineStep,
    Reading,
    as_tuple,
    is_clear,
    note_sets_of,
)
from app.agent.language.model.candidates import candidates, have_same_meaning
from app.agent.language.words.dates import ISO_DAY

MIN_PREFERRED_PROBABILITY = 0.3
"""The minimum probability of a meaning that the agent offers instead of a change."""
_MIN_KNOWN_PROBABILITY = 0.05
"""The minimum probability of a change that the model knows; other changes are left to the grammar."""
_BOX = "- [ ] "


async def preferred_reading(
    request: Request, change: Reading, with_found_notes: Callable[[Reading], Awaitable[Reading]]
) -> Reading | None:
    """Return the reading that the request model prefers to a change, or None.

    Only changes of one step are compared, and no corrections or undos, of which the model has seen few.
    Readings of the same notes are the same, however the model describes these. A reading with a part of the
    change's values is not another one, and a change of every note in the vault is never preferred.

    Args:
        request: The request.
        change: The change.
        with_found_notes: Returns a reading with the found notes in place of its searches.
    """
    if len(change.steps) > 1 or _is_for_grammar(change.last):
        return None
    if parse_undo(request, request.tokens) or parse_correction(request, request.tokens):
        return None
    if (lines := stated_lines(request)) and all(line.is_led for line in lines):
        return None  # "cost is 15 now"
    if parse_move_to_new_folder(request, without_marks_at_end(request.tokens)):
        return None
    found, own = await with_found_notes(change), 0.0
    others: list[tuple[Reading, Reading, float]] = []
    for candidate in candidates(request):
        reading, share = candidate.reading, candidate.probability
        if reading is None or not is_clear(reading):
            continue
        if any(notes.is_everything for notes in note_sets_of(reading)):
            continue
        found_reading = await with_found_notes(reading)
        if _do_the_same(found_reading, found) or _is_part(request, found_reading, found):
            own += share
            continue
        same = next(
            (at for at, (_, known, _) in enumerate(others) if _do_the_same(known, found_reading)), None
        )
        if same is None:
            others.append((reading, found_reading, share))
        else:
            others[same] = (*others[same][:2], others[same][2] + share)
    preferred, _, share = max(others, key=lambda other: other[2], default=(None, None, 0.0))
    return (
        preferred if share >= max(own, MIN_PREFERRED_PROBABILITY) and own >= _MIN_KNOWN_PROBABILITY else None
    )


def _is_for_grammar(step: PipelineStep) -> bool:
    """Return whether a step has an action or a value of which the model has seen few or no examples.

    The values are those of new tasks, whole lines, notes from templates and empty properties. What an undo
    and a change of a task are about depends on the conversation, which the model knows only in part.
    """
    is_task = step.action in TASK_ACTIONS or _BOX in str(step.arguments.get("text", ""))
    is_rare = bool({"template", "whole"} & step.arguments.keys()) or step.arguments.get("value") == ""
    is_rare = is_rare or step.arguments.get("key") == "confidence"  # an action of its own for the model
    is_for_grammar = step.action in ("undo", *GRAMMAR_ACTIONS) or step.action.startswith(TOOL_PREFIX)
    return is_for_grammar or is_task or is_rare


def _do_the_same(found: Reading, other: Reading) -> bool:
    """Return whether two readings with found notes do the same.

    The model writes the direction of a merge less reliably than the grammar.
    """
    step, other_step = found.last, other.last
    if step.action == other_step.action == "merge" and len(found.steps) == len(other.steps) == 1:
        return _merged_notes(step) == _merged_notes(other_step)
    return have_same_meaning(found, other)


def _merged_notes(step: PipelineStep) -> set[str]:
    sets = (step.target, step.arguments.get("other"))
    return {path for notes in sets if isinstance(notes, NoteSet) for path in notes.notes}


def _is_part(request: Request, found: Reading, whole: Reading) -> bool:
    """Return whether a reading changes the notes of `whole` in the same way, but with parts of its values."""
    fillers = request.language.function_words()
    step, whole_step = found.last, whole.last
    return (
        len(found.steps) == 1
        and step.action == whole_step.action
        and step.target == whole_step.target
        and all(
            _is_part_of_value(value, whole_step.arguments.get(name), fillers)
            for name, value in step.arguments.items()
        )
    )


def _is_part_of_value(value: object, whole: object, fillers: Collection[str]) -> bool:
    if isinstance(value, NoteSet) and isinstance(whole, NoteSet):
        return set(value.notes) <= set(whole.notes) and not value.query
    if ISO_DAY.fullmatch(str(value)) and ISO_DAY.fullmatch(str(whole)):
        return str(value)[4:] == str(whole)[4:]  # the model knows no year
    return value == whole or _words(value) - {*fillers} <= _words(whole)


def _words(value: object) -> set[str]:
    return {word for text in as_tuple(value) for word in WORD.findall(str(text).casefold())}
