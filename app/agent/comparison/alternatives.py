"""Combine the readings that may be meant instead of another one with those of a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.agent.language.meaning.clarifications import MAX_OPTIONS, question_about, with_readings_first
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import Clarification, ClarificationOption, Interpretation, Reading


def with_alternatives(
    interpretation: Reading | Clarification,
    alternatives: Callable[[Reading], Sequence[Reading]],
    *,
    likelier_first: bool = False,
) -> Interpretation:
    """Return an interpretation with the alternatives of its readings; several are a question.

    The likeliest alternative of each option comes before the others. With `likelier_first`, one that sets a
    property comes before all other options.
    """
    if isinstance(interpretation, Reading):
        readings = alternatives(interpretation)
        return with_readings_first(Clarification("", ()), readings) if len(readings) > 1 else readings[0]
    found = [(option, alternatives(option.reading)) for option in interpretation.options]
    if likelier_first:
        found.sort(key=lambda known: _order_of(known[0].reading, known[1][0]))
    first = [(option, readings[0]) for option, readings in found]
    literal = [(option, option.reading) for option, readings in found if option.reading in readings]
    others = [(option, reading) for option, readings in found for reading in readings[1:]]
    offered = {
        serialize(reading): option
        if reading == option.reading
        else ClarificationOption(serialize(reading), reading, option.share)
        for option, reading in reversed((*first, *literal, *others))
    }
    for _, reading in first:
        same = [own.share for own, other in first if other.steps == reading.steps]
        if len(same) > 1:
            offered[serialize(reading)] = replace(offered[serialize(reading)], share=sum(same))
    ordered = [*dict.fromkeys(serialize(reading) for _, reading in (*first, *literal, *others))]
    found_options = [offered[key] for key in ordered]
    if tuple(found_options) == interpretation.options:
        return interpretation
    # The words of the likeliest option stay an option.
    own = next((serialize(reading) for _, reading in literal), "")
    if own in ordered[MAX_OPTIONS:]:
        found_options.insert(MAX_OPTIONS - 1, found_options.pop(ordered.index(own)))
    shown, spare = tuple(found_options[:MAX_OPTIONS]), tuple(found_options[MAX_OPTIONS:])
    spare = (*spare, *interpretation.spare)
    return replace(interpretation, question=question_about(shown), options=shown, spare=spare)


def _order_of(reading: Reading, likelier: Reading) -> int:
    """Return the order of an option by its alternative: the longest list first."""
    if likelier == reading or likelier.last.action != "set_property":
        return 1
    value = likelier.last.arguments["value"]
    return -len(value) if isinstance(value, tuple) else 0
