"""Convert the content of a block to text and back without loss. Pure functions.

A list item is a line that starts with `- `; in a log, a time comes next. A map field is `name: value`, or
`name:` above its indented items; empty fields are omitted. A composite block has the name of each section
above its indented content. Continuation lines of an item or a field are indented by two spaces.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple, cast

from app.errors import InvalidParametersError
from app.memory.schema import (
    CompositeSchema,
    FieldKind,
    ListSchema,
    LogSchema,
    MapField,
    MapSchema,
    Schema,
    TextSchema,
)

_INDENT = "  "
_ITEM = "- "
_HEAD = re.compile(r"([^\W\d][\w -]{0,59}):(?: (.*))?", re.DOTALL)
_MAX_NUMBER = 2**53


class LogEntry(NamedTuple):
    """A log entry with its time in ISO 8601."""

    time: str
    text: str


FieldValue = str | int | float | bool | tuple[str, ...] | None
Fields = Mapping[str, FieldValue]
PlainContent = str | tuple[str, ...] | tuple[LogEntry, ...] | Fields
Content = PlainContent | Mapping[str, PlainContent]


def default_content(schema: Schema) -> Content:
    """Return the default content of a schema.

    Raises:
        InvalidParametersError: a field's default value is not valid.
    """
    match schema:
        case TextSchema():
            return ""
        case ListSchema() | LogSchema():
            return ()
        case MapSchema():
            return {f.name: field_value(f, f.default) for f in schema.fields}
        case CompositeSchema():
            return {
                section.name: cast("PlainContent", default_content(section.content))
                for section in schema.sections
            }


def timestamp() -> str:
    """Return the current time in UTC, as ISO 8601 without fractions of a second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# Writing


def render(schema: Schema, content: object) -> str:
    """Return the content as text, from which `parse` restores it.

    Raises:
        InvalidParametersError: some text contains a lone surrogate.
    """
    match schema:
        case TextSchema():
            return _check_text(content)
        case ListSchema():
            return "".join(
                f"{_ITEM}{_continuation_lines(_check_text(item))}\n" for item in _sequence(content)
            )
        case LogSchema():
            entries = cast("tuple[LogEntry, ...]", _sequence(content))
            return "".join(f"{_ITEM}{at} {_continuation_lines(_check_text(text))}\n" for at, text in entries)
        case MapSchema():
            values = _mapping(content)
            return "".join(_render_field(field, values.get(field.name)) for field in schema.fields)
        case CompositeSchema():
            values = _mapping(content)
            named = (
                (section.name, _render_section(section.content, values[section.name]))
                for section in schema.sections
            )
            return "".join(f"{name}:\n{text}" for name, text in named)


def _render_section(schema: Schema, content: object) -> str:
    text = render(schema, content)
    if not text:
        return ""
    # In text content, every newline counts; other content always ends with one.
    return _indent(text if isinstance(schema, TextSchema) else text.removesuffix("\n"))


def _render_field(field: MapField, value: object) -> str:
    match value:
        case None | "" | ():
            return ""
        case tuple():
            return f"{field.name}:\n{_indent(render(ListSchema(), value).removesuffix(chr(10)))}"
        case str():
            return f"{field.name}: {_continuation_lines(_check_text(value))}\n"
        case _:
            return f"{field.name}: {json.dumps(value)}\n"


def _continuation_lines(text: str) -> str:
    return text.replace("\n", f"\n{_INDENT}")


def _indent(text: str) -> str:
    return "".join(f"{_INDENT}{line}\n" for line in text.split("\n"))


# Reading


def parse(schema: Schema, text: str) -> Content:
    """Parse text into content.

    Raises:
        InvalidParametersError: the text does not follow the schema; `line` in its data, if known, counts from
            1 in the text, section or list field that it belongs to.
    """
    match schema:
        case TextSchema():
            return text
        case ListSchema():
            return tuple(_parse_items(text))
        case LogSchema():
            return tuple(_parse_log_entry(item) for item in _parse_items(text))
        case MapSchema():
            return _parse_map(schema, text)
        case CompositeSchema():
            return _parse_sections(schema, text)


def _parse_items(text: str) -> Iterator[str]:
    item: list[str] | None = None
    for number, line in enumerate(_lines(text), 1):
        if line.startswith(_ITEM) or line == "-":
            if item is not None:
                yield "\n".join(item)
            item = [line[2:]]
        elif item is not None and (line.startswith(_INDENT) or not line):
            item.append(line[2:])
        elif line.strip():
            raise InvalidParametersError(f"Line {number} should start with '- ': {line[:80]!r}.", line=number)
    if item is not None:
        yield "\n".join(item)


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _parse_log_entry(item: str) -> LogEntry:
    time, _, text = item.partition(" ")
    return LogEntry(_check_timestamp(time), text)


def _parse_map(schema: MapSchema, text: str) -> Fields:
    fields = {field.name: field for field in schema.fields}
    values: dict[str, FieldValue] = {name: field_value(field, None) for name, field in fields.items()}
    for name, first, continuation, number in _split_parts(text, fields):
        field = fields[name]
        if field.kind is FieldKind.LIST:
            values[name] = tuple(_parse_items("\n".join(continuation)))
        elif field.kind is FieldKind.TEXT:
            values[name] = "\n".join([first, *continuation])
        else:
            values[name] = _parse_scalar(field, first.strip(), number)
    return values


