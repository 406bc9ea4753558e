"""Results of external tools: limited in size, without files, checked against the output schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import Field, JsonValue

from app.errors import LimitError
from app.external.sanitize import one_line, sanitize_text
from app.external.schemas import build_validator, find_violations, sanitize_schema
from app.toolkit.result import ToolResult
from app.toolkit.schema import Schema

if TYPE_CHECKING:
    from mcp_types import CallToolResult

MAX_TEXT_CHARS = 60_000
"""Maximum number of characters of a result that are kept."""
_MAX_DATA_CHARS = 60_000
_MAX_LISTED_OMISSIONS = 50


class RemoteResult(ToolResult):
    """A result as text and, if the tool provides it, as data."""

    text: str = Field(description="The server's answer.")
    data: dict[str, JsonValue] | None = Field(None, description="The answer as structured data.")
    left_out: list[str] = Field(
        default_factory=list, description="Images, audio and files in the answer; they are not loaded."
    )
    cut: bool = Field(False, description="The answer was truncated.")


class MismatchError(ValueError):
    """A result violates the tool's output schema; the message explains how, in our own words."""


def read_result(response: CallToolResult, server: str, tool: str) -> RemoteResult:
    """Convert a server's answer to a result, truncated and sanitized."""
    texts: list[str] = []
    skipped: list[str] = []
    for block in response.content:
        _read_block(block, texts, skipped)
    text = "\n\n".join(texts)
    data = response.structured_content
    bounded_data, is_too_large = _bounded_data(data)
    if data is not None and not text and bounded_data is None:
        text = json.dumps(data, ensure_ascii=False, default=str)
    cut = len(text) > MAX_TEXT_CHARS or is_too_large
    extra = (
        [f"and {len(skipped) - _MAX_LISTED_OMISSIONS} more"] if len(skipped) > _MAX_LISTED_OMISSIONS else []
    )
    return RemoteResult(
        text=sanitize_text(text, MAX_TEXT_CHARS),
        data=bounded_data,
        left_out=[*skipped[:_MAX_LISTED_OMISSIONS], *extra],
        cut=cut,
        message=f"{one_line(server, 60)} returned a result for {one_line(tool, 60)}"
        + (", which was truncated." if cut else "."),
    )


def _read_block(block: object, texts: list[str], skipped: list[str]) -> None:
    from mcp_types import AudioContent, EmbeddedResource, ImageContent, ResourceLink, TextContent

    match block:
        case TextContent(text=text):
            texts.append(text[: MAX_TEXT_CHARS + 1])
        case ImageContent(mime_type=kind, data=data):
            skipped.append(f"image ({one_line(kind, 60)}, {_size(data)})")
        case AudioContent(mime_type=kind, data=data):
            skipped.append(f"audio ({one_line(kind, 60)}, {_size(data)})")
        case ResourceLink(uri=uri, name=name):
            skipped.append(f"file {one_line(name, 100)} at {one_line(str(uri), 300)}")
        case EmbeddedResource(resource=resource):
            wrapped = getattr(resource, "text", None)
            if isinstance(wrapped, str):
                texts.append(f"[{one_line(str(resource.uri), 300)}]\n{wrapped[: MAX_TEXT_CHARS + 1]}")
            else:
                skipped.append(f"file at {one_line(str(resource.uri), 300)}")


def _size(data: str) -> str:
    return f"{len(data) * 3 // 4:,} bytes"


def _bounded_data(data: object) -> tuple[dict[str, Any] | None, bool]:
    """Return the sanitized data, or None if it is too large, and whether it is too large."""
    if data is None:
        return None, False
    mapping = data if isinstance(data, dict) else {"value": data}
    escaped = _escape_value(mapping, 0)
    assert isinstance(escaped, dict)
    is_too_large = len(json.dumps(escaped, default=str)) > _MAX_DATA_CHARS
    return (None, True) if is_too_large else (escaped, False)


def _escape_value(value: object, depth: int) -> object:
    """Return the value with sanitized text and without its deepest levels."""
    if depth > 40:
        return "(nested too deeply)"
    if isinstance(value, dict):
        return {sanitize_text(str(key), 200): _escape_value(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_escape_value(item, depth + 1) for item in value]
    return sanitize_text(value, MAX_TEXT_CHARS) if isinstance(value, str) else value


def check_output_schema(response: CallToolResult, output_schema: Schema | None) -> None:
    """Check an answer against the output schema of its tool; error responses are not checked.

    This can be slow: call it in a thread.

    Raises:
        MismatchError: the data is missing, too large to check, or does not match the schema.
    """
    if output_schema is None or response.is_error:
        return
    if response.structured_content is None:
        raise MismatchError("its schema requires data, but it sent none")
    try:
        violations = find_violations(
            build_validator(sanitize_schema(output_schema)), response.structured_content
        )
    except LimitError as error:
        raise MismatchError(f"its data can't be checked ({error.message})") from error
    if violations:
        location = ".".join(map(str, violations[0].path)) or "the top level"
        raise MismatchError(f"its data does not match its schema at {one_line(location, 80)}")
