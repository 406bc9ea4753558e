"""Memory in a model's context: pinned blocks in every turn, loaded blocks in one turn."""

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
"""Returns the blocks pinned to the context of a caller's agent; none if its memory is off."""

_UNLOADED_NOTE = (
    "This block was not pinned and was removed from your context. Load it again or pin it if you need it."
)


def format_pinned_blocks(pinned: Iterable[PinnedBlock]) -> str:
    """Return the part of the prompt with the pinned blocks; empty if there are none."""
    parts = [_block_text(block) for block in pinned]
    if not parts:
        return ""
    heading = "Your memory: the blocks that are pinned to your context, with their sizes in characters."
    return "\n".join([heading, *parts])


def _block_text(block: PinnedBlock) -> str:
    fields = {"label": block.label, "size": str(block.size), "permission": block.permission}
    if block.description:
        fields["description"] = block.description
    attributes = " ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in fields.items())
    # Escaped, so that a block's text cannot close the block and pass as part of the prompt.
    body = block.text.replace("</block", "<\\/block").strip("\n") or "(empty)"
    return f"<block {attributes}>\n{body}\n</block>"


def strip_unpinned_blocks(messages: Iterable[ModelMessage]) -> list[ModelMessage]:
    """Return the messages for the next turn, without the texts of blocks that were loaded but not pinned."""
    from pydantic_ai.messages import ModelRequest

    return [
        replace(message, parts=[_strip_unpinned_block(part) for part in message.parts])
        if isinstance(message, ModelRequest)
        else message
        for message in messages
    ]


def _strip_unpinned_block(part: P) -> P:
    from pydantic_ai.messages import ToolReturnPart

    if not isinstance(part, ToolReturnPart) or part.tool_name != "block":
        return part
    content = part.content
    if not (isinstance(content, dict) and content.get("leaves_context")):
        return part
    return replace(
        part, content={**content, "text": None, "leaves_context": False, "message": _UNLOADED_NOTE}
    )
