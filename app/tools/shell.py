"""The tool shell: run a program on the vault.

The program never writes into the vault. It sees the vault read-only, or works on a copy; its changes to the
copy are proposed like every other change: shown, journaled, undone.
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
from app.toolkit.visible_files import VisibleFiles, visible_files
from app.vault.changes import ChangeSet
from app.vault.path import NotePath

DEFAULT_TIMEOUT_S, MAX_TIMEOUT_S = 10, 60

Word = Annotated[str, Field(max_length=10_000)]


class CommandDone(ToolResult):
    """The result of a command. `left_out` lists changed files that were not applied."""

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
    args: Annotated[list[Word], Field(max_length=500)] | None = None,
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
        writes: Allow changes of files, which are then proposed to the user.
    """
    line = [command, *(args or ())]
    if any("\0" in word for word in line):
        raise InvalidParametersError("An argument of a command can't hold a NUL character.")
    disk, sandbox = context.services.file_access, context.services.sandbox
    folder = await asyncio.to_thread(_folder, context, disk, cwd)
    files = await asyncio.to_thread(visible_files, disk.root, context.vault)
    problem = await sandbox.problem()
    _check_shielded(problem, files)
    run = _Run(context, disk, sandbox, files, line, folder, timeout, writes, problem)
    return context.propose_effect(_effect(run), run.carry_out)


class _Run:
    """One run of a command."""

    def __init__(
        self,
        context: DevelopmentContext,
        disk: FileAccess,
        sandbox: Sandbox,
        files: VisibleFiles,
        line: list[str],
        folder: str,
        timeout: int,
        writes: bool,
        problem: str,
    ) -> None:
        self.line, self.folder, self.timeout, self.writes, self.problem = (
            line,
            folder,
            timeout,
            writes,
            problem,
        )
        self._context, self._disk, self._sandbox, self._files = context, disk, sandbox, files

    @property
    def sandbox_description(self) -> str:
        """The sandbox in words."""
        if self.problem:
            return f"none ({self.problem}): it can do whatever you can"
        how = "a copy of the vault" if self.writes else "the vault read-only"
        return f"bubblewrap: {how}, no network, no home folder"

    async def carry_out(self) -> CommandDone | Proposal[CommandDone]:
        """Run the command and propose its changes.

        Visibility is checked again, because a note may have become private since the approval.
        """
        self._files = await asyncio.to_thread(visible_files, self._disk.root, self._context.vault)
        _check_shielded(self.problem, self._files)
        few = len(self._files.hidden_files) + len(self._files.hidden_folders) <= MAX_HIDDEN_PATHS
        # The names of covered files are visible, so hidden notes are left out.
        if not self.writes and not self.problem and few and not self._files.has_hidden:
            bound = BindMount(
                self._disk.root,
                hidden_files=self._files.hidden_files,
                hidden_folders=self._files.hidden_folders,
            )
            return self._result(await self._sandbox.run(bound, self.line, self.folder, self.timeout))
        return await self._on_a_copy()

    async def _on_a_copy(self) -> CommandDone | Proposal[CommandDone]:
        vault = self._context.vault
        bench = StagingCopy()
        try:
            await asyncio.to_thread(bench.copy_files, vault, self._files.shown, self.folder)
            if self.problem:
                folder = str(bench.folder / self.folder)
                done = await run_unsandboxed(self.line, folder, str(bench.home), self.timeout)
            else:
                bound = BindMount(str(bench.folder), writable=self.writes)
                done = await self._sandbox.run(bound, self.line, self.folder, self.timeout)
            if not self.writes or done.timed_out:
                return self._result(done)
            summary = f"What “{shlex.join(self.line)}” changed"
            outcome = await asyncio.to_thread(bench.changes, vault, summary)
        finally:
            await asyncio.shield(asyncio.to_thread(bench.remove))
        return self._context.propose(
            outcome.change_set, lambda committed: self._result(done, committed, outcome.left_out)
        )

    def _result(
        self, done: ProcessResult, committed: ChangeSet | None = None, left_out: tuple[str, ...] = ()
    ) -> CommandDone:
        changes = committed.changes if committed else ()
        ended = (
            f"was stopped after {self.timeout} s"
            if done.timed_out
            else f"ended with exit status {done.exit_code}"
        )
        discarded = " Its output files were discarded." if self.writes and done.timed_out else ""
        message = f"{self.line[0]} {ended}.{discarded}"
        if changes:
            message += f" It changed {pluralize(len(changes), 'file')}."
        if self.problem:
            message += f" There was no sandbox: {self.problem}."
        return CommandDone(
            exit_code=done.exit_code,
            output=done.output.decode("utf-8", "replace"),
            errors=done.errors.decode("utf-8", "replace"),
            cut=done.cut,
            timed_out=done.timed_out,
            seconds=round(done.seconds, 3),
            sandbox=self.sandbox_description,
            changed=[str(change.path) for change in changes],
            left_out=list(left_out),
            message=message,
        )


def _check_shielded(problem: str, files: VisibleFiles) -> None:
    """Check that a command can't read notes that its caller may not see.

    Raises:
        PermissionDeniedError: there are such notes, and no sandbox.
    """
    if problem and files.has_hidden:
        raise PermissionDeniedError(
            f"There is no sandbox ({problem}), and without one the command could read notes that are hidden"
            " from you. It was not run.",
            sandbox=problem,
        )


def _effect(run: _Run) -> Effect:
    line = shlex.join(run.line)
    text = f"Run {line}" + (" on a copy of the vault" if run.writes or run.problem else "")
    if run.problem:
        text += ", without a sandbox"
    writes = "it can't change the vault"
    if run.writes:
        writes = "what it changes is shown to you before it is written"
    if run.problem:
        writes += "; without a sandbox nothing holds it to that"
    shown = (
        ("command", json.dumps(run.line, ensure_ascii=False)),
        ("in", run.folder or "the vault's folder"),
        ("time limit", f"{run.timeout} s"),
        ("sandbox", run.sandbox_description),
        ("writes", writes),
    )
    return Effect(COMMAND, text, shown)


def _folder(context: DevelopmentContext, disk: FileAccess, cwd: str) -> str:
    """Return the working folder, relative to the vault."""
    location = disk.resolve(cwd)
    if location.inside is None:
        raise PermissionDeniedError(f"{cwd} is not in the vault, where commands run.", cwd=cwd)
    hidden = bool(location.inside) and context.vault.hides_folder(NotePath.on_disk(location.inside))
    if hidden or not is_folder(location.real):
        raise NotFoundError(f"The vault has no folder {cwd!r}.", cwd=cwd)
    return location.inside
