"""Tools as commands: the meaning of words and flags, the output, and the exit status."""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

import pytest

from app.cli.exit_status import ExitStatus
from app.cli.options import RESERVED_OPTIONS
from app.cli.tool_command import build_tool_parser, find_tool, parse_call
from app.cli.tool_parser import ToolParser
from app.tools import CATALOG, FILE_TOOL
from tests.cli.conftest import Run

EVERY = (*CATALOG, FILE_TOOL)


def parse(tool: str, *words: str) -> dict[str, object]:
    declared_tool = find_tool(tool)
    assert declared_tool is not None
    return parse_call(ToolParser.from_tool(declared_tool), words, argparse.Namespace())[0]


@pytest.mark.parametrize("tool", EVERY, ids=lambda tool: tool.name)
def test_every_tool_has_help_that_names_its_arguments_and_no_flag_hides_an_option(tool) -> None:
    signature = ToolParser.from_tool(tool)
    text = build_tool_parser(signature).format_help()
    assert all(flag.option in text for flag in signature.flags)
    assert not {one for flag in signature.flags for one in flag.spellings} & set(RESERVED_OPTIONS)
    assert all(f"{tool.name} " in form for form in signature.usage() if signature.flags)


def test_words_and_flags_mean_the_same() -> None:
    assert parse("read_note", "My note") == {"name": "My note"} == parse("read-note", "--name", "My note")
    assert parse("move_note", "A", "--new-name", "B") == {"name": "A", "new_name": "B"}
    assert parse("move_note", "--new_name=B", "A") == {"name": "A", "new_name": "B"}
    assert parse("list_notes", "Ideas", "--limit", "3") == {"folder": "Ideas", "limit": 3}


def test_lists_are_given_by_repeating_or_as_the_last_words() -> None:
    assert parse("search_by_tags", "a", "b", "--match", "all") == {"tags": ["a", "b"], "match": "all"}
    assert parse("search_by_tags", "--tags", "a", "--tags", "b", "--match=any") == {
        "tags": ["a", "b"],
        "match": "any",
    }
    assert parse("find_related_nodes", "a", "--no-auto-link")["auto_link"] is False
    assert parse("shell", "sort", "--args=-r", "--args", "a")["args"] == ["-r", "a"]
    assert parse("shell", "sort", "--", "-r", "a") == {"command": "sort", "args": ["-r", "a"]}


def test_an_operation_takes_what_it_needs_as_words_in_the_order_it_names_them() -> None:
    assert parse("edit_note", "Tea", "replace", "old", "new") == {
        "name": "Tea",
        "op": "replace",
        "old": "old",
        "text": "new",
    }
    assert parse("block", "load", "persona") == {"op": "load", "label": "persona"}
    assert parse("git", "add", "a.md", "b.md") == {"op": "add", "paths": ["a.md", "b.md"]}
    assert parse("suggest_relationships") == {}
    loaded = {"op": "load", "label": "Plan.txt", "source_id": "desk"}
    assert parse("block", "load", "Plan.txt", "desk") == loaded, "then the first text that it may be given"
    assert parse("suggest_relationships", "list", "Tea") == {"op": "list", "node_id": "Tea"}


def test_properties_are_names_with_values_or_json() -> None:
    assert parse("set_properties", "Tea", "a=1", "b=c")["properties"] == {"a": 1, "b": "c"}
    given = parse(
        "set_properties",
        "Tea",
        "--properties",
        "rating=4",
        "--properties",
        "status=to do",
        "--properties",
        '{"tags": ["a"]}',
    )
    assert given == {"name": "Tea", "properties": {"rating": 4, "status": "to do", "tags": ["a"]}}


def test_null_is_a_value_where_any_is_taken() -> None:
    given = parse("block_edit", "set_field", "form", "mood", "null")
    assert given == {"op": "set_field", "label": "form", "field": "mood", "value": None}


def test_long_texts_come_from_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "text.md").write_text("From a file.\n", "utf-8")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Ümlaut\n".encode()), "ascii"))
    assert parse("create_note", "New", "--content", "-")["content"] == "Ümlaut\n"
    assert parse("update_note", "Tea", f"@{tmp_path}/text.md")["content"] == "From a file.\n"
    assert parse("update_note", "Tea", "@@me")["content"] == "@me"
    patch = "@@ -1 +1 @@\n-a\n+b\n"
    assert parse("edit_note", "Tea", "patch", patch)["patch"] == patch, "a text of several lines is no name"
    assert parse("read_note", "@me") == {"name": "@me"}, "a name is never a file"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["read_note"], "Field required"),
        (["read_note", "Tea", "x"], "Unexpected argument: 'x'"),
        (["edit_note", "Tea", "shorten"], "one of append, prepend"),
        (["edit_note", "Tea", "append"], "needs text"),
        (["edit_note", "Tea", "append", "x", "--heading", "H"], "does not take heading"),
        (["list_notes", "--limit", "many"], "--limit: 'many' is not a whole number"),
        (["update_note", "Tea", "@nowhere"], "@@nowhere"),
        (["set_properties", "Tea", "--properties", "x"], "neither name=value nor a JSON object"),
        (["read_note", "Tea", "--approve", "everything"], "'everything' is not one of create, update"),
        (["read_notes", "Tea"], "Did you mean read_note"),
        (["read_note", "Tea", "--colour"], "unrecognized arguments: --colour"),
        (["pending", "status"], "needs an id"),
    ],
)
def test_misuse_is_reported_and_nothing_is_called(run: Run, words: list[str], message: str) -> None:
    result = run(*words)
    assert (result.status, message in result.err) == (ExitStatus.MISUSE, True), result.err


