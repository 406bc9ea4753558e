"""Folders and files that only their owner can read."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

FOLDER_MODE = 0o700
FILE_MODE = 0o600
_PROBE_BYTES = 64 * 1024


def make_private_folder(path: Path) -> None:
    """Create a private folder with its missing parents, or restrict an existing one to its owner.

    Raises:
        OSError: The folder can't be created.
    """
    missing = []
    parent = path
    while not parent.exists():
        missing.append(parent)
        parent = parent.parent
    for folder in reversed(missing):
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    if not missing:
        _restrict(path, FOLDER_MODE)


def check_folder_writable(path: Path) -> None:
    """Check a folder by writing and deleting a small file; create the folder if missing.

    Raises:
        OSError: The folder can't be created or written, or the disk is full.
    """
    make_private_folder(path)
    with tempfile.TemporaryFile(dir=path, buffering=0) as file:
        file.write(bytes(_PROBE_BYTES))


def create_private_file(path: Path) -> None:
    """Create an empty private file, or restrict an existing one to its owner.

    A file that its owner can't write becomes writable.

    Raises:
        OSError: The file can't be created.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
    except FileExistsError:
        _restrict(path, FILE_MODE)


def _restrict(path: Path, mode: int) -> None:
    # A path that another user owns, or that is on a file system without modes, is left unchanged.
    with suppress(OSError):
        if stat.S_IMODE(path.stat().st_mode) != mode:
            path.chmod(mode)
