"""A program's resource limits: memory, processes, open files and file size.

`prlimit` (util-linux) sets them and then executes the program, so that it never runs without them. Unix
systems without `prlimit` use the shell's `ulimit` for memory and file size only. On Windows, no limits
are set.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """The limits of a program and its child processes.

    Attributes:
        memory: Bytes of private memory that each process may allocate. Address space that
            a program only reserves, as Node.js does, does not count.
        processes: Maximum number of processes and threads; None for no limit. Outside a sandbox, the system
            counts all of the user's processes, so the limit would stop unrelated programs.
        file_size: Maximum size in bytes of a file that it writes.
        open_files: Maximum number of open files of each process.
    """

    memory: int = 2 * 1024**3
    processes: int | None = 128
    file_size: int = 256 * 1024**2
    open_files: int = 1024


IN_SANDBOX = ResourceLimits()
WITHOUT_SANDBOX = ResourceLimits(processes=None)


def with_limits(command: Sequence[str], limits: ResourceLimits, path: str | None = None) -> list[str]:
    """Return the command line that runs `command` within `limits`.

    Args:
        command: The program and its arguments.
        limits: The limits.
        path: The search path for `prlimit`; None for the app's own.
    """
    if sys.platform == "win32":
        return list(command)
    if (prlimit := shutil.which("prlimit", path=path)) is not None:
        options = [
            f"--data={limits.memory}",
            f"--fsize={limits.file_size}",
            f"--nofile={limits.open_files}",
            "--core=0",
        ]
        if limits.processes is not None:
            options.append(f"--nproc={limits.processes}")
        return [prlimit, *options, "--", *command]
    script = 'ulimit -c 0; ulimit -d "$1"; ulimit -f "$2"; shift 2; exec "$@"'
    memory, blocks = str(limits.memory // 1024), str(limits.file_size // 512)
    return ["/bin/sh", "-c", script, Path(command[0]).name, memory, blocks, *command]
