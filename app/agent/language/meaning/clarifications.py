"""Questions about the meaning of a request, and the options that they offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import Clarification, ClarificationOption, Reading

MAX_OPTIONS = 4
_QUESTIONS = {
    "target": "Which note?",
    "other": "Which note should be merged into it?",
    "to": "Which note should it be linked to?",
    "name": "What should the new note be called?",
    "new_name": "What should it be called?",
    "tag": "Which tag?",
    "new_tag": "What should the tag be called?",
    "folder": "Which folder?",
    "text": "Which text?",
    "old": "Which words?",
    "heading": "Under which heading?",
    "key": "Which property?",
    "new_key": "What should the property be called?",
    "new_heading": "What should the heading be called?",
    "parent": "Into which folder?",
    "value": "Which value?",
    "type": "Which type?",
    "confidence": "What confidence, from 0 to 1?",
    "query": "What are you looking for?",
    "due": "Which day?",
}


def question_about(options: Sequence[ClarificationOption]) -> str:
    """Return the question that the options answer."""
    return "Is this what you mean?" if len(options) == 1 else "Which of these do you mean?"


def with_options(clarification: Clarification, options: Sequence[ClarificationOption]) -> Clarification:
    """Return a question that offers the first `MAX_OPTIONS` of some options and keeps the others spare."""
    shown, spare = tuple(options[:MAX_OPTIONS]), tuple(options[MAX_OPTIONS:])
    return replace(clarification, question=question_about(shown), options=shown, spare=spare)


def with_readings_first(clarification: Clarification, readings: Sequence[Reading]) -> Clarification:
    """Return a question that offers some readings before its other options."""
    steps = [reading.steps for reading in readings]
    options = [ClarificationOption(serialize(reading), reading) for reading in readings]
    others = [*clarification.options, *clarification.spare]
    return with_options(clarification, [*options, *(own for own in others if own.reading.steps not in steps)])


def question_for(reading: Reading) -> str:
    """Return the question about the value that a reading lacks."""
    return _QUESTIONS.get(reading.missing, "What do you mean?")
