"""The tool git: its operations, hidden files, and hostile repositories."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.permissions.approval import Denied
from app.permissions.caller import Caller, CallerKind
from app.settings import VaultSettings
from app.toolkit.call import Call

MODEL = Caller(CallerKind.DESKTOP_AGENT, "Model")
PRIVATE = "Journal/Letters (private).md"

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def by_hand(vault: Path, *arguments: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    who = ["-c", "user.name=Somebody", "-c", "user.email=some@body"]
    result = subprocess.run(
        ["git", *who, *arguments], cwd=vault, env=environment, capture_output=True, text=True, check=True
    )
    return result.stdout


@pytest.fixture
def repository(workspace, sample_vault):
    """The workspace with the category on, over a vault that is a repository with one commit."""
    by_hand(sample_vault, "init", "--quiet", "--initial-branch=main")
    by_hand(sample_vault, "add", ".")
    by_hand(sample_vault, "commit", "--quiet", "-m", "All notes")
    workspace.change_vault_settings(VaultSettings(categories={"development": True}))
    return workspace


async def git(workspace, op, **arguments):
    return await workspace.runner.run(Call.of("git", {"op": op, **arguments}, MODEL))


@pytest.mark.parametrize(
    ("op", "arguments", "shown", "said"),
    [
        ("status", {}, "?? New.md", "2 files differ."),
        ("log", {"limit": 1}, "All notes", "1 commit."),
        ("diff", {}, "+More.", "1 file differs."),
        ("diff", {"staged": True}, "", "0 files differ."),
        ("diff", {"paths": ["New.md"]}, "", "0 files differ."),
        ("add", {"paths": ["New.md"]}, "", "Staged New.md."),
        ("branch", {}, "* main", "1 branch."),
        ("branch", {"name": "ideas/one"}, "", "Created the branch ideas/one"),
    ],
)
async def test_each_operation_asks_first(repository, approver, sample_vault, op, arguments, shown, said):
    (sample_vault / "New.md").write_text("new\n")
    with (sample_vault / "Events/Trial of H4.md").open("a") as file:
        file.write("More.\n")
    outcome = await git(repository, op, **arguments)
    assert outcome.success, outcome.error
    assert shown in outcome.result["output"] and said in outcome.message
    assert len(approver.asked) == 1 and '["git"' in dict(approver.asked[0].proposal.arguments)["command"]


async def test_a_commit_is_made_of_what_is_staged(repository, sample_vault):
    (sample_vault / "New.md").write_text("new\n")
    await git(repository, "add", paths=["New.md"])
    outcome = await git(repository, "commit", message="A new note\n\n# kept out")
    assert outcome.success and "A new note" in outcome.message
    assert by_hand(sample_vault, "show", "--name-only", "--format=%s") == "A new note\n\nNew.md\n"
    nothing = await git(repository, "commit", message="Nothing")
    assert nothing.error["type"] == "invalid_parameters" and "nothing" in nothing.message


async def test_nothing_is_done_without_approval(repository, approver, sample_vault):
    approver.answers = [Denied()]
    assert (await git(repository, "branch", name="no")).denied
    assert "no" not in by_hand(sample_vault, "branch").split()


async def test_private_notes_are_not_revealed(repository, sample_vault):
    with (sample_vault / PRIVATE).open("a") as file:
        file.write("the treasure\n")
    # Was private when it was committed, and is public or deleted now.
    (sample_vault / "Once.md").write_text("---\nai: private\n---\nold treasure\n")
    by_hand(sample_vault, "add", "Once.md")
    by_hand(sample_vault, "commit", "--quiet", "-m", "Once")
    (sample_vault / "Once.md").write_text("nothing\n")
    for op in ("status", "diff"):
        outcome = await git(repository, op)
        assert outcome.success
        assert "treasure" not in str(outcome.result) and "Letters" not in str(outcome.result)
    (sample_vault / "Once.md").unlink()
    assert "treasure" not in str((await git(repository, "diff")).result)
    assert (await git(repository, "add", paths=[PRIVATE])).error["type"] == "not_found"
    assert not (await git(repository, "diff", paths=[PRIVATE])).result["output"]


@pytest.mark.skipif(sys.platform == "win32", reason="the programs are scripts of Unix")
async def test_no_program_of_the_repository_is_run(repository, sample_vault, tmp_path):
    mark, program = tmp_path / "was run", tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho \"$0 $@\" >> '{mark}'\ncat\n")
    program.chmod(0o755)
    for hook in ("pre-commit", "post-commit", "commit-msg", "post-index-change", "prepare-commit-msg"):
        shutil.copy(program, sample_vault / ".git" / "hooks" / hook)
    shutil.copytree(sample_vault / ".git" / "hooks", tmp_path / "hooks")
    settings = {
        "core.fsmonitor": program,
        "core.hooksPath": tmp_path / "hooks",
        "core.pager": program,
        "core.editor": program,
        "core.sshCommand": program,
        "diff.external": program,
        "diff.odd.textconv": program,
        "diff.odd.command": program,
        "filter.odd.clean": program,
        "filter.odd.smudge": program,
        "filter.odd.process": program,
        "filter.odd.required": "true",
        "commit.gpgSign": "true",
        "gpg.program": program,
        "log.showSignature": "true",
        "pager.log": program,
        "pager.diff": program,
        "core.worktree": tmp_path,
        "alias.status": f"!{program}",
    }
    (sample_vault / "New.txt").write_text("new\n")
    await git(repository, "add", paths=["New.txt"])
    for name, value in settings.items():
        by_hand(sample_vault, "config", name, str(value))
    (sample_vault / ".gitattributes").write_text("*.md diff=odd filter=odd\n")
    with (sample_vault / "Events/Trial of H4.md").open("a") as file:
        file.write("More.\n")
    for op, arguments in [
        ("status", {}),
        ("diff", {}),
        ("log", {}),
        ("branch", {}),
        ("branch", {"name": "x"}),
        ("commit", {"message": "New"}),
    ]:
        outcome = await git(repository, op, **arguments)
        assert outcome.success, (op, outcome.error)
    refused = await git(repository, "add", paths=["Events/Trial of H4.md"])
    assert refused.error["type"] == "invalid_parameters" and "filter" in refused.message
    assert not mark.exists(), mark.read_text()


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        ("add", {}),
        ("add", {"paths": ["../x"]}),
        ("add", {"paths": ["/etc/passwd"]}),
        ("commit", {}),
        ("commit", {"message": ""}),
        ("branch", {"name": "--delete"}),
        ("branch", {"name": "a..b"}),
        ("status", {"name": "x"}),
        ("push", {}),
    ],
)
async def test_invalid_git_arguments_are_refused(repository, approver, op, arguments):
    outcome = await git(repository, op, **arguments)
    assert outcome.error["type"] == "invalid_parameters" and not approver.asked


async def test_paths_are_names_and_no_patterns_or_options(repository, sample_vault):
    for path in ("*.md", ":(top)Home.md", "-A"):
        assert not (await git(repository, "add", paths=[path])).success
    assert by_hand(sample_vault, "diff", "--cached", "--name-only") == ""


async def test_only_the_vaults_own_repository_is_used(workspace, sample_vault):
    by_hand(sample_vault.parent, "init", "--quiet")
    workspace.change_vault_settings(VaultSettings(categories={"development": True}))
    assert (await git(workspace, "status")).error["type"] == "not_found"
    (sample_vault / ".git").write_text(f"gitdir: {sample_vault.parent / '.git'}\n")
    assert (await git(workspace, "status")).error["type"] == "not_found"
