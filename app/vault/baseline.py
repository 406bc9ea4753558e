"""A baseline of the vault's files, so that changes by other programs can be detected and undone.

An external program that works in the vault's folder may write there directly. The overwritten bytes are gone
by the time the change is noticed, so they are stored beforehand, in a temporary file that disappears when the
app exits. A later comparison reads only the files whose times, size or inode changed.
"""

from __future__ import annotations

import errno
import os
import stat as modes
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.errors import InvalidPathError, LimitError, NotFoundError, StorageError
from app.vault.changes import ChangeSet, Create, Delete, FileChange, Move, Update, content_hash
from app.vault.path import NotePath
from app.vault.safe_fs import MAX_FILE_BYTES, VaultRoot
from app.vault.watch_state import is_ignored

MAX_STORED_BYTES = 1024**3
"""The maximum number of bytes stored for a vault. Further changes are detected, but can't be undone."""
MAX_ATTACHMENT_BYTES = 1024**2
"""The size of the largest file, other than a note, that is stored."""

_Signature = tuple[int, int, int, int]
"""The modification and change times in nanoseconds, the size and the inode of a file."""


@dataclass(frozen=True, slots=True)
class _BaselineFile:
    """The state of a file: its signature, its hash (empty: not read) and the position of its stored bytes.

    `start` is -1 if the bytes are not stored.
    """

    signature: _Signature
    hash: str
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class BaselineDiff:
    """The changes since the last comparison, without the app's own.

    `unsaved` lists the changed files whose bytes before or after the change are unavailable.
    """

    changes: tuple[FileChange, ...] = ()
    unsaved: tuple[NotePath, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changes or self.unsaved)


