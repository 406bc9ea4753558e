"""The `shell` tool: run a program on the vault.

In the sandbox, the program reads the vault's folder, or works on a copy if it may write or if files are
hidden from the caller. Without a sandbox, it also works on a copy, but can access everything that the user
can. If it may write, its changes to the copy are proposed like all others: the user sees them and can undo
them. Otherwise, and after a timeout, they are discarded.
"""

from __future__ import annotations

import asyncio
import json
import shlex
from typing import Annotated

from pydantic import Field

from app.errors import InvalidParametersError, NotFoundError, PermissionDeniedError
from app.permissions.approval import Effect
from app.permissions.impact import COMMAND
from app.permissions.pluralize import pluralize
from app.sandbox.bubblewrap import MAX_HIDDEN_PATHS, VAULT_MOUNT, BindMount
from app.sandbox.process import ProcessResult
from app.sandbox.sandbox import Sandbox, run_unsandboxed
from app.sandbox.staging_copy import StagingCopy
from app.toolkit.argument_types import FolderName
from app.toolkit.file_access import FileAccess, is_folder
from app.toolkit.proposal import EffectProposal, Proposal
from app.toolkit.result import ToolResult
from app.toolkit.services import DevelopmentContext
from app.toolkit.tool import tool
from app.toolkit.visible_files import VisibleFiles, find_visible_files
from app.vault.changes import ChangeSet
from app.vault.path import NotePath

DEFAULT_TIMEOUT_S = 10
MAX_TIMEOUT_S = 60

CommandArgument = Annotated[str, Field(max_length=10_000)]


class CommandDone(ToolResult):
    """The result of a command.

    `cut` means that its output is incomplete, `left_out` lists changed files that were not applied, with the
    reason.
    """

    exit_code: int
    output: str
    errors: str
    cut: bool
    timed_out: bool
    seconds: float
    sandbox: str
    changed: list[str]
    left_out: list[str]


@tool(
    category="development",
    examples=(
        "run the command {command}",
        "run the program {command} in the vault",
        "execute {command}",
        "start the shell command {command}",
    ),
    usage_rule=(
        "shell runs one program, without a shell: no pipes, globs or redirections. In the sandbox the vault"
        f" is {VAULT_MOUNT}, read-only unless `writes` is true; there is no network and no home folder."
    ),
    always_asks=True,
    timeout=60.0,
)
async def shell(
    context: DevelopmentContext,
    command: Annotated[str, Field(min_length=1, max_length=1000)],
    args: Annotated[list[CommandArgument], Field(max_length=500)] | None = None,
    cwd: FolderName = "",
    timeout: Annotated[int, Field(ge=1, le=MAX_TIMEOUT_S)] = DEFAULT_TIMEOUT_S,
    writes: bool = False,
) -> EffectProposal[CommandDone] | Proposal[CommandDone]:
    """Run a program on the vault, in a sandbox if this system has one.

    The program and its arguments are passed as a list, without a shell. With `writes` it works on a copy of
    the vault, and its changes are proposed to the user before they are applied.

    Args:
        command: The program: a name, or a path in the sandbox.
        args: The arguments, passed unchanged.
        cwd: The working folder in the vault; the vault's root if empty.
        timeout: The time limit in seconds, at most 60.
        writes: Allow changes to files, which are then proposed to the user.
    """
    argv = [command, *(args or ())]
    if any("\0" in word for word in argv):
        raise InvalidParametersError("A command argument can't contain a NUL character.")
    file_access, sandbox = context.services.file_access, context.services.sandbox
    folder = await asyncio.to_thread(_resolve_folder, context, file_access, cwd)
    files = await asyncio.to_thread(find_visible_files, file_access.root, context.vault)
    problem = await sandbox.problem()
    _check_shielded(problem, files)
    run = _CommandRun(context, file_access, sandbox, files, argv, folder, timeout, writes, problem)
    return context.propose_effect(_effect(run), run.carry_out)


