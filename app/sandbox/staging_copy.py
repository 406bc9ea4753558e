"""A copy of the vault's visible files for a command to work on, and the changes it made there.

The command works on the copy, not on the vault. Its changes to the copy become a change set, which is shown,
committed, journaled and undone like every other change.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.errors import ConflictError, InvalidPathError, LimitError, NotFoundError, StorageError
from app.vault.changes import ChangeSet, Create, Delete, FileChange, Update, content_hash
from app.vault.path import NotePath
from app.vault.safe_fs import VaultRoot

MAX_COPIED_BYTES = 256 * 1024 * 1024
MAX_COPIED_FILES = 50_000


class VaultReader(Protocol):
    """Reads the files that are visible to a call."""

    def read(self, path: NotePath) -> bytes:
        """Return the bytes of the file at `path`.

        Raises:
            NotFoundError: there is no such visible file.
            InvalidPathError: the path is a folder, or points outside the vault.
        """
        ...


@dataclass(frozen=True, slots=True)
class CommandChanges:
    """A command's changes; `left_out` lists the files that can't be applied, each with the reason."""

    change_set: ChangeSet
    left_out: tuple[str, ...] = ()


class StagingCopy:
    """A temporary copy: `folder` holds the files, `home` is an empty home folder. Call `remove` when done."""

    def __init__(self) -> None:
        temporary_folder = Path(tempfile.mkdtemp(prefix="scriptorium-run-"))
        self.folder = temporary_folder / "vault"
        self.home = temporary_folder / "home"
        self._temporary_folder = temporary_folder
        self._hashes: dict[NotePath, str] = {}
        self._lock = threading.Lock()
        self._removed = False

    def copy_files(self, vault: VaultReader, paths: Iterable[NotePath], folder: str = "") -> None:
        """Copy files from the vault, except those that are not visible; stop early if the copy is removed.

        Args:
            vault: Reads the files.
            paths: The files.
            folder: A folder to create even if it is empty.

        Raises:
            LimitError: there are too many files, or they are too large.
            OSError: the copy can't be written.
        """
        with self._lock:
            self.home.mkdir()
            (self.folder / folder).mkdir(parents=True)
            total = 0
            for path in paths:
                if self._removed:
                    return
                total += self._copy(vault, path, MAX_COPIED_BYTES - total)

    def _copy(self, vault: VaultReader, path: NotePath, remaining: int) -> int:
        try:
            content = vault.read(path)
        except (NotFoundError, InvalidPathError):
            return 0
        if len(content) > remaining or len(self._hashes) >= MAX_COPIED_FILES:
            raise LimitError(
                f"The vault is too large to copy for a command (at most {MAX_COPIED_FILES:,} files and"
                f" {MAX_COPIED_BYTES // 1024**2} MiB). Nothing was run. Use a command that only reads.",
                limit=MAX_COPIED_BYTES,
            )
        target = self.folder / path.text
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        self._hashes[path] = content_hash(content)
        return len(content)

    def remove(self) -> None:
        """Remove the copy, even while it is being filled."""
        self._removed = True
        with self._lock:
            for folder, inner, _ in os.walk(self._temporary_folder):
                # A command may have removed the permissions of a folder.
                for name in inner:
                    if not Path(folder, name).is_symlink():
                        Path(folder, name).chmod(0o700)
            shutil.rmtree(self._temporary_folder, ignore_errors=True)

    def changes(self, vault: VaultReader, summary: str) -> CommandChanges:
        """Return the changes that a command made to the copy.

        Args:
            vault: The vault in its current state.
            summary: The summary of the change set.

        Raises:
            ConflictError: a file that the command changed has also changed in the vault.
            NotFoundError: a file that the command changed is no longer visible in the vault.
            LimitError: the command wrote too much.
            StorageError: the copy can't be read.
        """
        left_out: list[str] = []
        try:
            files = _read_all(self.folder, self._hashes, left_out)
        except OSError as error:
            raise StorageError(
                f"The command's files can't be read: {error}. No changes were applied."
            ) from error
        changes: list[FileChange] = []
        for path, content in sorted(files.items()):
            previous_hash = self._hashes.get(path)
            if previous_hash is None:
                changes.append(Create(path, content))
            elif previous_hash != content_hash(content):
                changes.append(Update(path, self._content_before(vault, path), content))
        for path in sorted(self._hashes.keys() - files.keys()):
            if not os.path.lexists(self.folder / path.text):
                changes.append(Delete(path, self._content_before(vault, path)))
        return CommandChanges(ChangeSet.of(*changes, summary=summary), tuple(left_out))

    def _content_before(self, vault: VaultReader, path: NotePath) -> bytes:
        content = vault.read(path)
        if content_hash(content) != self._hashes[path]:
            message = f"{path} was changed in the vault while the command ran. No changes were applied."
            raise ConflictError(message, path=str(path))
        return content


def _read_all(folder: Path, known_paths: Collection[NotePath], left_out: list[str]) -> dict[NotePath, bytes]:
    """Read the files below a folder that a vault can hold; list the others in `left_out`."""
    root, files, total = VaultRoot(folder), {}, 0
    pending = [""]
    while pending:
        prefix = pending.pop()
        with root.folder(prefix) as folder_handle:
            for name in sorted(folder_handle.names()):
                text = f"{prefix}/{name}" if prefix else name
                status = folder_handle.lstat(name)
                if problem := _name_problem(text, known_paths):
                    left_out.append(f"{text}: {problem}")
                elif status is not None and stat.S_ISDIR(status.st_mode):
                    pending.append(text)
                elif status is not None and not stat.S_ISREG(status.st_mode):
                    left_out.append(f"{text}: not a regular file")
                else:
                    content = folder_handle.read(name, MAX_COPIED_BYTES - total)
                    total += len(content)
                    files[NotePath.on_disk(text)] = content
    return files


def _name_problem(text: str, known_paths: Collection[NotePath]) -> str:
    """Return the reason why a file with that name can't be applied, or an empty string."""
    if NotePath.on_disk(text) in known_paths:
        return ""
    try:
        return "hidden files belong to other programs" if NotePath.parse(text).is_hidden else ""
    except InvalidPathError as error:
        return error.message
