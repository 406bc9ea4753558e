"""Safe access to the vault's folders: no symbolic link can lead out of them.

If the platform supports it, every folder is opened part by part relative to its parent and never through a
link, and every file operation is relative to that open folder. A folder that is replaced with a link after
the check cannot redirect a write. On other platforms (Windows), each operation first compares the folder's
real path.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType

from app.errors import InvalidPathError, LimitError, VaultLostError
from app.vault.path import NotePath, name_key

MAX_FILE_BYTES = 64 * 1024 * 1024
NOT_A_FILE = "not a regular file"

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
_READ_FLAGS = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | _FLAGS
_CHUNK_BYTES = 1024 * 1024
_SEPARATORS = frozenset({"/", "\0", os.sep, os.altsep or "/"} | ({":"} if os.name == "nt" else set()))
_MAX_REUSES = 64
_SYNC_FILE_RANGE_WRITE = 2


@dataclass(frozen=True, slots=True)
class Platform:
    """A system's support for opening files relative to a folder, swapping names and exclusive renames."""

    has_dir_fds: bool
    can_swap: bool
    can_rename_exclusively: bool

    @classmethod
    def detect(cls) -> Platform:
        """Return the capabilities of the running system; a file system may still not support all of them."""
        is_unix = sys.platform == "darwin" or sys.platform.startswith("linux")
        return cls(os.open in os.supports_dir_fd and bool(_NOFOLLOW), is_unix, is_unix)


class Folder:
    """An open folder of the vault; names are single parts, and links are never followed."""

    def __init__(self, path: str, fd: int | None, platform: Platform) -> None:
        self.path = path
        self.fd = fd
        self.platform = platform

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None

    def at(self, name: str) -> str:
        """Return the name of an entry for a call with `dir_fd=self.fd`.

        Raises:
            InvalidPathError: The name would leave the folder, or the folder became a link.
        """
        if name in ("", ".", "..") or not _SEPARATORS.isdisjoint(name):
            raise InvalidPathError(f"{name!r} is not a file name.", path=name)
        if self.fd is not None:
            return name
        check_real(self.path)
        return str(Path(self.path, name))

    def lstat(self, name: str) -> os.stat_result | None:
        """Return the status of an entry itself, or None if nothing has that name."""
        try:
            return os.stat(self.at(name), dir_fd=self.fd, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def names(self) -> list[str]:
        """Return the names in the folder, unordered."""
        if self.fd is None:
            check_real(self.path)
        with os.scandir(self.path if self.fd is None else self.fd) as entries:
            return [entry.name for entry in entries]

    def read(self, name: str, limit: int = MAX_FILE_BYTES) -> bytes:
        """Return the bytes of a regular file.

        Raises:
            LimitError: It is larger than `limit` bytes.
            InvalidPathError: It is a link, a folder or a device.
            OSError: The operating system reports an error.
        """
        with self._open_reader(name) as (fd, size):
            parts, total = [], 0
            if size <= limit:
                while (part := os.read(fd, _CHUNK_BYTES)) and total <= limit:
                    parts.append(part)
                    total += len(part)
            if size > limit or total > limit:
                raise LimitError(f"{name} is larger than {limit:,} bytes.", limit=limit, path=name)
        return b"".join(parts)

    def read_start(self, name: str, count: int) -> bytes:
        """Return the first `count` bytes of a regular file of any size.

        Raises:
            InvalidPathError: It is a link, a folder or a device.
            OSError: The operating system reports an error.
        """
        with self._open_reader(name) as (fd, _):
            parts, remaining = [], count
            while remaining > 0 and (part := os.read(fd, min(remaining, _CHUNK_BYTES))):
                parts.append(part)
                remaining -= len(part)
        return b"".join(parts)

    def digest(self, name: str) -> str | None:
        """Return a file's SHA-256 in hex, None if it is missing, or `NOT_A_FILE` for any other entry."""
        hasher = hashlib.sha256()
        try:
            with self._open_reader(name) as (fd, _):
                while part := os.read(fd, _CHUNK_BYTES):
                    hasher.update(part)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except InvalidPathError:
            return NOT_A_FILE
        return hasher.hexdigest()

    @contextmanager
    def _open_reader(self, name: str) -> Iterator[tuple[int, int]]:
        entry = self.at(name)
        if not _NOFOLLOW and (status := self.lstat(name)) and stat.S_ISLNK(status.st_mode):
            raise InvalidPathError(f"{name} is a symbolic link.", path=name)
        try:
            fd = os.open(entry, _READ_FLAGS, dir_fd=self.fd)
        except IsADirectoryError as error:
            raise InvalidPathError(f"{name} is not a file.", path=name) from error
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EMLINK):
                raise InvalidPathError(f"{name} is a symbolic link.", path=name) from error
            raise
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise InvalidPathError(f"{name} is not a file.", path=name)
            yield fd, status.st_size
        finally:
            os.close(fd)

    def make_file(self, name: str) -> int:
        """Create a file, which must not exist, and return its descriptor, which the caller closes."""
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | _NOFOLLOW | _FLAGS
        return os.open(self.at(name), flags, 0o666, dir_fd=self.fd)

    def make_folder(self, name: str) -> None:
        """Create a folder; do nothing if it already exists.

        Raises:
            FileExistsError: Something else has that name.
        """
        try:
            os.mkdir(self.at(name), dir_fd=self.fd)
        except FileExistsError:
            status = self.lstat(name)
            if status is None or not stat.S_ISDIR(status.st_mode):
                raise

    def remove(self, name: str) -> None:
        """Remove a file or a link; do nothing if there is none."""
        # A read-only file system fails even for a name that does not exist.
        if self.lstat(name) is not None:
            with suppress(FileNotFoundError):
                os.unlink(self.at(name), dir_fd=self.fd)

    def remove_folder(self, name: str) -> bool:
        """Remove an empty folder; return False if it is missing, not empty or not a folder."""
        if self.lstat(name) is None:
            return False
        try:
            os.rmdir(self.at(name), dir_fd=self.fd)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                return False
            raise
        return True

    def sync(self) -> None:
        """Sync the names in the folder to the disk, if the system supports it."""
        if self.fd is not None:
            sync_file(self.fd)
        elif os.name == "posix":
            fd = os.open(self.path, os.O_RDONLY | _FLAGS)
            try:
                sync_file(fd)
            finally:
                os.close(fd)


