"""Validate results against their schema, fast.

Validating a long list with jsonschema takes longer than building it. The schemas of results are flat, so
pydantic-core can check nearly all of them, a hundred times as fast. It runs first, and accepts only what
jsonschema would accept; jsonschema decides on everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from jsonschema import Draft202012Validator
from pydantic_core import CoreSchema, SchemaValidator, core_schema

_ANNOTATION_KEYWORDS = frozenset({"title", "description", "default", "examples", "format", "$schema"})
"""Keywords that restrict nothing; `format` is an annotation only."""


class ResultValidator:
    """Validates results against one schema."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._exact = Draft202012Validator(dict(schema))
        self._needs: tuple[frozenset[str], ...] = ()
        self._quick: SchemaValidator | None = None
        try:
            rest, self._needs = _alternatives(schema)
            self._quick = SchemaValidator(_core_schema(rest))
        except _NotFlatError:
            pass

    def find_problem(self, result: Mapping[str, object]) -> str:
        """Return the first violation in a result, or an empty string if it is valid."""
        if self._quick is not None and self._quick.isinstance_python(result):
            keys = result.keys()
            if not self._needs or any(keys >= needed for needed in self._needs):
                return ""
        error = next(self._exact.iter_errors(cast("Any", result)), None)
        return f"{error.json_path}: {error.message}" if error is not None else ""


class _NotFlatError(Exception):
    """The schema has a keyword that is left to jsonschema."""


def _alternatives(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], tuple[frozenset[str], ...]]:
    """Split a schema into the part without alternative required fields, and these alternatives."""
    options = schema.get("anyOf")
    if options is None or not all(set(option) == {"required"} for option in options):
        return schema, ()
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return rest, tuple(frozenset(option["required"]) for option in options)


def _core_schema(schema: object) -> CoreSchema:
    """Translate a schema to an equal or stricter pydantic-core schema."""
    if schema is True or schema == {}:
        return core_schema.any_schema()
    if not isinstance(schema, Mapping):
        raise _NotFlatError
    keywords = {key: value for key, value in schema.items() if key not in _ANNOTATION_KEYWORDS}
    if not keywords:
        return core_schema.any_schema()
    if keywords.keys() == {"anyOf"}:
        return core_schema.union_schema([_core_schema(option) for option in keywords["anyOf"]])
    if "enum" in keywords:
        return _enum_schema(keywords)
    types = keywords.get("type")
    if isinstance(types, list):
        return core_schema.union_schema([_core_schema({**keywords, "type": one}) for one in types])
    if types not in _MAKERS:
        raise _NotFlatError
    takes, make = _MAKERS[types]
    keywords = {key: value for key, value in keywords.items() if key != "type"}
    if not keywords.keys() <= takes:
        # Keywords for other types have no effect on this one.
        keywords = {
            key: value for key, value in keywords.items() if key in takes or key not in _SUPPORTED_KEYWORDS
        }
        if not keywords.keys() <= takes:
            raise _NotFlatError
    return make(keywords)


def _enum_schema(keywords: Mapping[str, Any]) -> CoreSchema:
    values = keywords["enum"]
    plain = all(value is None or type(value) is str for value in values)
    typed = "type" not in keywords or keywords["type"] in _TEXT_TYPES
    if not plain or not typed or not keywords.keys() <= {"enum", "type"}:
        raise _NotFlatError
    if keywords.get("type") == "string":
        values = [value for value in values if value is not None]
    if not values:
        raise _NotFlatError
    return core_schema.literal_schema(list(values))


def _array_schema(keywords: Mapping[str, Any]) -> CoreSchema:
    return core_schema.list_schema(
        _core_schema(keywords.get("items", True)),
        strict=True,
        min_length=keywords.get("minItems"),
        max_length=keywords.get("maxItems"),
    )


def _object_schema(keywords: Mapping[str, Any]) -> CoreSchema:
    required, extra = frozenset(keywords.get("required", ())), keywords.get("additionalProperties", True)
    properties = keywords.get("properties", {})
    if not required <= properties.keys():
        raise _NotFlatError
    fields = {
        name: core_schema.typed_dict_field(_core_schema(one), required=name in required)
        for name, one in properties.items()
    }
    if extra is False:
        return core_schema.typed_dict_schema(fields, extra_behavior="forbid", strict=True)
    return core_schema.typed_dict_schema(
        fields, extra_behavior="allow", extras_schema=_core_schema(extra), strict=True
    )


def _string_schema(keywords: Mapping[str, Any]) -> CoreSchema:
    return core_schema.str_schema(
        strict=True, min_length=keywords.get("minLength"), max_length=keywords.get("maxLength")
    )


def _integer_schema(keywords: Mapping[str, Any]) -> CoreSchema:
    return core_schema.int_schema(strict=True, ge=keywords.get("minimum"), le=keywords.get("maximum"))


def _number_schema(keywords: Mapping[str, Any]) -> CoreSchema:
    return core_schema.float_schema(strict=True, ge=keywords.get("minimum"), le=keywords.get("maximum"))


_MAKERS: Mapping[object, tuple[frozenset[str], Callable[[Mapping[str, Any]], CoreSchema]]] = {
    "string": (frozenset({"minLength", "maxLength"}), _string_schema),
    "integer": (frozenset({"minimum", "maximum"}), _integer_schema),
    "number": (frozenset({"minimum", "maximum"}), _number_schema),
    "boolean": (frozenset(), lambda keywords: core_schema.bool_schema(strict=True)),
    "null": (frozenset(), lambda keywords: core_schema.none_schema()),
    "array": (frozenset({"items", "minItems", "maxItems"}), _array_schema),
    "object": (frozenset({"properties", "required", "additionalProperties"}), _object_schema),
}
_TEXT_TYPES = ("string", ["string", "null"])
_SUPPORTED_KEYWORDS = frozenset().union(*(takes for takes, _ in _MAKERS.values()))
