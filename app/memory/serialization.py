"""Serialize a block, without loss, to the bytes that are shown and journaled: a header and a text.

    ---
    owner: "scriptorium"
    label: "plan"
    type: "working"
    schema: {"kind": "text"}
    permission: "read_write"
    views: {"scriptorium": {"pinned": true}}
    ---
    The text.

Each line of the header is a name and a JSON value; empty values are omitted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from app.errors import InvalidParametersError
from app.memory import content as contents
from app.memory.block import Block, BlockType, BlockView, Permission
from app.memory.labels import clean_label
from app.memory.schema import parse_schema, schema_json
from app.vault.path import NotePath

_FENCE = "---"
MAX_BLOCK_BYTES = 8 * 1024 * 1024


class _ViewModel(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    pinned: bool = False
    start: int = Field(1, ge=1)
    lines: int | None = Field(None, ge=1)


class _BlockHeader(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    owner: str = Field(min_length=1, max_length=200)
    label: str
    type: BlockType
    content_schema: JsonValue = Field(alias="schema")
    permission: Permission
    description: str = Field("", max_length=2000)
    views: dict[str, _ViewModel] = Field(default_factory=dict)
    shares: dict[str, Permission] = Field(default_factory=dict)
    origin: dict[str, str] = Field(default_factory=dict)


def serialize_block(block: Block) -> bytes:
    """Return the bytes of a block, which are always the same for equal blocks."""
    return f"{header_text(block_header(block))}{block.text}".encode()


def block_header(block: Block) -> dict[str, JsonValue]:
    """Return the header's values in order, without empty ones."""
    values: dict[str, JsonValue] = {
        "owner": block.owner,
        "label": block.label,
        "type": block.type.value,
        "schema": schema_json(block.schema),
        "permission": block.permission.value,
        "description": block.description,
        "views": {name: _view_json(view) for name, view in sorted(block.views.items())},
        "shares": {name: shared.value for name, shared in sorted(block.shares.items())},
        "origin": dict(sorted(block.origin.items())),
    }
    return {name: value for name, value in values.items() if value not in ("", {})}


def _view_json(view: BlockView) -> JsonValue:
    defaults = asdict(BlockView())
    return {name: value for name, value in asdict(view).items() if value != defaults[name]}


def header_text(values: Mapping[str, JsonValue]) -> str:
    """Return a header as text between its fences."""
    lines = (f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items())
    return f"{_FENCE}\n{''.join(lines)}{_FENCE}\n"


def parse_document(data: bytes) -> tuple[dict[str, JsonValue], str]:
    """Parse a document into the header's values and the text below.

    Raises:
        InvalidParametersError: the document is too long, is not UTF-8, or has no valid header.
    """
    if len(data) > MAX_BLOCK_BYTES:
        raise InvalidParametersError(
            f"A block or entry can be at most {MAX_BLOCK_BYTES // 1024 // 1024} MiB in size.", size=len(data)
        )
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidParametersError("A block or entry must be UTF-8 text.") from error
    head, separator, body = text.removeprefix(f"{_FENCE}\n").partition(f"\n{_FENCE}\n")
    if not text.startswith(f"{_FENCE}\n") or not separator:
        message = "A block or entry must start with a header between two lines of '---'."
        raise InvalidParametersError(message)
    return dict(_parse_header_line(line, number) for number, line in enumerate(head.split("\n"), 2)), body


def _parse_header_line(line: str, number: int) -> tuple[str, JsonValue]:
    name, colon, value = line.partition(":")
    try:
        if not colon:
            raise ValueError("no colon")
        return name.strip(), json.loads(value)
    except (ValueError, RecursionError) as error:
        message = f"Line {number} of the header should be a name and a JSON value: {line[:80]!r}."
        raise InvalidParametersError(message, line=number) from error


def parse_block(data: bytes) -> Block:
    """Parse a block.

    Raises:
        InvalidParametersError: the bytes are not a block, or violate its schema.
    """
    values, body = parse_document(data)
    return build_block(values, lambda block: contents.parse(block.schema, body))


def build_block(values: Mapping[str, JsonValue], content_of: Callable[[Block], contents.Content]) -> Block:
    """Build a block from a header; `content_of` receives the block without content and returns the content.

    Raises:
        InvalidParametersError: the header or the content is not valid.
    """
    try:
        header = _BlockHeader.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        location = ".".join(str(part) for part in first["loc"])
        raise InvalidParametersError(
            f"The block's header is invalid at {location}: {first['msg']}."
        ) from error
    block = Block(
        header.owner,
        clean_label(header.label),
        header.type,
        parse_schema(header.content_schema),
        header.permission,
        header.description,
        views={name: BlockView(v.pinned, v.start, v.lines) for name, v in header.views.items()},
        shares=header.shares,
        origin=header.origin,
    )
    return block.with_content(content_of(block))


def check_path(block: Block, path: NotePath) -> None:
    """Check that a block is at its own path.

    Raises:
        InvalidParametersError: the path belongs to another block.
    """
    if block.path.key != path.key:
        message = f"The block {block.label!r} of {block.owner} does not belong at {path}."
        raise InvalidParametersError(message, path=str(path))
