"""The index file and its connections: opened, migrated, or deleted and recreated if unusable.

The index is derived, so a damaged file, or one written by a newer version, is deleted and recreated, and the
caller gets the reason. One connection writes (one worker thread at a time), one reads; write-ahead logging
keeps readers from waiting.
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
    """The index file is damaged or is not an index."""


class CachingConnection(sqlite3.Connection):
    """A connection with a cache of expensive search results and the data versions they belong to."""

    @cached_property
    def cache(self) -> dict[str, tuple[int, Any]]:
        """The cached results by name."""
        return {}


class IndexDatabase:
    """The connections to the index file at `path`: a writer, a reader, and one per running search.

    `read_connection()` and `transaction()` serve one thread at a time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._reader, self._writer = _connect_reading(path), _connect(path)
        self._reader_lock, self._writer_lock = threading.RLock(), threading.RLock()
        self._idle_connections: list[sqlite3.Connection] = []
        self._idle_lock = threading.Lock()
        self._is_closed = False

    @contextmanager
    def read_connection(self) -> Iterator[sqlite3.Connection]:
        """Yield the reading connection, with a consistent snapshot of the last commit.

        Raises:
            DamagedIndexError: SQLite reports that the file is damaged.
            StorageError: the file is locked or the disk fails.
        """
        with self._reader_lock, _translate_errors(self.path):
            if self._reader.in_transaction:
                yield self._reader
                return
            self._reader.execute("BEGIN")
            try:
                yield self._reader
            finally:
                _roll_back(self._reader)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Yield the writing connection in a transaction, committed at the end or rolled back on any error.

        Raises the same errors as `read_connection`.
        """
        with self._writer_lock, _translate_errors(self.path):
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                _roll_back(self._writer)
                raise

    @contextmanager
    def search_connection(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection for longer reads, so that short ones need not wait.

        Raises the same errors as `read_connection`, and StorageError if the index is closed.
        """
        with _translate_errors(self.path):
            with self._idle_lock:
                if self._is_closed:
                    raise StorageError("The index is closed.")
                connection = (
                    self._idle_connections.pop() if self._idle_connections else _connect_reading(self.path)
                )
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                _roll_back(connection)
                with self._idle_lock:
                    if self._is_closed:
                        connection.close()
                    else:
                        self._idle_connections.append(connection)

    def release_memory(self) -> None:
        """Empty the page caches, which a scan has filled; they grow again on demand."""
        with self._reader_lock, self._writer_lock, self._idle_lock:
            for connection in (
                () if self._is_closed else (self._reader, self._writer, *self._idle_connections)
            ):
                connection.execute("PRAGMA shrink_memory")

    def close(self) -> None:
        """Close all connections; a running search closes its own."""
        with self._reader_lock, self._writer_lock, self._idle_lock:
            self._is_closed = True
            for connection in (self._reader, self._writer, *self._idle_connections):
                connection.close()
            self._idle_connections.clear()


def open_database(folder: Path) -> tuple[IndexDatabase, str | None]:
    """Open the index file in a folder; also return the reason if an earlier one was deleted.

    Raises:
        StorageError: the folder cannot be written, or another program has the file locked.
    """
    path = folder / FILE_NAME
    schema = _schema()
    with _translate_errors(path):
        connection, damage = sqlite.open_database(path, schema)
        try:
            _create_deferred_indexes(connection)
        except sqlite3.DatabaseError as error:
            if not sqlite.is_damage(error):
                raise
            connection.close()
            damage = sqlite.retire(path, schema, error)
            connection, _ = sqlite.open_database(path, schema)
        finally:
            connection.close()
        reason = None if damage is None else f"the index file was replaced ({damage.reason})"
        return IndexDatabase(path), reason


def delete_file(folder: Path) -> None:
    """Delete the index file, so that a new one can be created."""
    sqlite.retire(folder / FILE_NAME, _schema(), "it is damaged")


def _schema() -> sqlite.Schema:
    return sqlite.Schema(
        store="The index",
        migrations=MIGRATIONS,
        probes=("SELECT count(*) FROM files", "SELECT rowid FROM fulltext LIMIT 1"),
        derived=True,
        # A power failure may lose the last commits of a cache, which is harmless; it can't damage the file.
        synchronous="NORMAL",
        pragmas=(
            "cache_size = -32000",
            "temp_store = MEMORY",
            # A scan writes tens of MiB: each checkpoint syncs the disk and copies pages that the next batch
            # changes again.
            f"wal_autocheckpoint = {_WAL_CHECKPOINT_PAGES}",
        ),
        # Queries detect damage, and the lost data is read from the notes again.
        max_full_check_bytes=0,
    )


def _create_deferred_indexes(connection: sqlite3.Connection) -> None:
    """Create the indexes that an interrupted scan deferred."""
    while has_deferred(connection):
        connection.execute("BEGIN IMMEDIATE")
        create_next_index(connection)
        connection.execute("COMMIT")


def _connect(path: Path) -> sqlite3.Connection:
    """Return a connection in autocommit mode that several threads may use, one at a time."""
    return sqlite.connect(path, _schema(), CachingConnection)


def _connect_reading(path: Path) -> sqlite3.Connection:
    connection = _connect(path)
    connection.execute("PRAGMA query_only = ON")
    return connection


def _roll_back(connection: sqlite3.Connection) -> None:
    """Roll back unless SQLite already has, so that a second error does not hide the first."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Convert SQLite's errors to the app's."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if sqlite.is_damage(error):
            raise DamagedIndexError(f"the index file is damaged ({error})", path=str(path)) from error
        raise StorageError(f"The index can't be used: {error}.", path=str(path)) from error
    except OSError as error:
        raise StorageError(f"The index can't be used: {error}.", path=str(path)) from error