def _parse_sections(schema: CompositeSchema, text: str) -> Mapping[str, PlainContent]:
    sections = {section.name: section for section in schema.sections}
    values: dict[str, PlainContent] = {
        name: cast("PlainContent", parse(section.content, "")) for name, section in sections.items()
    }
    for name, first, continuation, number in _split_parts(text, sections):
        if first.strip():
            raise InvalidParametersError(
                f"Line {number}: put the text of {name} on the lines below.", line=number
            )
        values[name] = cast("PlainContent", parse(sections[name].content, "\n".join(continuation)))
    return values


def _split_parts(text: str, names: Mapping[str, object]) -> list[tuple[str, str, list[str], int]]:
    """Return the parts that start with `name:`: name, rest of that line, continuation lines and line number.

    Raises:
        InvalidParametersError: a line names no part, or a part that occurs twice.
    """
    groups: list[tuple[str, str, list[str], int]] = []
    for number, line in enumerate(_lines(text), 1):
        if groups and (line.startswith(_INDENT) or not line):
            groups[-1][2].append(line[2:])
            continue
        if not line.strip():
            continue
        head = _HEAD.fullmatch(line)
        if head is None or head[1] not in names:
            message = f"Line {number} should name one of {', '.join(names)}: {line[:80]!r}."
            raise InvalidParametersError(message, line=number, allowed=list(names))
        if any(name == head[1] for name, *_ in groups):
            raise InvalidParametersError(f"Line {number}: {head[1]} occurs twice.", line=number)
        groups.append((head[1], head[2] or "", [], number))
    return groups


def _parse_scalar(field: MapField, text: str, number: int) -> FieldValue:
    if field.kind is FieldKind.TIMESTAMP:
        return _check_timestamp(text)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"Line {number}: {field.name} must be {_KIND_NAMES[field.kind]}, not {text[:80]!r}."
        raise InvalidParametersError(message, line=number) from error
    return field_value(field, value)


# Values


def field_value(field: MapField, value: object) -> FieldValue:
    """Validate and normalize a field's value; None clears the field or resets a counter to 0.

    Raises:
        InvalidParametersError: the field can't have this value.
    """
    match field.kind, value:
        case FieldKind.TEXT, None | str():
            return _check_text(value or "")
        case FieldKind.LIST, None:
            return ()
        case FieldKind.LIST, list() | tuple() if all(isinstance(item, str) for item in value):
            return tuple(_check_text(item) for item in value)
        case FieldKind.COUNTER, None:
            return 0
        case ((FieldKind.NUMBER | FieldKind.BOOLEAN | FieldKind.TIMESTAMP), None):
            return None
        case FieldKind.BOOLEAN, bool():
            return value
        case FieldKind.TIMESTAMP, str():
            return _check_timestamp(value)
        case FieldKind.COUNTER, int() if not isinstance(value, bool) and abs(value) < _MAX_NUMBER:
            return value
        case FieldKind.NUMBER, int() if not isinstance(value, bool) and abs(value) < _MAX_NUMBER:
            return value
        case FieldKind.NUMBER, float() if math.isfinite(value):
            return int(value) if value.is_integer() and abs(value) < _MAX_NUMBER else value
    raise InvalidParametersError(
        f"{field.name} must be {_KIND_NAMES[field.kind]}, not {value!r:.80}.",
        field=field.name,
        kind=str(field.kind),
    )


_KIND_NAMES = {
    FieldKind.TEXT: "text",
    FieldKind.NUMBER: "a number",
    FieldKind.BOOLEAN: "true or false",
    FieldKind.LIST: "a list of strings",
    FieldKind.TIMESTAMP: "a time such as 2026-01-31T12:00:00Z",
    FieldKind.COUNTER: "a whole number",
}


def check(schema: Schema, content: object) -> None:
    """Check the length of lists and the presence of required fields.

    Raises:
        InvalidParametersError: a required field is empty, or a list has too many items.
    """
    match schema:
        case ListSchema(max_items=int(limit)) if len(_sequence(content)) > limit:
            raise InvalidParametersError(f"The list can have at most {limit} items.", limit=limit)
        case MapSchema():
            values = _mapping(content)
            missing = [f.name for f in schema.fields if f.required and values.get(f.name) in (None, "", ())]
            if missing:
                raise InvalidParametersError(f"{', '.join(missing)} must not be empty.", missing=missing)
        case CompositeSchema():
            for section in schema.sections:
                check(section.content, _mapping(content)[section.name])


def _check_timestamp(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        message = f"{text[:80]!r} is not a time; use the format 2026-01-31T12:00:00Z."
        raise InvalidParametersError(message) from None
    if " " in text:
        raise InvalidParametersError(f"{text!r}: write T between the date and the time.")
    return text


def _check_text(value: object) -> str:
    assert isinstance(value, str)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidParametersError("The text contains an invalid character (a lone surrogate).") from None
    return value


def _sequence(content: object) -> tuple[object, ...]:
    assert isinstance(content, tuple)
    return content


def _mapping(content: object) -> Mapping[str, object]:
    assert isinstance(content, Mapping)
    return content
