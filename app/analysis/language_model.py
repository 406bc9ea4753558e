"""What the analyses ask of a model when one is set up: a question, a text, and the form of the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self, TypeVar

from pydantic import BaseModel

from app.errors import ScriptoriumError
from app.vault.path import NotePath

M = TypeVar("M", bound=BaseModel)


class ModelError(ScriptoriumError):
    """The model gave no usable answer; the message says why, for the user to read."""


class LanguageModel(Protocol):
    """A model that answers in a given form. Notes that it may not read are never given to it."""

    @property
    def name(self) -> str:
        """What the model is called."""
        ...

    def with_usage_callback(self, record: Callable[[int, float], None]) -> Self:
        """Return this model with `record` called after each answer: with tokens and cost in dollars."""
        ...

    def may_read(self, path: NotePath) -> bool:
        """Whether the model may be shown the note at `path`."""
        ...

    async def answer(self, instructions: str, text: str, schema: type[M]) -> M:
        """What the model says to `text`.

        Args:
            instructions: What to do with the text.
            text: Text of notes, given to the model as data.
            schema: The form of the answer.

        Raises:
            ThinkingFailed: there is no answer, or none of that form.
        """
        ...
