"""A tool is its function: schema, arguments and descriptions are derived, and mistakes raise at import."""

from __future__ import annotations

from typing import Annotated, Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field, ValidationError

from app.errors import InvalidParametersError
from app.toolkit.argument_types import ArgumentKind, Limit, NoteName, Properties, TagName
from app.toolkit.context import ToolContext
from app.toolkit.docstring import parse_docstring
from app.toolkit.proposal import EffectProposal, Proposal
from app.toolkit.result import ToolResult
from app.toolkit.schema import flat_schema
from app.toolkit.tool import tool
from app.tools import CATALOG


class Done(ToolResult):
    count: int = 0


class Other(ToolResult):
    pass


class Inner(BaseModel):
    a: int
    b: str = "x"


class Tree(BaseModel):
    children: list[Tree]


@tool(
    category="notes",
    examples=("append {text} to {name}",),
    usage_rule="Read before you edit.",
    operations={"append": "text", "replace": "text old occurrence?"},
)
async def edit(
    context: ToolContext,
    name: NoteName,
    op: Literal["append", "replace"],
    text: str | None = None,
    old: str | None = None,
    occurrence: Annotated[int, Field(ge=1)] | None = None,
    tags: list[TagName] | None = None,
    properties: Properties | None = None,
    limit: Limit = 20,
) -> Proposal[Done]:
    """Edit a note in place.

    Everything else
    is kept.

    - a list
    - stays a list

    Args:
        name: The note.
        op: What to do.
        text: The new
            text.
        old (str): What is replaced: exactly.
        occurrence: Which one.
        tags: Tags.
        properties: Properties.
        limit: At most.

    Raises:
        NotFoundError: no note.
    """
    raise NotImplementedError


def test_the_schema_is_flat_and_described():
    schema = edit.schema
    assert schema["required"] == ["name", "op"] and schema["additionalProperties"] is False
    properties = schema["properties"]
    assert properties["name"] == {
        "type": "string",
        "minLength": 1,
        "maxLength": 1000,
        "description": "The note.",
    }
    assert properties["op"]["enum"] == ["append", "replace"]
    assert properties["occurrence"] == {"type": "integer", "minimum": 1, "description": "Which one."}
    assert properties["text"] == {"type": "string", "description": "The new text."}
    assert properties["old"]["description"] == "What is replaced: exactly."
    assert properties["tags"]["items"]["type"] == "string"
    assert properties["properties"] == {
        "type": "object",
        "additionalProperties": True,
        "description": "Properties.",
    }
    assert properties["limit"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 1000,
        "default": 20,
        "description": "At most.",
    }


def test_descriptions_come_from_the_docstring():
    assert edit.name == "edit" and edit.summary == "Edit a note in place."
    assert edit.description == (
        "Edit a note in place.\n\nEverything else is kept.\n\n- a list\n- stays a list"
    )
    assert edit.usage_rule == "Read before you edit." and edit.proposes and edit.changes_notes


def test_parameters_say_what_a_slot_is():
    by_name = {parameter.name: parameter for parameter in edit.parameters}
    assert by_name["name"].kind is ArgumentKind.NOTE and by_name["name"].required
    assert by_name["op"].choices == ("append", "replace")
    assert by_name["tags"].is_list and by_name["tags"].kind is ArgumentKind.TAG
    assert by_name["limit"].default == 20 and by_name["limit"].annotation is int


def test_arguments_are_checked():
    assert edit.arguments.model_validate({"name": "A", "op": "append", "text": "x"}).limit == 20
    for wrong in ({"extra": 1}, {"name": ""}, {"op": "fly"}, {"limit": 0}, {"limit": 1.5}, {"text": 5}):
        with pytest.raises(ValidationError):
            edit.arguments.model_validate({"name": "A", "op": "append", **wrong})


@pytest.mark.parametrize(
    ("given", "missing", "not_taken"),
    [
        ({"op": "append"}, ["text"], []),
        ({"op": "append", "text": "x", "old": "y"}, [], ["old"]),
        ({"op": "replace", "occurrence": 1}, ["old", "text"], []),
        ({"op": "append", "text": None}, ["text"], []),
    ],
)
def test_the_combination_is_checked_on_call(given, missing, not_taken):
    with pytest.raises(InvalidParametersError) as caught:
        edit.check_operation(edit.arguments.model_validate({"name": "A", **given}))
    assert (caught.value.data["missing"], caught.value.data["not_taken"]) == (missing, not_taken)