class VaultRoot:
    """The vault's root folder, from which its other folders are opened."""

    def __init__(self, root: Path, platform: Platform | None = None) -> None:
        self.path = os.path.realpath(root)
        self.platform = platform or Platform.detect()
        self._device = self._current_device()

    def is_present(self) -> bool:
        """Return whether the vault's folder exists; an empty one on another device counts as a lost mount."""
        device = self._current_device()
        if device is None:
            return False
        if self._device in (None, device):
            self._device = device
            return True
        with os.scandir(self.path) as entries:
            return next(entries, None) is not None

    def _current_device(self) -> int | None:
        try:
            status = Path(self.path).stat()
        except OSError:
            return None
        return status.st_dev if stat.S_ISDIR(status.st_mode) else None

    def require(self) -> None:
        """Raise VaultLostError if the vault's folder is gone."""
        if not self.is_present():
            raise VaultLostError("The vault's folder is missing.", path=self.path)

    def folder(self, folder: str) -> Folder:
        """Open a folder of the vault (empty: its root); use it in a `with` statement, which closes it.

        Raises:
            InvalidPathError: A part of the path is a symbolic link.
            FileNotFoundError, NotADirectoryError: It does not exist or is not a folder.
            VaultLostError: The vault's folder is gone.
        """
        parts = [part for part in folder.split("/") if part]
        if not self.platform.has_dir_fds:
            return self._open_by_path(parts)
        try:
            fd = os.open(self.path, os.O_RDONLY | _DIRECTORY | _NOFOLLOW | _FLAGS)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise VaultLostError("The vault's folder is missing.", path=self.path) from error
        current = Folder(self.path, fd, self.platform)
        for part in parts:
            with current:
                current = self._open_child(current, part)
        return current

    def dir_handles(self) -> DirHandleCache:
        """Return a cache of the last open folder, for work on many files; use it in `with`, in one thread."""
        return DirHandleCache(self)

    def _open_child(self, parent: Folder, name: str) -> Folder:
        try:
            fd = os.open(parent.at(name), os.O_RDONLY | _DIRECTORY | _NOFOLLOW | _FLAGS, dir_fd=parent.fd)
        except OSError as error:
            status = parent.lstat(name)
            if status is not None and stat.S_ISLNK(status.st_mode):
                raise InvalidPathError(f"The folder {name!r} is a symbolic link.", path=name) from error
            raise
        return Folder(f"{parent.path}/{name}", fd, self.platform)

    def _open_by_path(self, parts: list[str]) -> Folder:
        self.require()
        current = Folder(self.path, None, self.platform)
        for part in parts:
            current = Folder(current.at(part), None, self.platform)
            if not stat.S_ISDIR(os.lstat(current.path).st_mode):
                check_real(current.path)
                raise NotADirectoryError(errno.ENOTDIR, "Not a folder", current.path)
        check_real(current.path)
        return current

    def resolve_inside(self, path: NotePath) -> NotePath:
        """Resolve the links in a path and return the result, which must be in the vault.

        Raises:
            InvalidPathError: A link in the path leads out of the vault.
        """
        real_path = os.path.realpath(Path(self.path, path.text))
        try:
            relative = Path(real_path).relative_to(self.path)
        except ValueError as error:
            raise InvalidPathError(f"{path} leads out of the vault.", path=str(path)) from error
        return NotePath.on_disk(relative.as_posix())

    def disk_spelling(self, path: NotePath) -> tuple[NotePath, bool]:
        """Return the path with its existing parts spelled as on disk, and whether it exists.

        A file in place of a folder ends the returned path and counts as existing. The comparison of names
        ignores case and Unicode form, because other systems could not store both.

        Raises:
            InvalidPathError: A folder in the path is a symbolic link.
            VaultLostError: The vault's folder is gone.
        """
        spelled: list[str] = []
        parts = path.text.split("/")
        for number, part in enumerate(parts):
            try:
                with self.folder("/".join(spelled)) as folder:
                    name = _find_spelling(folder, part)
            except NotADirectoryError:
                return NotePath.on_disk("/".join(spelled)), True
            if name is None:
                return NotePath.on_disk("/".join(spelled + parts[number:])), False
            spelled.append(name)
        return NotePath.on_disk("/".join(spelled)), True


