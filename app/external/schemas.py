"""Sanitize JSON schemas from other programs, so that validation is bounded.

An external schema may refer to itself or to the network, contain patterns that take exponential time, and
have any size. `sanitize_schema` keeps the parts that can be checked within limits: references are inlined,
and patterns are kept if they match in linear time. The result accepts everything that the schema accepts, and
possibly more; the server checks its arguments again anyway. Models and forms see a flat version of the
result: `schema_simplifier.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError

from app.errors import InvalidParametersError, LimitError
from app.external.sanitize import one_line
from app.toolkit.schema import Schema

MAX_SCHEMA_CHARS = 64 * 1024
"""Maximum length of a schema as JSON."""
_MAX_DEPTH = 16
_MAX_NODES = 1000
_MAX_CHOICES = 500
_MAX_PATTERN_CHARS = 1000
_MAX_REGEX_BYTES = 1 << 20
_MAX_CHECKED_VALUES = 20_000
_MAX_CHECKED_DEPTH = 40
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
_NEUTRAL_KEYWORDS = frozenset(
    {
        "$anchor",
        "$comment",
        "$defs",
        "$id",
        "$ref",
        "$schema",
        "default",
        "definitions",
        "deprecated",
        "description",
        "examples",
        "format",
        "readOnly",
        "title",
        "writeOnly",
    }
)
"""Keywords that are inlined or never checked: the result accepts no more values without them."""
_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})


@dataclass(frozen=True, slots=True)
class SchemaViolation:
    """A violation of a schema, with the path of the invalid value."""

    path: tuple[str | int, ...]
    problem: str


def sanitize_schema(raw: Mapping[str, Any]) -> Schema:
    """Return the part of an external schema that can be checked within limits, without references.

    Raises:
        LimitError: the schema is too large, possibly because of its references.
        InvalidParametersError: it is not a valid schema, or a reference has no target in it.
    """
    try:
        size = len(json.dumps(raw, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidParametersError(f"The schema is not valid JSON: {type(error).__name__}.") from error
    if size > MAX_SCHEMA_CHARS:
        raise LimitError(f"The schema has more than {MAX_SCHEMA_CHARS} characters.", limit=MAX_SCHEMA_CHARS)
    result = _SchemaInliner(raw).read(raw, 0, ())
    if not isinstance(result, dict):
        raise InvalidParametersError("The schema is not an object.")
    try:
        build_validator(result)
    except ValidationError as error:
        raise InvalidParametersError(f"The schema is not valid: {one_line(error.message, 200)}") from error
    except ValueError as error:
        raise InvalidParametersError("The schema is not valid: its text is not valid Unicode.") from error
    return result


class _SchemaInliner:
    """Copies a schema, inlines its references and drops what can't be checked within limits."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._nodes = 0
        self._dropped_constraints = 0

    def read(self, node: object, depth: int, path: tuple[str, ...]) -> Schema | bool:
        """Return `node` without references; `path` lists the references that led to it."""
        self._nodes += 1
        if depth > _MAX_DEPTH or self._nodes > _MAX_NODES:
            raise LimitError("The schema is too large or nested too deeply.", limit=_MAX_NODES)
        if isinstance(node, bool):
            return node
        if not isinstance(node, Mapping):
            raise InvalidParametersError("Part of the schema is not a valid schema.")
        result = self._plain_keywords(node)
        self._add_subschemas(node, result, depth, path)
        if "$ref" in node:
            return self._inline_reference(str(node["$ref"]), result, depth, path)
        return result

    def _plain_keywords(self, node: Mapping[str, Any]) -> Schema:
        result: Schema = {
            key: value for key, value in node.items() if key in _KEPT_KEYWORDS and _KEPT_KEYWORDS[key](value)
        }
        if "description" in result:
            result["description"] = one_line(result["description"], _MAX_VALUE_CHARS)
        if "required" in result:
            result["required"] = list(
                dict.fromkeys(name for name in result["required"] if isinstance(name, str))
            )
        return result

    def _add_subschemas(
        self, node: Mapping[str, Any], result: Schema, depth: int, path: tuple[str, ...]
    ) -> None:
        if isinstance(properties := node.get("properties"), Mapping):
            result["properties"] = {
                str(name): self.read(subschema, depth + 1, path) for name, subschema in properties.items()
            }
        keywords = dict(node)
        if isinstance(keywords.get("items"), list):  # the notation of older drafts
            keywords["prefixItems"] = keywords.pop("items")
        for key in _SCHEMA_LIST_KEYWORDS:
            if isinstance(keywords.get(key), list) and keywords[key]:
                dropped_before = self._dropped_constraints
                parts = [self.read(subschema, depth + 1, path) for subschema in keywords[key]]
                if key == "oneOf" and self._dropped_constraints > dropped_before:
                    # Without their constraints, several alternatives may match.
                    result.setdefault("anyOf", parts)
                else:
                    result[key] = parts
        for key in _SCHEMA_KEYWORDS:
            if isinstance(keywords.get(key), Mapping | bool):
                dropped_before = self._dropped_constraints
                part = self.read(keywords[key], depth + 1, path)
                # A condition without its constraints would be true too often.
                if key not in ("not", "if") or self._dropped_constraints == dropped_before:
                    result[key] = part
        self._dropped_constraints += len(keywords.keys() - result.keys() - _NEUTRAL_KEYWORDS)
        if "patternProperties" in node:
            # Other properties depend on the patterns, so the server checks them.
            result.pop("additionalProperties", None)

    def _inline_reference(
        self, reference: str, siblings: Schema, depth: int, path: tuple[str, ...]
    ) -> Schema | bool:
        if reference in path:
            self._dropped_constraints += 1
            return siblings  # recursive: deeper levels are not checked
        target = self.read(self._resolve_reference(reference), depth + 1, (*path, reference))
        if not siblings:
            return target
        if isinstance(target, dict) and not set(siblings) - {"description", "default"}:
            return {**target, **siblings}
        return {"allOf": [target, siblings]}

    def _resolve_reference(self, reference: str) -> object:
        if reference not in ("", "#") and not reference.startswith("#/"):
            message = f"The schema refers to {one_line(reference, 80)}, which is outside the schema."
            raise InvalidParametersError(message)
        node: Any = self._root
        for step in reference.lstrip("#").split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            try:
                node = node[int(name)] if isinstance(node, list) else node[name]
            except (KeyError, IndexError, ValueError, TypeError) as error:
                message = f"The schema refers to {one_line(reference, 80)}, which it does not contain."
                raise InvalidParametersError(message) from error
        return node


