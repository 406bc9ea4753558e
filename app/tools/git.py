"""The git tool: show the state and history of the vault's repository, and stage and commit files."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from app.errors import InvalidParametersError, NotFoundError, ScriptoriumError
from app.permissions.approval import Effect
from app.permissions.impact import COMMAND
from app.permissions.pluralize import pluralize
from app.sandbox.git import Repository
from app.toolkit.proposal import EffectProposal
from app.toolkit.result import ToolResult
from app.toolkit.services import DevelopmentContext
from app.toolkit.tool import tool
from app.vault.markdown.privacy import HEAD_BYTES, is_private
from app.vault.path import NotePath

GitOperation = Literal["status", "log", "diff", "add", "commit", "branch"]
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}")
_MAX_OUTPUT_CHARS = 200_000


class GitAnswer(ToolResult):
    """Output of git; status and diff leave out files that the caller may not see."""

    output: str


@tool(
    category="development",
    examples={
        "status": ("git status", "what has changed in the repository", "show the state of the repository"),
        "log": ("git log", "show the commits of the repository", "list the latest git commits"),
        "diff": ("git diff", "show what changed since the last git commit"),
        "add": ("git add {paths}", "stage {paths} for the next git commit"),
        "commit": ("git commit with the message {message}", "make a git commit saying {message}"),
        "branch": ("git branch", "which git branches are there"),
    },
    operations={
        "status": "",
        "log": "limit?",
        "diff": "paths? staged?",
        "add": "paths",
        "commit": "message",
        "branch": "name?",
    },
    usage_rule="git never changes files in the vault: it can't check out, reset, merge or pull.",
    always_asks=True,
)
async def git(
    context: DevelopmentContext,
    op: GitOperation,
    paths: Annotated[list[str], Field(min_length=1, max_length=500)] | None = None,
    staged: bool | None = None,
    message: Annotated[str, Field(min_length=1, max_length=10_000)] | None = None,
    name: Annotated[str, Field(min_length=1, max_length=100)] | None = None,
    limit: Annotated[int, Field(ge=1, le=1000)] | None = None,
) -> EffectProposal[GitAnswer]:
    """Use the vault's git repository. Hooks, filters and other programs from the repository are not run.

    Args:
        op: The operation.
        paths: The files, relative to the vault.
        staged: For diff: show staged instead of unstaged changes.
        message: For commit: the message.
        name: For branch: a new branch to create at the current commit; without a name, the branches are
            listed.
        limit: For log: the maximum number of commits; 20 by default.
    """
    repository = _repository(context)
    files = [str(NotePath.parse(path)) for path in paths or ()]
    commands = _GitCommands(context, repository, files)
    plans: dict[str, tuple[list[str], Callable[[], Awaitable[GitAnswer]]]] = {
        "status": (["status"], commands.status),
        "log": (["log", f"--max-count={limit or 20}"], lambda: commands.log(limit or 20)),
        "diff": (
            ["diff", *(["--cached"] if staged else []), "--", *files],
            lambda: commands.diff(bool(staged)),
        ),
        "add": (["add", "--", *files], commands.add),
        "commit": (["commit", "-m", message or ""], lambda: commands.commit(message or "")),
        "branch": (["branch", *([_check_branch_name(name)] if name else [])], lambda: commands.branch(name)),
    }
    arguments, run = plans[op]
    effect_arguments = (
        ("command", json.dumps(["git", *arguments], ensure_ascii=False)),
        ("repository", "the vault's own"),
        ("sandbox", "none, but no programs from the repository are run"),
    )
    effect = Effect(COMMAND, f"Run git {' '.join(arguments)}".rstrip(" -"), effect_arguments)
    return context.propose_effect(effect, run)


class _GitCommands:
    """Operations on one repository; file names and contents are limited to what the caller may see."""

    def __init__(self, context: DevelopmentContext, repository: Repository, files: list[str]) -> None:
        self._vault = context.vault
        self._hides_private = context.caller.uses_model
        self._repository = repository
        self._root = repository.root
        self._files = files

    async def status(self) -> GitAnswer:
        """Return the branch and the changed files."""
        text = await self._repository.run_text(
            "status",
            "--porcelain=v1",
            "--branch",
            "-z",
            "--no-renames",
            "--untracked-files=all",
            "--ignore-submodules=all",
        )
        rows = [row for row in text.split("\0") if row]
        visible = [
            row for row in rows if row.startswith("## ") or await self._is_visible(row[3:], row[:2] != "??")
        ]
        file_count = len(visible) - 1
        message = (
            f"{pluralize(file_count, 'file differs', 'files differ')}." if file_count else "No files differ."
        )
        return _git_result("\n".join(visible), message)

    async def log(self, limit: int) -> GitAnswer:
        """Return the latest commits."""
        text = await self._repository.run_text(
            "log",
            f"--max-count={limit}",
            "--no-show-signature",
            "--date=iso-strict",
            "--format=%h %ad %an: %s",
        )
        return _git_result(text, f"{pluralize(len(text.splitlines()), 'commit')}.")

    async def diff(self, staged: bool) -> GitAnswer:
        """Return the staged or unstaged changes in the visible files."""
        options = ["--cached"] if staged else []
        safe_options = ["--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=all"]
        output = await self._repository.run_text(
            "diff", *options, *safe_options, "--name-only", "-z", "--", *self._files
        )
        names = [name for name in output.split("\0") if name]
        visible = [name for name in names if await self._is_visible(name)]
        text = ""
        if visible:
            result = await self._repository.run(["diff", *options, *safe_options, "--", *visible])
            text = result.output.decode("utf-8", "replace")
        return _git_result(text, f"{pluralize(len(visible), 'file differs', 'files differ')}.")

    async def add(self) -> GitAnswer:
        """Stage the files.

        Raises:
            InvalidParametersError: a file uses a filter, which would run a program from the repository.
            NotFoundError: a file does not exist, or the caller may not see it.
        """
        filters = await self._repository.run_text("check-attr", "-z", "filter", "--", *self._files)
        parts = filters.split("\0")
        for name, value in zip(parts[0::3], parts[2::3], strict=False):
            if value not in ("unspecified", "unset"):
                raise InvalidParametersError(
                    f"{name} uses the repository's filter {value!r}, and a repository's programs are not run"
                    " here. Nothing was staged. Add the file with git itself.",
                    path=name,
                )
        for name in self._files:
            # git's own error for a missing file would differ from that for a hidden one.
            if not (await self._is_visible(name) and await self._exists(name)):
                raise NotFoundError(f"There is no file {name}.", path=name)
        await self._repository.run_text("add", "--", *self._files)
        return _git_result("", f"Staged {', '.join(self._files)}.")

    async def commit(self, message: str) -> GitAnswer:
        """Commit the staged changes.

        Raises:
            InvalidParametersError: nothing is staged.
        """
        if not (
            await self._repository.run(["diff", "--cached", "--quiet", "--ignore-submodules=all"])
        ).exit_code:
            # git's own message would list files that can be added, including hidden ones.
            raise InvalidParametersError("Nothing is staged, so there is nothing to commit: add files first.")
        author = await self._repository.author()
        text = await self._repository.run_text(
            "commit",
            "--no-verify",
            "--no-gpg-sign",
            "--quiet",
            "--cleanup=strip",
            "-m",
            message,
            author=author,
        )
        created = await self._repository.run_text(
            "log", "--max-count=1", "--no-show-signature", "--format=%h %s"
        )
        return _git_result(text, f"Committed {created.strip()}.")

    async def branch(self, name: str | None) -> GitAnswer:
        """List the branches, or create one."""
        if name:
            await self._repository.run_text("branch", "--no-track", _check_branch_name(name))
            return _git_result("", f"Created the branch {name}; the current branch is unchanged.")
        text = await self._repository.run_text("branch", "--list", "--no-color", "--no-column")
        return _git_result(text, f"{pluralize(len(text.splitlines()), 'branch', 'branches')}.")

    async def _exists(self, name: str) -> bool:
        """Return whether a file or folder with this name exists or is tracked."""
        if await asyncio.to_thread(os.path.lexists, Path(self._root, name)):
            return True
        return bool(await self._repository.run_text("ls-files", "-z", "--", name))

    async def _is_visible(self, name: str, tracked: bool = True) -> bool:
        """Return whether the caller may see the current, staged and last committed versions of a file."""
        path = NotePath.on_disk(name)
        if not self._vault.can_see(path) or await asyncio.to_thread(self._vault.hides_folder, path):
            return False
        if not self._hides_private or not path.is_note:
            return True
        try:
            if await asyncio.to_thread(self._vault.exists, path):
                await asyncio.to_thread(self._vault.read, path)
        except ScriptoriumError:
            return False
        for blob in (f":{name}", f"HEAD:{name}") if tracked else ():
            result = await self._repository.run(["cat-file", "blob", blob], max_output=HEAD_BYTES)
            is_truncated = len(result.output) >= HEAD_BYTES
            if result.exit_code == 0 and is_private(result.output, complete=not is_truncated):
                return False
        return True


def _repository(context: DevelopmentContext) -> Repository:
    program = shutil.which("git")
    if program is None:
        raise NotFoundError("git is not installed on this computer.")
    return Repository(Path(context.services.file_access.root), program)


def _check_branch_name(name: str) -> str:
    if not _BRANCH.fullmatch(name) or ".." in name or name.endswith(("/", ".lock", ".")):
        raise InvalidParametersError(f"{name!r} is not a valid branch name.", name=name)
    return name


def _git_result(text: str, message: str) -> GitAnswer:
    return GitAnswer(output=text[:_MAX_OUTPUT_CHARS], message=message)
