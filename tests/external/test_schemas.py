"""Any foreign schema yields a result that is bounded, flat and no stricter than the schema."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.errors import InvalidParametersError, LimitError
from app.external.arguments import translate_arguments
from app.external.names import argument_names, category_id, server_slug, tool_name
from app.external.schema_simplifier import simplify_schema
from app.external.schemas import build_validator, find_violations, sanitize_schema
from app.toolkit.schema import check_flat

WORDS = st.text(max_size=12)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), WORDS)
LEAVES = st.one_of(
    st.booleans(),
    st.fixed_dictionaries(
        {}, optional={"type": st.sampled_from(["string", "integer", "number", "null", "object"])}
    ),
    st.fixed_dictionaries({"enum": st.lists(SCALARS, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"const": SCALARS, "description": WORDS}),
    st.fixed_dictionaries(
        {"type": st.just("string"), "format": st.sampled_from(["uri", "date"]), "minLength": st.just(1)}
    ),
    st.fixed_dictionaries({"$ref": st.sampled_from(["#", "#/$defs/a", "#/$defs/b"])}),
)


def deeper(lower: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(lower, min_size=1, max_size=3)
    named = st.dictionaries(st.one_of(st.sampled_from(["a", "b", "op"]), WORDS), lower, max_size=3)
    return st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("array")}, optional={"items": st.one_of(lower, some), "prefixItems": some}
        ),
        st.fixed_dictionaries(
            {"properties": named},
            optional={
                "type": st.sampled_from(["object", ["object", "null"]]),
                "required": st.lists(st.sampled_from(["a", "b", "c"]), max_size=2),
                "additionalProperties": lower,
                "patternProperties": named,
            },
        ),
        *(st.fixed_dictionaries({key: some}) for key in ("anyOf", "oneOf", "allOf")),
        st.fixed_dictionaries({"not": lower}),
        st.fixed_dictionaries({"if": lower, "then": lower}),
    )


SCHEMAS = st.recursive(LEAVES, deeper, max_leaves=12)
ROOTS = st.builds(
    lambda properties, a, b: {"type": "object", "properties": properties, "$defs": {"a": a, "b": b}},
    st.dictionaries(st.one_of(st.sampled_from(["a", "copy", "op", "_x", "x y"]), WORDS), SCHEMAS, max_size=4),
    SCHEMAS,
    SCHEMAS,
)
VALUES = st.recursive(
    SCALARS, lambda one: st.lists(one, max_size=3) | st.dictionaries(WORDS, one, max_size=3), max_leaves=6
)


@given(ROOTS)
def test_every_schema_that_is_taken_is_shown_flat_and_makes_arguments(root: dict[str, Any]) -> None:
    try:
        checked = sanitize_schema(root)
    except (LimitError, InvalidParametersError):
        return
    assert "$ref" not in json.dumps(checked) or "$ref" in json.dumps([*root["properties"]])
    check_flat(simplify_schema(checked, "tool"), "tool")
    arguments = translate_arguments(checked, "server__tool")
    assert set(arguments.server_names.values()) == set(root["properties"])
    assert (
        set(arguments.schema["properties"])
        == set(arguments.model.model_fields)
        == {one.name for one in arguments.parameters}
    )


@given(ROOTS, st.dictionaries(st.sampled_from(["a", "copy", "op", "_x", "x y"]), VALUES, max_size=3))
def test_valid_arguments_are_accepted(root: dict[str, Any], value: dict[str, Any]) -> None:
    try:
        checked = sanitize_schema(root)
        # The list notation of `items` belongs to older drafts, for which this validator is no judge.
        jsonschema.Draft202012Validator.check_schema(root)
        fits = jsonschema.Draft202012Validator(root).is_valid(value)
    except (LimitError, InvalidParametersError, RecursionError, TypeError, jsonschema.SchemaError):
        return
    except BaseException as error:
        # An endless recursion that the part of jsonschema written in Rust detects.
        if type(error).__name__ != "PanicException":
            raise
        return
    if fits:
        assert find_violations(build_validator(checked), value) == []


def test_arguments_are_validated_and_sent_unchanged() -> None:
    takes = {
        "type": "object",
        "properties": {
            "copy": {"type": "integer", "minimum": 2},
            "op": {"enum": ["add", "take"]},
            "x-key": {"type": ["string", "null"]},
            "deep": {"$ref": "#/$defs/deep"},
        },
        "required": ["copy"],
        "$defs": {
            "deep": {
                "type": "object",
                "properties": {"mode": {"enum": [1, 2]}, "more": {"$ref": "#/$defs/deep"}},
            }
        },
    }
    arguments = translate_arguments(sanitize_schema(takes), "tool")
    given = arguments.model.model_validate(
        {"copy_": 5, "x_key": None, "deep": {"mode": 1, "more": {"mode": 2}}}
    )
    sent = arguments.for_server({one.name: getattr(given, one.name) for one in arguments.parameters})
    assert sent == {"copy": 5, "x-key": None, "deep": {"mode": 1, "more": {"mode": 2}}}
    invalid = ({"copy_": 1}, {"copy_": "5"}, {}, {"copy_": 2, "deep": {"mode": 3}}, {"copy_": 2, "y": 1})
    places = []
    for one in invalid:
        with pytest.raises(ValidationError) as caught:
            arguments.model.model_validate(one)
        places.append(caught.value.errors()[0]["loc"])
    assert places == [("copy_",), ("copy_",), ("copy_",), ("deep", "mode"), ("y",)]
    assert "One of: 1, 2" in arguments.schema["properties"]["deep"]["properties"]["mode"]["description"]


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "object", "properties": {"a": {"$ref": "http://x/y"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}},
        {"type": "object", "properties": {"a": {"$ref": "other.json#/a"}}},
        {"type": "object", "properties": {"a": 5}},
        {"type": "object", "description": "x" * 70_000},
        {"type": "object", "properties": {str(n): {} for n in range(2000)}},
    ],
)
def test_schemas_that_reach_outside_or_are_too_large_are_refused(raw: dict[str, Any]) -> None:
    with pytest.raises((InvalidParametersError, LimitError)):
        sanitize_schema(raw)


def test_deep_and_doubling_schemas_are_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(60):
        deep = {"properties": {"a": deep}}
    with pytest.raises(LimitError):
        sanitize_schema(deep)
    doubling = {
        "$defs": {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(40)},
        "$ref": "#/$defs/0",
    }
    doubling["$defs"]["40"] = {}
    with pytest.raises(LimitError):
        sanitize_schema(doubling)


def test_a_catastrophic_pattern_is_matched_quickly() -> None:
    checked = sanitize_schema(
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    )
    assert find_violations(build_validator(checked), {"a": "a" * 5000 + "b"})[0].path == ("a",)
    # With backtracking, this would practically never end.
    backward = sanitize_schema({"type": "object", "properties": {"a": {"pattern": r"(a)\1"}}})
    assert find_violations(build_validator(backward), {"a": "b"}) == []  # The server checks it itself.


@pytest.mark.parametrize(
    "property_schema",
    [
        {"oneOf": [{"pattern": "^(?=a)"}, {"pattern": "^(?!a)"}]},
        {"not": {"pattern": "^(?!a)"}},
        {"if": {"pattern": "^(?!a)"}, "then": {"const": "b"}},
    ],
)
def test_a_constraint_that_can_not_be_checked_forbids_no_valid_value(property_schema: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"a": property_schema}}
    assert jsonschema.Draft202012Validator(schema).is_valid({"a": "a"})
    assert find_violations(build_validator(sanitize_schema(schema)), {"a": "a"}) == []


def test_alternatives_that_can_be_checked_stay_exclusive() -> None:
    schema = {"type": "object", "properties": {"a": {"oneOf": [{"minimum": 1}, {"minimum": 2}]}}}
    validator = build_validator(sanitize_schema(schema))
    assert find_violations(validator, {"a": 1}) == []
    assert find_violations(validator, {"a": 2}) != []


def test_values_beyond_bounds_are_not_checked() -> None:
    validator = build_validator(sanitize_schema({"type": "object"}))
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    for value in ({"a": deep}, {"a": [0] * 30_000}):
        with pytest.raises(LimitError):
            find_violations(validator, value)


@given(st.lists(WORDS, unique=True, max_size=20), WORDS)
def test_names_are_such_as_every_provider_takes_and_never_collide(tools: list[str], server: str) -> None:
    names = [tool_name(server, one) for one in tools]
    assert len(set(names)) == len(tools)
    for name in names:
        assert len(name) <= 64 and all(c.isascii() and (c.isalnum() or c in "_-") for c in name)
        assert name.split("__", 1)[0] == server_slug(server)
    ours = argument_names(tools)
    assert list(ours.values()) == tools
    assert all(one.isidentifier() and not one.startswith("_") and one != "op" for one in ours)


def test_names_of_servers() -> None:
    assert server_slug("My Tools 2") == "my_tools_2" and category_id("GitHub") == "external_github"
    assert server_slug("東京") != server_slug("大阪") and "__" not in server_slug("a__b")
    assert tool_name("a", "b__c") != tool_name("a__b", "c")
