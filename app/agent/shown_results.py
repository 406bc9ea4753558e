"""Show the result of a question's likeliest answer at once if it changes nothing.

A list of notes that was not meant costs less than a question: the other readings are offered below it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.agent.language.interpretation.outcomes import meaning_of
from app.agent.language.meaning.readings import Clarification, Reading

MIN_SHOWN_PROBABILITY = 0.4
"""The minimum probability of a reading whose result is shown with the other readings below it.

Of 110 held-out requests with such a first option, it is the right one for 67, and another one for 32.
"""
MIN_OTHER_PROBABILITY = 0.02
"""The minimum probability of a reading that is offered below the result: 2 of 114 others were right."""


def shown_result(
    question: Clarification, is_change: Callable[[Reading], bool]
) -> tuple[Reading, Clarification | None] | None:
    """Return the reading to carry out instead of a question, and the question that offers the others.

    Return None if the likeliest option changes something, has no action, is a number or a superlative, which
    would look like an answer, or is not likely enough.
    """
    if not question.options or question.partial is not None:
        return None
    first, *others = question.options
    step = first.reading.last
    is_list = step.action != "count" and not (step.target is not None and step.target.limit)
    is_list = is_list and meaning_of(first.reading) == first.reading
    if first.share < MIN_SHOWN_PROBABILITY or not is_list or is_change(first.reading):
        return None
    others = [option for option in others if option.share >= MIN_OTHER_PROBABILITY]
    text = "Or did you mean this?" if len(others) == 1 else "Or did you mean one of these?"
    return first.reading, replace(question, question=text, options=tuple(others)) if others else None
