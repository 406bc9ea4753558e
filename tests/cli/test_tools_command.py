"""The catalog of tools on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli import commands, tools_command
from app.cli.exit_status import ExitStatus
from app.tools import CATALOG, FILE_TOOL

EVERY = (*CATALOG, FILE_TOOL)


def test_the_catalog_and_a_page_and_schemas_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.main(["tools"]) == 0
    entries = capsys.readouterr().out
    assert all(f"**{tool.name}**" in entries for tool in EVERY)
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


def test_the_check_runs_from_a_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.smoke.check_tools.run", lambda: 1)
    assert commands.main(["tools", "--check"]) == 1


def test_an_installed_app_says_that_the_check_needs_a_checkout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tools_command, "resources_folder", lambda: tmp_path / "resources")
    assert commands.main(["tools", "--check"]) == ExitStatus.NOT_FOUND
    assert "needs a source checkout" in capsys.readouterr().err
