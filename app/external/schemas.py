"""Sanitize JSON schemas of other programs, so that validation is bounded.

A foreign schema may refer to itself or to the network, contain patterns of exponential time, and be of any
size. `checked_schema` keeps what can be checked within limits: references are inlined, and patterns are kept
if they match in linear time. Dropping the rest only loosens the check, which the server repeats anyway.
Models and forms see a flat version of the result: `schema_simplifier.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import re2

from app.errors import InvalidParametersError, LimitError
from app.external.sanitize import one_line
from app.toolkit.schema import Schema

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MAX_SCHEMA_CHARS = 64 * 1024
"""Maximum length of a schema as JSON."""
_MAX_DEPTH, _MAX_NODES, _MAX_CHOICES = 16, 1000, 500
_MAX_PATTERN_CHARS = 1000
_MAX_CHECKED_VALUES, _MAX_CHECKED_DEPTH = 20_000, 40
_MAX_VALUE_CHARS = 500
_MAX_PROBLEMS = 10

NUMBER_KEYWORDS = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
)
"""Keywords whose value is a number."""
_SCHEMA_LIST_KEYWORDS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SCHEMA_KEYWORDS = ("items", "additionalProperties", "not", "if", "then", "else", "propertyNames")
_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})


@dataclass(frozen=True, slots=True)
class SchemaViolation:
    """A violation of a schema, and where it is."""

    where: tuple[str | int, ...]
    problem: str


def sanitize_schema(raw: Mapping[str, Any]) -> Schema:
    """Return the part of a foreign schema that can be checked within limits, without references.

    Raises:
        LimitError: the schema is too large, possibly because of its references.
        InvalidParametersError: it is not a valid schema, or refers to something outside itself.
    """
    from jsonschema import Draft202012Validator, SchemaError

    try:
        size = len(json.dumps(raw, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidParametersError(f"The schema is not valid JSON: {type(error).__name__}.") from error
    if size > MAX_SCHEMA_CHARS:
        raise LimitError(f"The schema has more than {MAX_SCHEMA_CHARS} characters.", limit=MAX_SCHEMA_CHARS)
    made = _SchemaInliner(raw).read(raw, 0, ())
    if not isinstance(made, dict):
        raise InvalidParametersError("The schema is not an object.")
    try:
        Draft202012Validator.check_schema(made)
    except SchemaError as error:
        raise InvalidParametersError(f"The schema is not valid: {one_line(error.message, 200)}") from error
    return made


class _SchemaInliner:
    """Copies a schema and inlines its references."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._nodes = 0

    def read(self, node: object, depth: int, inside: tuple[str, ...]) -> Schema | bool:
        """Return `node` without references; `inside` are the references that led to it."""
        self._nodes += 1
        if depth > _MAX_DEPTH or self._nodes > _MAX_NODES:
            raise LimitError("The schema is too large or nested too deeply.", limit=_MAX_NODES)
        if isinstance(node, bool):
            return node
        if not isinstance(node, Mapping):
            raise InvalidParametersError("A part of the schema is not a valid schema.")
        made = self._plain_parts(node)
        self._lower_parts(node, made, depth, inside)
        if "$ref" in node:
            return self._with_referred(str(node["$ref"]), made, depth, inside)
        return made

    def _plain_parts(self, node: Mapping[str, Any]) -> Schema:
        made: Schema = {
            key: value for key, value in node.items() if key in _KEPT_KEYWORDS and _KEPT_KEYWORDS[key](value)
        }
        if "description" in made:
            made["description"] = one_line(made["description"], _MAX_VALUE_CHARS)
        if "required" in made:
            made["required"] = list(dict.fromkeys(name for name in made["required"] if isinstance(name, str)))
        return made

    def _lower_parts(
        self, node: Mapping[str, Any], made: Schema, depth: int, inside: tuple[str, ...]
    ) -> None:
        if isinstance(properties := node.get("properties"), Mapping):
            made["properties"] = {
                str(name): self.read(one, depth + 1, inside) for name, one in properties.items()
            }
        given = dict(node)
        if isinstance(given.get("items"), list):  # the notation of older drafts
            given["prefixItems"] = given.pop("items")
        for key in _SCHEMA_LIST_KEYWORDS:
            if isinstance(given.get(key), list) and given[key]:
                made[key] = [self.read(one, depth + 1, inside) for one in given[key]]
        for key in _SCHEMA_KEYWORDS:
            if isinstance(given.get(key), Mapping | bool):
                made[key] = self.read(given[key], depth + 1, inside)
        if "patternProperties" in node:
            # Other properties depend on the patterns, so the server checks them.
            made.pop("additionalProperties", None)

    def _with_referred(
        self, reference: str, beside: Schema, depth: int, inside: tuple[str, ...]
    ) -> Schema | bool:
        if reference in inside:
            return beside  # recursive: from here on, anything is valid
        referred = self.read(self._resolve_reference(reference), depth + 1, (*inside, reference))
        if not beside:
            return referred
        if isinstance(referred, dict) and not set(beside) - {"description", "default"}:
            return {**referred, **beside}
        return {"allOf": [referred, beside]}

    def _resolve_reference(self, reference: str) -> object:
        if reference not in ("", "#") and not reference.startswith("#/"):
            raise InvalidParametersError(f"The schema refers to {one_line(reference, 80)}, outside itself.")
        found: Any = self._root
        for step in reference.lstrip("#").split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            try:
                found = found[int(name)] if isinstance(found, list) else found[name]
            except (KeyError, IndexError, ValueError, TypeError) as error:
                message = f"The schema refers to {one_line(reference, 80)}, which it does not have."
                raise InvalidParametersError(message) from error
        return found


