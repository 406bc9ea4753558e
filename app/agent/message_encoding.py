"""Make a model's messages encodable: a request with a lone surrogate cannot be sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.encoding import encodable_value

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

_TEXT_FIELDS = ("content", "args", "tool_name", "tool_call_id", "signature")


async def encodable_history(messages: list[Any]) -> list[Any]:
    """Apply `encodable_messages` before each request.

    The messages are untyped, because the library evaluates the annotations.
    """
    return encodable_messages(messages)


def encodable_messages(messages: Iterable[ModelMessage]) -> list[ModelMessage]:
    """Return the messages with all strings made encodable; unaffected messages are returned as they are.

    Raises:
        LimitError: A value in a message is nested deeper than `app.encoding.MAX_DEPTH`.
    """
    return [_clean_message(message) for message in messages]


def _clean_message(message: ModelMessage) -> ModelMessage:
    parts = [_clean_part(part) for part in message.parts]
    if all(part is other for part, other in zip(parts, message.parts, strict=True)):
        return message
    changed: ModelMessage = replace(message, parts=parts)  # type: ignore[arg-type]
    return changed


def _clean_part(part: Any) -> Any:  # noqa: ANN401 (one of a dozen classes of the library)
    changed = {
        name: cleaned
        for name in _TEXT_FIELDS
        if (value := getattr(part, name, None)) is not None and (cleaned := encodable_value(value)) != value
    }
    return replace(part, **changed) if changed else part
