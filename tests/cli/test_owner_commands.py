"""Categories, sources and tokens on the command line: listed, changed, or left to a window."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app import paths
from app.cli.exit_status import ExitStatus
from app.events import EventBus
from app.servers.tokens import ClientTokens
from app.settings import load_vault_settings
from app.vault.lock import VaultLock
from tests.cli.conftest import Run


def states(run: Run, *arguments: str) -> dict[str, str]:
    result = run("categories", *arguments, "--json")
    assert result.status == ExitStatus.DONE, result.err
    return {one["category"]: one["state"] for one in result.data}


def test_a_category_is_switched_after_confirmation_and_shown(run: Run, vault: Path) -> None:
    assert states(run)["development"] == "off" and "## Development (off)" in run("tools").out
    refused = run("categories", "on", "development")
    assert refused.status == ExitStatus.DENIED and "--approve admin" in refused.err
    assert states(run)["development"] == "off"
    assert states(run, "on", "development", "--approve", "admin") == {"development": "on"}
    assert load_vault_settings(paths.vault_data_folder(vault))[0].categories == {"development": True}
    assert states(run)["development"] == "on" and "## Development\n" in run("tools").out
    assert run("diff", "Tea.md", "Water.md").status == ExitStatus.DONE
    assert states(run, "off", "development", "notes", "--approve", "admin") == {
        "development": "off",
        "notes": "off",
    }
    assert run("list_notes").status == ExitStatus.DENIED
    result = run("categories", "on", "nothing", "--approve", "admin")
    assert result.status == ExitStatus.MISUSE and "nothing" in result.err
    assert run("categories", "on").status == run("categories", "list", "notes").status == ExitStatus.MISUSE


def test_a_category_disabled_by_the_vault_stays_off(run: Run, vault: Path) -> None:
    (vault / ".scriptorium").mkdir()
    (vault / ".scriptorium" / "rules.toml").write_text('categories_off = ["development"]\n', "utf-8")
    assert states(run)["development"] == "off by a rule"
    assert states(run, "on", "development", "--approve", "admin") == {"development": "off by a rule"}
    assert run("diff", "Tea.md", "Water.md", "--enable-tools", "development").status == ExitStatus.DENIED


def test_tools_are_enabled_for_one_command(run: Run) -> None:
    refused = run("diff", "Tea.md", "Water.md")
    assert refused.status == ExitStatus.DENIED and "(development)" in refused.err
    assert run("diff", "Tea.md", "Water.md", "--enable-tools", "development,web").status == ExitStatus.DONE
    assert run("--enable-tools", "development", "diff", "Tea.md", "Water.md").status == ExitStatus.DONE
    assert run("diff", "Tea.md", "Water.md").status == ExitStatus.DENIED
    assert run("list_tags", "--enable-tools", "nothing").status == ExitStatus.MISUSE


def test_tokens_are_created_once_listed_renewed_and_revoked(run: Run, vault: Path) -> None:
    def client_of(token: str) -> str | None:
        return ClientTokens(paths.vault_data_folder(vault), EventBus()).authenticate(token.strip())

    assert run("tokens").out == "" and run("tokens", "create", "Editor").status == ExitStatus.DENIED
    first = run("tokens", "create", "Editor", "--approve", "admin")
    assert first.status == ExitStatus.DONE and client_of(first.out) == "Editor"
    assert [one["name"] for one in run("tokens", "--json").data] == ["Editor"]
    second = run("tokens", "renew", "Editor", "--approve", "admin", "--json").data["token"]
    assert client_of(second) == "Editor" and client_of(first.out) is None
    assert second not in run("tokens").out
    assert run("tokens", "revoke", "Editor", "--approve", "admin").status == ExitStatus.DONE
    assert client_of(second) is None and run("tokens").out == ""
    assert run("tokens", "revoke", "Editor", "--approve", "admin").status == ExitStatus.NOT_FOUND


def test_sources_are_added_used_paused_and_removed(run: Run, vault: Path, tmp_path: Path) -> None:
    desk = tmp_path / "desk"
    desk.mkdir()
    nothing_to_list = run("file", "list")
    assert nothing_to_list.status == ExitStatus.NOT_FOUND
    assert "scriptorium sources add folder" in nothing_to_list.err
    (desk / "Plan.txt").write_text("one\n", "utf-8")
    assert run("sources", "add", "folder", str(desk)).status == ExitStatus.DENIED
    rule = ("--rule", "*.txt=read_write")
    added = run("sources", "add", "folder", str(desk), *rule, "--name", "Desk", "--approve", "admin")
    assert added.status == ExitStatus.DONE and "Desk" in added.out
    result = run("sources", "--json").data["sources"]
    assert [(one["name"], one["type"], one["state"]) for one in result] == [("Desk", "files", "active")]
    files = run("file", "list")
    assert (
        files.status == ExitStatus.DONE and files.out.startswith("Plan.txt\t") and "not loaded" in files.out
    )
    assert run("file", "load", "Plan.txt").out == "one\n"
    appended = run("file", "append", "Plan.txt", "two")
    assert "Added to Plan.txt in memory" in appended.out
    assert "state\tchanged in memory" in run("file", "status", "Plan.txt").out
    assert "Plan.txt" in run("file", "status").out
    notes = run("sources", "add", "notes", "Journal/**", "--approve", "admin")
    assert notes.status == ExitStatus.DONE
    paused = run("sources", "pause", "Notes", "--approve", "admin")
    assert paused.status == ExitStatus.DONE and "paused" in paused.out
    second_result = run("sources", "remove", "Desk", "--approve", "admin")
    assert second_result.status == ExitStatus.DONE and (desk / "Plan.txt").read_text("utf-8") == "one\n"
    assert [one["name"] for one in run("sources", "list", "--json").data["sources"]] == ["Notes"]
    for wrong in (("add", "folder"), ("add", "feed", "x", "--rule", "*=append"), ("remove", "Desk")):
        third_result = run("sources", *wrong, "--approve", "admin")
        assert third_result.status in (ExitStatus.MISUSE, ExitStatus.NOT_FOUND)
    for address in ("https://[x", "https://example.org/" + "x" * 4000):
        invalid = run("sources", "add", "feed", address, "--approve", "admin")
        assert invalid.status == ExitStatus.MISUSE and "not a valid source" in invalid.err
    third_result = run("sources", "add", "folder", str(desk), "--rule", "*.txt", "--approve", "admin")
    assert third_result.status == ExitStatus.MISUSE and "GLOB=PERMISSION" in third_result.err


def test_a_vault_that_another_program_holds_is_left_to_it(
    run: Run, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.cli.owner.OPEN_TIMEOUT_S", 0.1)
    lock = VaultLock(paths.vault_data_folder(vault))
    lock.acquire()
    try:
        for words in (("tokens", "create", "X"), ("categories", "on", "web")):
            result = run(*words, "--approve", "admin")
            assert result.status == ExitStatus.NO_VAULT and str(os.getpid()) in result.err
        assert "web" in states(run) and run("tokens").status == ExitStatus.DONE
    finally:
        lock.release()


def test_undo_describes_what_was_reverted(run: Run) -> None:
    assert run("create_note", "Milk", "--approve", "create").status == ExitStatus.DONE
    result = run("undo", "--yes")
    assert result.status == ExitStatus.DONE
    assert (
        result.out.startswith("Undone: Milk.md.") and "commits" not in result.out and "left" not in result.out
    )


@pytest.mark.parametrize(
    ("answer", "status"), [("y", ExitStatus.DONE), ("n", ExitStatus.DENIED), (None, ExitStatus.DENIED)]
)
def test_the_user_at_the_terminal_is_asked(
    run: Run, vault: Path, monkeypatch: pytest.MonkeyPatch, answer: str | None, status: ExitStatus
) -> None:
    class Person:
        async def read_line(self, prompt: str) -> str | None:
            return answer

    monkeypatch.setattr("app.cli.owner.Terminal.find", Person)
    result = run("tokens", "create", "Editor")
    assert result.status == status and "Create a token for “Editor”" in result.err
    assert bool(ClientTokens(paths.vault_data_folder(vault), EventBus()).clients) == (
        status == ExitStatus.DONE
    )
