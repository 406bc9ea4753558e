from __future__ import annotations

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.servers.mcp_tools import McpTool
from app.servers.tool_descriptors import outcome_schema
from app.servers.vault_access import ToolDescriptor
from app.tools import CATALOG

_SIMPLE = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.text("ab", max_size=3)
_VALUES = st.recursive(
    _SIMPLE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner),
    max_leaves=6,
)
_TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])


def _schemas(inner):
    plain = st.fixed_dictionaries({"type": _TYPES | st.lists(_TYPES, min_size=1, max_size=2, unique=True)})
    text = st.fixed_dictionaries({"type": st.just("string")}, optional={"maxLength": st.integers(0, 3)})
    number = st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number"])},
        optional={"minimum": st.integers(-2, 2), "maximum": st.integers(-2, 2)},
    )
    enum = st.fixed_dictionaries(
        {"enum": st.lists(st.sampled_from(["a", "b", None]), min_size=1)},
        optional={"type": st.sampled_from(["string", "null", ["string", "null"]])},
    )
    array = st.fixed_dictionaries({"type": st.just("array")}, optional={"items": inner})
    names = st.lists(st.sampled_from("abcd"), max_size=2, unique=True)
    more = st.booleans() | inner
    fields = st.dictionaries(st.sampled_from("abcd"), inner, max_size=3)
    thing = st.fixed_dictionaries(
        {"type": st.just("object"), "properties": fields},
        optional={"required": names, "additionalProperties": more},
    )
    return plain | text | number | enum | array | thing | st.just({}) | st.just(True)


_ANY = st.recursive(_schemas(st.just({})), _schemas, max_leaves=6)


def tool(schema) -> McpTool:
    flags = {"read_only": True, "destructive": False, "idempotent": True, "open_world": False}
    return McpTool.from_descriptor(ToolDescriptor("t", "T", "Does it.", "notes", {}, schema, **flags))


@settings(max_examples=150, deadline=None)
@given(_ANY, _VALUES)
def test_a_result_is_valid_exactly_if_it_follows_the_schema(schema, value):
    wrapped = {"type": "object", "properties": {"it": schema}, "required": ["it"]}
    valid = jsonschema.Draft202012Validator(wrapped).is_valid({"it": value})
    assert (tool(wrapped).find_problem({"it": value}) == "") is valid


@pytest.mark.parametrize("one", CATALOG, ids=lambda one: one.name)
def test_an_outcome_of_every_tool_is_validated(one):
    made = tool(outcome_schema(one.result))
    assert made.find_problem({"success": False, "denied": True, "message": "no", "words": ""}) == ""
    assert made.find_problem({"success": "yes", "message": ""}).startswith("$.success: ")
    assert made.find_problem({"message": ""})


def test_a_problem_names_its_place_and_what_is_not_json_is_a_problem():
    made = tool({"type": "object", "properties": {"notes": {"type": "array", "items": {"type": "string"}}}})
    assert made.find_problem({"notes": ["a", 3]}).startswith("$.notes[1]: 3 ")
    assert made.find_problem({"notes": [object()]}).startswith("$: ")
