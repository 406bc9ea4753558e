"""What a server answers to a call: bounded, nothing loaded, and checked against what it promised."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import Field, JsonValue

from app.errors import LimitError
from app.external.sanitize import one_line, plain_text
from app.external.schemas import build_validator, find_violations, sanitize_schema
from app.toolkit.result import ToolResult
from app.toolkit.schema import Schema

if TYPE_CHECKING:
    from mcp_types import CallToolResult

MAX_TEXT_CHARS = 60_000
"""How many characters of an answer are kept."""
_MAX_DATA_CHARS = 60_000
_MAX_LEFT_OUT = 50


class RemoteResult(ToolResult):
    """What came back, as text and, where the tool gives it, as data."""

    text: str = Field(description="What the server answered.")
    data: dict[str, JsonValue] | None = Field(None, description="Its answer as data.")
    left_out: list[str] = Field(
        default_factory=list, description="Pictures, sounds and files that it named; they are not loaded."
    )
    cut: bool = Field(False, description="The answer was longer than what is kept.")


class MismatchError(ValueError):
    """An answer that is not what the tool's own schema says; the message tells what, in our words."""


def read_result(answer: CallToolResult, server: str, tool: str) -> RemoteResult:
    """A server's answer within bounds; what it says is as it came, but for what hides in it."""
    texts: list[str] = []
    left: list[str] = []
    for block in answer.content:
        _read_block(block, texts, left)
    whole = "\n\n".join(texts)
    data = answer.structured_content
    kept, too_long = _bounded_data(data)
    if data is not None and not whole and kept is None:
        whole = json.dumps(data, ensure_ascii=False, default=str)
    cut = len(whole) > MAX_TEXT_CHARS or too_long
    more = [f"and {len(left) - _MAX_LEFT_OUT} more"] if len(left) > _MAX_LEFT_OUT else []
    return RemoteResult(
        text=plain_text(whole, MAX_TEXT_CHARS),
        data=kept,
        left_out=[*left[:_MAX_LEFT_OUT], *more],
        cut=cut,
        message=f"{one_line(server, 60)} answered to {one_line(tool, 60)}"
        + (", and its answer was cut." if cut else "."),
    )


def _read_block(block: object, texts: list[str], left: list[str]) -> None:
    from mcp_types import AudioContent, EmbeddedResource, ImageContent, ResourceLink, TextContent

    match block:
        case TextContent(text=text):
            texts.append(text[: MAX_TEXT_CHARS + 1])
        case ImageContent(mime_type=kind, data=data):
            left.append(f"picture ({one_line(kind, 60)}, {_size(data)})")
        case AudioContent(mime_type=kind, data=data):
            left.append(f"sound ({one_line(kind, 60)}, {_size(data)})")
        case ResourceLink(uri=uri, name=name):
            left.append(f"file {one_line(name, 100)} at {one_line(str(uri), 300)}")
        case EmbeddedResource(resource=resource):
            held = getattr(resource, "text", None)
            if isinstance(held, str):
                texts.append(f"[{one_line(str(resource.uri), 300)}]\n{held[: MAX_TEXT_CHARS + 1]}")
            else:
                left.append(f"file at {one_line(str(resource.uri), 300)}")


def _size(data: str) -> str:
    return f"{len(data) * 3 // 4:,} bytes"


def _bounded_data(data: object) -> tuple[dict[str, Any] | None, bool]:
    """The data if it is small enough, and whether it was not."""
    if data is None:
        return None, False
    held = data if isinstance(data, dict) else {"value": data}
    shown = _escape_value(held, 0)
    fits = isinstance(shown, dict) and len(json.dumps(shown, default=str)) <= _MAX_DATA_CHARS
    return (shown, False) if fits and isinstance(shown, dict) else (None, True)


def _escape_value(value: object, depth: int) -> object:
    """The value with nothing hidden in its texts; what is nested too deeply is cut off."""
    if depth > 40:
        return "(nested too deeply)"
    if isinstance(value, dict):
        return {plain_text(str(key), 200): _escape_value(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list):
        return [_escape_value(one, depth + 1) for one in value]
    return plain_text(value, MAX_TEXT_CHARS) if isinstance(value, str) else value


def check_output_schema(answer: CallToolResult, promised: Schema | None) -> None:
    """Hold an answer to the output schema of its tool. May take a while: call it in a thread.

    Raises:
        MismatchError: it has no data, or data that does not fit.
    """
    if promised is None or answer.is_error:
        return
    if answer.structured_content is None:
        raise MismatchError("it promises data and gave none")
    try:
        found = find_violations(build_validator(sanitize_schema(promised)), answer.structured_content)
    except LimitError as error:
        raise MismatchError(f"its data can't be checked ({error.message})") from error
    if found:
        where = ".".join(map(str, found[0].where)) or "the whole"
        raise MismatchError(f"its data does not fit what it promised, at {one_line(where, 80)}")
