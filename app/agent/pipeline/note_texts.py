"""Read the whole text of a note, and its lines."""

from __future__ import annotations

from collections.abc import Iterator

from app.agent.generic_formatting import wikilink
from app.agent.pipeline.tool_calls import ToolCalls
from app.vault.changes import content_hash


async def read_whole(tools: ToolCalls, path: str) -> str | None:
    """Return the whole text of a note; tell the user and return None if it can't be read completely."""
    outcome = await tools.call("read_note", {"name": path})
    if not outcome.success:
        tools.say_result("read_note", {"name": path}, outcome)
        return None
    text = str(outcome.result["text"])
    if content_hash(text.encode()) == outcome.result["hash"]:
        return text
    # The text is cut, or some of its bytes are replaced.
    tools.say(f"{wikilink(path)} is too large or not valid UTF-8. Nothing was changed.")
    return None


def lines_of(text: str, start: int) -> Iterator[tuple[str, int]]:
    """Yield the lines of a text from a position on, each without its end, and with its position."""
    at = start
    for part in text[start:].splitlines(keepends=True):
        yield part.rstrip("\r\n"), at
        at += len(part)
