"""The index file: opened, brought to the present shape, or set aside when it cannot be used.

The index is derived, so a file that is damaged or that a newer version wrote is put aside under another
name and a new one is begun; the caller is told why. One connection writes (in a worker thread, one at a
time), one reads; write-ahead logging keeps readers from waiting.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from app.errors import StorageError
from app.index.late_indexes import is_one_late, make_one
from app.index.migrations import MIGRATIONS

FILE_NAME = "index.sqlite"
BUSY_SECONDS = 5.0
_PAGES_AHEAD = 8192


class DamagedIndexError(StorageError):
    """The index file holds something else than an index, or was written by a newer version."""


class RecallingConnection(sqlite3.Connection):
    """A connection that searches use; `recalled` keeps by name what took long, and the data version then."""

    @cached_property
    def recalled(self) -> dict[str, tuple[int, Any]]:
        """What was kept; empty at first."""
        return {}


class Database:
    """The connections to the index file at `path`: one writes, one reads, and one for each running search.

    `reading()` and `writing()` let in one thread at a time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._reader, self._writer = _connect_reading(path), _connect(path)
        self._reader_lock, self._writer_lock = threading.RLock(), threading.RLock()
        self._idle: list[sqlite3.Connection] = []
        self._idle_lock = threading.Lock()
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection that reads: within one use always the same state, the one last committed.

        Raises:
            DamagedIndexError: SQLite finds the file damaged.
            StorageError: the file is locked or the disk fails.
        """
        with self._reader_lock, _translated(self.path):
            if self._reader.in_transaction:
                yield self._reader
                return
            self._reader.execute("BEGIN")
            try:
                yield self._reader
            finally:
                self._reader.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: committed at the end, rolled back when anything is raised. Raises as `reading`."""
        with self._writer_lock, _translated(self.path):
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def searching(self) -> Iterator[sqlite3.Connection]:
        """A connection for reads that take longer, so that short ones need not wait. Raises as `reading`."""
        with _translated(self.path):
            with self._idle_lock:
                if self._closed:
                    raise StorageError("The index is closed.")
                connection = self._idle.pop() if self._idle else _connect_reading(self.path)
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                connection.execute("ROLLBACK")
                with self._idle_lock:
                    if self._closed:
                        connection.close()
                    else:
                        self._idle.append(connection)

    def close(self) -> None:
        """End all connections; a search that still runs ends its own."""
        with self._reader_lock, self._writer_lock, self._idle_lock:
            self._closed = True
            for connection in (self._reader, self._writer, *self._idle):
                connection.close()
            self._idle.clear()


def open_database(folder: Path) -> tuple[Database, str | None]:
    """The index file of this folder, and why a former one was set aside, if it was.

    Raises:
        StorageError: the folder cannot be written, or another program keeps the file locked.
    """
    path = folder / FILE_NAME
    reason: str | None = None
    with _translated(path):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _prepare(path)
        except DamagedIndexError as error:
            reason = error.message
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and not _is_damage(error):
                raise
            reason = f"the index file is damaged ({error})"
        if reason is not None:
            set_aside(path)
            _prepare(path)
        return Database(path), reason


def set_aside(path: Path) -> Path:
    """Rename the index file, so that a new one can be begun; only the newest such file is kept."""
    for old in path.parent.glob(f"{path.name}.unusable-*"):
        old.unlink(missing_ok=True)
    aside = path.with_name(f"{path.name}.unusable-{time.strftime('%Y%m%d-%H%M%S')}")
    if path.exists():
        path.replace(aside)
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    return aside


def _prepare(path: Path) -> None:
    """Bring the file to the present shape."""
    with closing(_connect(path)) as connection:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > len(MIGRATIONS):
            raise DamagedIndexError(f"a newer version of the app wrote the index file (shape {version})")
        connection.execute("PRAGMA journal_mode = WAL")
        if version:
            _make_late_indexes(connection)
        for number, migrate in enumerate(MIGRATIONS[version:], start=version + 1):
            connection.execute("BEGIN IMMEDIATE")
            migrate(connection)
            connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
        connection.execute("SELECT count(*) FROM files").fetchone()
        connection.execute("SELECT rowid FROM fulltext LIMIT 1").fetchone()


def _make_late_indexes(connection: sqlite3.Connection) -> None:
    """Make the indexes that a scan put off and, cut off itself, did not make."""
    while is_one_late(connection):
        connection.execute("BEGIN IMMEDIATE")
        make_one(connection)
        connection.execute("COMMIT")


def _connect(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode that several threads may share, one at a time."""
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, factory=RecallingConnection
    )
    # A power cut may lose the last commits of a cache; it cannot damage the file.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -32000")
    connection.execute("PRAGMA temp_store = MEMORY")
    # A scan writes tens of MiB: each checkpoint syncs the disk and copies what the next batch changes again.
    connection.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_AHEAD}")
    return connection


def _connect_reading(path: Path) -> sqlite3.Connection:
    connection = _connect(path)
    connection.execute("PRAGMA query_only = ON")
    return connection


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """SQLite's errors as the app's."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if _is_damage(error):
            raise DamagedIndexError(f"the index file is damaged ({error})", path=str(path)) from error
        raise StorageError(f"The index can't be used now: {error}.", path=str(path)) from error
    except OSError as error:
        raise StorageError(f"The index can't be used now: {error}.", path=str(path)) from error


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is at fault, by SQLite's result code."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return False
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT)
