"""Parsing the content of blocks: text outside the schema is an error that names its line."""

from __future__ import annotations

import pytest

from app.errors import InvalidParametersError
from app.memory.content import parse
from app.memory.schema import FieldKind, MapField, MapSchema


@pytest.mark.parametrize("value", ["ten", "9" * 5000, "[" * 100_000])
def test_a_value_that_is_not_json_names_its_line(value: str) -> None:
    schema = MapSchema(fields=(MapField(name="size", kind=FieldKind.NUMBER),))
    with pytest.raises(InvalidParametersError) as error:
        parse(schema, f"size: {value}\n")
    assert error.value.data["line"] == 1
