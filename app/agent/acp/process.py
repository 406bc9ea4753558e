"""The process of an external agent: start it, keep the end of its error output, stop its process group."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from app.errors import NotFoundError
from app.processes.child import ChildProcess
from app.settings import AgentProgram

MAX_MESSAGE_BYTES = 50 * 1024 * 1024
"""The size limit of a protocol message, which is one line."""
_MAX_STDERR_BYTES = 8 * 1024
_TERMINATE_TIMEOUT_S = 2.0
_INHERITED_VARIABLES = (
    # Without these, a program can't find its own files or its stored login.
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    # For browser logins and the desktop's keyring.
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "BROWSER",
    # Proxies and certificates.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    # Windows.
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "USERPROFILE",
    "USERNAME",
    "HOMEDRIVE",
    "HOMEPATH",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "COMSPEC",
    "PATHEXT",
    "TEMP",
    "TMP",
    "PROCESSOR_ARCHITECTURE",
)


def process_environment(names: Iterable[str]) -> dict[str, str]:
    """Return a program's environment: the variables that every program inherits, and those in `names`."""
    wanted_names = dict.fromkeys((*_INHERITED_VARIABLES, *names))
    return {name: os.environ[name] for name in wanted_names if name in os.environ}


def _resolve_command(command: str) -> str:
    """Return the absolute path of a program; a bare name never matches a file in the working folder.

    Raises:
        NotFoundError: There is no such program.
    """
    path = shutil.which(command)
    if path is None:
        raise NotFoundError(f"There is no program “{command}”.", program=command)
    return str(Path(path).absolute())


class ProgramProcess:
    """A running program; `start` creates it.

    `stdin` and `stdout` carry the protocol. Standard error is read continuously, so that the program never
    blocks on it; its end is kept to explain why the program exited.
    """

    def __init__(self, process: ChildProcess) -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._process = process
        self.stdin = process.stdin
        self.stdout = process.stdout
        self._stderr = bytearray()
        self._reading = asyncio.create_task(self._read_errors(process.stderr), name="read errors")

    @classmethod
    async def start(cls, program: AgentProgram, cwd: Path) -> ProgramProcess:
        """Start `program` in the folder `cwd` as the leader of its own process group.

        Raises:
            NotFoundError: There is no such program.
            StorageError: The program cannot be started.
        """
        command = await asyncio.to_thread(_resolve_command, program.command)
        return cls(
            await ChildProcess.start(
                (command, *program.arguments),
                cwd=cwd,
                environment=process_environment(program.variables),
                line_limit=MAX_MESSAGE_BYTES,
            )
        )

    @property
    def exit_status(self) -> int | None:
        """The exit code, negative for a signal; None while the program runs."""
        return self._process.exit_status

    @property
    def stderr_tail(self) -> str:
        """The end of the program's standard error."""
        return self._stderr.decode("utf-8", "replace").strip()

    async def wait_ended(self, within: float) -> bool:
        """Wait up to `within` seconds; return whether the program exited."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._process.wait()
                await asyncio.shield(self._reading)
        return self._process.exit_status is not None

    async def terminate(self, *, immediately: bool = False) -> None:
        """Stop the program and its child processes.

        Close its input, wait a moment unless `immediately`, and kill its process group.
        """
        try:
            await self._process.stop(0.0 if immediately else _TERMINATE_TIMEOUT_S)
        finally:
            await asyncio.shield(asyncio.ensure_future(self._end_reading()))

    async def _end_reading(self) -> None:
        done, _ = await asyncio.wait({self._reading}, timeout=_TERMINATE_TIMEOUT_S)
        if not done:
            # Do not wait for a process that left the group and still holds the pipe.
            self._reading.cancel()
            await asyncio.wait({self._reading})

    async def _read_errors(self, stream: asyncio.StreamReader) -> None:
        while part := await stream.read(4096):
            self._stderr += part
            del self._stderr[:-_MAX_STDERR_BYTES]
