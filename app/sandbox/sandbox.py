"""Run programs in bubblewrap, or explain why there is no sandbox."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from app.errors import NotFoundError, ScriptoriumError
from app.sandbox.bubblewrap import PATH, BindMount, sandbox_arguments
from app.sandbox.process import ProcessResult, run_program
from app.sandbox.resource_limits import WITHOUT_SANDBOX, with_limits

_PROBE_TIMEOUT_S = 10.0


class Sandbox:
    """Runs commands in bubblewrap.

    Args:
        bwrap: The path of bubblewrap; None to search for it, empty to disable the sandbox.
    """

    def __init__(self, bwrap: str | None = None) -> None:
        self._bwrap = bwrap
        self._problem: str | None = None
        self._probe_lock = asyncio.Lock()

    async def problem(self) -> str:
        """Return the reason why there is no sandbox, or an empty string if there is one. Tested only once."""
        async with self._probe_lock:
            if self._problem is None:
                self._problem = await self._probe()
        return self._problem

    async def run(self, mount: BindMount, command: Sequence[str], cwd: str, timeout: float) -> ProcessResult:
        """Run a command in the sandbox, with `mount` as the vault; check `problem` first.

        Args:
            mount: The folder to mount as the vault.
            command: The program and its arguments, passed unchanged.
            cwd: The folder in the vault to run in; empty for the vault itself.
            timeout: The time limit in seconds.

        Raises:
            NotFoundError, StorageError: bubblewrap can't be started.
        """
        return await _run_in_bubblewrap(self._bwrap or "bwrap", mount, command, cwd, timeout)

    async def _probe(self) -> str:
        if self._bwrap is None:
            self._bwrap = shutil.which("bwrap") or ""
        if not self._bwrap:
            if sys.platform.startswith("linux"):
                return "bubblewrap (bwrap) is not installed"
            return "the sandbox is available only on Linux"
        try:
            # Any readable folder will do for the test; bubblewrap's own certainly exists.
            mount = BindMount(str(Path(self._bwrap).parent))
            result = await _run_in_bubblewrap(self._bwrap, mount, ["true"], "", _PROBE_TIMEOUT_S)
        except ScriptoriumError as error:
            return error.message
        if result.exit_code == 0:
            return ""
        message = result.errors.decode("utf-8", "replace").strip().partition("\n")[0]
        return f"bubblewrap does not work here ({message or f'exit status {result.exit_code}'})"


async def run_unsandboxed(command: Sequence[str], folder: str, home: str, timeout: float) -> ProcessResult:
    """Run a command without a sandbox, with all of the user's rights.

    Its environment has only the app's search path and language, the system folder on Windows, and `home` as
    the home and temporary folder.

    Raises:
        NotFoundError: there is no such program or folder.
        StorageError: the program can't be started.
    """
    environment = {
        "PATH": os.environ.get("PATH", PATH),
        "HOME": home,
        "TMPDIR": home,
        "LANG": os.environ.get("LANG", "C.UTF-8"),
    }
    if sys.platform == "win32":
        # Programs on Windows don't start without it.
        environment["SYSTEMROOT"] = os.environ.get("SYSTEMROOT", "")
    if os.sep not in command[0] and shutil.which(command[0], path=environment["PATH"]) is None:
        raise NotFoundError(f"There is no program “{command[0]}”.", program=command[0])
    limited_command = with_limits(command, WITHOUT_SANDBOX)
    return await run_program(limited_command, cwd=folder, environment=environment, timeout=timeout)


async def _run_in_bubblewrap(
    bwrap: str, mount: BindMount, command: Sequence[str], cwd: str, timeout: float
) -> ProcessResult:
    arguments, input_data = sandbox_arguments(bwrap, mount, command, cwd)
    environment = {"PATH": PATH}
    return await run_program(
        arguments, cwd="/", environment=environment, timeout=timeout, input_data=input_data
    )
