"""The store of a vault's files, and the only part of the app that writes them."""

from __future__ import annotations

import os
import stat as modes
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.errors import (
    InvalidParametersError,
    InvalidPathError,
    NotFoundError,
    ScriptoriumError,
    StorageError,
    VaultBusyError,
    VaultLostError,
)
from app.events import Event
from app.vault.changes import VAULT, ChangeSet
from app.vault.commit_planner import CommitPlanner
from app.vault.commits import Commit, CommitDraft, CommittedFile, new_uid, record_changes
from app.vault.file_operations import OperationExecutor
from app.vault.journal import Journal
from app.vault.path import NotePath
from app.vault.safe_fs import Platform, VaultRoot
from app.vault.transaction import Recovery, Transaction
from app.vault.write_ahead_log import TEMP_PREFIX, Intent, WriteAheadLog

_MAX_REMEMBERED_WRITES = 20_000
MISSING_HASH = ""


@dataclass(frozen=True, slots=True)
class NotesChanged(Event):
    """The event that files of the vault have changed, by a commit or from outside (`commit` is None)."""

    paths: tuple[NotePath, ...]
    removed: tuple[NotePath, ...]
    moved: tuple[tuple[NotePath, NotePath], ...]
    author: str
    commit: int | None


@dataclass(frozen=True, slots=True)
class FileStatus:
    """A file's size in bytes and its times in Unix seconds.

    `created` equals `modified` if the system does not report the creation time.
    """

    size: int
    modified: float
    created: float


