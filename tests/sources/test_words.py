"""The built-in agent understands what people say of files and sources, from the tools' own examples."""

from __future__ import annotations

import pytest

from app.agent.planner import BuiltinPlanner, CallTool, PlanContext
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES, FILE_TOOL
from tests.support.planner_requests import sample_resolver


@pytest.fixture(scope="module")
def planner() -> BuiltinPlanner:
    registry = ToolRegistry(CATEGORIES, (*CATALOG, FILE_TOOL))
    for category in registry.categories:
        registry.set_category(category.id, on=True)
    return BuiltinPlanner(registry, sample_resolver(), None)


@pytest.mark.parametrize(
    ("said", "tool", "arguments"),
    [
        ("load the file Letter.txt", "file", {"op": "load", "path": "Letter.txt"}),
        ("save the file Letter.txt to disk", "file", {"op": "save", "path": "Letter.txt"}),
        ("status of the file Letter.txt", "file", {"op": "status", "path": "Letter.txt"}),
        ("show what saving the file Letter.txt would change", "file", {"op": "diff", "path": "Letter.txt"}),
        ("reload the file Letter.txt from disk", "file", {"op": "reload", "path": "Letter.txt"}),
        ("delete the outside file Letter.txt from disk", "file", {"op": "delete", "path": "Letter.txt"}),
        ("list the files of the source", "file", {"op": "list"}),
        ("which sources are there", "source", {"op": "list"}),
        ("pause the source Papers", "source", {"op": "pause", "source_id": "Papers"}),
        ("resume the stream Papers", "source", {"op": "resume", "source_id": "Papers"}),
    ],
)
async def test_what_people_say(
    planner: BuiltinPlanner, said: str, tool: str, arguments: dict[str, str]
) -> None:
    plan = await planner.plan(said, PlanContext())
    assert isinstance(plan, CallTool) and (plan.tool, plan.arguments) == (tool, arguments)
