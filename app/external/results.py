"""What a server answers to a call: bounded, nothing loaded, and checked against what it promised."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import Field, JsonValue

from app.errors import LimitError
from app.external.foreign_text import one_line, plain
from app.external.schemas import checked_schema, misfits, validator_of
from app.toolkit.result import ToolResult
from app.toolkit.schema import Schema

if TYPE_CHECKING:
    from mcp_types import CallToolResult

MOST_TEXT = 60_000
"""How many characters of an answer are kept."""
_MOST_DATA = 60_000
_MOST_LEFT = 50


class ForeignResult(ToolResult):
    """What came back, as text and, where the tool gives it, as data."""

    text: str = Field(description="What the server answered.")
    data: dict[str, JsonValue] | None = Field(None, description="Its answer as data.")
    left_out: list[str] = Field(
        default_factory=list, description="Pictures, sounds and files that it named; they are not loaded."
    )
    cut: bool = Field(False, description="The answer was longer than what is kept.")


class MismatchError(ValueError):
    """An answer that is not what the tool's own schema says; the message tells what, in our words."""


def read_result(answer: CallToolResult, server: str, tool: str) -> ForeignResult:
    """A server's answer within bounds; what it says is as it came, but for what hides in it."""
    texts: list[str] = []
    left: list[str] = []
    for block in answer.content:
        _read_block(block, texts, left)
    whole = "\n\n".join(texts)
    data = answer.structured_content
    kept, too_long = _kept_data(data)
    if data is not None and not whole and kept is None:
        whole = json.dumps(data, ensure_ascii=False, default=str)
    cut = len(whole) > MOST_TEXT or too_long
    more = [f"and {len(left) - _MOST_LEFT} more"] if len(left) > _MOST_LEFT else []
    return ForeignResult(
        text=plain(whole, MOST_TEXT),
        data=kept,
        left_out=[*left[:_MOST_LEFT], *more],
        cut=cut,
        message=f"{one_line(server, 60)} answered to {one_line(tool, 60)}"
        + (", and its answer was cut." if cut else "."),
    )


def _read_block(block: object, texts: list[str], left: list[str]) -> None:
    from mcp_types import AudioContent, EmbeddedResource, ImageContent, ResourceLink, TextContent

    match block:
        case TextContent(text=text):
            texts.append(text[: MOST_TEXT + 1])
        case ImageContent(mime_type=kind, data=data):
            left.append(f"picture ({one_line(kind, 60)}, {_size(data)})")
        case AudioContent(mime_type=kind, data=data):
            left.append(f"sound ({one_line(kind, 60)}, {_size(data)})")
        case ResourceLink(uri=uri, name=name):
            left.append(f"file {one_line(name, 100)} at {one_line(str(uri), 300)}")
        case EmbeddedResource(resource=resource):
            held = getattr(resource, "text", None)
            if isinstance(held, str):
                texts.append(f"[{one_line(str(resource.uri), 300)}]\n{held[: MOST_TEXT + 1]}")
            else:
                left.append(f"file at {one_line(str(resource.uri), 300)}")


def _size(data: str) -> str:
    return f"{len(data) * 3 // 4:,} bytes"


def _kept_data(data: object) -> tuple[dict[str, Any] | None, bool]:
    """The data if it is small enough, and whether it was not."""
    if data is None:
        return None, False
    held = data if isinstance(data, dict) else {"value": data}
    shown = _named(held, 0)
    fits = isinstance(shown, dict) and len(json.dumps(shown, default=str)) <= _MOST_DATA
    return (shown, False) if fits and isinstance(shown, dict) else (None, True)


def _named(value: object, depth: int) -> object:
    """The value with nothing hidden in its texts; what is nested too deeply is cut off."""
    if depth > 40:
        return "(nested too deeply)"
    if isinstance(value, dict):
        return {plain(str(key), 200): _named(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list):
        return [_named(one, depth + 1) for one in value]
    return plain(value, MOST_TEXT) if isinstance(value, str) else value


def check_promise(answer: CallToolResult, promised: Schema | None) -> None:
    """Hold an answer to the output schema of its tool. May take a while: call it in a thread.

    Raises:
        MismatchError: it has no data, or data that does not fit.
    """
    if promised is None or answer.is_error:
        return
    if answer.structured_content is None:
        raise MismatchError("it promises data and gave none")
    try:
        found = misfits(validator_of(checked_schema(promised)), answer.structured_content)
    except LimitError as error:
        raise MismatchError(f"its data can't be checked ({error.message})") from error
    if found:
        where = ".".join(map(str, found[0].where)) or "the whole"
        raise MismatchError(f"its data does not fit what it promised, at {one_line(where, 80)}")
