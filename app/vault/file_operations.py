"""The file operations of a commit: stage, execute and revert them, and detect their progress on disk.

There are two kinds. A `Put` gives a path new bytes; a `Rename` gives a file another name, which may be in the
trash. Each verifies the hash of the file that it replaces or moves. On systems that can swap two files, the
replaced file is kept until the whole commit is recorded.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from app.errors import ConflictError
from app.vault.path import name_key
from app.vault.rename import rename_case, rename_new, replace, swap
from app.vault.safe_fs import DirHandleCache, Folder, VaultRoot, start_writing, sync_file
from app.vault.write_ahead_log import FileOperation, Put, Rename

ContentReader = Callable[[str], bytes]

# The system batches the syncs of several threads. Each thread gets part of a commit's files; the limit on
# parts in progress also limits the number of open files.
_FILES_PER_PART = 8
_MAX_PENDING_PARTS = 8
_SYNC_THREADS = 8
_DROP_THREADS = 2


@dataclass(frozen=True, slots=True)
class OperationProgress:
    """Whether an operation is done, and whether another program has changed its file since it was planned."""

    is_done: bool
    is_edited: bool


class OperationExecutor:
    """Executes operations in the vault; calls `step` with a description before each step on disk."""

    def __init__(self, root: VaultRoot, step: Callable[[str], None]) -> None:
        self._root = root
        self._step = step

    def make_folder(self, path: str) -> None:
        """Create a folder whose parent exists; do nothing if it already exists."""
        parent, name = split_path(path)
        with self._root.folder(parent) as folder:
            self._step(f"folder {path}")
            folder.make_folder(name)

    def remove_folder(self, path: str) -> None:
        """Remove a folder if it is empty; ignore folders that are in use or gone."""
        parent, name = split_path(path)
        try:
            with self._root.folder(parent) as folder:
                self._step(f"remove folder {path}")
                folder.remove_folder(name)
        except (FileNotFoundError, NotADirectoryError):
            return

    def stage(self, put: Put, content: bytes) -> None:
        """Write the new bytes durably to the temporary file of a put, with the mode of `put.like`."""
        with self._root.dir_handles() as folders, ExitStack() as cleanup:
            fd = self._write(put, content, folders, cleanup)
            self._step(f"stage {put.path}: sync")
            sync_file(fd)

    def stage_all(self, puts: Sequence[Put], contents: Mapping[str, bytes]) -> None:
        """Stage several puts durably; `contents` maps hashes to bytes."""
        if len(puts) == 1:
            self.stage(puts[0], contents[puts[0].after])
            return
        pending: deque[Future[None]] = deque()
        with ThreadPoolExecutor(_SYNC_THREADS, "sync") as pool, self._root.dir_handles() as folders:
            for start in range(0, len(puts), _FILES_PER_PART):
                if len(pending) == _MAX_PENDING_PARTS:
                    pending.popleft().result()
                part = puts[start : start + _FILES_PER_PART]
                with ExitStack() as cleanup:
                    fds = [self._write(put, contents[put.after], folders, cleanup) for put in part]
                    for put, fd in zip(part, fds, strict=True):
                        self._step(f"stage {put.path}: sync")
                        start_writing(fd)
                    # From here on, the thread closes the files, even if another part fails.
                    pending.append(pool.submit(_sync_and_close, fds, cleanup.pop_all()))
            for future in pending:
                future.result()

    def _write(self, put: Put, content: bytes, folders: DirHandleCache, cleanup: ExitStack) -> int:
        """Create the temporary file of a put with its bytes, unsynced; `cleanup` closes it."""
        parent, _ = split_path(put.path)
        folder = folders.folder(parent)
        self._step(f"stage {put.path}: open")
        fd = folder.make_file(put.temp)
        cleanup.callback(os.close, fd)
        self._step(f"stage {put.path}: write")
        view = memoryview(content)
        while view:
            view = view[os.write(fd, view) :]
        if put.like is not None:
            self._copy_mode(fd, put.like, folders)
        return fd

    def _copy_mode(self, fd: int, like: str, folders: DirHandleCache) -> None:
        """Give a new file the mode of another and, if permitted, its owner."""
        parent, name = split_path(like)
        status = folders.folder(parent).lstat(name)
        if status is None or os.name != "posix":
            return
        current = os.fstat(fd)
        if (current.st_uid, current.st_gid) != (status.st_uid, status.st_gid):
            # Only root can change the owner.
            with suppress(PermissionError):
                os.fchown(fd, status.st_uid, status.st_gid)
        os.fchmod(fd, stat.S_IMODE(status.st_mode))

    def execute(self, operations: Sequence[FileOperation]) -> None:
        """Execute operations in order.

        Raises:
            ConflictError: A file differs from the plan; its operation changed nothing, earlier ones are done.
            InvalidPathError: A folder has become a symbolic link.
            OSError: The operating system reports an error.
        """
        with self._root.dir_handles() as folders:
            for operation in operations:
                if isinstance(operation, Rename):
                    self._rename(operation.path, operation.to, operation.hash, same_name=operation.same_name)
                else:
                    self._apply_put(operation, folders)

    def _apply_put(self, put: Put, folders: DirHandleCache) -> None:
        parent, name = split_path(put.path)
        folder = folders.folder(parent)
        if put.before is not None:
            self._exchange(folder, put.temp, put.path, put.before, put.after)
            return
        self._step(f"put {put.path}")
        try:
            rename_new(folder, put.temp, folder, name)
        except FileExistsError as error:
            raise conflict_error(put.path, None, folder.digest(name)) from error

    def _exchange(self, folder: Folder, temp: str, path: str, old_hash: str, new_hash: str) -> None:
        """Replace the file at `path`, which must have the hash `old_hash`, with `temp` (hash `new_hash`).

        Raises:
            ConflictError: The file differs or is gone; the other program's text is left in place.
        """
        name = split_path(path)[1]
        if (current_hash := folder.digest(name)) != old_hash:
            raise conflict_error(path, old_hash, current_hash)
        self._step(f"put {path}")
        try:
            is_swapped = swap(folder, temp, folder, name)
        except FileNotFoundError as error:
            raise conflict_error(path, old_hash, None) from error
        if not is_swapped:
            if (current_hash := folder.digest(name)) != old_hash:
                raise conflict_error(path, old_hash, current_hash)
            replace(folder, temp, name)
            return
        self._step(f"check {path}")
        if (current_hash := folder.digest(temp)) != old_hash:
            # Another program saved in the same instant: restore its text, or the newer one if it saved twice.
            swap(folder, temp, folder, name)
            if folder.digest(temp) != new_hash:
                swap(folder, temp, folder, name)
            raise conflict_error(path, old_hash, current_hash)

    def _rename(self, path: str, new_path: str, expected_hash: str, *, same_name: bool) -> None:
        (parent, name), (new_parent, new_name) = split_path(path), split_path(new_path)
        with self._root.folder(parent) as source_folder, self._root.folder(new_parent) as target_folder:
            if (current_hash := source_folder.digest(name)) != expected_hash:
                raise conflict_error(path, expected_hash, current_hash)
            self._step(f"rename {path}")
            try:
                (rename_case if same_name else rename_new)(source_folder, name, target_folder, new_name)
            except FileExistsError as error:
                raise conflict_error(new_path, None, target_folder.digest(new_name)) from error
            except FileNotFoundError as error:
                raise conflict_error(path, expected_hash, None) from error
            self._step(f"check {new_path}")
            if (current_hash := target_folder.digest(new_name)) != expected_hash:
                (rename_case if same_name else rename_new)(target_folder, new_name, source_folder, name)
                raise conflict_error(path, expected_hash, current_hash)

    def undo(self, operation: FileOperation, read_content: ContentReader) -> bool:
        """Revert a completed operation; return False if the file has since been changed or removed.

        Args:
            operation: The operation.
            read_content: Returns the bytes for a hash, for systems where updates do not keep the old file.

        Raises:
            NotFoundError: `read_content` has no old bytes; the file keeps the new ones.
            OSError: The operating system reports an error.
        """
        try:
            if isinstance(operation, Rename):
                self._finish_link(operation)
                self._rename(operation.to, operation.path, operation.hash, same_name=operation.same_name)
            else:
                self._revert_put(operation, read_content)
        except (ConflictError, FileNotFoundError, NotADirectoryError):
            return False
        return True

    def _revert_put(self, put: Put, read_content: ContentReader) -> None:
        parent, name = split_path(put.path)
        with self._root.folder(parent) as folder:
            if (current_hash := folder.digest(name)) != put.after:
                raise conflict_error(put.path, put.after, current_hash)
            if put.before is None:
                self._step(f"revert {put.path}")
                folder.remove(put.temp)
                rename_new(folder, name, folder, put.temp)
                if folder.digest(put.temp) != put.after:
                    rename_new(folder, put.temp, folder, name)
                    raise conflict_error(put.path, put.after, None)
                return
            if folder.digest(put.temp) != put.before:
                folder.remove(put.temp)
                self.stage(Put(put.path, put.temp, put.after, put.before, put.path), read_content(put.before))
            self._exchange(folder, put.temp, put.path, put.after, put.before)

    def _finish_link(self, operation: Rename) -> None:
        """Remove the old name if a crash left both, on systems where a rename is a link and an unlink."""
        (parent, name), (new_parent, new_name) = split_path(operation.path), split_path(operation.to)
        with self._root.folder(parent) as source_folder, self._root.folder(new_parent) as target_folder:
            old_status, new_status = source_folder.lstat(name), target_folder.lstat(new_name)
            are_same_file = (
                old_status is not None and new_status is not None and os.path.samestat(old_status, new_status)
            )
            if are_same_file and name in source_folder.names() and new_name in target_folder.names():
                source_folder.remove(name)

    def finish(self, operation: FileOperation) -> None:
        """Complete an operation that took effect but was interrupted."""
        if isinstance(operation, Rename):
            self._finish_link(operation)

    def progress(self, operation: FileOperation) -> OperationProgress:
        """Return the on-disk progress of an operation whose commit was completely staged."""
        return (
            self._rename_progress(operation)
            if isinstance(operation, Rename)
            else self._put_progress(operation)
        )

    def _put_progress(self, put: Put) -> OperationProgress:
        current_hash = self.digest(put.path)
        if current_hash in (put.after, put.before):
            return OperationProgress(is_done=current_hash == put.after, is_edited=False)
        return OperationProgress(is_done=not self.is_staged(put), is_edited=True)

    def is_staged(self, put: Put) -> bool:
        """Return whether the complete new bytes are still in the temporary file."""
        parent, _ = split_path(put.path)
        return self.digest(f"{parent}/{put.temp}" if parent else put.temp) == put.after

    def _rename_progress(self, operation: Rename) -> OperationProgress:
        target_digest = self._digest_exact(operation.to)
        if target_digest in (operation.hash, operation.final):
            return OperationProgress(is_done=True, is_edited=False)
        source_digest = self._digest_exact(operation.path)
        if source_digest is None and target_digest is not None:
            return OperationProgress(is_done=True, is_edited=True)
        return OperationProgress(is_done=False, is_edited=source_digest != operation.hash)

    def _digest_exact(self, path: str) -> str | None:
        """Return the hash of the file with exactly this spelling of its name, or None if there is none."""
        parent, name = split_path(path)
        try:
            with self._root.folder(parent) as folder:
                return folder.digest(name) if name in folder.names() else None
        except (FileNotFoundError, NotADirectoryError):
            return None

    def digest(self, path: str) -> str | None:
        """Return the hash of the file at a path, or None if there is none."""
        parent, name = split_path(path)
        try:
            with self._root.folder(parent) as folder:
                return folder.digest(name)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def drop(self, puts: Sequence[Put]) -> None:
        """Remove the temporary files of finished puts.

        If one holds neither the old nor the new bytes, a program that had the old file open has written to it
        in the meantime; that text is kept in a separate file. If one removal fails, the others continue, and
        the first error is raised at the end.
        """
        if len(puts) <= _FILES_PER_PART:
            self._drop_part(puts)
            return
        # Removals wait for the disk as well.
        with ThreadPoolExecutor(_DROP_THREADS, "drop") as pool:
            parts = [puts[start : start + _FILES_PER_PART] for start in range(0, len(puts), _FILES_PER_PART)]
            for future in [pool.submit(self._drop_part, part) for part in parts]:
                future.result()

    def _drop_part(self, puts: Sequence[Put]) -> None:
        first_error: OSError | None = None
        with self._root.dir_handles() as folders:
            for put in puts:
                try:
                    self._drop(put, folders)
                except (FileNotFoundError, NotADirectoryError):
                    continue
                except OSError as error:
                    first_error = first_error or error
        if first_error is not None:
            raise first_error

    def _drop(self, put: Put, folders: DirHandleCache) -> None:
        parent, name = split_path(put.path)
        folder = folders.folder(parent)
        digest = folder.digest(put.temp)
        if digest is None:
            return
        self._step(f"drop {put.temp}")
        if digest in (put.before, put.after):
            folder.remove(put.temp)
        else:
            rename_new(folder, put.temp, folder, free_name(folder.names(), name, " (edited outside)"))

    def discard(self, put: Put) -> None:
        """Remove an unused temporary file, complete or not."""
        parent, _ = split_path(put.path)
        try:
            with self._root.folder(parent) as folder:
                self._step(f"discard {put.temp}")
                folder.remove(put.temp)
        except (FileNotFoundError, NotADirectoryError):
            return

    def sync(self, operations: tuple[FileOperation, ...]) -> None:
        """Sync the folders of these operations, each once."""
        paths = [operation.path for operation in operations] + [
            operation.to for operation in operations if isinstance(operation, Rename)
        ]
        for parent in dict.fromkeys(split_path(path)[0] for path in paths):
            try:
                with self._root.folder(parent) as folder:
                    self._step(f"sync {parent or '/'}")
                    folder.sync()
            except (FileNotFoundError, NotADirectoryError):
                continue


def _sync_and_close(fds: Sequence[int], cleanup: ExitStack) -> None:
    with cleanup:
        for fd in fds:
            sync_file(fd)


def split_path(path: str) -> tuple[str, str]:
    """Return the folder (empty for the root) and the last part of a vault path."""
    folder, _, name = path.rpartition("/")
    return folder, name


def conflict_error(path: str, expected_hash: str | None, current_hash: str | None) -> ConflictError:
    """Return the error for a file that is not as expected.

    `expected_hash` is None for a file that should not exist, `current_hash` for one that is missing.
    """
    if expected_hash is None:
        message = f"{path} already exists."
    elif current_hash is None:
        message = f"{path} is gone."
    else:
        message = f"{path} has changed in the meantime."
    hashes = {"expected_hash": expected_hash, "current_hash": current_hash}
    return ConflictError(f"{message} Nothing was written.", path=path, **hashes)


def free_name(taken_names: list[str], name: str, label: str = "") -> str:
    """Return a file name that is free on every system: `name` with `label`, and a number if necessary.

    Both come before the suffix; a name that would exceed 255 bytes is shortened.
    """
    keys = {name_key(taken_name) for taken_name in taken_names}
    stem, dot, suffix = name.rpartition(".")
    stem, suffix = (stem, dot + suffix) if stem else (name, "")
    number = 1
    while True:
        tail = f"{label}{'' if number == 1 else f' {number}'}{suffix}"
        max_stem_bytes = 255 - len(tail.encode("utf-8", "surrogatepass"))
        while len(stem.encode("utf-8", "surrogatepass")) > max_stem_bytes:
            stem = stem[:-1]
        if name_key(stem + tail) not in keys:
            return stem + tail
        number += 1
