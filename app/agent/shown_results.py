"""Show the result of the likeliest reading at once instead of a question if it changes nothing.

A list of notes that was not meant costs less than a question: the other readings are offered below it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.agent.language.grammar.questions import question_language
from app.agent.language.interpretation.outcomes import meaning_of
from app.agent.language.meaning.readings import Clarification, ClarificationOption, ContentQuestion, Reading
from app.agent.language.words.lexicon import languages

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
    return first.reading, _offer_below(question, others) if others else None


def answer_first(question: Clarification, text: str) -> ContentQuestion | None:
    """Return the question about the notes that is answered instead of asking what a request means.

    Return None if this is not the first of several options, or if the request is not phrased as a question.

    Args:
        question: The question with the readings of the request.
        text: The request.
    """
    meanings = [meaning_of(option.reading) for option in question.options]
    if len(meanings) < 2 or question.partial is not None or question_language(text, languages()) is None:
        return None
    return meanings[0] if isinstance(meanings[0], ContentQuestion) else None


def other_readings(question: Clarification) -> Clarification:
    """Return the question that offers all options but the first."""
    return _offer_below(question, question.options[1:])


def with_answer_last(question: Clarification) -> Clarification:
    """Return a question whose first option, an answer from the notes without a passage, is the last one."""
    first, *others = question.options
    return replace(question, options=(*others, first))


def _offer_below(question: Clarification, others: Sequence[ClarificationOption]) -> Clarification:
    text = "Or did you mean this?" if len(others) == 1 else "Or did you mean one of these?"
    return replace(question, question=text, options=tuple(others))
