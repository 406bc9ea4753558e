"""What of its memory a model has before it: pinned blocks always, what was only loaded for a turn."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from app.memory.store import PinnedBlock
from app.permissions.caller import Caller

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

P = TypeVar("P")
Pinned = Callable[[Caller], Sequence[PinnedBlock]]
"""The blocks that are pinned to the context of a caller's agent; none where its memory is off."""

_UNLOADED_NOTE = (
    "This block was not pinned and has left your context. Load it again, or pin it, if you need it."
)


def format_pinned_blocks(pinned: Iterable[PinnedBlock]) -> str:
    """The part of the prompt that holds the pinned blocks; empty without any."""
    parts = [_block_text(one) for one in pinned]
    if not parts:
        return ""
    told = "Your memory: the blocks that are pinned to your context, with their sizes in characters."
    return "\n".join([told, *parts])


def _block_text(one: PinnedBlock) -> str:
    marks = {"label": one.label, "size": str(one.size), "permission": one.permission}
    if one.description:
        marks["description"] = one.description
    said = " ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in marks.items())
    # No text of a block can end it early and speak as the prompt.
    body = one.text.replace("</block", "<\\/block").strip("\n") or "(empty)"
    return f"<block {said}>\n{body}\n</block>"


def strip_unpinned_blocks(messages: Iterable[ModelMessage]) -> list[ModelMessage]:
    """The messages as the next turn is to see them: without the texts of blocks that were only loaded."""
    from pydantic_ai.messages import ModelRequest

    return [
        replace(message, parts=[_strip_unpinned(part) for part in message.parts])
        if isinstance(message, ModelRequest)
        else message
        for message in messages
    ]


def _strip_unpinned(part: P) -> P:
    from pydantic_ai.messages import ToolReturnPart

    if not isinstance(part, ToolReturnPart) or part.tool_name != "block":
        return part
    content = part.content
    if not (isinstance(content, dict) and content.get("leaves_context")):
        return part
    return replace(
        part, content={**content, "text": None, "leaves_context": False, "message": _UNLOADED_NOTE}
    )
