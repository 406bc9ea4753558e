"""Tools without frames of their own are understood by their own examples."""

from __future__ import annotations

import pytest

from app.agent.builtin import BuiltinAgent
from app.agent.language.meaning.readings import Reading
from tests.support.everyday_requests import read, sample_agent


@pytest.fixture(scope="module")
def agent() -> BuiltinAgent:
    return sample_agent(all_on=True)


@pytest.mark.parametrize(
    ("said", "tool", "arguments"),
    [
        ("load the file Letter.txt", "file", {"op": "load", "path": "Letter.txt"}),
        ("save the file Letter.txt to disk", "file", {"op": "save", "path": "Letter.txt"}),
        ("status of the file Letter.txt", "file", {"op": "status", "path": "Letter.txt"}),
        ("show what saving the file Letter.txt would change", "file", {"op": "diff", "path": "Letter.txt"}),
        ("reload the file Letter.txt from disk", "file", {"op": "reload", "path": "Letter.txt"}),
        ("list the files of the source", "file", {"op": "list"}),
        ("which sources are there", "source", {"op": "list"}),
        ("pause the source Papers", "source", {"op": "pause", "source_id": "Papers"}),
        ("resume the stream Papers", "source", {"op": "resume", "source_id": "Papers"}),
    ],
)
def test_an_example_is_understood(
    agent: BuiltinAgent, said: str, tool: str, arguments: dict[str, str]
) -> None:
    found = read(agent, said)
    assert isinstance(found, Reading), found
    assert agent.actions()[found.last.action].tool == tool
    assert found.last.arguments == arguments


def test_a_tool_that_is_off_is_not_understood() -> None:
    found = read(sample_agent(), "run the program ls")
    assert not (isinstance(found, Reading) and found.last.action.startswith("tool_shell"))
