"""Edits to a block's content. Pure functions: each returns the edited block.

`part` names a field of a map, a section of a composite block, or a field in a section (`section.field`).
Without it, the edit applies to the whole content, which must not be a map or a composite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, cast

import re2

from app.errors import InvalidParametersError, LimitError, NotFoundError
from app.memory import content as contents
from app.memory.block import Block
from app.memory.content import Content, FieldValue, LogEntry, PlainContent
from app.memory.schema import (
    CompositeSchema,
    FieldKind,
    ListSchema,
    LogSchema,
    MapField,
    MapSchema,
    Plain,
    Schema,
    TextSchema,
)
from app.memory.serialization import MAX_BLOCK_BYTES
from app.vault.markdown.patch import apply_patch

Mode = Literal["first", "all", "nth", "regex"]
V = TypeVar("V")


def append(block: Block, text: str, part: str | None = None) -> Block:
    """Append to a text as a new line, to a list as an item, or to a log with the time; increase a counter.

    Raises:
        InvalidParametersError: the block has no such part, it can't be appended to, or the new value is not
            valid.
    """

    def add(schema: Plain | MapField, content: object) -> object:
        match schema:
            case TextSchema() | MapField(kind=FieldKind.TEXT):
                current = str(content)
                return f"{current}\n{text}" if current and not current.endswith("\n") else current + text
            case ListSchema() | MapField(kind=FieldKind.LIST):
                return (*cast("tuple[str, ...]", content), text)
            case LogSchema():
                return (*cast("tuple[LogEntry, ...]", content), LogEntry(contents.timestamp(), text))
            case MapField(kind=FieldKind.COUNTER):
                return contents.field_value(schema, int(cast("int", content)) + _parse_integer(text))
        raise InvalidParametersError(f"A {schema.kind} can't be appended to; use set_field.")

    return _change_part(block, part, add)


def replace(
    block: Block, old: str, new: str, mode: Mode = "first", nth: int | None = None, part: str | None = None
) -> Block:
    r"""Replace `old` with `new`.

    `mode` selects the first occurrence, all occurrences, the `nth` (counting from 1), or all matches of the
    regular expression `old` (RE2; `\1` in `new` is its first group).

    Raises:
        NotFoundError: the text does not occur, or not often enough.
        InvalidParametersError: there is no such part, it is not editable text, or the expression or its
            replacement is not valid.
        LimitError: the text would become too long.
    """
    if not old:
        raise InvalidParametersError("Specify the text to replace; use append to add text.")
    return _edit_text(block, part, lambda text: _replace_text(text, old, new, mode, nth or 1))


def patch(block: Block, diff_text: str, part: str | None = None) -> Block:
    """Apply a unified diff whose context lines must match the text.

    Raises:
        ConflictError: the diff does not apply.
        InvalidParametersError: the diff can't be parsed, or the part does not exist or is not editable
            text.
    """
    return _edit_text(block, part, lambda text: apply_patch(text, diff_text))


def edit_range(block: Block, first: int, last: int, text: str, part: str | None = None) -> Block:
    """Replace lines `first` to `last`, counted from 1, with `text`; `last = first - 1` inserts.

    Raises:
        InvalidParametersError: there are no such lines, or the part does not exist or is not editable
            text.
    """

    def splice(current: str) -> str:
        lines = current.splitlines(keepends=True)
        if not 1 <= first <= len(lines) + 1 or not first - 1 <= last <= len(lines):
            message = f"The text has {len(lines)} lines, so there are no lines {first} to {last}."
            raise InvalidParametersError(message, total_lines=len(lines))
        before, after = lines[: first - 1], lines[last:]
        if before and not before[-1].endswith("\n"):
            before[-1] += "\n"
        inserted = f"{text}\n" if text and after and not text.endswith("\n") else text
        return "".join([*before, inserted, *after])

    return _edit_text(block, part, splice)


def set_field(block: Block, field: str, value: object) -> Block:
    """Set a field of a map or a section of a composite block; `section.field` names a nested field.

    Raises:
        InvalidParametersError: there is no such field, it is read-only, or the value is not valid.
    """
    if isinstance(block.schema, TextSchema | ListSchema | LogSchema):
        raise InvalidParametersError(f"{block.label!r} is a {block.schema.kind} and has no fields.")

    def normalize(schema: Plain | MapField, content: object) -> object:
        if isinstance(schema, MapField):
            if schema.read_only:
                raise InvalidParametersError(f"{schema.name} is read-only.", field=schema.name)
            return contents.field_value(schema, value)
        return _section_value(schema, content, value)

    return _change_part(block, field, normalize)


def _section_value(schema: Plain, content: object, value: object) -> Content:
    """Return the new content of a section; null empties it except for read-only fields."""
    if value is None:
        value = {} if isinstance(schema, MapSchema) else ""
    if isinstance(schema, ListSchema) and isinstance(value, list):
        return tuple(str(item) for item in value)
    if isinstance(schema, MapSchema) and isinstance(value, Mapping):
        fields = {field.name: field for field in schema.fields}
        if unknown := sorted(set(value) - set(fields)):
            raise InvalidParametersError(f"There is no field {unknown[0]!r}.", allowed=list(fields))
        current = cast("Mapping[str, FieldValue]", content)
        return {name: _field_in(field, current.get(name), value) for name, field in fields.items()}
    if not isinstance(value, str):
        raise InvalidParametersError(f"A {schema.kind} can't contain {value!r:.80}.")
    return contents.parse(schema, value)


def _field_in(field: MapField, current: FieldValue, values: Mapping[str, object]) -> FieldValue:
    """Return the new value of a field when its whole section is set; a read-only field keeps its value.

    Raises:
        InvalidParametersError: the field is read-only and has another value, or the value is not valid.
    """
    if not field.read_only:
        return contents.field_value(field, values.get(field.name))
    if field.name in values and contents.field_value(field, values[field.name]) != current:
        raise InvalidParametersError(f"{field.name} is read-only.", field=field.name)
    return current


# Parts


def _change_part(
    block: Block, part: str | None, change: Callable[[Plain | MapField, object], object]
) -> Block:
    """Return the block with `change` applied to one part."""
    schema = block.schema
    if part is None:
        if isinstance(schema, MapSchema | CompositeSchema):
            names = _names(schema)
            raise InvalidParametersError(f"Name the part in `field`: {', '.join(names)}.", allowed=names)
        return block.with_content(cast("Content", change(schema, block.content)))
    return block.with_content(_edit_part(schema, block.content, part, change))


def _edit_part(
    schema: Schema, content: object, part: str, change: Callable[[Plain | MapField, object], object]
) -> Content:
    if isinstance(schema, MapSchema):
        field = _find_part({field.name: field for field in schema.fields}, part)
        values = dict(cast("Mapping[str, object]", content))
        values[field.name] = change(field, values[field.name])
        return cast("Content", values)
    if isinstance(schema, CompositeSchema):
        name, dot, inner = part.partition(".")
        section = _find_part({section.name: section for section in schema.sections}, name)
        if section.read_only:
            raise InvalidParametersError(f"{section.name} is read-only.", field=section.name)
        parts = dict(cast("Mapping[str, PlainContent]", content))
        section_content = parts[section.name]
        new_content = (
            _edit_part(section.content, section_content, inner, change)
            if dot
            else change(section.content, section_content)
        )
        parts[section.name] = cast("PlainContent", new_content)
        return parts
    raise InvalidParametersError(f"A {schema.kind} has no part {part!r}.")


def _edit_text(block: Block, part: str | None, edit: Callable[[str], str]) -> Block:
    def change(schema: Plain | MapField, content: object) -> object:
        if isinstance(schema, ListSchema | LogSchema) or not isinstance(content, str):
            raise InvalidParametersError(f"This edit requires text, but the part is a {schema.kind}.")
        return edit(content)

    return _change_part(block, part, change)


def _find_part(parts: Mapping[str, V], name: str) -> V:
    part = next((part for key, part in parts.items() if key.casefold() == name.strip().casefold()), None)
    if part is None:
        message = f"There is no part {name!r}. The parts are {', '.join(parts)}."
        raise InvalidParametersError(message, allowed=list(parts))
    return part


def _names(schema: MapSchema | CompositeSchema) -> list[str]:
    parts = schema.fields if isinstance(schema, MapSchema) else schema.sections
    return [part.name for part in parts]


def _parse_integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidParametersError(
            f"A counter can only be increased by a whole number, not by {text[:80]!r}."
        ) from None


# Texts


def _replace_text(text: str, old: str, new: str, mode: Mode, nth: int) -> str:
    if mode == "regex":
        return _replace_pattern(text, old, new)
    count = text.count(old)
    occurrence = nth if mode == "nth" else 1
    if count < occurrence:
        problem = {0: "was not found", 1: "occurs only once"}.get(count, f"occurs only {count} times")
        raise NotFoundError(f"The text {old[:80]!r} {problem}.", found=count)
    if mode == "all":
        _check_length(len(text) + count * (len(new) - len(old)))
        return text.replace(old, new)
    index = -1
    for _ in range(occurrence):
        index = text.index(old, index + 1 if index < 0 else index + len(old))
    return text[:index] + new + text[index + len(old) :]


def _replace_pattern(text: str, old: str, new: str) -> str:
    length = 0

    def expand(match: Any) -> str:  # noqa: ANN401 (re2 has no types)
        nonlocal length
        part = str(match.expand(new))
        length += len(part)
        _check_length(length)
        return part

    options = re2.Options()
    options.log_errors = False
    try:
        result, count = re2.compile(old, options).subn(expand, text)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error.args[0])
        raise InvalidParametersError(f"{old[:80]!r} is not a valid regular expression: {reason}.") from error
    except (IndexError, UnicodeDecodeError) as error:
        message = f"{new[:80]!r} is not a valid replacement for this expression: {error}."
        raise InvalidParametersError(message) from error
    if not count:
        raise NotFoundError(f"The expression {old[:80]!r} matches nothing.", found=0)
    return str(result)


def _check_length(length: int) -> None:
    if length > MAX_BLOCK_BYTES:
        message = f"The text would be longer than {MAX_BLOCK_BYTES:,} characters."
        raise LimitError(message, limit=MAX_BLOCK_BYTES)
