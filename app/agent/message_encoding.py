"""Makes the messages of a model encodable: half of a surrogate pair is in no request that could be sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.encoding import encodable_value

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

_TEXT_FIELDS = ("content", "args", "tool_name", "tool_call_id", "signature")


async def encodable_history(messages: list[Any]) -> list[Any]:
    """As `encodable_messages`, called by the library before each request; it evaluates the annotations."""
    return encodable_messages(messages)


def encodable_messages(messages: Iterable[ModelMessage]) -> list[ModelMessage]:
    """The messages with every text of their parts encodable; those that are so already stay as they are."""
    return [_clean_message(message) for message in messages]


def _clean_message(message: ModelMessage) -> ModelMessage:
    parts = [_clean_part(part) for part in message.parts]
    if all(one is other for one, other in zip(parts, message.parts, strict=True)):
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