class DirHandleCache:
    """Opens folders of the vault one after the other and reuses the last one.

    The last folder is reopened after 64 calls, so that a move by another program is soon noticed. Until then,
    operations apply to the folder that was checked, even if it has moved.
    """

    def __init__(self, root: VaultRoot) -> None:
        self._root = root
        self._path = ""
        self._folder: Folder | None = None
        self._uses_left = 0

    def __enter__(self) -> DirHandleCache:
        return self

    def __exit__(self, *_: object) -> None:
        self._close_folder()

    def folder(self, path: str) -> Folder:
        """Return the open folder at a path, valid until the next call; raises as `VaultRoot.folder` does."""
        if self._folder is None or path != self._path or not self._uses_left:
            self._close_folder()
            self._folder, self._path, self._uses_left = self._root.folder(path), path, _MAX_REUSES
        self._uses_left -= 1
        return self._folder

    def _close_folder(self) -> None:
        folder, self._folder = self._folder, None
        if folder is not None:
            with folder:
                pass


def _find_spelling(folder: Folder, part: str) -> str | None:
    """Return the name in the folder that equals `part`, else one that differs in case or form, or None."""
    if sys.platform.startswith("linux") and folder.lstat(part) is not None:
        return part
    key = name_key(part)
    matches = sorted(name for name in folder.names() if name_key(name) == key)
    return part if part in matches else next(iter(matches), None)


def check_real(path: str) -> None:
    """Raise InvalidPathError if a part of this absolute path is a link (or junction)."""
    if os.path.normcase(os.path.realpath(path)) != os.path.normcase(path):
        raise InvalidPathError(f"{path} leads through a symbolic link.", path=path)


def sync_file(fd: int) -> None:
    """Flush a file's bytes to the disk itself; macOS needs more than fsync for that."""
    if sys.platform == "darwin":
        import fcntl

        try:
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        except OSError:
            os.fsync(fd)
    else:
        os.fsync(fd)


def start_writing(fd: int) -> None:
    """Ask the system to start writing a file's bytes in the background, if it supports that.

    This is only an optimization: on Linux, `sync_file` on the first of many such files then also flushes the
    names and sizes of all of them, so the other calls return sooner (sync_file_range(2)).
    """
    sync_range = _sync_file_range()
    if sync_range is not None:
        sync_range(fd, 0, 0, _SYNC_FILE_RANGE_WRITE)


@cache
def _sync_file_range() -> Callable[[int, int, int, int], int] | None:
    function = getattr(ctypes.CDLL(None), "sync_file_range", None) if sys.platform == "linux" else None
    if function is not None:
        function.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]
        function.restype = ctypes.c_int
    return function
