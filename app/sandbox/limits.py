"""Limits on what a program may use: memory, processes and the files that it writes.

They are set by `prlimit` of util-linux, which runs the program in its place, so that nothing starts without
them. A Unix without it has `ulimit` of its shell, which knows no limit on processes everywhere.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """What a program and those that it starts may use.

    Attributes:
        memory: Bytes of private memory that each process may allocate. Address space that is only
            reserved, as by Node.js, does not count.
        processes: How many processes and threads there may be at once; None for no limit. It counts all of
            the user's outside a sandbox, where it would stop programs that have nothing to do with it.
        file_size: Bytes of the largest file that it may write.
        open_files: How many files each process may have open.
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
        limits: What it may use.
        path: Where programs are looked for; None for the app's own search path.
    """
    if sys.platform == "win32":
        return list(command)
    if (prlimit := shutil.which("prlimit", path=path)) is not None:
        bounds = [
            f"--data={limits.memory}",
            f"--fsize={limits.file_size}",
            f"--nofile={limits.open_files}",
            "--core=0",
        ]
        if limits.processes is not None:
            bounds.append(f"--nproc={limits.processes}")
        return [prlimit, *bounds, "--", *command]
    script = 'ulimit -c 0; ulimit -d "$1"; ulimit -f "$2"; shift 2; exec "$@"'
    memory, blocks = str(limits.memory // 1024), str(limits.file_size // 512)
    return ["/bin/sh", "-c", script, Path(command[0]).name, memory, blocks, *command]
