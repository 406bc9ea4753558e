"""The vault's files as known to the watcher, and the interpretation of file system events."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from watchfiles import Change

from app.errors import InvalidPathError, VaultLostError
from app.vault.path import NotePath
from app.vault.safe_fs import MAX_FILE_BYTES, DirHandleCache, VaultRoot

_IGNORED_FOLDERS = frozenset({"node_modules"})
_TEMPORARY_SUFFIXES = (".tmp", ".temp", ".swp", ".swx", ".part", ".crdownload", "~")
# The event queue on Linux holds 16,384 events and drops the rest, so after this many, all files are checked.
_MAX_EVENT_PATHS = 4_000
_CLOCK_SLACK_S = 3.0


@dataclass(frozen=True, slots=True)
class DetectedChanges:
    """Existing files with their hashes (empty: too large or unreadable), and removed files."""

    present: tuple[tuple[NotePath, str], ...]
    removed: tuple[NotePath, ...]


class WatchState:
    """The names of the files below a folder, except hidden files, links and temporary files."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._vault = VaultRoot(root)
        self._files: set[str] = set()
        self._checked_at = time.time()

    def capture(self) -> None:
        """Record the current list of files."""
        self._checked_at = time.time()
        self._files = {path for path, _ in self._walk("")}

    def is_relevant(self, change: Change, path: str) -> bool:
        """Return whether an event for this absolute path may affect a watched file."""
        relative = self._relative(path)
        return relative is not None and not is_ignored(relative)

    def process_events(self, events: Iterable[tuple[Change, str]]) -> DetectedChanges:
        """Return the net effect of events for absolute paths, and update the known files."""
        since, self._checked_at = self._checked_at, time.time()
        named = [(change, name) for change, path in events if (name := self._relative(path)) is not None]
        if len(named) >= _MAX_EVENT_PATHS or any(not name for _, name in named):
            return self._process_all(since - _CLOCK_SLACK_S)
        present: set[str] = set()
        other_names: set[str] = set()
        for change, name in named:
            if self._is_file(name):
                present.add(name)
                continue
            other_names.add(name)
            paths_inside = (path for path, _ in self._walk(name))
            # A new folder may replace files under known names; a modified one does not.
            present.update(path for path in paths_inside if change is Change.added or path not in self._files)
        removed = {path for path in self._affected_paths(other_names) - present if not self._is_file(path)}
        # A file unknown here may be known elsewhere: the app wrote it, and another program removed it.
        removed |= {name for name in other_names - present if not os.path.lexists(self._absolute(name))}
        return self._detect_changes(present, removed)

    def _process_all(self, since: float) -> DetectedChanges:
        """Return all files that are new, changed or gone, after too many events to examine one by one."""
        times = dict(self._change_times())
        touched = {
            path for path, time_changed in times.items() if time_changed >= since or path not in self._files
        }
        return self._detect_changes(touched, self._files - times.keys())

    def _detect_changes(self, present: set[str], removed: set[str]) -> DetectedChanges:
        with self._vault.dir_handles() as folders:
            hashed = [(name, self._digest(name, folders)) for name in sorted(present)]
        known_hashes = [(name, digest) for name, digest in hashed if digest is not None]
        removed = removed | {name for name, digest in hashed if digest is None}
        self._files -= removed
        self._files.update(name for name, _ in known_hashes)
        return DetectedChanges(
            tuple((NotePath.on_disk(name), digest) for name, digest in known_hashes),
            tuple(NotePath.on_disk(name) for name in sorted(removed)),
        )

    def _digest(self, name: str, folders: DirHandleCache) -> str | None:
        """Return the hash of a file, None if it is gone, or "" if it is too large or unreadable."""
        path = NotePath.on_disk(name)
        try:
            folder = folders.folder(path.folder)
            status = folder.lstat(path.file_name)
            if status is None:
                return None
            return "" if status.st_size > MAX_FILE_BYTES else folder.digest(path.file_name)
        except (FileNotFoundError, NotADirectoryError, VaultLostError):
            return None
        except (OSError, InvalidPathError):
            return ""

    def _affected_paths(self, names: set[str]) -> set[str]:
        """Return the known files that have one of these names or are in a folder with one of them."""
        if not names:
            return set()
        return {path for path in self._files if not names.isdisjoint(_with_parents(path))}

    def _relative(self, path: str) -> str | None:
        if path == self._root:
            return ""
        if not path.startswith(self._root + os.sep):
            return None
        return path[len(self._root) + 1 :].replace(os.sep, "/")

    def _is_file(self, name: str) -> bool:
        """Return whether a file with exactly this spelling exists."""
        absolute = self._absolute(name)
        try:
            status = os.lstat(absolute)
            if not stat.S_ISREG(status.st_mode):
                return False
            if sys.platform.startswith("linux"):
                return True
            with os.scandir(Path(absolute).parent) as entries:
                return any(entry.name == Path(absolute).name for entry in entries)
        except OSError:
            return False

    def _absolute(self, name: str) -> str:
        return f"{self._root}{os.sep}{name.replace('/', os.sep)}" if name else self._root

    def _change_times(self) -> Iterator[tuple[str, float]]:
        """Yield the files with the time of their last change to content or metadata."""
        for path, entry in self._walk(""):
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                yield path, max(status.st_mtime, status.st_ctime)

    def _walk(self, folder: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Yield the files in a folder and its subfolders, except ignored ones."""
        try:
            with os.scandir(self._absolute(folder)) as entries:
                entry_list = list(entries)
        except OSError:
            # Removed or unreadable: there is nothing to report.
            return
        for entry in entry_list:
            if is_ignored(entry.name):
                continue
            path = f"{folder}/{entry.name}" if folder else entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    yield from self._walk(path)
                elif entry.is_file(follow_symlinks=False):
                    yield path, entry
            except OSError:
                continue


def is_ignored(path: str) -> bool:
    """Return whether a path is hidden, in an ignored folder, or a program's temporary file."""
    parts = path.split("/")
    if any(part.startswith(".") and part for part in parts) or not _IGNORED_FOLDERS.isdisjoint(parts):
        return True
    name = parts[-1].lower()
    return name.endswith(_TEMPORARY_SUFFIXES) or name.startswith("~$") or (name[:1] == "#" == name[-1:])


def _with_parents(path: str) -> Iterator[str]:
    """Yield the path and each folder above it."""
    yield path
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