def _is_type(value: object) -> bool:
    return all(one in _TYPES for one in value) if isinstance(value, list) else value in _TYPES


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_short(value: object) -> bool:
    return len(json.dumps(value)) <= _MAX_VALUE_CHARS


def _is_linear(pattern: object) -> bool:
    if not isinstance(pattern, str) or len(pattern) > _MAX_PATTERN_CHARS:
        return False
    try:
        re2.compile(pattern, _re2_options())
    except re2.error:
        return False
    return True


_KEPT_KEYWORDS: Mapping[str, Callable[[Any], bool]] = {
    "description": lambda value: isinstance(value, str),
    "type": _is_type,
    "const": _is_short,
    "default": _is_short,
    "enum": lambda value: isinstance(value, list) and 0 < len(value) <= _MAX_CHOICES,
    "required": lambda value: isinstance(value, list),
    "format": lambda value: isinstance(value, str),
    "pattern": _is_linear,
    **dict.fromkeys(NUMBER_KEYWORDS, _is_number),
}


def _re2_options() -> re2.Options:
    made = re2.Options()
    made.log_errors = False
    made.max_mem = 1 << 20
    return made


def build_validator(schema: Schema) -> Validator:
    """Return a validator for a schema that `checked_schema` returned."""
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def pattern(_: Any, wanted: str, instance: object, __: Any) -> Iterator[ValidationError]:  # noqa: ANN401
        if isinstance(instance, str) and not re2.compile(wanted, _re2_options()).search(instance):
            yield ValidationError(f"does not match {wanted}")

    made: Validator = extend(Draft202012Validator, {"pattern": pattern})(schema)  # type: ignore[no-untyped-call]
    return made


def find_violations(validator: Validator, value: Any) -> list[SchemaViolation]:  # noqa: ANN401 (any JSON)
    """Return the first few violations in `value`; empty if it is valid.

    Raises:
        LimitError: the value is too large or too deep to check.
    """
    if _count_values(value, 0) > _MAX_CHECKED_VALUES:
        raise LimitError("It has too many values to check.", limit=_MAX_CHECKED_VALUES)
    found = []
    for error in validator.iter_errors(value):
        found.append(SchemaViolation(tuple(error.absolute_path), one_line(error.message, 300)))
        if len(found) == _MAX_PROBLEMS:
            break
    return found


def _count_values(value: object, depth: int) -> int:
    if depth > _MAX_CHECKED_DEPTH:
        raise LimitError("It is nested too deeply to check.", limit=_MAX_CHECKED_DEPTH)
    if isinstance(value, Mapping):
        return 1 + sum(_count_values(one, depth + 1) for one in value.values())
    if isinstance(value, list | tuple):
        return 1 + sum(_count_values(one, depth + 1) for one in value)
    return 1
