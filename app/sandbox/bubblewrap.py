"""Build bubblewrap's command line, which determines what a sandboxed program can see.

The program sees the system's programs and libraries, read-only; the vault as `/vault`; an empty `/tmp` of
its own; and its own processes. It has no network, no home folder, no other files and no way to gain
privileges, and it ends with the app. Limits on memory and processes are set inside the sandbox, where only
its own processes count. See bwrap(1).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.sandbox.resource_limits import IN_SANDBOX, with_limits

VAULT_MOUNT = "/vault"
"""The vault's path in the sandbox."""
PATH = "/usr/local/bin:/usr/bin:/bin"
TMP_BYTES = 64 * 1024 * 1024
MAX_HIDDEN_PATHS = 100
"""Maximum number of hidden files and folders: bubblewrap's running time is quadratic in it."""

_SYSTEM_FOLDERS = ("/usr", "/nix/store")
_SYSTEM_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC_FILES = (
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
)


@dataclass(frozen=True, slots=True)
class BindMount:
    """The folder that is mounted as the vault.

    `folder` is its absolute path; `writable` is set for a copy. `hidden_files` and `hidden_folders`, relative
    to the folder, appear empty in the sandbox.
    """

    folder: str
    writable: bool = False
    hidden_files: tuple[str, ...] = ()
    hidden_folders: tuple[str, ...] = ()


def sandbox_arguments(
    bwrap: str, mount: BindMount, command: Sequence[str], cwd: str = ""
) -> tuple[list[str], bytes]:
    """Return the command line that runs `command` in a sandbox, and its standard input.

    The options are passed on standard input (`--args 0`), because the mounts for many hidden notes would not
    fit on a command line. The program's own standard input is empty.

    Args:
        bwrap: The path of bubblewrap.
        mount: The folder to mount as the vault.
        command: The program and its arguments.
        cwd: The folder to run in, relative to the vault.
    """
    options = [
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
        "--clearenv",
        *_environment_options(),
        *_system_options(),
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--size",
        str(TMP_BYTES),
        "--tmpfs",
        "/tmp",
    ]
    options += [*_vault_options(mount), "--chdir", f"{VAULT_MOUNT}/{cwd}" if cwd else VAULT_MOUNT]
    input_data = b"".join(os.fsencode(option) + b"\0" for option in options)
    return [bwrap, "--args", "0", "--", *with_limits(command, IN_SANDBOX, PATH)], input_data


def sandbox_environment() -> dict[str, str]:
    """Return a sandboxed program's environment."""
    return {"PATH": PATH, "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}


def _environment_options() -> Iterable[str]:
    for name, value in sandbox_environment().items():
        yield from ("--setenv", name, value)


def _system_options() -> Iterable[str]:
    for path in _SYSTEM_FOLDERS:
        yield from ("--ro-bind-try", path, path)
    for path in _SYSTEM_LINKS:
        if Path(path).is_symlink():
            yield from ("--symlink", str(Path(path).readlink()), path)
        else:
            yield from ("--ro-bind-try", path, path)
    for path in _ETC_FILES:
        yield from ("--ro-bind-try", path, path)


def _vault_options(mount: BindMount) -> Iterable[str]:
    yield from ("--bind" if mount.writable else "--ro-bind", mount.folder, VAULT_MOUNT)
    for name in mount.hidden_folders:
        yield from ("--tmpfs", f"{VAULT_MOUNT}/{name}")
    for name in mount.hidden_files:
        yield from ("--ro-bind", os.devnull, f"{VAULT_MOUNT}/{name}")
