"""The catalogue on the command line, and the walk that calls every tool."""

from __future__ import annotations

import json

import pytest

from app.cli import commands, tools_check
from app.cli.exit_status import ExitStatus
from app.cli.tool_trials import TRIALS, SmokeCase
from app.tools import CATALOG, FILE_TOOL

EVERY = (*CATALOG, FILE_TOOL)


def test_every_tool_has_a_trial() -> None:
    assert {tool.name for tool in EVERY} == {trial.tool for trial in TRIALS}


def test_the_check_calls_every_tool_and_shows_what_each_did() -> None:
    said: list[str] = []
    assert tools_check.run(said.append) == 0, "\n".join(said)
    text = "\n".join(said)
    for tool in EVERY:
        assert f"ok     {tool.name} " in text
    assert "asked: create Journal/A trial.md" in text
    assert said[-1] == f"{len(TRIALS)} calls, 0 failed"


def test_the_check_fails_for_a_tool_that_fails_and_one_without_a_trial() -> None:
    said: list[str] = []
    assert tools_check.run(said.append, [SmokeCase("read_note", {"name": "Nowhere"})]) == 1
    text = "\n".join(said)
    assert "FAILED read_note" in text and "Nowhere" in text
    assert "create_note: no trial calls it" in text


def test_the_catalogue_and_a_page_and_schemas_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.main(["tools"]) == 0
    listed = capsys.readouterr().out
    assert all(f"**{tool.name}**" in listed for tool in EVERY)
    assert commands.main(["tools", "edit_note"]) == 0
    page = capsys.readouterr().out
    edit = next(tool for tool in CATALOG if tool.name == "edit_note")
    assert all(f"`{parameter.name}`" in page for parameter in edit.parameters)
    assert all(f"**{op}**" in page for op in edit.operations)
    assert commands.main(["tools", "--json", "edit_note"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["input_schema"] == edit.schema


def test_an_unknown_tool_is_an_error_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.main(["tools", "edit_notes"]) == ExitStatus.NOT_FOUND
    assert "no tool called 'edit_notes'" in capsys.readouterr().err
