"""NoteStore: reads the vault's files, and is the only one that writes them."""

from __future__ import annotations

import os
import secrets
import stat as modes
import threading
import time
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
from app.vault.commits import Changed, Commit, Draft, recorded
from app.vault.containment import Platform, VaultRoot
from app.vault.deeds import Doer
from app.vault.intents import TEMP_PREFIX, Intent, Intents
from app.vault.journal import Journal
from app.vault.path import NotePath
from app.vault.planning import Planner
from app.vault.transaction import Recovery, Transaction

_REMEMBERED_WRITES = 20_000
GONE = ""


@dataclass(frozen=True, slots=True)
class NotesChanged(Event):
    """Files of the vault have changed: by a commit of ours, or from outside (`commit` is None)."""

    paths: tuple[NotePath, ...]
    removed: tuple[NotePath, ...]
    moved: tuple[tuple[NotePath, NotePath], ...]
    author: str
    commit: int | None


@dataclass(frozen=True, slots=True)
class FileStatus:
    """What the file system says of a file: size in bytes, times in Unix seconds."""

    size: int
    modified: float
    created: float


class NoteStore:
    """The files of one vault, or of another folder that the user has opened to the tools.

    May be used from several threads; commits go one after the other.

    Args:
        root: the folder.
        journal: records the commits.
        place: whose documents these are, as the change sets for them say; empty for the vault.
        intents: where commits that are under way are kept; None: beside the journal, for the vault.
        writable: False refuses every commit: another app owns the vault.
        step: called with a name before each disk step of a commit; tests stop the process there.
        platform: what the system can do; for tests.
    """

    def __init__(
        self,
        root: Path,
        journal: Journal,
        *,
        place: str = VAULT,
        intents: Path | None = None,
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
        self._intents = Intents(intents or journal.folder, step, writable=writable)
        self._transaction = Transaction(Doer(self._vault, step), self._intents, journal, step)
        self._lock = threading.RLock()
        self._written: OrderedDict[str, str] = OrderedDict()
        self._written_lock = threading.Lock()

    @property
    def problem(self) -> str | None:
        """Changes that a crash cut off and that cannot be settled, in words; None if all is well."""
        damaged = self._intents.damaged()
        if not damaged:
            return None
        names = ", ".join(str(file) for file in damaged)
        return f"What a change that was cut off wanted can't be read. It was set aside: {names}."

    def present(self) -> bool:
        """Whether the vault's folder is there."""
        return self._vault.present()

    def read(self, path: NotePath) -> bytes:
        """The bytes of a file; a link that stays in the vault is followed.

        Raises:
            NotFoundError: there is no such file.
            InvalidPathError: it is a folder, or a link leads out of the vault.
            LimitError: it holds more than 64 MiB.
            VaultLostError, StorageError: the vault is gone, or the disk refused.
        """
        with self._disk(path):
            real = self._real(path)
            with self._vault.folder(real.folder) as folder:
                return folder.read(real.file_name)

    def real(self, path: NotePath) -> NotePath:
        """The path itself, or the one in the vault that its links lead to; errors as in `read`."""
        with self._disk(path):
            return self._real(path)

    def read_start(self, path: NotePath, count: int) -> bytes:
        """The first `count` bytes of a file of any size; errors as in `read`, but for the limit."""
        with self._disk(path):
            real = self._real(path)
            with self._vault.folder(real.folder) as folder:
                return folder.read_start(real.file_name, count)

    def stat(self, path: NotePath) -> FileStatus:
        """Size and times of a file; errors as in `read`."""
        with self._disk(path):
            real = self._real(path)
            with self._vault.folder(real.folder) as folder:
                status = folder.lstat(real.file_name)
            if status is None:
                raise FileNotFoundError
            if not modes.S_ISREG(status.st_mode):
                raise InvalidPathError(f"{path} is not a file.", path=str(path))
            created = getattr(status, "st_birthtime", status.st_ctime if os.name == "nt" else status.st_mtime)
            return FileStatus(status.st_size, status.st_mtime, float(created))

    def exists(self, path: NotePath) -> bool:
        """Whether there is a file of exactly this path that can be read."""
        try:
            self.stat(path)
        except (NotFoundError, InvalidPathError):
            return False
        return True

    def taken(self, path: NotePath) -> NotePath | None:
        """What is in the place of `path`, in the disk's spelling: names that differ only in case count."""
        with self._disk(path):
            spelled, there = self._vault.spelled(path)
        return spelled if there else None

    def spelled(self, path: NotePath) -> NotePath:
        """The path with those folders that exist spelled as on disk; a new file must be put there."""
        with self._disk(path):
            return self._vault.spelled(path)[0]

    def _real(self, path: NotePath) -> NotePath:
        """The path itself, or the one that its links lead to inside the vault."""
        self._vault.require()
        NotePath.on_disk(path.text)
        parts = Path(self._vault.path, path.text)
        return path if os.path.realpath(parts) == str(parts) else self._vault.inside(path)

    @contextmanager
    def _disk(self, path: NotePath | str) -> Iterator[None]:
        """Turn what the system says into our errors."""
        try:
            yield
        except (FileNotFoundError, NotADirectoryError) as error:
            self._vault.require()
            raise NotFoundError(f"There is no file {path}.", path=str(path)) from error
        except OSError as error:
            self._vault.require()
            message = f"The disk refused {path}: {error.strerror or error}."
            raise StorageError(message, path=str(path), errno=error.errno) from error

    def check_writable(self) -> None:
        """Refuse, before anybody is asked, what could not be written.

        Raises:
            VaultBusyError: the store is not writable.
        """
        if not self.writable:
            raise VaultBusyError("The vault is open for reading only, so nothing in it can be changed.")

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
        """Write a change set, all of it or nothing, and record it.

        Args:
            change_set: what to write.
            author: who, as shown in the history.
            turn: the agent's turn, so that a turn can be undone as one.
            note: a remark for the history.
            entry: the audit entry.
            undoes: commits that this one takes back, where `Journal.undo` cannot tell by itself.

        Raises:
            ConflictError: a file is not what the change set was made for; nothing was written.
            InvalidPathError: a path is hidden, leaves the folder, or leads through a link.
            InvalidParametersError: the change set is for another place.
            LimitError: a file is larger than 64 MiB.
            VaultBusyError: the store is not writable.
            VaultLostError, StorageError: the disk refused; nothing was written.
        """
        self.check_writable()
        if change_set.place != self.place:
            raise InvalidParametersError(
                f"A change for {change_set.place or 'the vault'} came to {self.place or 'the vault'}."
            )
        with self._lock:
            if self._intents.any():
                self.recover()
            with self._commit_errors():
                intent, contents = self._intent(change_set, author, turn, note, entry, tuple(undoes))
                self._remember(intent.draft.changes)
                try:
                    return self._transaction.run(intent, contents)
                except BaseException:
                    self._forget(intent)
                    raise

    def adopt(self, change_set: ChangeSet, *, author: str, turn: str = "", entry: str = "") -> Commit:
        """Record what another program has done to the files by itself, so that it can be taken back.

        Nothing is written to the vault. Arguments as of `commit`; the change set says what each file held
        and what it holds now.

        Raises:
            VaultBusyError: the store is not writable.
            StorageError: the journal refused.
        """
        self.check_writable()
        with self._lock:
            changes, contents = recorded(change_set)
            self.journal.keep(contents)
            self._remember(changes)
            uid = f"{time.time_ns():x}-{secrets.token_hex(4)}"
            return self.journal.record(
                Draft(
                    uid,
                    time.time(),
                    author,
                    change_set.digest,
                    changes,
                    (None,) * len(changes),
                    turn,
                    "",
                    entry,
                    change_set.summary,
                    place=self.place,
                )
            )

    @contextmanager
    def _commit_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._vault.require()
            words = error.strerror or str(error)
            raise StorageError(f"Nothing was written: {words}.", errno=error.errno) from error

    def _intent(
        self, change_set: ChangeSet, author: str, turn: str, note: str, entry: str, undoes: tuple[int, ...]
    ) -> tuple[Intent, dict[str, bytes]]:
        self._vault.require()
        uid = f"{time.time_ns():x}-{secrets.token_hex(4)}"
        plan = Planner(self._vault, uid, partial(self.journal.trashed, place=self.place)).plan(change_set)
        undoes = undoes or self.journal.undone(change_set.digest)
        draft = Draft(
            uid,
            time.time(),
            author,
            change_set.digest,
            tuple(plan.changes),
            tuple(plan.trash),
            turn,
            note,
            entry,
            change_set.summary,
            tuple(plan.folders),
            undoes,
            self.place,
        )
        spare = [folder for number in undoes for folder in reversed(self.journal.commit(number).folders)]
        deepest = sorted(spare, key=lambda folder: -folder.count("/"))
        return Intent(draft, tuple(plan.deeds), tuple(deepest)), plan.contents

    def _remember(self, changes: Iterable[Changed]) -> None:
        """Note what we are about to write, so that the watcher knows it when it sees it."""
        with self._written_lock:
            for change in changes:
                self._remember_change(change)
            while len(self._written) > _REMEMBERED_WRITES:
                self._written.popitem(last=False)

    def _remember_change(self, change: Changed) -> None:
        self._written[change.path.text] = GONE
        self._written[change.place.text] = change.after or GONE
        for path in (change.path, change.place):
            self._written.move_to_end(path.text)

    def _forget(self, intent: Intent) -> None:
        with self._written_lock:
            for change in intent.draft.changes:
                self._written.pop(change.path.text, None)
                self._written.pop(change.place.text, None)

    def wrote(self, path: NotePath, content: str) -> bool:
        """Whether a file holds what we last wrote there; `GONE` asks for a file that we took away.

        A different content means that somebody else has written since: what we wrote is forgotten then,
        so that going back to it later counts as a change.
        """
        with self._written_lock:
            ours = self._written.get(path.text)
            if ours is not None and ours != content:
                del self._written[path.text]
            return ours == content

    def recover(self) -> list[Recovery]:
        """Settle the commits that a crash cut off; call it before anything else reads the vault.

        Raises:
            VaultLostError: the vault is gone; they stay as they are until it is back.
            StorageError: the disk refused; they stay as they are until the next try.
        """
        with self._lock, self._commit_errors():
            pending = self._intents.pending()
            if pending:
                self._vault.require()
            try:
                return [self._transaction.settle(intent, phase) for intent, phase in pending]
            except VaultLostError:
                raise
            except ScriptoriumError as error:
                message = f"An earlier change could not be settled yet: {error.message}"
                raise StorageError(message, **error.data) from error

    def cleanup(self) -> int:
        """Remove temporary files that were left in the vault's folders; the number of them.

        Walks the whole vault: call it in the background.
        """
        with self._lock:
            if self._intents.any():
                return 0
            count = 0
            for folder, names, files in os.walk(self._vault.path):
                names[:] = [name for name in names if not name.startswith(".")]
                left = [name for name in files if name.startswith(TEMP_PREFIX)]
                if left:
                    relative = Path(folder).relative_to(self._vault.path).as_posix()
                    with self._disk(relative), self._vault.folder(relative.removeprefix(".")) as opened:
                        for name in left:
                            opened.remove(name)
                            count += 1
            return count


__all__ = ["GONE", "Commit", "FileStatus", "NoteStore", "NotesChanged", "Recovery"]
