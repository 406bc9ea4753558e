"""Flatten an external schema for models and forms, with nested choices as text in the descriptions."""

from __future__ import annotations

import json
import re

from app.external.sanitize import one_line
from app.external.schemas import NUMBER_KEYWORDS
from app.toolkit.schema import Schema, check_flat

_MAX_DESCRIPTION_CHARS = 500
_MAX_LISTED_CHOICES = 50
_FORMATS = frozenset({"date", "date-time"})
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def simplify_schema(checked: Schema, location: str) -> Schema:
    """Return a flat version of a checked schema.

    Null and constraints that a flat schema can't express are dropped; descriptions list nested choices.

    Args:
        checked: A schema that `sanitize_schema` returned.
        location: Names the schema in errors.

    Raises:
        TypeError: the result breaks a rule of `check_flat`, which is a bug in this module.
    """
    shown = _simplify(checked, top=True)
    result: Schema = {
        "type": "object",
        "properties": {
            name: _simplify(subschema if isinstance(subschema, dict) else {}, top=True)
            for name, subschema in _merge_all_of(checked).get("properties", {}).items()
        },
        "required": shown.get("required", []),
        "additionalProperties": False,
    }
    check_flat(result, location)
    return result


def _merge_all_of(node: Schema) -> Schema:
    """Merge the parts of `allOf` into `node`, and an alternative if it is the only one that is not null."""
    result = {key: value for key, value in node.items() if key != "allOf"}
    for part in node.get("allOf", ()):
        if isinstance(part, dict):
            result = _join_schemas(result, _merge_all_of(part))
    for key in ("anyOf", "oneOf"):
        options = [option for option in result.get(key, ()) if option != {"type": "null"}]
        if len(options) == 1 and isinstance(options[0], dict):
            others = {name: value for name, value in result.items() if name != key}
            result = _join_schemas(others, _merge_all_of(options[0]))
    return result


def _join_schemas(schema: Schema, other: Schema) -> Schema:
    result = {**other, **schema}
    if "properties" in schema and "properties" in other:
        result["properties"] = {**other["properties"], **schema["properties"]}
    if "required" in schema and "required" in other:
        result["required"] = list(dict.fromkeys([*schema["required"], *other["required"]]))
    return result


def _simplify(node: Schema, *, top: bool) -> Schema:
    node = _merge_all_of(node)
    result: Schema = {}
    notes = [node["description"]] if node.get("description") else []
    if isinstance(node.get("format"), str):
        result.update({"format": node["format"]} if node["format"] in _FORMATS else {})
    result.update({key: node[key] for key in (*NUMBER_KEYWORDS, "pattern") if key in node})
    options = [
        option for key in ("anyOf", "oneOf") for option in node.get(key, ()) if option != {"type": "null"}
    ]
    if options:
        result.update(_simplify_alternatives(options))
    else:
        result.update(_simplify_type(node))
    choices = _enum_values(node)
    if choices and top:
        result["enum"] = choices
    elif choices:
        choice_texts = (json.dumps(choice, ensure_ascii=False) for choice in choices[:_MAX_LISTED_CHOICES])
        notes.append(f"One of: {', '.join(choice_texts)}")
    if top and isinstance(node.get("default"), str | int | float | bool):
        result["default"] = node["default"]
    if notes:
        result["description"] = one_line(" ".join(notes), _MAX_DESCRIPTION_CHARS)
    return result


def _enum_values(node: Schema) -> list[object]:
    values = node["enum"] if "enum" in node else [node["const"]] if "const" in node else []
    return [value for value in values if isinstance(value, str | int | float | bool)]


def _simplify_alternatives(options: list[Schema | bool]) -> Schema:
    """Return the alternatives if a flat schema can express them, else a schema for any object or value."""
    alternatives = [_simplify(option, top=False) if isinstance(option, dict) else {} for option in options]
    if all(alternative.get("type") == "object" for alternative in alternatives):
        return {"type": "object", "additionalProperties": True}
    if any("properties" in alternative or not alternative for alternative in alternatives):
        return {}
    return {"anyOf": alternatives}


def _simplify_type(node: Schema) -> Schema:
    kinds = node.get("type", [])
    kinds = [kind for kind in ([kinds] if isinstance(kinds, str) else kinds) if kind != "null"]
    if not kinds and "properties" in node:
        kinds = ["object"]
    if len(kinds) > 1:
        # The contents of arrays and objects are dropped here, but validation still checks them.
        return {"anyOf": [{"type": kind} for kind in kinds]}
    if kinds == ["array"]:
        items = node.get("items")
        is_plain = isinstance(items, dict) and "prefixItems" not in node
        return {"type": "array", "items": _simplify(items, top=False) if is_plain else {}}  # type: ignore[arg-type]
    if kinds == ["object"]:
        return _simplify_object(node)
    return {"type": kinds[0]} if kinds else {}


def _simplify_object(node: Schema) -> Schema:
    properties = {
        name: _simplify(subschema if isinstance(subschema, dict) else {}, top=False)
        for name, subschema in node.get("properties", {}).items()
        if _NAME.fullmatch(name)
    }
    result: Schema = {"type": "object"}
    if properties:
        result["properties"] = properties
    if required := [name for name in node.get("required", ()) if name in properties]:
        result["required"] = required
    others = node.get("additionalProperties", True)
    left_out = len(properties) < len(node.get("properties", {}))
    result["additionalProperties"] = (
        _simplify(others, top=False) if isinstance(others, dict) else others or left_out
    )
    return result
