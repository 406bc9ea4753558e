"""Walk a vault's folders and list the files without reading them.

Names that start with a dot, `node_modules` folders and paths excluded in the settings are skipped. A symbolic
link that is broken or points outside the vault is listed as a problem; other links are not followed, because
their targets are found at their own paths. So each file appears once, and cycles of links are harmless.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from app.encoding import escape_unencodable, is_encodable
from app.errors import VaultLostError
from app.index.records import Problem
from app.vault.globs import Glob
from app.vault.path import NotePath

NOT_UTF8_REASON = "its name is not UTF-8, so links can't refer to it and it is not read: rename it"
_EXCLUDED_FOLDERS = frozenset({"node_modules"})
_MIN_WORK_S = 0.004
_REST_FACTOR = 4
_MAX_REST_S = 0.1


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file found by a walk; `modified_ns` is in nanoseconds, `created` in Unix seconds."""

    path: NotePath
    size: int
    modified_ns: int
    created: float


@dataclass(slots=True)
class WalkResult:
    """The result of a walk."""

    notes: list[FoundFile] = field(default_factory=list)
    attachments: list[FoundFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


class Exclusion:
    """The paths excluded in the settings: those that a glob matches, and everything below them.

    A slash at either end of a glob is ignored, and a glob for a folder does not match a note of that name.
    """

    def __init__(self, globs: Iterable[str]) -> None:
        self._globs = tuple(Glob(bare) for text in globs if (bare := text.strip().strip("/")))

    def __contains__(self, path: str) -> bool:
        """Return whether a glob matches the path itself; a walk does not descend into such a folder."""
        return any(glob.matches_text(path) for glob in self._globs)

    def excludes(self, path: NotePath) -> bool:
        """Return whether the path is in `node_modules`, or it or a folder above it is excluded or hidden."""
        *folders, _ = parts = path.text.split("/")
        return (
            path.is_hidden
            or not _EXCLUDED_FOLDERS.isdisjoint(folders)
            or (bool(self._globs) and any(above in self for above in accumulate(parts, "{}/{}".format)))
        )


def identity(root: Path) -> tuple[int, int]:
    """Return the identity of the vault's folder, which an empty mount point at its path does not share.

    Raises:
        VaultLostError: there is no such folder.
    """
    try:
        status = root.stat()
    except OSError as error:
        raise VaultLostError(f"The vault's folder is missing: {root}.", path=str(root)) from error
    if not stat.S_ISDIR(status.st_mode):
        raise VaultLostError(f"The vault's folder is missing: {root} is a file.", path=str(root))
    return status.st_dev, status.st_ino


class WalkThrottle:
    """Throttles a background walk: it rests four times as long as it works, up to 0.1 s at a time."""

    def __init__(self, is_cancelled: Callable[[], bool]) -> None:
        self._is_cancelled = is_cancelled
        self._resumed_at = time.monotonic()

    def __call__(self) -> bool:
        """Rest if necessary; return whether the walk is canceled."""
        work_duration = time.monotonic() - self._resumed_at
        if work_duration > _MIN_WORK_S:
            time.sleep(min(_REST_FACTOR * work_duration, _MAX_REST_S))
            self._resumed_at = time.monotonic()
        return self._is_cancelled()


def walk(
    root: Path,
    exclusion: Exclusion,
    is_cancelled: Callable[[], bool] = lambda: False,
    folder: str = "",
    *,
    into: WalkResult | None = None,
) -> WalkResult:
    """Find the notes and attachments below `folder` (empty: the whole vault), each sorted.

    A file or folder that can't be read is listed as a problem. When `is_cancelled` returns True, the walk
    returns what it has found so far. Results are added to `into`, if given, where another thread may count
    them.

    Raises:
        VaultLostError: the vault's folder is missing, can't be read, or was replaced during the walk.
    """
    root_identity = identity(root)
    real_root = os.path.realpath(root)
    result = WalkResult() if into is None else into
    pending = [folder]
    while pending and not is_cancelled():
        pending.extend(_walk_folder(root, real_root, pending.pop(), exclusion, result))
    if identity(root) != root_identity:
        raise VaultLostError(
            f"The vault's folder was replaced while it was being read: {root}.", path=str(root)
        )
    result.notes.sort(key=lambda file: file.path.text)
    result.attachments.sort(key=lambda file: file.path.text)
    return result


def _walk_folder(
    root: Path, real_root: str, folder: str, exclusion: Exclusion, result: WalkResult
) -> list[str]:
    """Add the files of one folder to `result` and return its subfolders."""
    subfolders: list[str] = []
    try:
        with os.scandir(root / folder if folder else root) as entries:
            for entry in entries:
                if subfolder := _visit_entry(entry, folder, real_root, exclusion, result):
                    subfolders.append(subfolder)
    except FileNotFoundError:
        identity(root)
    except OSError as error:
        if not folder:
            raise VaultLostError(f"The vault's folder can't be read: {error}.", path=str(root)) from error
        result.problems.append(Problem(NotePath.on_disk(folder), _read_error(error)))
    return subfolders


def _visit_entry(
    entry: os.DirEntry[str], folder: str, real_root: str, exclusion: Exclusion, result: WalkResult
) -> str | None:
    """Add a file to `result`, or return the path of a folder to enter."""
    name = entry.name
    if name.startswith("."):
        return None
    text = f"{folder}/{name}" if folder else name
    if not is_encodable(name):
        result.problems.append(
            Problem(NotePath.on_disk(escape_unencodable(text)), NOT_UTF8_REASON, "misnamed")
        )
        return None
    if text in exclusion:
        return None
    path = NotePath(text)
    try:
        if entry.is_symlink():
            if problem := _link_problem(entry.path, real_root):
                result.problems.append(Problem(path, problem, "skipped"))
        elif entry.is_dir(follow_symlinks=False):
            return text if name not in _EXCLUDED_FOLDERS else None
        elif entry.is_file(follow_symlinks=False):
            files = result.notes if path.is_note else result.attachments
            files.append(found_file(path, entry.stat(follow_symlinks=False)))
        elif path.is_note:
            result.problems.append(Problem(path, "it is not a regular file", "skipped"))
    except FileNotFoundError:
        return None
    except OSError as error:
        result.problems.append(Problem(path, _read_error(error)))
    return None


def found_file(path: NotePath, status: os.stat_result) -> FoundFile:
    """Return the file with this status; without a birth time, `created` is the earlier of its other times."""
    created = getattr(status, "st_birthtime", None) or min(status.st_ctime, status.st_mtime)
    return FoundFile(path, status.st_size, status.st_mtime_ns, created)


def _link_problem(path: str, real_root: str) -> str | None:
    """Return the problem with a symbolic link, or None if it stays inside the vault."""
    target = os.path.realpath(path)
    if not Path(target).exists():
        return "it is a broken symbolic link"
    is_inside = target == real_root or target.startswith(real_root.rstrip(os.sep) + os.sep)
    return None if is_inside else "it is a symbolic link that points outside the vault"


def _read_error(error: OSError) -> str:
    return f"it can't be read ({error.strerror or error})"