class NoteStore:
    """The files of one vault, or of another folder that the user has opened to the tools.

    Thread-safe; commits run one at a time.

    Args:
        root: The folder.
        journal: Records the commits.
        place: The name of this store in change sets; empty for the vault.
        log_folder: The folder of the write-ahead log; None for the journal's folder.
        writable: False to reject commits, because another process owns the vault.
        step: Called with a description before each step of a commit on disk, so that tests can crash there.
        platform: The system's capabilities, for tests; detected by default.
    """

    def __init__(
        self,
        root: Path,
        journal: Journal,
        *,
        place: str = VAULT,
        log_folder: Path | None = None,
        writable: bool = True,
        step: Callable[[str], None] | None = None,
        platform: Platform | None = None,
    ) -> None:
        step = step or (lambda name: None)
        self.root = root
        self.writable = writable
        self.journal = journal
        self._vault = VaultRoot(root, platform)
        self.place = place
        self._wal = WriteAheadLog(log_folder or journal.folder, step, writable=writable)
        self._transaction = Transaction(OperationExecutor(self._vault, step), self._wal, journal, step)
        self._lock = threading.RLock()
        self._own_writes: OrderedDict[str, str] = OrderedDict()
        self._own_writes_lock = threading.Lock()

    @property
    def problem(self) -> str | None:
        """A message about interrupted changes that can't be recovered, or None."""
        damaged = self._wal.damaged_files()
        if not damaged:
            return None
        names = ", ".join(str(file) for file in damaged)
        return f"The record of an interrupted change can't be read. It was set aside: {names}."

    def read(self, path: NotePath) -> bytes:
        """Return the bytes of a file; a link that stays in the vault is followed.

        Raises:
            NotFoundError: There is no such file.
            InvalidPathError: It is a folder, or a link points outside the vault.
            LimitError: It is larger than 64 MiB.
            VaultLostError, StorageError: The vault is gone, or the disk failed.
        """
        with self._convert_errors(path):
            real_path = self._resolve_links(path)
            with self._vault.folder(real_path.folder) as folder:
                return folder.read(real_path.file_name)

    def real_path(self, path: NotePath) -> NotePath:
        """Return the path with its links resolved inside the vault; raises as `read` does."""
        with self._convert_errors(path):
            return self._resolve_links(path)

    def read_start(self, path: NotePath, count: int) -> bytes:
        """Return the first `count` bytes of a file of any size; raises as `read` does, except LimitError."""
        with self._convert_errors(path):
            real_path = self._resolve_links(path)
            with self._vault.folder(real_path.folder) as folder:
                return folder.read_start(real_path.file_name, count)

    def stat(self, path: NotePath) -> FileStatus:
        """Return the size and times of a file of any size; raises as `read` does, except LimitError."""
        with self._convert_errors(path):
            real_path = self._resolve_links(path)
            with self._vault.folder(real_path.folder) as folder:
                status = folder.lstat(real_path.file_name)
            if status is None:
                raise FileNotFoundError
            if not modes.S_ISREG(status.st_mode):
                raise InvalidPathError(f"{path} is not a file.", path=str(path))
            created = getattr(status, "st_birthtime", status.st_ctime if os.name == "nt" else status.st_mtime)
            return FileStatus(status.st_size, status.st_mtime, float(created))

    def exists(self, path: NotePath) -> bool:
        """Return whether there is a file at this path; a link that stays in the vault is followed.

        Raises:
            VaultLostError, StorageError: The vault is gone, or the disk failed.
        """
        try:
            self.stat(path)
        except (NotFoundError, InvalidPathError):
            return False
        return True

    def existing_path(self, path: NotePath) -> NotePath | None:
        """Return the path as spelled on disk, which may differ in case or Unicode form, or None.

        Raises:
            InvalidPathError: A folder in the path is a symbolic link.
            VaultLostError, StorageError: The vault is gone, or the disk failed.
        """
        with self._convert_errors(path):
            spelled, exists = self._vault.disk_spelling(path)
        return spelled if exists else None

    def disk_spelling(self, path: NotePath) -> NotePath:
        """Return the path for a new file, with existing folders spelled as on disk.

        Raises as `existing_path` does.
        """
        with self._convert_errors(path):
            return self._vault.disk_spelling(path)[0]

    def files_in(self, folder: NotePath) -> Iterator[NotePath]:
        """Yield the files in a folder and below it, with hidden ones; none if it is missing.

        Links to folders are not followed.

        Raises:
            InvalidPathError: A folder in the path is a symbolic link.
            VaultLostError, StorageError: The vault is gone, or a folder can't be read.
        """
        start = Path(self._vault.path, self.disk_spelling(folder).text)

        def stop(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                raise error

        with self._convert_errors(folder):
            for parent, _, names in os.walk(start, onerror=stop):
                for name in names:
                    yield NotePath.on_disk(Path(parent, name).relative_to(self._vault.path).as_posix())

    def _resolve_links(self, path: NotePath) -> NotePath:
        """Return the path with its links resolved inside the vault."""
        self._vault.require()
        NotePath.on_disk(path.text)
        parts = Path(self._vault.path, path.text)
        return path if os.path.realpath(parts) == str(parts) else self._vault.resolve_inside(path)

    @contextmanager
    def _convert_errors(self, path: NotePath | str) -> Iterator[None]:
        """Convert the system's errors to the app's."""
        try:
            yield
        except (FileNotFoundError, NotADirectoryError) as error:
            self._vault.require()
            raise NotFoundError(f"There is no file {path}.", path=str(path)) from error
        except OSError as error:
            self._vault.require()
            message = f"{path} can't be accessed: {error.strerror or error}."
            raise StorageError(message, path=str(path), errno=error.errno) from error

    def check_writable(self) -> None:
        """Check that the store is writable, before the user is asked for approval.

        Raises:
            VaultBusyError: The store is not writable.
        """
        if not self.writable:
            raise VaultBusyError("The vault is open read-only, so nothing in it can be changed.")

    def commit(
        self,
        change_set: ChangeSet,
        *,
        author: str,
        turn: str = "",
        note: str = "",
        entry: str = "",
        undoes: Iterable[int] = (),
    ) -> Commit:
        """Write a change set atomically and record it.

        Args:
            change_set: The changes to write.
            author: The author shown in the history.
            turn: The agent's turn, which can be undone as one.
            note: A remark for the history.
            entry: The id of the audit entry.
            undoes: The commits that this one undoes, if the journal can't infer them from the change set.

        Raises:
            ConflictError: A file differs from the change set's old state; nothing was written.
            InvalidPathError: A path is hidden, leaves the folder, or goes through a link.
            InvalidParametersError: The change set is for another store.
            NotFoundError: A commit in `undoes` does not exist.
            LimitError: A file is larger than 64 MiB.
            VaultBusyError: The store is not writable.
            VaultLostError, StorageError: The disk failed; nothing was written.
        """
        self.check_writable()
        if change_set.place != self.place:
            raise InvalidParametersError(
                f"A change set for {change_set.place or 'the vault'} "
                f"can't be committed to {self.place or 'the vault'}."
            )
        with self._lock:
            if self._wal.has_pending():
                self.recover()
            with self._convert_commit_errors():
                intent, contents = self._create_intent(change_set, author, turn, note, entry, tuple(undoes))
                self._remember(intent.draft.changes)
                try:
                    return self._transaction.run(intent, contents)
                except BaseException:
                    self._forget(intent)
                    raise

    def record_external(
        self, change_set: ChangeSet, *, author: str, turn: str = "", entry: str = ""
    ) -> Commit:
        """Record changes that another program made to the files, so that they can be undone.

        Nothing is written to the vault. The arguments are those of `commit`; the change set contains the old
        and the current bytes of each file.

        Raises:
            VaultBusyError: The store is not writable.
            StorageError: The journal can't be written.
        """
        self.check_writable()
        with self._lock:
            changes, contents = record_changes(change_set)
            self.journal.store_contents(contents)
            self._remember(changes)
            return self.journal.record(
                CommitDraft(
                    author,
                    change_set.digest,
                    changes,
                    (None,) * len(changes),
                    turn=turn,
                    entry=entry,
                    summary=change_set.summary,
                    place=self.place,
                )
            )

    @contextmanager
    def _convert_commit_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._vault.require()
            reason = error.strerror or str(error)
            raise StorageError(f"Nothing was written: {reason}.", errno=error.errno) from error

    def _create_intent(
        self, change_set: ChangeSet, author: str, turn: str, note: str, entry: str, undoes: tuple[int, ...]
    ) -> tuple[Intent, dict[str, bytes]]:
        self._vault.require()
        uid = new_uid()
        plan = CommitPlanner(self._vault, uid, partial(self.journal.trash_name, place=self.place)).plan(
            change_set
        )
        undoes = undoes or self.journal.planned_undos(change_set.digest)
        draft = CommitDraft(
            author,
            change_set.digest,
            tuple(plan.changes),
            tuple(plan.trash),
            uid,
            turn=turn,
            note=note,
            entry=entry,
            summary=change_set.summary,
            folders=tuple(plan.folders),
            undoes=undoes,
            place=self.place,
        )
        created_folders = [
            folder for number in undoes for folder in reversed(self.journal.commit(number).folders)
        ]
        deepest_first = sorted((*created_folders, *change_set.emptied), key=lambda folder: -folder.count("/"))
        return Intent(draft, tuple(plan.operations), tuple(deepest_first)), plan.contents

    def _remember(self, changes: Iterable[CommittedFile]) -> None:
        """Remember what the commit writes, so that the watcher recognizes it as the app's own."""
        with self._own_writes_lock:
            for change in changes:
                self._remember_change(change)
            while len(self._own_writes) > _MAX_REMEMBERED_WRITES:
                self._own_writes.popitem(last=False)

    def _remember_change(self, change: CommittedFile) -> None:
        self._own_writes[change.path.text] = MISSING_HASH
        self._own_writes[change.final_path.text] = change.after or MISSING_HASH
        for path in (change.path, change.final_path):
            self._own_writes.move_to_end(path.text)

    def _forget(self, intent: Intent) -> None:
        with self._own_writes_lock:
            for change in intent.draft.changes:
                self._own_writes.pop(change.path.text, None)
                self._own_writes.pop(change.final_path.text, None)

    def is_own_write(self, path: NotePath, digest: str) -> bool:
        """Return whether this hash is that of the store's last write to a file (`MISSING_HASH`: removed).

        A different hash means that another program has written since. The store then forgets its own write,
        so that a later return to those bytes counts as an outside change.
        """
        with self._own_writes_lock:
            own_digest = self._own_writes.get(path.text)
            if own_digest is not None and own_digest != digest:
                del self._own_writes[path.text]
            return own_digest == digest

    def recover(self) -> list[Recovery]:
        """Recover the commits that a crash interrupted, before anything else reads the vault.

        Raises:
            VaultLostError: The vault is gone; the commits stay pending until it is back.
            StorageError: The disk failed; the commits stay pending until the next attempt.
        """
        with self._lock, self._convert_commit_errors():
            pending = self._wal.pending()
            if pending:
                self._vault.require()
            try:
                return [self._transaction.recover(intent, phase) for intent, phase in pending]
            except VaultLostError:
                raise
            except ScriptoriumError as error:
                message = f"An interrupted change could not be recovered yet: {error.message}"
                raise StorageError(message, **error.data) from error

    def cleanup(self) -> int:
        """Remove leftover temporary files from the vault's folders and return their number.

        Do nothing while an interrupted commit is pending. This walks the whole vault, so call it in the
        background.

        Raises:
            NotFoundError: A folder disappeared meanwhile.
            VaultLostError, StorageError: The vault is gone, or the disk failed.
        """
        with self._lock:
            if self._wal.has_pending():
                return 0
            count = 0
            for folder, subfolders, files in os.walk(self._vault.path):
                subfolders[:] = [name for name in subfolders if not name.startswith(".")]
                leftovers = [name for name in files if name.startswith(TEMP_PREFIX)]
                if leftovers:
                    relative = Path(folder).relative_to(self._vault.path).as_posix()
                    with (
                        self._convert_errors(relative),
                        self._vault.folder(relative.removeprefix(".")) as handle,
                    ):
                        for name in leftovers:
                            handle.remove(name)
                            count += 1
            return count
