"""Tools that nobody has written intents for are understood by their own examples."""

from __future__ import annotations

from typing import Literal

import pytest

from app.agent.derived_intents import derived_intents
from app.toolkit.arguments import NoteName
from app.toolkit.context import ToolContext
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool


@tool(category="nodes", examples=("join {first} and {second}?", "what joins {first} (and {second})"))
async def join(context: ToolContext, first: NoteName, second: NoteName, times: int = 1) -> ToolResult:
    """Join two notes.

    Args:
        first: One note.
        second: Another.
        times: How often.
    """
    return ToolResult()


@tool(
    category="memory",
    examples={"load": ("load the block {label}",), "list": ("list the blocks",)},
    operations={"load": "label lines?", "list": "", "quiet": "label"},
)
async def blocks(
    context: ToolContext,
    op: Literal["load", "list", "quiet"],
    label: str | None = None,
    lines: int | None = None,
) -> ToolResult:
    """Look at blocks.

    Args:
        op: What to do.
        label: Which block.
        lines: How many lines.
    """
    return ToolResult()


def test_arguments_get_the_slots_of_their_kinds() -> None:
    (intent,) = derived_intents([join])
    assert intent.templates == ("join {name} and {other}", "what joins {name}  and {other} ".strip())
    assert intent.needs == ("name", "other")
    assert intent.build({"name": "A.md", "other": "B.md"}) == {"first": "A.md", "second": "B.md"}
    assert intent.says == "Join {name} and {other}."


def test_each_operation_with_examples_is_an_intent_of_its_own() -> None:
    load, listed = derived_intents([blocks])
    assert (load.id, load.needs, load.build({"text": "persona"})) == (
        "tool:blocks:load",
        ("text",),
        {"op": "load", "label": "persona"},
    )
    assert listed.build({}) == {"op": "list"}


def test_examples_of_an_operation_that_is_not_there_are_refused() -> None:
    with pytest.raises(TypeError, match="no operation"):

        @tool(category="memory", examples={"store": ("store it",)}, operations={"load": ""})
        async def wrong(context: ToolContext, op: Literal["load"]) -> ToolResult:
            """Do it.

            Args:
                op: What.
            """
            return ToolResult()
