"""Convert a pydantic model to a flat JSON schema, which all model providers and MCP clients accept.

A flat schema has no `$ref`, no `oneOf` and no discriminated unions (a tool has an `op` string instead), has
`enum` only in top-level properties, and has no formats except dates, no tuples and no pattern properties.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

_UNSUPPORTED_KEYWORDS = {
    "$ref": "a type that refers to itself",
    "oneOf": "a discriminated union: use an `op` string",
    "discriminator": "a discriminated union: use an `op` string",
    "prefixItems": "a tuple: use a list",
    "patternProperties": "pattern properties",
}
_FORMATS = frozenset({"date", "date-time"})


def flat_schema(model: type[BaseModel], *, nullable: bool = False) -> Schema:
    """Return the flat schema of `model`'s fields, without titles.

    Args:
        model: A tool's arguments model, whose optional arguments are omitted rather than null, or its result
            model.
        nullable: Mark values that may be null, as in a result: `{"type": ["number", "null"]}`.

    Raises:
        TypeError: a field's type has no flat schema; the message names the field and the problem.
    """
    raw = model.model_json_schema(mode="serialization" if nullable else "validation")
    schema = _inline(raw, raw.pop("$defs", {}), (), nullable)
    schema.pop("description", None)
    schema.setdefault("properties", {})
    check_flat(schema, model.__name__)
    return schema


def check_flat(schema: Mapping[str, Any], location: str) -> None:
    """Check that `schema` follows the rules of this module.

    Raises:
        TypeError: `schema` violates a rule; the message names the property, prefixed with `location`.
    """
    for name, value in schema.get("properties", {}).items():
        _check(value, f"{location}.{name}", top=True)


def keep_properties(schema: Schema, properties: frozenset[str]) -> Schema:
    """Return a copy of `schema` with only these properties."""
    copy: Schema = json.loads(json.dumps(schema))
    copy["properties"] = {k: v for k, v in copy["properties"].items() if k in properties}
    copy["required"] = [name for name in copy.get("required", ()) if name in properties]
    return copy


def keep_operations(schema: Schema, operations: tuple[str, ...], properties: frozenset[str]) -> Schema:
    """Return a copy of `schema` with only these properties, and with `op` restricted to `operations`."""
    copy = keep_properties(schema, properties)
    copy["properties"]["op"]["enum"] = list(operations)
    return copy


def _inline(node: Schema, definitions: Mapping[str, Schema], seen: tuple[str, ...], nullable: bool) -> Schema:
    """Return `node` without titles, and with each reference replaced by its target."""
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        if name in seen:
            raise TypeError(f"{name}: {_UNSUPPORTED_KEYWORDS['$ref']} has no flat schema")
        siblings = {key: value for key, value in node.items() if key != "$ref"}
        return _inline({**definitions[name], **siblings}, definitions, (*seen, name), nullable)
    result: Schema = {}
    for key, value in node.items():
        if key == "properties":
            result[key] = {
                name: _inline(definition, definitions, seen, nullable) for name, definition in value.items()
            }
        elif key != "title":
            result[key] = _inline_value(value, definitions, seen, nullable)
    return _simplify(result, nullable)


def _inline_value(
    value: object, definitions: Mapping[str, Schema], seen: tuple[str, ...], nullable: bool
) -> object:
    if isinstance(value, list):
        return [_inline_value(item, definitions, seen, nullable) for item in value]
    return _inline(value, definitions, seen, nullable) if isinstance(value, dict) else value


def _simplify(node: Schema, nullable: bool) -> Schema:
    """Simplify a node: drop null options or make null a second type, and write constants as enums."""
    if "anyOf" in node:
        options = [option for option in node["anyOf"] if option != {"type": "null"}]
        may_be_null = nullable and len(options) < len(node["anyOf"])
        if len(options) == 1:
            others = {key: value for key, value in node.items() if key != "anyOf"}
            node = {**(_or_null(options[0]) if may_be_null else options[0]), **others}
        else:
            node["anyOf"] = [*options, *([{"type": "null"}] if may_be_null else [])]
    if node.get("default", ...) is None:
        del node["default"]
    if "const" in node:
        node["enum"] = [node.pop("const")]
    if node.get("additionalProperties") == {}:
        node["additionalProperties"] = True
    return node


def _or_null(node: Schema) -> Schema:
    """Return `node` extended to accept null; a schema without a type already accepts it."""
    extended = {**node, "type": [node["type"], "null"]} if "type" in node else dict(node)
    return {**extended, "enum": [*node["enum"], None]} if "enum" in node else extended


def _check(node: object, location: str, top: bool) -> None:
    if not isinstance(node, dict):
        return
    for key, problem in _UNSUPPORTED_KEYWORDS.items():
        if key in node:
            raise TypeError(f"{location}: {problem}")
    if "enum" in node and not top:
        raise TypeError(f"{location}: an enum in a list or an object: use a string and check it in the tool")
    if "format" in node and node["format"] not in _FORMATS:
        raise TypeError(f"{location}: the format {node['format']!r}")
    for option in node.get("anyOf", ()):
        if "properties" in option:
            raise TypeError(f"{location}: {_UNSUPPORTED_KEYWORDS['oneOf']}")
        _check(option, location, top=False)
    for key in ("items", "additionalProperties"):
        _check(node.get(key), f"{location}[]", top=False)
    for name, value in node.get("properties", {}).items():
        _check(value, f"{location}.{name}", top=False)
