"""Recognize readings that the user has chosen."""

from __future__ import annotations

from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import PREFIX
from app.agent.language.meaning.readings import Interpretation, Reading, Reply


def is_option(reading: Reading, text: str, state: DialogState) -> bool:
    """Return whether a reading is written in the notation, or is an option of the open question."""
    options = state.question.options if state.question is not None else ()
    return text.lstrip().startswith(PREFIX) or any(option.reading == reading for option in options)


def is_chosen(reading: Reading, text: str, state: DialogState) -> bool:
    """Return whether a reading is written in the notation, or answers the open question."""
    partial = state.question.partial if state.question is not None else None
    is_completed = partial is not None and partial.last.action == reading.last.action
    return is_completed or is_option(reading, text, state)


def is_settled(interpretation: Interpretation, text: str, state: DialogState) -> bool:
    """Return whether an interpretation is a chosen reading, or a reply to a request that was understood."""
    if isinstance(interpretation, Reading):
        return is_chosen(interpretation, text, state)
    return isinstance(interpretation, Reply) and interpretation.understood
