"""Start and stop child processes: each has its own process group and is stopped with all its descendants."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from app.errors import NotFoundError, StorageError

_REAP_TIMEOUT_S = 5.0
_LINE_LIMIT_BYTES = 64 * 1024


class ChildProcess:
    """A running child process; `start` creates it, and `stop` ends and reaps it.

    `stdin`, `stdout` and `stderr` are None where the process has no pipe.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.stdin = process.stdin
        self.stdout = process.stdout
        self.stderr = process.stderr

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        cwd: str | Path | None = None,
        has_input: bool = True,
        has_errors: bool = True,
        line_limit: int = _LINE_LIMIT_BYTES,
        low_priority: bool = False,
    ) -> ChildProcess:
        """Start a program without a shell, as the leader of its own process group.

        Args:
            command: The program (a name on the path, or a path) and its arguments, passed unchanged.
            environment: The whole environment.
            cwd: The working folder; by default that of this process.
            has_input: Whether standard input is a pipe; otherwise it is empty.
            has_errors: Whether standard error is a pipe; otherwise it is discarded.
            line_limit: Maximum bytes of a line read from the pipes.
            low_priority: Lower its priority on Windows; elsewhere, a program must lower its own.

        Raises:
            NotFoundError: There is no such program or working folder.
            StorageError: The program can't be started.
        """
        pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        flags = 0
        if sys.platform == "win32":
            flags = subprocess.CREATE_NO_WINDOW
            flags |= subprocess.BELOW_NORMAL_PRIORITY_CLASS if low_priority else 0
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=cwd,
                env=dict(environment),
                stdin=pipe if has_input else nothing,
                stdout=pipe,
                stderr=pipe if has_errors else nothing,
                limit=line_limit,
                start_new_session=True,
                creationflags=flags,
            )
        except FileNotFoundError as error:
            if cwd is not None and not Path(cwd).is_dir():
                raise NotFoundError(f"There is no folder {str(cwd)!r}.", path=str(cwd)) from error
            raise NotFoundError(f"There is no program “{command[0]}”.", program=command[0]) from error
        except (OSError, ValueError) as error:
            raise StorageError(f"{command[0]} can't be started: {error}") from error
        return cls(process)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def exit_status(self) -> int | None:
        """The exit status, negative for a signal; None while the process runs."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait until the process ends, and return its exit status."""
        return await self._process.wait()

    async def ends_within(self, seconds: float) -> bool:
        """Wait at most `seconds` for the process to end; return whether it has ended."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._process.wait()
        return self._process.returncode is not None

    async def stop(self, grace: float = 0.0, *, terminate: bool = False) -> None:
        """Close its input, wait up to `grace` seconds, then kill it and its children, and reap it.

        Args:
            grace: Seconds to wait for it to end.
            terminate: If it has not ended by then, send SIGTERM to its group and wait up to `grace` seconds
                again.
        """
        descendants = self._descendants()
        try:
            if self.stdin is not None:
                self.stdin.close()
            if grace and not await self.ends_within(grace) and terminate:
                self._terminate_group()
                await self.ends_within(grace)
        finally:
            self.kill()
            _kill_all(descendants)
            await asyncio.shield(asyncio.ensure_future(self._reap()))

    def kill(self) -> None:
        """Kill the process, its children and its process group."""
        descendants = self._descendants()
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        _kill_all(descendants)

    def _descendants(self) -> list[psutil.Process]:
        """Return its descendants, including those that left its group; none once it has ended."""
        if self._process.returncode is None:
            with suppress(psutil.Error):
                return list(psutil.Process(self._process.pid).children(recursive=True))
        return []

    def _terminate_group(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGTERM)
            else:
                self._process.terminate()

    async def _reap(self) -> None:
        try:
            async with asyncio.timeout(_REAP_TIMEOUT_S):
                await self._process.wait()
        except TimeoutError:
            # A process that escaped still holds the pipes: close asyncio's transport without waiting.
            self._process._transport.close()  # type: ignore[attr-defined]
        if self.stdin is not None:
            with suppress(OSError):
                await self.stdin.wait_closed()


def _kill_all(processes: list[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.Error):
            process.kill()
