"""Plan commits: check a whole change set and convert it to file operations."""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import dataclass, field

from app.errors import ConflictError, InvalidPathError, LimitError
from app.vault.changes import (
    ChangeSet,
    Create,
    Delete,
    FileChange,
    Move,
    Update,
    after_of,
    before_of,
    content_hash,
    touched_paths,
)
from app.vault.commits import CommittedFile
from app.vault.file_operations import free_name
from app.vault.path import NotePath
from app.vault.safe_fs import MAX_FILE_BYTES, NOT_A_FILE, DirHandleCache, VaultRoot
from app.vault.write_ahead_log import TEMP_PREFIX, FileOperation, Put, Rename

TRASH_FOLDER = ".trash"


@dataclass(slots=True)
class CommitPlan:
    """A planned commit: operations in order, bytes by hash, and folders to create.

    `changes` has the journal's record of each change, and `trash` the name under `.trash/` of each deleted
    file, or None for other changes.
    """

    operations: list[FileOperation] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    changes: list[CommittedFile] = field(default_factory=list)
    trash: list[str | None] = field(default_factory=list)


class CommitPlanner:
    """Plans one commit; `plan` is called once.

    Args:
        root: The vault.
        uid: A part of the temporary files' names.
        find_in_trash: Returns the name under `.trash/` of a deleted file by path and hash, or None.
    """

    def __init__(
        self, root: VaultRoot, uid: str, find_in_trash: Callable[[NotePath, str], str | None]
    ) -> None:
        self._root = root
        self._uid = uid
        self._find_in_trash = find_in_trash
        self._plan = CommitPlan()
        self._trash_names: list[str] | None = None

    def plan(self, change_set: ChangeSet) -> CommitPlan:
        """Check every change and return the plan.

        Raises:
            InvalidPathError: A path is hidden, leaves the vault, leads through a link or is not a file.
            ConflictError: Files differ from the change set; `conflicts` lists all of them.
            LimitError: A file is larger than 64 MiB.
            VaultLostError: The vault's folder is gone.
            OSError: The operating system reports an error.
        """
        for change in change_set.changes:
            for path in touched_paths(change):
                check_writable(path)
        for folder in change_set.emptied:
            check_writable(NotePath.on_disk(folder))
        with self._root.dir_handles() as folders:
            results = [self._problems(change, folders) for change in change_set.changes]
        problems = [problem for change_problems in results for problem in change_problems]
        if problems:
            message = "; ".join(str(problem["message"]) for problem in problems[:3])
            more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
            first = {key: problems[0][key] for key in ("path", "expected_hash", "current_hash")}
            raise ConflictError(f"{message}{more}. Nothing was written.", **first, conflicts=problems)
        for change in change_set.changes:
            self._add(change)
        return self._plan

    def _problems(self, change: FileChange, folders: DirHandleCache) -> list[dict[str, object]]:
        """Return the differences between the disk and the state that the change expects.

        Raises:
            InvalidPathError: The path leads through a link or is not a file.
            LimitError: The file is larger than 64 MiB, before or after the change.
        """
        problems: list[dict[str, object]] = []
        before = before_of(change)
        for content in (before, after_of(change)):
            if content is not None and len(content) > MAX_FILE_BYTES:
                raise _too_large(change.path)
        if before is not None:
            expected, current = content_hash(before), self._digest(change.path, folders)
            if current == NOT_A_FILE:
                message = f"{change.path} is a symbolic link or a folder. Nothing was written."
                raise InvalidPathError(message, path=str(change.path))
            if current != expected:
                description = "is gone" if current is None else "has changed in the meantime"
                problems.append(_conflict(change.path, description, expected, current))
        if isinstance(change, Create):
            problems += self._target_problems(change.path, folders)
        elif isinstance(change, Move):
            problems += self._target_problems(change.to, folders, same_name=change.path.key == change.to.key)
        return problems

    def _target_problems(
        self, target: NotePath, folders: DirHandleCache, *, same_name: bool = False
    ) -> list[dict[str, object]]:
        """Return the conflicts of a new path. With `same_name`, the file may exist in another case."""
        spelled, exists = self._root.disk_spelling(target)
        if exists and not (same_name and spelled != target):
            description = "already exists" if spelled == target else f"is in the way of {target}"
            return [_conflict(spelled, description, None, self._digest(spelled, folders))]
        if spelled.folder != target.folder:
            description = f"is the folder's name, not {target.folder}"
            return [_conflict(NotePath.on_disk(spelled.folder), description, None, None)]
        return []

    def _digest(self, path: NotePath, folders: DirHandleCache) -> str | None:
        try:
            folder = folders.folder(path.folder)
            status = folder.lstat(path.file_name)
            if status is not None and stat.S_ISREG(status.st_mode) and status.st_size > MAX_FILE_BYTES:
                raise _too_large(path)
            return folder.digest(path.file_name)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _add(self, change: FileChange) -> None:
        old_hash = self._add_content(before_of(change))
        new_hash = self._add_content(after_of(change))
        target: NotePath | None = None
        trash_name: str | None = None
        match change:
            case Create():
                assert new_hash is not None
                self._add_missing_folders(change.path.folder)
                self._plan.operations.append(
                    self._restore_from_trash(change.path, new_hash)
                    or self._plan_put(change.path, None, new_hash)
                )
            case Update():
                assert old_hash is not None and new_hash is not None
                self._plan.operations.append(self._plan_put(change.path, old_hash, new_hash, change.path))
            case Delete():
                assert old_hash is not None
                trash_name = self._trash_name(change.path.file_name)
                self._plan.operations.append(
                    Rename(str(change.path), f"{TRASH_FOLDER}/{trash_name}", old_hash, old_hash)
                )
            case Move():
                assert old_hash is not None and new_hash is not None
                target = change.to
                self._add_missing_folders(target.folder)
                is_case_change = change.path.key == target.key
                self._plan.operations.append(
                    Rename(str(change.path), str(target), old_hash, new_hash, same_name=is_case_change)
                )
                if new_hash != old_hash:
                    self._plan.operations.append(self._plan_put(target, old_hash, new_hash, change.path))
        self._plan.changes.append(CommittedFile(change.path, target, old_hash, new_hash))
        self._plan.trash.append(trash_name)

    def _add_content(self, content: bytes | None) -> str | None:
        if content is None:
            return None
        key = content_hash(content)
        self._plan.contents[key] = content
        return key

    def _plan_put(
        self, path: NotePath, old_hash: str | None, new_hash: str, like: NotePath | None = None
    ) -> Put:
        temp = f"{TEMP_PREFIX}{self._uid}-{len(self._plan.operations)}"
        return Put(str(path), temp, old_hash, new_hash, None if like is None else str(like))

    def _restore_from_trash(self, path: NotePath, new_hash: str) -> Rename | None:
        """Return a rename out of the trash, which keeps times and mode, or None if those bytes are gone."""
        trash_name = self._find_in_trash(path, new_hash)
        if trash_name is None:
            return None
        with self._root.dir_handles() as folders:
            if self._digest(NotePath.on_disk(f"{TRASH_FOLDER}/{trash_name}"), folders) != new_hash:
                return None
        return Rename(f"{TRASH_FOLDER}/{trash_name}", str(path), new_hash, new_hash)

    def _trash_name(self, file_name: str) -> str:
        if self._trash_names is None:
            self._add_missing_folders(TRASH_FOLDER)
            try:
                with self._root.folder(TRASH_FOLDER) as folder:
                    self._trash_names = folder.names()
            except FileNotFoundError:
                self._trash_names = []
        name = free_name(self._trash_names, file_name)
        self._trash_names.append(name)
        return name

    def _add_missing_folders(self, path: str) -> None:
        folder = ""
        for part in [part for part in path.split("/") if part]:
            parent, folder = folder, f"{folder}/{part}" if folder else part
            if folder in self._plan.folders:
                continue
            if parent in self._plan.folders or not self._exists(parent, part):
                self._plan.folders.append(folder)

    def _exists(self, parent: str, name: str) -> bool:
        with self._root.folder(parent) as folder:
            return folder.lstat(name) is not None


def check_writable(path: NotePath) -> None:
    """Raise InvalidPathError if a path is hidden or leaves the vault."""
    NotePath.on_disk(path.text)
    if path.is_hidden:
        message = f"{path} is hidden or in a hidden folder. Nothing was written."
        raise InvalidPathError(message, path=str(path))


def _too_large(path: NotePath) -> LimitError:
    message = f"{path} is larger than {MAX_FILE_BYTES // 1024**2} MiB. Nothing was written."
    return LimitError(message, limit=MAX_FILE_BYTES, path=str(path))


def _conflict(
    path: NotePath, description: str, expected: str | None, current: str | None
) -> dict[str, object]:
    return {
        "path": str(path),
        "message": f"{path} {description}",
        "expected_hash": expected,
        "current_hash": current,
    }
