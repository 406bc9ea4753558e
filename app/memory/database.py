"""The memory's SQLite file: opened, migrated, checked, backed up, and restored when it is damaged."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from app.errors import StorageError

_PARTS = ("", "-wal", "-shm")
_DAY_S = 86_400.0
_KEPT = 5
_CHECK_UP_TO = 64 * 1024 * 1024


def m001_documents(db: sqlite3.Connection) -> None:
    """Documents with their bytes, loro documents and versions, entries to be found, and the outbox."""
    for statement in (
        """CREATE TABLE documents (
            key TEXT PRIMARY KEY, path TEXT NOT NULL, data BLOB NOT NULL, hash TEXT NOT NULL,
            document BLOB, changed REAL NOT NULL)""",
        # Versions of loro documents by the bytes that they had, so that an edit made on one can be merged.
        """CREATE TABLE versions (
            key TEXT NOT NULL, hash TEXT NOT NULL, version BLOB NOT NULL, at REAL NOT NULL,
            PRIMARY KEY (key, hash)) WITHOUT ROWID""",
        """CREATE TABLE entries (
            id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, owner TEXT NOT NULL, entry TEXT NOT NULL,
            created TEXT NOT NULL, text TEXT NOT NULL, metadata TEXT NOT NULL)""",
        "CREATE INDEX entries_owner ON entries (owner, entry)",
        """CREATE VIRTUAL TABLE entry_words USING fts5 (
            words, tokenize = "unicode61 remove_diacritics 2")""",
        """CREATE TABLE entry_vectors (
            id INTEGER NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (id, model)
            ) WITHOUT ROWID""",
        # Commits that are written here and may not be in the journal yet.
        "CREATE TABLE outbox (uid TEXT PRIMARY KEY, draft TEXT NOT NULL) WITHOUT ROWID",
    ):
        db.execute(statement)


MIGRATIONS = [m001_documents]


class MemoryDatabase:
    """One connection to `memory.sqlite` in a folder, used by one thread at a time.

    A damaged file is renamed, never deleted, and the newest backup takes its place; `problem` says so and
    `restored` is the time of that backup (0 where there was none).

    Args:
        folder: Where the file and its backups are.
        writable: Whether this process may write.
        step: Called with the name of each step to the disk; tests kill the process there.

    Raises:
        StorageError: the folder or the file can't be used.
    """

    def __init__(
        self, folder: Path, *, writable: bool = True, step: Callable[[str], None] | None = None
    ) -> None:
        self.file = folder / "memory.sqlite"
        self.backups = folder / "memory-backups"
        self.problem: str | None = None
        self.restored: float | None = None
        self.step = step or (lambda name: None)
        self._writable = writable
        self._lock = threading.RLock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._db = self._open()
        except (sqlite3.OperationalError, OSError) as error:
            message = f"The memory cannot be opened: {error}."
            raise StorageError(message, path=str(self.file)) from error
        except sqlite3.DatabaseError as error:
            self._db = self._replace(error)

    def _open(self) -> sqlite3.Connection:
        if not self._writable and not self.file.exists():
            return self._prepared(sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None))
        db = sqlite3.connect(self.file, timeout=5.0, isolation_level=None, check_same_thread=False)
        return self._prepared(db)

    def _prepared(self, db: sqlite3.Connection) -> sqlite3.Connection:
        try:
            version = int(db.execute("PRAGMA user_version").fetchone()[0])
            if version > len(MIGRATIONS):
                raise sqlite3.OperationalError("it was written by a newer version of the app")
            if self._writable:
                for pragma in ("journal_mode = WAL", "synchronous = FULL", "fullfsync = ON"):
                    db.execute(f"PRAGMA {pragma}")
            for number, migrate in enumerate(MIGRATIONS[version:], version + 1):
                db.execute("BEGIN IMMEDIATE")
                migrate(db)
                db.execute(f"PRAGMA user_version = {number}")
                db.execute("COMMIT")
            self._check(db)
        except BaseException:
            db.close()
            raise
        return db

    def _check(self, db: sqlite3.Connection) -> None:
        try:
            db.execute("SELECT count(*) FROM documents, versions, entries, outbox LIMIT 0").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:
                raise sqlite3.DatabaseError(str(error)) from error
            raise
        if not self.file.exists() or self.file.stat().st_size > _CHECK_UP_TO:
            return
        if (answer := db.execute("PRAGMA quick_check(1)").fetchone())[0] != "ok":
            raise sqlite3.DatabaseError(str(answer[0]))

    def _replace(self, error: sqlite3.DatabaseError) -> sqlite3.Connection:
        """Set the damaged file aside; the newest backup that can be read takes its place, or a new file."""
        if not self._writable:
            raise StorageError(f"The memory is damaged: {error}.", path=str(self.file)) from error
        mark = f".damaged-{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 1_000_000:06d}"
        for part in _PARTS:
            old = self.file.with_name(self.file.name + part)
            if old.exists():
                old.rename(old.with_name(f"memory{mark}.sqlite{part}"))
        told = f"The agents' memory was damaged ({error}) and was set aside as memory{mark}.sqlite."
        for backup in reversed(self.kept_backups()):
            shutil.copyfile(backup, self.file)
            try:
                db = self._open()
            except sqlite3.DatabaseError:
                self.file.unlink(missing_ok=True)
                continue
            self.restored = backup.stat().st_mtime
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.restored))
            self.problem = f"{told} The backup of {when} took its place."
            return db
        self.restored = 0.0
        self.problem = f"{told} There was no backup yet, so a new one was started."
        return self._open()

    def kept_backups(self) -> list[Path]:
        """The backups, oldest first."""
        return sorted(self.backups.glob("memory-*.sqlite")) if self.backups.is_dir() else []

    def back_up(self, *, after: float = _DAY_S) -> Path | None:
        """Make a backup if the newest is older than `after` seconds, and remove the oldest beyond a few.

        Returns:
            The new backup; None where none was due, or the memory is empty.

        Raises:
            StorageError: the disk refused.
        """
        kept = self.kept_backups()
        if not self._writable or (kept and time.time() - kept[-1].stat().st_mtime < after):
            return None
        with self.transaction() as db:
            if not db.execute("SELECT 1 FROM documents LIMIT 1").fetchone():
                return None
        # One look at the clock: a second that ends between two would sort the name before older ones.
        seconds, rest = divmod(time.time_ns(), 1_000_000_000)
        name = f"memory-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(seconds))}-{rest:09d}.sqlite"
        try:
            self.backups.mkdir(exist_ok=True)
            made = self._copy_to(self.backups / name)
            for old in kept[: max(0, len(kept) + 1 - _KEPT)]:
                old.unlink(missing_ok=True)
        except (OSError, sqlite3.Error) as error:
            message = f"The memory could not be backed up: {error}."
            raise StorageError(message, path=str(self.backups)) from error
        return made

    def _copy_to(self, target: Path) -> Path:
        """A copy under another name first, so that half a backup never looks like one."""
        partly = target.with_suffix(".part")
        with self._lock, contextlib.closing(sqlite3.connect(partly)) as copy:
            self._db.backup(copy)
        partly.replace(target)
        return target

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction: committed at the end (and then on the disk), rolled back on any error.

        Raises:
            StorageError: the disk refused, or the file turned out to be damaged (and was replaced).
        """
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                try:
                    yield self._db
                    self._db.execute("COMMIT")
                except BaseException:
                    if self._db.in_transaction:
                        self._db.execute("ROLLBACK")
                    raise
            except sqlite3.OperationalError as error:
                message = f"The memory could not be read or written: {error}."
                raise StorageError(message, path=str(self.file)) from error
            except sqlite3.IntegrityError:
                raise
            except sqlite3.DatabaseError as error:
                self._db.close()
                self._db = self._replace(error)
                raise StorageError(self.problem or "", path=str(self.file)) from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()
