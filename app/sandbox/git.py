"""Run git on the vault's repository so that the repository itself can't start any program.

A vault may be untrusted, and a repository's configuration can name programs for nearly everything: hooks,
filters, pagers, editors, monitors, signatures, transports. All of them are disabled by the environment,
which overrides the configuration.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.errors import InvalidParametersError, NotFoundError, StorageError
from app.sandbox.process import ProcessResult, run_program

MAX_OUTPUT_BYTES = 256 * 1024
COMMAND_TIMEOUT_S = 30.0

_SAFE_CONFIG = {
    "color.ui": "false",
    "commit.gpgSign": "false",
    "core.alternateRefsCommand": "",
    "core.askPass": "",
    "core.editor": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "core.quotePath": "false",
    "core.sshCommand": "false",
    "credential.helper": "",
    "diff.external": "",
    "gc.auto": "0",
    "gpg.program": "false",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "protocol.ext.allow": "never",
    "status.submoduleSummary": "false",
    "submodule.recurse": "false",
}
_PROGRAM_SETTINGS = r"^(filter\..*\.(clean|smudge|process)|diff\..*\.(command|textconv)|merge\..*\.driver)$"
_DEFAULT_AUTHOR = ("Scriptorium", "scriptorium@localhost")


class Repository:
    """The repository in a vault's own `.git` folder, never one of a parent folder.

    Args:
        root: The vault's folder.
        program: The path of git.
    """

    def __init__(self, root: Path, program: str) -> None:
        self._root = str(root)
        self._program = program
        self._program_overrides: dict[str, str] | None = None

    @property
    def root(self) -> str:
        """The vault's folder."""
        return self._root

    @property
    def exists(self) -> bool:
        """True if the vault has its own repository; a `.git` file or link does not count."""
        folder = Path(self._root, ".git")
        return folder.is_dir() and not folder.is_symlink()

    async def run(
        self,
        arguments: Sequence[str],
        *,
        max_output: int = MAX_OUTPUT_BYTES,
        author: tuple[str, str] = _DEFAULT_AUTHOR,
    ) -> ProcessResult:
        """Run `git`; the caller checks whether it failed or timed out.

        Args:
            arguments: The command and its arguments, such as ("log", "--oneline").
            max_output: Maximum bytes of output to keep.
            author: Name and email address for a commit.

        Raises:
            NotFoundError: the vault has no repository, or git is not installed.
            StorageError: git can't be started, or the repository's configuration is too long to check.
        """
        if not self.exists:
            raise NotFoundError("The vault has no git repository of its own (a .git folder at its root).")
        if self._program_overrides is None:
            self._program_overrides = await self._read_program_overrides()
        return await self._git(arguments, max_output, author, {**_SAFE_CONFIG, **self._program_overrides})

    async def run_text(self, *arguments: str, author: tuple[str, str] = _DEFAULT_AUTHOR) -> str:
        """Run `git` and return its output, at most `MAX_OUTPUT_BYTES`.

        Raises:
            NotFoundError: as in `run`.
            InvalidParametersError: git failed; the message contains its output.
            StorageError: as in `run`, or git timed out.
        """
        result = await self.run(arguments, author=author)
        if result.timed_out:
            raise StorageError(
                f"git {arguments[0]} took longer than {COMMAND_TIMEOUT_S:g} s and was stopped."
            )
        if result.exit_code:
            message = (result.errors or result.output).decode("utf-8", "replace").strip()
            raise InvalidParametersError(f"git {arguments[0]}: {message}", exit_code=result.exit_code)
        # File names that are not UTF-8 keep their bytes, so that they still match the files.
        return result.output.decode("utf-8", "surrogateescape")

    async def author(self) -> tuple[str, str]:
        """Return the name and email address in the user's git configuration; by default, the app's.

        Raises:
            NotFoundError: git is not installed.
            StorageError: git can't be started.
        """
        identity = []
        for name, default in zip(("user.name", "user.email"), _DEFAULT_AUTHOR, strict=True):
            arguments = [self._program, "config", "--global", "--includes", "--get", name]
            result = await run_program(
                arguments,
                cwd=self._root,
                environment=_user_environment(),
                timeout=COMMAND_TIMEOUT_S,
                max_output=1000,
            )
            identity.append(result.output.decode("utf-8", "replace").strip() or default)
        return identity[0], identity[1]

    async def _read_program_overrides(self) -> dict[str, str]:
        """Return settings that disable the filters, drivers and converters in the configuration."""
        listing = ["config", "--includes", "--name-only", "-z", "--get-regexp", _PROGRAM_SETTINGS]
        result = await self._git(listing, MAX_OUTPUT_BYTES, _DEFAULT_AUTHOR, _SAFE_CONFIG)
        if result.cut:
            raise StorageError("The repository's configuration is too long to check, so git was not run.")
        overrides: dict[str, str] = {}
        for name in result.output.decode("utf-8", "surrogateescape").split("\0"):
            if not name:
                continue
            overrides[name] = ""
            if name.startswith("filter."):
                overrides[f"{name.rpartition('.')[0]}.required"] = "false"
        return overrides

    async def _git(
        self, arguments: Sequence[str], max_output: int, author: tuple[str, str], config: Mapping[str, str]
    ) -> ProcessResult:
        command = [
            self._program,
            "--no-pager",
            "--literal-pathspecs",
            "--no-optional-locks",
            f"--git-dir={Path(self._root, '.git')}",
            f"--work-tree={self._root}",
            *arguments,
        ]
        return await run_program(
            command,
            cwd=self._root,
            environment=_environment(config, author),
            timeout=COMMAND_TIMEOUT_S,
            max_output=max_output,
        )


def _environment(config: Mapping[str, str], author: tuple[str, str]) -> dict[str, str]:
    """Return git's environment: only the repository's configuration, overridden by `config`."""
    environment = {
        **_user_environment(),
        "HOME": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_EDITOR": "false",
        "GIT_PAGER": "cat",
        "GIT_AUTHOR_NAME": author[0],
        "GIT_AUTHOR_EMAIL": author[1],
        "GIT_COMMITTER_NAME": author[0],
        "GIT_COMMITTER_EMAIL": author[1],
        "GIT_CONFIG_COUNT": str(len(config)),
        "LC_ALL": "C.UTF-8",
    }
    for number, (name, value) in enumerate(config.items()):
        environment[f"GIT_CONFIG_KEY_{number}"] = name
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return environment


def _user_environment() -> dict[str, str]:
    names = ("PATH", "HOME", "XDG_CONFIG_HOME", *(("SYSTEMROOT",) if sys.platform == "win32" else ()))
    return {name: os.environ[name] for name in names if name in os.environ}