class VaultBaseline:
    """The files of a vault at the last comparison. Thread-safe.

    Args:
        root: The vault's real folder, without links.
        folder: The folder for the temporary file with the bytes.

    Raises:
        StorageError: The temporary file can't be created.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = str(root)
        self._vault = VaultRoot(root)
        try:
            # Open for the lifetime of this object; unbuffered, so that a write to a full disk fails at once.
            self._bytes = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        except OSError as error:
            message = f"The copy of the notes that undo needs can't be stored: {error.strerror or error}."
            raise StorageError(message, errno=error.errno) from error
        self._end = 0
        self._lock = threading.Lock()
        self._files: dict[str, _BaselineFile] = {}

    def close(self) -> None:
        """Discard the baseline and its stored bytes."""
        with self._lock:
            self._files.clear()
            self._bytes.close()

    def capture(self, is_cancelled: Callable[[], bool] = lambda: False) -> None:
        """Record the current state of all files; read only those changed since the last comparison.

        Args:
            is_cancelled: Checked before each file; the capture stops when it returns True.
        """
        seen = set()
        with self._lock:
            for name, signature in self._walk():
                if is_cancelled():
                    return
                seen.add(name)
                if not self._is_unchanged(name, signature):
                    self._record(name, signature)
            for name in self._files.keys() - seen:
                del self._files[name]

    def diff(self, paths: Iterable[NotePath] | None, is_own: Callable[[NotePath, str], bool]) -> BaselineDiff:
        """Compare files with the baseline and update it.

        Args:
            paths: The files to compare; None for the whole vault.
            is_own: Returns whether the app itself wrote the content with this hash to the file, or removed
                the file if the hash is empty.
        """
        with self._lock:
            names = self._changed_names() if paths is None else sorted({path.text for path in paths})
            changes: list[FileChange] = []
            unsaved: list[NotePath] = []
            for name in names:
                if (change := self._compare_file(NotePath.on_disk(name), is_own)) is None:
                    continue
                if isinstance(change, NotePath):
                    unsaved.append(change)
                else:
                    changes.append(change)
        return BaselineDiff(tuple(_with_moves(changes)), tuple(unsaved))

    def _compare_file(
        self, path: NotePath, is_own: Callable[[NotePath, str], bool]
    ) -> FileChange | NotePath | None:
        """Return the change to a file, or its path if the bytes before or after are unavailable.

        Return None if the file is unchanged or the app itself wrote it. The baseline is always updated.
        """
        baseline_file, current = self._files.get(path.text), self._read_signature(path.text)
        if current == (baseline_file.signature if baseline_file is not None else None):
            return None
        before = self._stored_content(baseline_file) if baseline_file is not None else None
        after = self._record(path.text, current) if current is not None else None
        if current is None:
            del self._files[path.text]
        digest = self._files[path.text].hash if current is not None else ""
        if baseline_file is not None and baseline_file.hash and baseline_file.hash == digest:
            return None
        if (digest or current is None) and is_own(path, digest):
            return None
        return _change(path, baseline_file is not None, before, current is not None, after) or path

    def _changed_names(self) -> list[str]:
        """Return the names of the files that are new, gone, or changed according to the file system."""
        signatures = dict(self._walk())
        changed = [name for name, signature in signatures.items() if not self._is_unchanged(name, signature)]
        return sorted({*changed, *(self._files.keys() - signatures.keys())})

    def _is_unchanged(self, name: str, signature: _Signature) -> bool:
        baseline_file = self._files.get(name)
        return baseline_file is not None and baseline_file.signature == signature

    def _record(self, name: str, signature: _Signature) -> bytes | None:
        """Record the current state of a file; return its bytes, or None if unreadable or over a limit."""
        path = NotePath.on_disk(name)
        content = self._read_file(path) if self._should_store(path, signature[2]) else None
        if content is None:
            self._files[name] = _BaselineFile(signature, "", -1, signature[2])
            return None
        start = self._end
        try:
            self._bytes.seek(start)
            if self._bytes.write(content) != len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._end += len(content)
        except OSError:
            # The disk is full: the next change is still detected, but can't be undone.
            start = -1
        self._files[name] = _BaselineFile(signature, content_hash(content), start, len(content))
        return content

    def _should_store(self, path: NotePath, size: int) -> bool:
        return (
            size <= (MAX_FILE_BYTES if path.is_note else MAX_ATTACHMENT_BYTES)
            and self._end + size <= MAX_STORED_BYTES
        )

    def _read_file(self, path: NotePath) -> bytes | None:
        try:
            with self._vault.folder(path.folder) as folder:
                return folder.read(path.file_name)
        except (OSError, InvalidPathError, LimitError, NotFoundError, StorageError):
            # Removed, replaced with a link or unreadable: the change is reported without its bytes.
            return None

    def _stored_content(self, baseline_file: _BaselineFile) -> bytes | None:
        if baseline_file.start < 0:
            return None
        self._bytes.seek(baseline_file.start)
        content = self._bytes.read(baseline_file.length)
        return content if len(content) == baseline_file.length else None

    def _read_signature(self, name: str) -> _Signature | None:
        try:
            status = os.lstat(f"{self._root}{os.sep}{name.replace('/', os.sep)}")
        except OSError:
            return None
        return _signature(status) if modes.S_ISREG(status.st_mode) else None

    def _walk(self, folder: str = "") -> Iterator[tuple[str, _Signature]]:
        try:
            with os.scandir(f"{self._root}{os.sep}{folder.replace('/', os.sep)}") as entries:
                entry_list = list(entries)
        except OSError:
            # Removed or unreadable: there is nothing to report.
            return
        for entry in entry_list:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if is_ignored(name):
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    yield from self._walk(name)
                elif entry.is_file(follow_symlinks=False):
                    yield name, _signature(entry.stat(follow_symlinks=False))
            except OSError:
                continue


def _signature(status: os.stat_result) -> _Signature:
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _change(
    path: NotePath, existed: bool, before: bytes | None, exists: bool, after: bytes | None
) -> FileChange | None:
    """Return the change to a file, or None if the bytes before or after are unavailable."""
    if (existed and before is None) or (exists and after is None):
        return None
    if before is None:
        return None if after is None else Create(path, after)
    return Delete(path, before) if after is None else Update(path, before, after)


def _with_moves(changes: list[FileChange]) -> Iterator[FileChange]:
    """Yield the changes, with the deletion and creation of the same bytes joined into a move.

    Empty files are not joined.
    """
    deleted: dict[str, Delete] = {}
    for change in changes:
        if isinstance(change, Delete) and change.before:
            deleted[content_hash(change.before)] = change
    moved: dict[NotePath, Move] = {}
    for change in changes:
        if isinstance(change, Create) and (old := deleted.pop(content_hash(change.after), None)):
            moved[old.path] = Move(old.path, change.path, old.before, change.after)
    targets = {move.to for move in moved.values()}
    for change in changes:
        if change.path in moved:
            yield moved[change.path]
        elif change.path not in targets:
            yield change


def _summarize(diff: BaselineDiff) -> str:
    """Summarize the changes in a clause, without those whose bytes are unavailable."""
    parts = []
    for kind, word in ((Create, "created"), (Update, "changed"), (Delete, "deleted"), (Move, "moved")):
        names = [change.path.text for change in diff.changes if isinstance(change, kind)]
        if names:
            parts.append(f"{word} {names[0]}" if len(names) == 1 else f"{word} {len(names)} files")
    return ", ".join(parts)


def change_set_of(diff: BaselineDiff) -> ChangeSet:
    """Return the changes with available bytes as a change set."""
    summary = _summarize(diff)
    return ChangeSet.of(*diff.changes, summary=summary[:1].upper() + summary[1:])
