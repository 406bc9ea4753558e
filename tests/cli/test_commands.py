"""Verbs, the selection of the vault, streams, and the program as started by a shell."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import pytest

from app import paths
from app.cli import VERBS, commands, is_command
from app.cli.approvers import DenyAll
from app.cli.completion_scripts import full_parser
from app.cli.console import CliConsole, escape_controls
from app.cli.exit_status import ExitStatus
from app.cli.session import open_session
from app.cli.vault_location import locate_vault
from app.errors import VaultBusyError, VaultLostError
from app.index import extract
from app.permissions.approval import ApprovalRequest, Decision
from app.permissions.audit_reading import AuditLogReader
from app.settings import Settings
from app.settings.recent import RecentVaults
from app.tools import CATALOG
from app.vault.lock import VaultLock
from app.workspace.opening import open_workspace
from tests.cli.conftest import Run
from tests.support.approver import ScriptedApprover
from tests.support.program import command, environment

Program = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Run the command line in its own process."""

    def run(*words: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
        place = environment(tmp_path_factory, **variables)
        return subprocess.run(command(*words), env=place, capture_output=True)

    return run


# Front ends


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], False),
        (["."], False),
        (["some/folder"], False),
        (["--sample"], False),
        (["--help"], True),
        (["undo"], True),
        (["read_note", "x"], True),
        (["--vault=x", "undo"], True),
        (["nonsense"], True),
        (["Notes"], False),
        (["find"], True),
        (["--read-only", "Notes"], False),
    ],
)
def test_a_folder_opens_the_window_and_all_else_is_a_command(
    words: list[str], expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Notes").mkdir()
    (tmp_path / "find").mkdir()
    monkeypatch.chdir(tmp_path)
    assert is_command(words) is expected


def test_every_verb_has_a_module_with_help() -> None:
    assert set(VERBS) == set(commands.VERBS)
    for name in VERBS:
        assert "Exit status" in commands.build_verb_parser(name).format_help()


def test_the_help_documents_verbs_and_exit_statuses(run: Run) -> None:
    result = run("--help")
    assert result.status == ExitStatus.DONE
    assert all(f"\n  {name} " in result.out for name in (*VERBS, "open"))
    assert "  3  denied" in result.out
    assert run().status == ExitStatus.MISUSE


# Selection of the vault


def test_the_vault_is_the_one_named_then_the_variable_then_around_then_the_last(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("A", "B", "C"):
        (tmp_path / name / "deep").mkdir(parents=True)
    assert locate_vault().root == vault
    paths.vault_data_folder(tmp_path / "C")
    monkeypatch.chdir(tmp_path / "C" / "deep")
    assert (locate_vault().root, locate_vault().reason) == (tmp_path / "C", "contains the working directory")
    monkeypatch.setenv("SCRIPTORIUM_VAULT", str(tmp_path / "B"))
    assert locate_vault().root == tmp_path / "B"
    assert locate_vault(str(tmp_path / "A")).root == tmp_path / "A"


def test_no_vault_is_an_error_that_says_how_to_name_one(run: Run, vault: Path) -> None:
    RecentVaults().remove(str(vault))
    result = run("list_tags")
    assert result.status == ExitStatus.NO_VAULT and "--vault FOLDER or SCRIPTORIUM_VAULT" in result.err
    assert run("--vault", "nowhere", "list_tags").status == ExitStatus.NO_VAULT
    with pytest.raises(VaultLostError):
        locate_vault("nowhere")


async def test_a_vault_held_by_another_program_is_waited_for_and_then_reported(vault: Path) -> None:
    lock = VaultLock(paths.vault_data_folder(vault))
    lock.acquire()
    with pytest.raises(VaultBusyError, match=f"process {os.getpid()}.*can't be joined"):
        async with open_session(vault, DenyAll(), CliConsole(), timeout=0.2):
            pass
    asyncio.get_running_loop().call_later(0.2, lock.release)
    async with open_session(vault, DenyAll(), CliConsole(), timeout=30) as session:
        assert not session.is_joined


# Commands through the program that holds the vault


async def test_calls_go_through_the_program_that_holds_the_vault(
    vault: Path, approver: ScriptedApprover, program: Program
) -> None:
    workspace = await open_workspace(vault, Settings(), approver)
    try:
        await workspace.index.scan()
        await workspace.endpoints.open()
        words = ("--vault", str(vault), "--approve", "create", "create_note", "Coffee", "--claim", "a note")
        result = await asyncio.to_thread(program, *words)
        assert result.returncode == ExitStatus.DONE, result.stderr
        assert b"--approve has no effect here" in result.stderr
        assert b"Waiting for approval in the window" in result.stderr
        (request,) = approver.asked
        assert (request.caller.name, request.caller.claim) == ("Terminal", "a note")
        undone = await asyncio.to_thread(program, "--vault", str(vault), "undo", "--json")
        assert json.loads(undone.stdout)["paths"] == ["Coffee.md"] and len(approver.asked) == 2
        assert not (vault / "Coffee.md").exists()
    finally:
        await workspace.close()


async def test_a_program_without_a_window_yields_to_one_that_can_approve(
    vault: Path, program: Program
) -> None:
    workspace = await open_workspace(vault, Settings(), None)
    await workspace.index.scan()
    closing_tasks: list[asyncio.Task[None]] = []

    async def make_way() -> None:
        closing_tasks.append(asyncio.create_task(workspace.close()))

    await workspace.endpoints.open("headless", make_way)
    result = await asyncio.to_thread(program, "--vault", str(vault), "read_note", "Tea")
    assert result.returncode == ExitStatus.DONE and not closing_tasks, "a read is no reason to make way"
    words = ("--vault", str(vault), "create_note", "Coffee", "--approve", "create")
    second_result = await asyncio.to_thread(program, *words)
    assert second_result.returncode == ExitStatus.DONE, second_result.stderr
    await asyncio.gather(*closing_tasks)
    assert len(closing_tasks) == 1 and (vault / "Coffee.md").exists()


async def test_ctrl_c_withdraws_a_request_in_the_window(
    vault: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    question_asked, withdrawn = asyncio.Event(), asyncio.Event()

    class Undecided:
        async def decide(self, request: ApprovalRequest) -> Decision:
            question_asked.set()
            try:
                return await asyncio.get_running_loop().create_future()
            finally:
                withdrawn.set()

    workspace = await open_workspace(vault, Settings(), Undecided())
    try:
        await workspace.index.scan()
        await workspace.endpoints.open()
        process = await asyncio.create_subprocess_exec(
            *command("--vault", str(vault), "create_note", "Coffee"),
            env=environment(tmp_path_factory),
            stderr=subprocess.PIPE,
            # A shell starts background programs with the signal ignored, and tests may run in one.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        telling = asyncio.ensure_future(process.communicate())
        await asyncio.wait(
            {telling, asyncio.ensure_future(question_asked.wait())}, return_when="FIRST_COMPLETED"
        )
        assert not telling.done(), telling.result()
        process.send_signal(signal.SIGINT)
        _, message = await telling
        await withdrawn.wait()
        assert process.returncode == ExitStatus.INTERRUPTED and b"Traceback" not in message
    finally:
        await workspace.close()
    assert workspace.audit.verify().ok and not (vault / "Coffee.md").exists()
    with AuditLogReader.of_vault(vault) as log:
        assert log.entries()[0].decision == "cancelled"


# Verbs


def test_undo_reverts_only_the_last_change_of_any_caller(run: Run, vault: Path) -> None:
    before = (vault / "Tea.md").read_bytes()
    assert run("undo").status == ExitStatus.NOT_FOUND
    assert run("edit_note", "Tea", "append", "One.", "--approve", "update").status == ExitStatus.DONE
    assert run("add_tag", "Tea", "drink", "--approve", "update").status == ExitStatus.DONE
    denied = run("undo")
    assert (
        denied.status == ExitStatus.DENIED and "add_tag by Terminal" in denied.err and "Tea.md" in denied.err
    )
    assert run("undo", "--yes").status == ExitStatus.DONE
    assert (vault / "Tea.md").read_bytes() == before + b"One.\n"
    assert run("undo", "--approve", "update").status == ExitStatus.DONE
    assert (vault / "Tea.md").read_bytes() == before
    assert run("undo", "--yes").status == ExitStatus.NOT_FOUND
    assert run("undo", "99", "--yes").status == ExitStatus.NOT_FOUND


def test_undo_by_number_and_by_commit(run: Run, vault: Path) -> None:
    run("create_note", "A", "--approve", "create")
    run("create_note", "B", "--approve", "create")
    first = run("audit", "show", "--text", "A.md", "--json").out.splitlines()[0]
    entry = json.loads(first)
    assert run("undo", str(entry["id"]), "--yes").status == ExitStatus.DONE
    assert not (vault / "A.md").exists() and (vault / "B.md").exists()
    assert run("undo", "--commit", str(entry["commit"] + 1), "--yes").status == ExitStatus.DONE
    assert not (vault / "B.md").exists()
    assert run("undo", "--commit", "99").status == ExitStatus.NOT_FOUND


def test_the_log_is_verified_shown_and_exported(run: Run, vault: Path, tmp_path: Path) -> None:
    assert run("audit", "show").status == ExitStatus.NOT_FOUND
    run("read_note", "Tea")
    assert run("audit", "verify").out == "Log intact: 1 entry verified\n"
    assert run("audit", "verify", str(vault), "--json").data["ok"] is True
    assert "read_note" in run("audit", "show", "1").out
    assert run("audit", "show", "7").status == ExitStatus.NOT_FOUND
    target = tmp_path / "log.jsonl"
    assert run("audit", "export", str(vault), str(target)).status == ExitStatus.DONE
    assert json.loads(target.read_text("utf-8"))["tool"] == "read_note"
    log = paths.vault_data_folder(vault) / "audit.sqlite3"
    with closing(sqlite3.connect(log)) as connection, connection:
        connection.execute("UPDATE audit SET tool = 'x'")
    broken = run("audit", "verify")
    assert broken.status == ExitStatus.FAILED and broken.out.startswith("Log damaged at entry 1: ")


def test_index_counts_and_names_what_it_could_not_read(run: Run, vault: Path) -> None:
    assert run("index", str(vault)).out.startswith("3 notes, 1 link, 1 tag, ")
    assert run("index", "--json").data["notes"] >= 3


def test_index_fails_with_json_too_where_a_note_could_not_be_parsed(
    run: Run, vault: Path, monkeypatch: pytest.MonkeyPatch, errors: list[str]
) -> None:
    errors.append("Broken.md could not be parsed")
    real_scan = extract.scan

    def refuse(text: str) -> object:
        if "poison" in text:
            raise RecursionError("too deep")
        return real_scan(text)

    monkeypatch.setattr(extract, "scan", refuse)
    (vault / "Broken.md").write_text("poison", "utf-8")
    shown = run("index")
    assert shown.status == ExitStatus.FAILED and "Broken.md: " in shown.out
    listed = run("index", "--json")
    assert listed.status == ExitStatus.FAILED and listed.data["failed"] == 1


def test_the_graph_is_exported_without_what_is_private(run: Run, vault: Path, tmp_path: Path) -> None:
    for ending in ("svg", "json", "graphml"):
        assert run("graph", "export", str(tmp_path / f"g.{ending}")).status == ExitStatus.DONE
    data = json.loads((tmp_path / "g.json").read_text("utf-8"))
    assert {node["id"] for node in data["nodes"]} == {"Tea.md", "Water.md", "Ideas/Water.md"}
    assert data["links"] == [{"source": "Tea.md", "target": "Water.md", "type": data["links"][0]["type"]}]
    assert nx.read_graphml(tmp_path / "g.graphml").number_of_nodes() == 3
    assert len(ElementTree.parse(tmp_path / "g.svg").findall(".//{*}circle")) == 3
    assert run("graph", "export", "g.bmp").status == ExitStatus.MISUSE
    assert run("graph", "export", "g.svg", "--width", "0").status == ExitStatus.MISUSE
    assert run("graph", "export", str(tmp_path / "no" / "g.svg")).status == ExitStatus.FAILED


def test_a_picture_of_the_graph_has_the_size_that_was_asked_for(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "g.png"
    run("graph", "export", str(target), "--width", "320", "--height", "200", "--dark")
    png = target.read_bytes()
    assert png.startswith(b"\x89PNG") and png[16:24] == (320).to_bytes(4, "big") + (200).to_bytes(4, "big")
    start = png.index(b"IDAT") + 4
    size = int.from_bytes(png[start - 8 : start - 4], "big")
    assert len(zlib.decompress(png[start : start + size])) == 200 * (320 * 3 + 1)


def test_the_doctor_finds_what_is_wrong_and_changes_nothing(run: Run, vault: Path) -> None:
    well = run("doctor", "--json")
    assert well.status == ExitStatus.DONE
    assert not (paths.data_folder() / "vaults").exists(), "looking makes nothing"
    run("list_tags")
    assert "audit log: intact" in run("doctor").out
    index = paths.vault_cache_folder(vault) / "index.sqlite"
    index.write_bytes(b"no database" * 1000)
    paths.config_folder().joinpath("settings.json").write_text("{", "utf-8")
    ill = run("doctor", "--json")
    failures = {one["what"]: one for one in ill.data if one["state"] == "wrong"}
    assert set(failures) == {"settings", "index: index"} and ill.status == ExitStatus.FAILED
    assert all(one["hint"] for one in failures.values())
    assert paths.config_folder().joinpath("settings.json").read_text("utf-8") == "{"


def test_the_doctor_names_who_holds_the_vault(run: Run, vault: Path) -> None:
    lock = VaultLock(paths.vault_data_folder(vault))
    lock.acquire()
    holder = {one["what"]: one for one in run("doctor", "--json").data}["holder"]
    lock.release()
    assert holder["state"] == "warning" and str(os.getpid()) in holder["message"]


def test_the_doctor_reports_a_lock_that_it_cannot_use(run: Run, vault: Path) -> None:
    (paths.vault_data_folder(vault) / "vault.lock").mkdir()
    result = run("doctor", "--json")
    holder = {one["what"]: one for one in result.data}["holder"]
    assert holder["state"] == "wrong" and holder["hint"] and result.status == ExitStatus.FAILED


# Shells, pipes and signals


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_tool_and_verb(run: Run, shell: str) -> None:
    result = run("completion", shell)
    assert result.status == ExitStatus.DONE
    assert all(tool.name in result.out for tool in CATALOG) and all(verb in result.out for verb in VERBS)
    # fish lists long options without their dashes.
    assert ("-l new-name" if shell == "fish" else "--new-name") in result.out


def test_one_parser_holds_every_command() -> None:
    parser = full_parser()
    assert parser.parse_args(["edit_note", "Tea", "append", "--text", "x"]).op == "append"


def test_bash_completes_tools_operations_and_options(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "complete.bash"
    script.write_text(run("completion", "bash").out, "utf-8")
    assert subprocess.run(["bash", "-n", str(script)]).returncode == 0

    def completed(*words: str) -> list[str]:
        line = " ".join(f"'{word}'" for word in ("scriptorium", *words))
        asked = (
            f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; "
            "f=$(complete -p scriptorium | sed 's/.*-F \\([^ ]*\\).*/\\1/'); $f; "
            "printf '%s\\n' \"${COMPREPLY[@]}\""
        )
        result = subprocess.run(["bash", "-c", asked], capture_output=True, text=True)
        return result.stdout.split()

    assert completed("read_") == ["read_note"]
    assert "append" in completed("edit_note", "Tea", "app")
    assert completed("move_note", "--new") == ["--new-name"]
    assert completed("undo", "--tu") == ["--turn"]
    assert "_scriptorium_notes" in script.read_text("utf-8")


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish_completes_tools_operations_options_and_notes(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "scriptorium.fish"
    script.write_text(run("completion", "fish").out, "utf-8")

    def completed(line: str) -> list[str]:
        asked = f"function scriptorium; echo A note; end; source {script}; complete -C 'scriptorium {line}'"
        result = subprocess.run(["fish", "-N", "-c", asked], capture_output=True, text=True)
        return [found.partition("\t")[0] for found in result.stdout.splitlines()]

    assert completed("read_") == ["read_note"]
    assert completed("read_note ") == ["A note"]
    assert completed("edit_note Tea app") == ["append"]
    assert completed("move_note --new-n") == ["--new-name"]
    assert completed("undo --tu") == ["--turn"]


def test_notes_are_offered_from_the_index_file_as_the_shell_wants_them(run: Run, vault: Path) -> None:
    for name in ("Two words.md", "a/Twice.md", "b/Twice.md", "Tw\x1b[31m.md", "Twin $x.md"):
        (vault / name).parent.mkdir(exist_ok=True)
        (vault / name).write_text("x\n", "utf-8")
    (vault / "Twilight.md").write_text("---\nai: private\n---\n", "utf-8")

    def offered(word: str, shell: str = "bash", *line: str) -> list[str]:
        return run("completion", shell, f"--notes={word}", "--line", *line).out.splitlines()

    assert offered("Tw") == []
    run("index")
    assert offered("tw") == ["Twin\\ \\$x", "a/Twice", "b/Twice", "Two\\ words"]
    assert offered("Two\\ w") == ["Two\\ words"] and offered('"Two w') == ["Two words"]
    assert offered("two w", "zsh") == ["Two words"] and offered("a/tw", "fish") == ["a/Twice"]
    assert offered("tw", "bash", "read_note", "--vault", "=", str(vault / "a")) == []
    assert offered("tw", "bash", "read_note", "--vault", "=", str(vault))


def test_a_program_run_by_a_shell(
    vault: Path, program: Program, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (vault / "Grün.md").write_text("Grüße 茶 " * 20_000, "utf-8")
    words = ("--vault", str(vault), "read_note", "Grün")
    plain = program(*words, LC_ALL="C", PYTHONIOENCODING="ascii")
    assert plain.returncode == ExitStatus.DONE and plain.stdout.decode("utf-8") == "Grüße 茶 " * 20_000
    assert plain.stderr == b""
    piped = f'{shlex.join(command(*words))} | true; echo "${{PIPESTATUS[0]}}"'
    place = environment(tmp_path_factory)
    result = subprocess.run(["bash", "-c", piped], capture_output=True, env=place)
    assert (result.stdout, result.stderr) == (b"141\n", b"")


def test_terminal_output_contains_no_control_sequences() -> None:
    assert escape_controls("a\x1b[31mb\tc\n\u202e") == "a⟨ESC⟩[31mb\tc\n⟨RLO⟩"
