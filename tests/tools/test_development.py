"""The category development: commands in a sandbox, patches, files and comparisons."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.permissions.approval import Approved, Denied, Effect
from app.permissions.caller import Caller, CallerKind
from app.sandbox.sandbox import Sandbox
from app.settings import VaultSettings
from app.toolkit.call import Call
from app.vault.path import NotePath

MODEL = Caller(CallerKind.DESKTOP_AGENT, "Model", turn="t")
MINE = Caller(CallerKind.DESKTOP_AGENT, "Built-in agent", uses_model=False, turn="t")
PRIVATE = "Journal/Letters (private).md"
NUMBERS = "three\ntwo\none\n"
PATCH = "--- a/numbers.txt\n+++ b/numbers.txt\n@@ -1,3 +1,3 @@\n three\n-two\n+2\n one\n"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of Unix")


@pytest.fixture
def dev(workspace, sample_vault):
    """The workspace with the category on, and a file that is no note."""
    (sample_vault / "numbers.txt").write_text(NUMBERS)
    workspace.change_vault_settings(VaultSettings(categories={"development": True}))
    return workspace


def use_sandbox(workspace, sandbox):
    services = workspace.runner.services
    services["development"] = replace(services["development"], sandbox=sandbox)


@pytest.fixture
async def boxed(dev):
    if problem := await dev.runner.services["development"].sandbox.problem():
        pytest.skip(f"no sandbox on this system: {problem}")
    return dev


@pytest.fixture
def open_(dev, sample_vault):
    """The same without a sandbox, and without private notes."""
    (sample_vault / PRIVATE).unlink()
    use_sandbox(dev, Sandbox(""))
    return dev


async def call(workspace, tool, /, caller=MODEL, **arguments):
    return await workspace.runner.run(Call.of(tool, arguments, caller))


async def test_the_category_is_off_until_it_is_turned_on(workspace, approver):
    for tool in ("shell", "patch", "file_write", "diff", "git"):
        outcome = await call(workspace, tool, command="ls")
        assert outcome.error["type"] == "permission_denied" and not approver.asked


# Commands


async def test_the_approval_shows_the_exact_command_and_its_sandbox(boxed, approver):
    outcome = await call(boxed, "shell", command="sort", args=["-r", "numbers.txt"], timeout=30)
    assert outcome.success and outcome.result["output"] == "two\nthree\none\n"
    (request,) = approver.asked
    assert isinstance(request.proposal, Effect)
    shown_arguments = dict(request.proposal.arguments)
    assert (
        json.loads(shown_arguments["command"]) == ["sort", "-r", "numbers.txt"]
        and shown_arguments["time limit"] == "30 s"
    )
    assert "no network" in shown_arguments["sandbox"] and "read-only" in shown_arguments["sandbox"]
    assert request.offers == ()


async def test_nothing_is_run_before_approval(boxed, approver, tmp_path):
    approver.answers = [Denied("no")]
    assert (await call(boxed, "shell", command="ls")).denied


async def test_a_read_only_command_cannot_write(boxed, sample_vault):
    outcome = await call(boxed, "shell", command="cp", args=["numbers.txt", "copy.txt"])
    assert outcome.success and outcome.result["exit_code"] != 0
    assert not (sample_vault / "copy.txt").exists()


async def test_private_notes_and_git_are_hidden_from_a_models_command(boxed, sample_vault):
    (sample_vault / ".git").mkdir()
    (sample_vault / ".git" / "old").write_text("treasure")
    secret = (sample_vault / PRIVATE).read_text("utf-8").splitlines()[-1]
    for writes in (False, True):
        words = ["-rF", "-e", secret, "-e", "treasure", "."]
        outcome = await call(boxed, "shell", command="grep", args=words, writes=writes)
        assert outcome.success and outcome.result["output"] == ""
    mine = await call(boxed, "shell", caller=MINE, command="cat", args=[PRIVATE])
    assert secret in mine.result["output"]


async def test_what_a_command_changes_is_proposed_journaled_and_undone(boxed, approver, sample_vault):
    script = "echo four >> numbers.txt; mkdir New; echo x > New/made.txt; echo y > .hidden"
    script += "; rm 'Events/Trial of H4.md'"
    outcome = await call(boxed, "shell", command="sh", args=["-c", script], writes=True)
    assert outcome.success and len(approver.asked) == 2
    assert sorted(outcome.result["changed"]) == ["Events/Trial of H4.md", "New/made.txt", "numbers.txt"]
    assert outcome.result["left_out"] == [".hidden: hidden files belong to other programs"]
    assert (sample_vault / "numbers.txt").read_text() == NUMBERS + "four\n"
    assert not (sample_vault / "Events/Trial of H4.md").exists() and not (sample_vault / ".hidden").exists()
    assert boxed.index.note(NotePath("Events/Trial of H4.md")) is None and outcome.commit is not None
    assert (await call(boxed, "undo", entry=outcome.entry)).success
    assert (sample_vault / "numbers.txt").read_text() == NUMBERS
    assert (sample_vault / "Events/Trial of H4.md").exists() and not (sample_vault / "New/made.txt").exists()


async def test_the_changes_of_a_command_can_be_refused(boxed, approver, sample_vault):
    approver.answers = [lambda request: Approved(request.proposal), Denied("not that")]
    outcome = await call(boxed, "shell", command="cp", args=["numbers.txt", "copy.txt"], writes=True)
    assert outcome.denied and outcome.words == "not that" and not (sample_vault / "copy.txt").exists()
    refused, ran = boxed.audit.entries(limit=2)
    assert ran.result.startswith("the effect is done") and ran.tool == "shell" and refused.result == "denied"


async def test_concurrent_changes_are_kept(boxed, approver, sample_vault):
    def meanwhile(request):
        (sample_vault / "numbers.txt").write_text("mine\n")
        return Approved(request.proposal)

    approver.answers = [lambda request: Approved(request.proposal), meanwhile]
    words = ["-o", "numbers.txt", "numbers.txt"]
    outcome = await call(boxed, "shell", command="sort", args=words, writes=True)
    assert outcome.error["type"] == "conflict" and (sample_vault / "numbers.txt").read_text() == "mine\n"


async def test_a_timeout_is_reported_and_discards_the_changes(boxed, approver, sample_vault):
    script = "echo x > made.txt; sleep 600"
    outcome = await call(boxed, "shell", command="sh", args=["-c", script], timeout=1, writes=True)
    assert outcome.success and outcome.result["timed_out"] and "stopped after 1 s" in outcome.message
    assert not (sample_vault / "made.txt").exists() and len(approver.asked) == 1


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"command": ""}, "invalid_parameters"),
        ({"command": "ls", "timeout": 61}, "invalid_parameters"),
        ({"command": "ls", "args": ["a\0b"]}, "invalid_parameters"),
        ({"command": "ls", "cwd": "../.."}, "invalid_parameters"),
        ({"command": "ls", "cwd": "/etc"}, "permission_denied"),
        ({"command": "ls", "cwd": ".git"}, "permission_denied"),
        ({"command": "ls", "cwd": "Nowhere"}, "not_found"),
    ],
)
async def test_commands_that_are_refused(dev, approver, arguments, error):
    assert (await call(dev, "shell", **arguments)).error["type"] == error and not approver.asked


async def test_without_a_sandbox_the_question_and_the_result_say_so(open_, approver, sample_vault):
    outcome = await call(open_, "shell", command="sh", args=["-c", "cat numbers.txt; echo x > numbers.txt"])
    (request,) = approver.asked
    assert "without a sandbox" in request.proposal.text
    assert dict(request.proposal.arguments)["sandbox"].startswith("none (")
    assert outcome.result["output"] == NUMBERS and "no sandbox" in outcome.message
    assert (sample_vault / "numbers.txt").read_text() == NUMBERS  # It worked on a copy.


async def test_without_a_sandbox_no_model_runs_commands_next_to_private_notes(dev, approver):
    use_sandbox(dev, Sandbox(""))
    outcome = await call(dev, "shell", command="ls")
    assert outcome.error["type"] == "permission_denied" and not approver.asked
    assert (await call(dev, "shell", caller=MINE, command="ls")).success


# Files


async def test_a_patch_is_asked_about_and_undone(dev, approver, sample_vault):
    second_outcome = await call(dev, "patch", patch=PATCH, files=["numbers.txt"], dry_run=True)
    assert second_outcome.success and not approver.asked and "+2" in second_outcome.result["diff"]
    outcome = await call(dev, "patch", patch=PATCH, files=["numbers.txt"])
    assert outcome.success and (sample_vault / "numbers.txt").read_text() == "three\n2\none\n"
    assert (await call(dev, "undo", entry=outcome.entry)).success
    assert (sample_vault / "numbers.txt").read_text() == NUMBERS


async def test_a_patch_makes_and_deletes_files(dev, sample_vault):
    text = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n"
    text += "--- a/numbers.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-three\n-two\n-one\n"
    outcome = await call(dev, "patch", patch=text, files=["new.txt", "numbers.txt"])
    assert outcome.success, outcome.error
    assert (sample_vault / "new.txt").read_text() == "a\nb\n" and not (sample_vault / "numbers.txt").exists()


@pytest.mark.parametrize(
    ("patch", "files", "error"),
    [
        (PATCH, ["other.txt"], "permission_denied"),
        (PATCH.replace("numbers.txt", ".git/config"), [".git/config"], "permission_denied"),
        (PATCH.replace("numbers.txt", "../x.txt"), ["../x.txt"], "invalid_parameters"),
        (PATCH.replace(" one", " four"), ["numbers.txt"], "conflict"),
        (PATCH.replace("+++ b/numbers", "+++ b/new"), ["numbers.txt", "new.txt"], "invalid_parameters"),
        ("nothing", ["numbers.txt"], "invalid_parameters"),
        ("@@ -1 +1 @@\n-three\n+3\n", ["numbers.txt", "other.txt"], "invalid_parameters"),
    ],
)
async def test_patches_that_are_refused(dev, approver, sample_vault, patch, files, error):
    outcome = await call(dev, "patch", patch=patch, files=files)
    assert outcome.error["type"] == error, outcome.error
    assert not approver.asked and (sample_vault / "numbers.txt").read_text() == NUMBERS


async def test_a_file_is_written_and_asked_about_each_time(dev, approver, sample_vault):
    outcome = await call(dev, "file_write", path="Data/list.csv", content="a,b\n")
    assert outcome.success and outcome.result["created"]
    second_outcome = await call(dev, "file_write", path="Data/list.csv", content="x", expected_hash="0" * 64)
    assert (
        second_outcome.error["type"] == "conflict"
        and second_outcome.error["current_hash"] == outcome.result["hash"]
    )
    known_values = outcome.result["hash"]
    right = await call(dev, "file_write", path="Data/list.csv", content="x", expected_hash=known_values)
    assert right.success and (sample_vault / "Data/list.csv").read_text() == "x" and len(approver.asked) == 2
    for path in ("/tmp/x.txt", "../x.txt", ".obsidian/app.json", "con.txt"):
        assert not (await call(dev, "file_write", path=path, content="x")).success
    assert len(approver.asked) == 2


async def test_files_are_compared_and_those_outside_asked_about(dev, approver, tmp_path: Path):
    other = tmp_path / "other.txt"
    other.write_text("three\n2\none\n")
    same = await call(dev, "diff", path="numbers.txt", other="numbers.txt")
    assert same.result["diff"] == "" and not approver.asked and not same.untrusted
    outcome = await call(dev, "diff", path="numbers.txt", other=str(other))
    assert "-two\n+2\n" in outcome.result["diff"] and outcome.untrusted
    assert approver.asked[0].scope.outside == (str(tmp_path),)
    assert (await call(dev, "diff", path="numbers.txt", other=PRIVATE)).error["type"] == "not_found"
