"""Parsing the content of blocks: text outside the schema is an error that names its line."""

from __future__ import annotations

import pytest

from app.errors import InvalidParametersError
from app.memory.content import LogEntry, parse, render
from app.memory.schema import FieldKind, LogSchema, MapField, MapSchema, Schema


@pytest.mark.parametrize("value", ["ten", "9" * 5000, "[" * 100_000])
def test_a_value_that_is_not_json_names_its_line(value: str) -> None:
    schema = MapSchema(fields=(MapField(name="size", kind=FieldKind.NUMBER),))
    with pytest.raises(InvalidParametersError) as error:
        parse(schema, f"size: {value}\n")
    assert error.value.data["line"] == 1


@pytest.mark.parametrize(
    ("schema", "content"),
    [
        (LogSchema(), (LogEntry("2026-01-31T12:00:00Z", "\ud800"),)),
        (MapSchema(fields=(MapField(name="size"),)), {"size": "\ud800"}),
    ],
)
def test_a_text_with_a_lone_surrogate_is_refused(schema: Schema, content: object) -> None:
    with pytest.raises(InvalidParametersError, match="lone surrogate"):
        render(schema, content)
