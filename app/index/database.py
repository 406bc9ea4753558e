"""The index file: opened, brought to the present shape, or deleted when it cannot be used.

The index is derived, so a file that is damaged or that a newer version wrote is deleted and a new one is
begun; the caller is told why. One connection writes (in a worker thread, one at a time), one reads;
write-ahead logging keeps readers from waiting.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from app.errors import StorageError
from app.index.deferred_indexes import create_next_index, has_deferred
from app.index.migrations import MIGRATIONS
from app.storage import sqlite

FILE_NAME = "index.sqlite"
_WAL_CHECKPOINT_PAGES = 8192


class DamagedIndexError(StorageError):
    """The index file holds something else than an index, or was written by a newer version."""


class CachingConnection(sqlite3.Connection):
    """A connection that searches use; `recalled` keeps by name what took long, and the data version then."""

    @cached_property
    def cache(self) -> dict[str, tuple[int, Any]]:
        """What was kept; empty at first."""
        return {}


class IndexDatabase:
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
    def read_connection(self) -> Iterator[sqlite3.Connection]:
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
    def transaction(self) -> Iterator[sqlite3.Connection]:
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
    def search_connection(self) -> Iterator[sqlite3.Connection]:
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

    def release_memory(self) -> None:
        """Empty the page caches, which a scan has filled: they grow again with what is asked."""
        with self._reader_lock, self._writer_lock, self._idle_lock:
            for connection in () if self._closed else (self._reader, self._writer, *self._idle):
                connection.execute("PRAGMA shrink_memory")

    def close(self) -> None:
        """End all connections; a search that still runs ends its own."""
        with self._reader_lock, self._writer_lock, self._idle_lock:
            self._closed = True
            for connection in (self._reader, self._writer, *self._idle):
                connection.close()
            self._idle.clear()


def open_database(folder: Path) -> tuple[IndexDatabase, str | None]:
    """The index file of this folder, and why a former one was deleted, if it was.

    Raises:
        StorageError: the folder cannot be written, or another program keeps the file locked.
    """
    path = folder / FILE_NAME
    schema = _schema()
    with _translated(path):
        connection, damage = sqlite.open_database(path, schema)
        try:
            _make_late_indexes(connection)
        except sqlite3.DatabaseError as error:
            if not sqlite.is_damage(error):
                raise
            connection.close()
            damage = sqlite.retire(path, schema, error)
            connection, _ = sqlite.open_database(path, schema)
        finally:
            connection.close()
        return IndexDatabase(
            path
        ), None if damage is None else f"the index file was damaged ({damage.reason})"


def delete_file(folder: Path) -> None:
    """Delete the index file, so that a new one can be begun."""
    sqlite.retire(folder / FILE_NAME, _schema(), "it is damaged")


def _schema() -> sqlite.Schema:
    return sqlite.Schema(
        store="The index",
        migrations=MIGRATIONS,
        probes=("SELECT count(*) FROM files", "SELECT rowid FROM fulltext LIMIT 1"),
        derived=True,
        # A power cut may lose the last commits of a cache; it cannot damage the file.
        synchronous="NORMAL",
        pragmas=(
            "cache_size = -32000",
            "temp_store = MEMORY",
            # A scan writes tens of MiB: each checkpoint syncs the disk and copies what the next batch
            # changes again.
            f"wal_autocheckpoint = {_WAL_CHECKPOINT_PAGES}",
        ),
        # Damage is found by the queries, and what is lost is read from the notes again.
        check_up_to=0,
    )


def _make_late_indexes(connection: sqlite3.Connection) -> None:
    """Make the indexes that a scan put off and, cut off itself, did not make."""
    while has_deferred(connection):
        connection.execute("BEGIN IMMEDIATE")
        create_next_index(connection)
        connection.execute("COMMIT")


def _connect(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode that several threads may share, one at a time."""
    return sqlite.connect(path, _schema(), CachingConnection)


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
        if sqlite.is_damage(error):
            raise DamagedIndexError(f"the index file is damaged ({error})", path=str(path)) from error
        raise StorageError(f"The index can't be used now: {error}.", path=str(path)) from error
    except OSError as error:
        raise StorageError(f"The index can't be used now: {error}.", path=str(path)) from error