def _is_type(value: object) -> bool:
    return all(name in _TYPES for name in value) if isinstance(value, list) else value in _TYPES


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_short(value: object) -> bool:
    return len(json.dumps(value)) <= _MAX_VALUE_CHARS


def _is_linear(pattern: object) -> bool:
    if not isinstance(pattern, str) or len(pattern) > _MAX_PATTERN_CHARS:
        return False
    try:
        build_validator({"pattern": pattern})
    except ValueError:
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


def build_validator(schema: Schema) -> Draft202012Validator:
    """Return a validator for a schema that `sanitize_schema` returned.

    Its patterns match in linear time; a pattern that can't, or that needs too much memory, is invalid.

    Raises:
        ValueError: the schema is not valid (a `ValidationError`), or its text is not valid Unicode.
    """
    return Draft202012Validator(
        schema, validate_formats=False, pattern_options=RegexOptions(_MAX_REGEX_BYTES, _MAX_REGEX_BYTES)
    )


def find_violations(validator: Draft202012Validator, value: Any) -> list[SchemaViolation]:  # noqa: ANN401 (any JSON)
    """Return up to ten violations in `value`; none if it is valid.

    Raises:
        LimitError: the value is too large or too deep to check.
    """
    if _count_values(value, 0) > _MAX_CHECKED_VALUES:
        raise LimitError("It has too many values to check.", limit=_MAX_CHECKED_VALUES)
    try:
        errors = list(islice(validator.iter_errors(value), _MAX_PROBLEMS))
    except ValueError:  # a lone surrogate, or a type that JSON does not have
        return [SchemaViolation((), "It can't be represented as JSON.")]
    return [SchemaViolation(tuple(error.instance_path), one_line(error.message, 300)) for error in errors]


def _count_values(value: object, depth: int) -> int:
    if depth > _MAX_CHECKED_DEPTH:
        raise LimitError("It is nested too deeply to check.", limit=_MAX_CHECKED_DEPTH)
    if isinstance(value, Mapping):
        return 1 + sum(_count_values(item, depth + 1) for item in value.values())
    if isinstance(value, list | tuple):
        return 1 + sum(_count_values(item, depth + 1) for item in value)
    return 1