def test_an_operation_may_leave_out_what_is_optional():
    arguments = {"name": "A", "op": "replace", "text": "x", "old": "y", "tags": ["t"]}
    assert edit.check_operation(edit.arguments.model_validate(arguments)) == "replace"


def test_operations_can_be_left_out_of_the_schema():
    shown = edit.with_only(("append",))
    assert shown.schema["properties"]["op"]["enum"] == ["append"]
    assert {"old", "occurrence"}.isdisjoint(shown.schema["properties"])
    assert {"name", "text", "tags", "limit"} <= set(shown.schema["properties"])
    assert [p.choices for p in shown.parameters if p.name == "op"] == [("append",)]
    assert edit.with_only(("append", "replace")) is edit


def declare(returns, body="Do.\n\n    Args:\n        x: X.", annotation=int, **options):
    async def made(context, x):
        raise NotImplementedError

    made.__annotations__ = {"context": ToolContext, "x": annotation, "return": returns}
    made.__doc__ = body
    return tool(category="notes", **options)(made)


@pytest.mark.parametrize(
    ("returns", "proposes", "changes"),
    [
        (Done, False, False),
        (Proposal[Done], True, True),
        (EffectProposal[Done], True, False),
        (Done | Proposal[Done], True, True),
    ],
)
def test_the_return_type_says_whether_it_proposes(returns, proposes, changes):
    made = declare(returns)
    assert (made.proposes, made.changes_notes, made.result) == (proposes, changes, Done)


@pytest.mark.parametrize("returns", [dict, None, int, Inner, Done | Other, Proposal[int]])
def test_other_return_types_are_refused(returns):
    with pytest.raises(TypeError):
        declare(returns)


@pytest.mark.parametrize(
    "annotation",
    [
        list[Literal["a", "b"]],
        tuple[int, int],
        Inner | None | Tree,
        Tree,
        dict[str, Literal["a"]],
        Inner | str,
    ],
)
def test_types_without_a_flat_schema_are_refused(annotation):
    with pytest.raises(TypeError):
        _ = declare(Done, annotation=annotation).schema


def test_nested_models_are_inlined():
    schema = declare(Done, annotation=list[Inner]).schema
    assert schema["properties"]["x"]["items"]["properties"]["b"]["default"] == "x"
    assert "$" not in str(schema)


@pytest.mark.parametrize(
    ("body", "options"),
    [
        ("Do.", {}),
        ("", {}),
        ("Do.\n\n    Args:\n        x: X.", {"examples": ("do {y}",)}),
        ("Do.\n\n    Args:\n        x: X.", {"operations": {"a": "x"}}),
    ],
)
def test_a_tool_that_contradicts_its_declaration_is_refused(body, options):
    with pytest.raises(TypeError):
        declare(Done, body, **options)


def test_only_async_functions_with_a_context_are_tools():
    with pytest.raises(TypeError):
        tool(category="x")(lambda context: None)

    async def no_context(x: int) -> Done:
        raise NotImplementedError

    with pytest.raises(TypeError):
        tool(category="x")(no_context)


def test_results_have_a_schema_too():
    assert edit.output_schema["properties"]["count"]["type"] == "integer"
    assert flat_schema(Inner)["required"] == ["a"]


def test_a_results_schema_says_where_a_value_may_be_null():
    class Found(ToolResult):
        confidence: float | None
        words: Literal["a", "b"] | None
        inner: Inner | None
        either: int | str | None

    schema = flat_schema(Found, nullable=True)
    found = Found(confidence=None, words=None, inner=None, either=None)
    jsonschema.validate(found.model_dump(mode="json"), schema)
    assert schema["properties"]["confidence"]["type"] == ["number", "null"]
    assert flat_schema(Found)["properties"]["confidence"]["type"] == "number"


@pytest.mark.parametrize("one", CATALOG, ids=lambda one: one.name)
def test_the_result_schema_of_every_tool_is_a_schema(one):
    jsonschema.Draft202012Validator.check_schema(one.output_schema)


def test_a_docstring_without_sections():
    parsed = parse_docstring("One line.")
    assert (parsed.summary, parsed.text, dict(parsed.arguments)) == ("One line.", "One line.", {})
    assert parse_docstring(None).text == ""