def test_a_note_is_printed_exactly_and_messages_go_to_standard_error(run: Run, vault: Path) -> None:
    result = run("read_note", "Tea")
    assert result.out == (vault / "Tea.md").read_text("utf-8")
    assert f"Vault: {vault} (the last one opened)" in result.err
    assert run("--vault", str(vault), "read-note", "Tea").err == ""


def test_json_is_one_line_at_any_position_of_the_option(run: Run) -> None:
    for words in (["--json", "read_note", "Tea"], ["read_note", "--json", "Tea"]):
        second_result = run(*words)
        assert (
            second_result.out.count("\n") == 1
            and second_result.data["success"]
            and second_result.data["total_lines"] == 3
        )
    result = run("read_note", "Tee", "--json")
    assert result.data["error"]["type"] == "not_found" and result.status == ExitStatus.NOT_FOUND
    assert run("edit_note", "Tea", "append", "--json").data["error"]["type"] == "invalid_parameters"


def test_a_missing_or_hidden_note_has_its_own_exit_status(run: Run) -> None:
    missing = run("read_note", "Tee")
    assert missing.status == ExitStatus.NOT_FOUND and "Tee" in missing.err and "Tea" in missing.err
    ambiguous = run("get_metadata", "water", "--json")
    assert ambiguous.status in (ExitStatus.NOT_FOUND, ExitStatus.DONE)
    private = run("read_note", "Secret")
    assert (
        private.status in (ExitStatus.NOT_FOUND, ExitStatus.DENIED)
        and "Nobody sees" not in private.out + private.err
    )


def test_rows_go_into_pipes_between_tabs(run: Run) -> None:
    result = run("search", "tea")
    assert result.out == "Tea.md\t1\t# Tea\nTea.md\t3\tGreen tea and black tea. See [[Water]].\n"
    assert [line.split("\t")[0] for line in run("list_tags").out.splitlines()] == ["liquid"]
    assert run("search", "--limit", "1", "tag:liquid", "boils", "--json").data["total"] == 1


def test_without_a_terminal_a_change_is_denied_unless_its_kind_is_named(run: Run, vault: Path) -> None:
    denied = run("create_note", "Coffee", "--content", "Black.\n")
    assert denied.status == ExitStatus.DENIED and "use --approve create" in denied.err
    assert not (vault / "Coffee.md").exists()
    assert run("create_note", "Coffee", "--approve", "update,delete").status == ExitStatus.DENIED
    result = run("create_note", "Coffee", "--content", "Black.\n", "--approve", "create,update")
    assert result.status == ExitStatus.DONE and (vault / "Coffee.md").read_text("utf-8") == "Black.\n"
    assert "approved in advance by --approve create" in run("audit", "show", "--text", "Coffee", "--json").out


def test_deleting_a_linked_note_needs_its_own_kind(run: Run, vault: Path) -> None:
    denied = run("delete_note", "Water.md", "--approve", "create,update,delete")
    assert denied.status == ExitStatus.DENIED and "use --approve delete-linked" in denied.err
    assert (vault / "Water.md").exists()
    assert run("delete_note", "Ideas/Water", "--approve", "delete").status == ExitStatus.DONE
    assert run("delete_note", "Water.md", "--approve", "delete-linked").status == ExitStatus.DONE
    assert not (vault / "Water.md").exists()


def test_a_rule_of_the_user_overrides_approved_kinds(run: Run, vault: Path) -> None:
    (vault / ".scriptorium").mkdir()
    (vault / ".scriptorium" / "rules.toml").write_text(
        '[[rules]]\neffect = "deny"\noperations = ["create"]\nglob = "**"\n', "utf-8"
    )
    denied = run("create_note", "Coffee", "--approve", "create")
    assert denied.status == ExitStatus.DENIED and "a rule says" in denied.err


def test_a_call_that_does_not_wait_leaves_the_question_open(run: Run, vault: Path) -> None:
    result = run("create_note", "Coffee", "--no-wait")
    assert result.status == ExitStatus.PENDING and "pending status" in result.err
    request_id = result.out.strip()
    assert run("pending").out.split("\t")[0] == request_id
    assert run("pending", "status", request_id, "--json").data["operations"][0]["state"] == "waiting"
    assert run("pending", "cancel", request_id).status == ExitStatus.DONE
    assert run("pending", "status", request_id, "--json").data["operations"][0]["state"] == "cancelled"
    assert not (vault / "Coffee.md").exists()
    assert run("create_note", "Coffee", "--no-wait", "--approve", "create").status == ExitStatus.MISUSE
