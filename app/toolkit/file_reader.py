"""Read folders and files on disk within limits of depth, number, size and time, without following links.

A walk or a search leaves out everything that exceeds a limit and reports it in `WalkLimits.left_out`; a
single file that is too large is an error. The functions block: call them in a thread.
"""

from __future__ import annotations

import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Literal, Protocol

import re2

from app.encoding import is_binary
from app.errors import InvalidParametersError, InvalidPathError, LimitError, NotFoundError, StorageError
from app.toolkit.file_access import open_folder
from app.vault.safe_fs import Folder

MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_RESULTS = 1000
MAX_DEPTH = 10
WALK_TIMEOUT_S = 10.0
_MAX_LINE_CHARS = 500
_MAX_RE2_BYTES = 8 * 1024 * 1024

EntryKind = Literal["file", "folder", "link", "other"]


class _LinePattern(Protocol):
    def search(self, text: bytes) -> object: ...


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """An entry in a folder; `path` is relative to the walk's root, `modified` is in Unix seconds."""

    path: str
    kind: EntryKind
    size: int
    modified: float


@dataclass(frozen=True, slots=True)
class GrepMatch:
    """A matching line; line numbers start at 1."""

    path: str
    line: int
    text: str


@dataclass(slots=True)
class WalkLimits:
    """The limits of a walk, and the omissions that they caused.

    `depth`: 1 covers only the folder's own entries. `limit` is the maximum number of results. `may_enter`
    decides whether a walk may enter an absolute path; hidden folders are never entered. `is_visible` decides
    whether the caller may know of a relative path. `deadline` is a time of `clock`, set by `begin`.
    """

    depth: int = MAX_DEPTH
    limit: int = MAX_RESULTS
    may_enter: Callable[[str], bool] = lambda path: True
    is_visible: Callable[[str], bool] = lambda path: True
    clock: Callable[[], float] = time.monotonic
    left_out: list[str] = field(default_factory=list)
    deadline: float = 0.0

    def begin(self) -> None:
        """Set the deadline."""
        self.deadline = self.clock() + WALK_TIMEOUT_S

    def is_over(self) -> bool:
        """Return whether the time is up, and record that once."""
        if self.clock() < self.deadline:
            return False
        self.report_omission(f"files not reached within {WALK_TIMEOUT_S:g} s")
        return True

    def report_omission(self, omission: str) -> None:
        """Record a description of omitted files."""
        if omission not in self.left_out:
            self.left_out.append(omission)


def walk(root: str, limits: WalkLimits) -> Iterator[DirectoryEntry]:
    """Yield the entries of the folder at `root` and below, breadth first, each folder sorted by name.

    Raises:
        NotFoundError, InvalidPathError, StorageError: `root` itself can't be opened; see `open_folder`.
    """
    limits.begin()
    pending = [_entries(root, "")]
    while pending:
        for entry in pending.pop(0):
            if limits.is_over():
                return
            if not limits.is_visible(entry.path):
                continue
            yield entry
            if entry.kind == "folder" and (inner := _open_listing(root, entry, limits)) is not None:
                pending.append(inner)


def _open_listing(root: str, entry: DirectoryEntry, limits: WalkLimits) -> list[DirectoryEntry] | None:
    """Return the entries of a folder in the walk, or None if the walk does not enter it."""
    real_path = str(PurePath(root, entry.path))
    if entry.path.count("/") + 1 >= limits.depth:
        return None
    if entry.path.rpartition("/")[2].startswith("."):
        limits.report_omission("hidden folders")
        return None
    if not limits.may_enter(real_path):
        limits.report_omission(f"{entry.path}: it may not be read here")
        return None
    try:
        return _entries(real_path, f"{entry.path}/")
    except (NotFoundError, InvalidPathError, StorageError):
        limits.report_omission(f"{entry.path}: it can't be read")
        return None


def _entries(real_path: str, prefix: str) -> list[DirectoryEntry]:
    entries = []
    try:
        with open_folder(real_path) as folder:
            for name in sorted(folder.names()):
                if (status := folder.lstat(name)) is not None:
                    kind = _entry_kind(status.st_mode)
                    entries.append(DirectoryEntry(f"{prefix}{name}", kind, status.st_size, status.st_mtime))
    except OSError as error:
        raise StorageError(
            f"{real_path} can't be read: {error.strerror or error}.", path=real_path
        ) from error
    return entries


def _entry_kind(mode: int) -> EntryKind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def read_file(real_path: str) -> bytes:
    """Return the bytes of the regular file at an absolute path without links.

    Raises:
        NotFoundError: there is no such file.
        InvalidPathError: the path is a folder, a link, a device or a pipe.
        LimitError: the file has more than `MAX_FILE_BYTES` bytes.
        StorageError: the operating system denies access.
    """
    return _read(real_path, lambda folder, name: folder.read(name, MAX_FILE_BYTES))


def read_start(real_path: str, count: int) -> bytes:
    """Return the first `count` bytes of a file of any size; raises as `read_file` does, except LimitError."""
    return _read(real_path, lambda folder, name: folder.read_start(name, count))


def _read(real_path: str, read: Callable[[Folder, str], bytes]) -> bytes:
    path = PurePath(real_path)
    try:
        with open_folder(str(path.parent)) as folder:
            return read(folder, path.name)
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no file {real_path}.", path=real_path) from error
    except OSError as error:
        raise StorageError(
            f"{real_path} can't be read: {error.strerror or error}.", path=real_path
        ) from error


def compile_line_pattern(pattern: str, *, case_sensitive: bool) -> _LinePattern:
    """Compile a regular expression that always searches in linear time.

    Raises:
        InvalidParametersError: RE2 can't compile the pattern (it has no look-around and no backreferences).
    """
    options = re2.Options()
    options.case_sensitive = case_sensitive
    options.max_mem = _MAX_RE2_BYTES
    options.log_errors = False
    try:
        compiled: _LinePattern = re2.compile(pattern.encode("utf-8", "replace"), options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error.args[0])
        raise InvalidParametersError(
            f"The pattern is not a valid regular expression: {reason}. The syntax is that of RE2, which has"
            " no look-around and no backreferences.",
            pattern=pattern,
        ) from error
    return compiled


def find_matching_lines(
    files: Iterator[str], read: Callable[[str], bytes], pattern: _LinePattern, limits: WalkLimits
) -> Iterator[GrepMatch]:
    """Yield the matching lines, file by file, and record files that can't be searched in `limits`.

    Args:
        files: The names of the files.
        read: Returns the bytes of a file. A file for which it raises LimitError, NotFoundError,
            InvalidPathError or StorageError is left out.
        pattern: The result of `compile_line_pattern`.
        limits: Limits the time, and records the omissions.
    """
    for name in files:
        try:
            content = read(name)
        except LimitError:
            limits.report_omission(f"{name}: larger than {MAX_FILE_BYTES // 1024**2} MiB")
            continue
        except (NotFoundError, InvalidPathError, StorageError):
            limits.report_omission(f"{name}: it can't be read")
            continue
        if is_binary(content):
            limits.report_omission(f"{name}: not text")
            continue
        for number, line in enumerate(content.split(b"\n"), 1):
            if number % 1000 == 0 and limits.is_over():
                return
            if pattern.search(line):
                yield GrepMatch(name, number, _decode_line(line))


def _decode_line(line: bytes) -> str:
    text = line.removesuffix(b"\r").decode("utf-8", "replace")
    return text if len(text) <= _MAX_LINE_CHARS else f"{text[:_MAX_LINE_CHARS]}…"