class _CommandRun:
    """One run of a command."""

    def __init__(
        self,
        context: DevelopmentContext,
        file_access: FileAccess,
        sandbox: Sandbox,
        files: VisibleFiles,
        argv: list[str],
        folder: str,
        timeout: int,
        writes: bool,
        problem: str,
    ) -> None:
        self._context = context
        self._file_access = file_access
        self._sandbox = sandbox
        self._files = files
        self.argv = argv
        self.folder = folder
        self.timeout = timeout
        self.writes = writes
        self.problem = problem

    @property
    def sandbox_description(self) -> str:
        """A description of the sandbox."""
        if self.problem:
            return f"none ({self.problem}): it can do whatever you can"
        access = "a copy of the vault" if self.writes else "the vault read-only"
        return f"bubblewrap: {access}, no network, no home folder"

    async def carry_out(self) -> CommandDone | Proposal[CommandDone]:
        """Run the command, and propose its changes if it may write and ended in time.

        Visibility is checked again, because a note may have become private since the approval.

        Raises:
            PermissionDeniedError: There are hidden notes, and no sandbox.
            ConflictError: A file that the command changed has also changed in the vault.
            NotFoundError: A file that the command changed is no longer visible in the vault.
            LimitError: The vault is too large to copy, or the command wrote too much.
            StorageError: The command's files can't be read.
        """
        self._files = await asyncio.to_thread(find_visible_files, self._file_access.root, self._context.vault)
        _check_shielded(self.problem, self._files)
        hides_few_paths = len(self._files.hidden_files) + len(self._files.hidden_folders) <= MAX_HIDDEN_PATHS
        # A mount hides the content of a file but not its name, so hidden notes need a copy without them.
        if not self.writes and not self.problem and hides_few_paths and not self._files.has_hidden:
            mount = BindMount(
                self._file_access.root,
                hidden_files=self._files.hidden_files,
                hidden_folders=self._files.hidden_folders,
            )
            return self._result(await self._sandbox.run(mount, self.argv, self.folder, self.timeout))
        return await self._run_on_copy()

    async def _run_on_copy(self) -> CommandDone | Proposal[CommandDone]:
        vault = self._context.vault
        staging_copy = StagingCopy()
        try:
            await asyncio.to_thread(staging_copy.copy_files, vault, self._files.visible, self.folder)
            if self.problem:
                folder = str(staging_copy.folder / self.folder)
                result = await run_unsandboxed(self.argv, folder, str(staging_copy.home), self.timeout)
            else:
                mount = BindMount(str(staging_copy.folder), writable=self.writes)
                result = await self._sandbox.run(mount, self.argv, self.folder, self.timeout)
            if not self.writes or result.timed_out:
                return self._result(result)
            summary = f"Changes by “{shlex.join(self.argv)}”"
            command_changes = await asyncio.to_thread(staging_copy.changes, vault, summary)
        finally:
            await asyncio.shield(asyncio.to_thread(staging_copy.remove))
        return self._context.propose(
            command_changes.change_set,
            lambda committed: self._result(result, committed, command_changes.left_out),
        )

    def _result(
        self, result: ProcessResult, committed: ChangeSet | None = None, left_out: tuple[str, ...] = ()
    ) -> CommandDone:
        changes = committed.changes if committed else ()
        ending = (
            f"was stopped after {self.timeout} s"
            if result.timed_out
            else f"exited with status {result.exit_code}"
        )
        discarded = " Its changes were discarded." if self.writes and result.timed_out else ""
        message = f"{self.argv[0]} {ending}.{discarded}"
        if changes:
            message += f" It changed {pluralize(len(changes), 'file')}."
        if self.problem:
            message += f" There was no sandbox: {self.problem}."
        return CommandDone(
            exit_code=result.exit_code,
            output=result.output.decode("utf-8", "replace"),
            errors=result.errors.decode("utf-8", "replace"),
            cut=result.cut,
            timed_out=result.timed_out,
            seconds=round(result.seconds, 3),
            sandbox=self.sandbox_description,
            changed=[str(change.path) for change in changes],
            left_out=list(left_out),
            message=message,
        )


def _check_shielded(problem: str, files: VisibleFiles) -> None:
    """Check that a command can't read notes that its caller may not see.

    Raises:
        PermissionDeniedError: There are such notes, and no sandbox.
    """
    if problem and files.has_hidden:
        raise PermissionDeniedError(
            f"There is no sandbox ({problem}), and without one the command could read notes that are hidden"
            " from you. It was not run.",
            sandbox=problem,
        )


def _effect(run: _CommandRun) -> Effect:
    line = shlex.join(run.argv)
    text = f"Run {line}" + (" on a copy of the vault" if run.writes or run.problem else "")
    if run.problem:
        text += ", without a sandbox"
    if run.writes:
        write_access = "its changes to a copy of the vault are shown to you before they are applied"
    else:
        write_access = "its changes to a copy of the vault are discarded" if run.problem else "none"
    if run.problem:
        write_access += "; nothing prevents it from changing other files"
    arguments = (
        ("command", json.dumps(run.argv, ensure_ascii=False)),
        ("folder", run.folder or "the vault's folder"),
        ("time limit", f"{run.timeout} s"),
        ("sandbox", run.sandbox_description),
        ("writes", write_access),
    )
    return Effect(COMMAND, text, arguments)


def _resolve_folder(context: DevelopmentContext, file_access: FileAccess, cwd: str) -> str:
    """Return the working folder, relative to the vault.

    Raises:
        InvalidPathError: The path is not valid.
        PermissionDeniedError: The folder is outside the vault, or no tool may read it.
        NotFoundError: There is no such folder, or it is hidden from the caller.
    """
    location = file_access.resolve(cwd)
    if location.vault_path is None:
        raise PermissionDeniedError(f"{cwd} is outside the vault. Commands can only run inside it.", cwd=cwd)
    is_hidden = bool(location.vault_path) and context.vault.hides_folder(
        NotePath.on_disk(location.vault_path)
    )
    if is_hidden or not is_folder(location.real_path):
        raise NotFoundError(f"The vault has no folder {cwd!r}.", cwd=cwd)
    return location.vault_path
