"""The protocol for language models used by analyses. They take instructions, text and an answer schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self, TypeVar

from pydantic import BaseModel

from app.errors import ScriptoriumError
from app.vault.path import NotePath

M = TypeVar("M", bound=BaseModel)


class ModelError(ScriptoriumError):
    """The model gave no usable answer; the message tells the user why."""


class LanguageModel(Protocol):
    """A model whose answers follow a given schema. Callers pass it only notes that it may read."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    def with_usage_callback(self, record: Callable[[int, float], None]) -> Self:
        """Return a copy that calls `record` after each answer, with its tokens and cost in dollars."""
        ...

    def may_read(self, path: NotePath) -> bool:
        """Return whether the model may receive the note at `path`."""
        ...

    async def answer(self, instructions: str, text: str, schema: type[M]) -> M:
        """Return the model's answer to `text`.

        Args:
            instructions: The task.
            text: Text from notes, passed to the model as data.
            schema: The schema of the answer.

        Raises:
            ModelError: The model gave no answer, or none that fits the schema.
        """
        ...
