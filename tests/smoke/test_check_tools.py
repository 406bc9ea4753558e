"""The check that calls every tool."""

from __future__ import annotations

from app.tools import CATALOG, FILE_TOOL
from tests.smoke import check_tools
from tests.smoke.tool_calls import TOOL_CALLS, ToolCall

EVERY = (*CATALOG, FILE_TOOL)


def test_every_tool_is_called() -> None:
    assert {tool.name for tool in EVERY} == {call.tool for call in TOOL_CALLS}


def test_the_check_calls_every_tool_and_shows_what_each_did() -> None:
    said: list[str] = []
    assert check_tools.run(said.append) == 0, "\n".join(said)
    text = "\n".join(said)
    for tool in EVERY:
        assert f"ok     {tool.name} " in text
    assert "asked: create Journal/A trial.md" in text
    assert said[-1] == f"{len(TOOL_CALLS)} calls, 0 failed"


def test_the_check_fails_for_a_tool_that_fails_and_one_without_a_call() -> None:
    said: list[str] = []
    assert check_tools.run(said.append, [ToolCall("read_note", {"name": "Nowhere"})]) == 1
    text = "\n".join(said)
    assert "FAILED read_note" in text and "Nowhere" in text
    assert "create_note: no call in tests/smoke" in text
