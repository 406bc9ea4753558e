"""SQLite files: opened privately, migrated, checked, and replaced if damaged.

The owner of a file describes it with a `Schema`. Opening a file runs pending migrations, checks the file and
returns a connection. A file that is damaged, belongs to another program or was written by a newer version of
the app is set aside (or deleted, if derived) and replaced with an empty one, so that it does not prevent the
vault from opening. Disk errors are not damage: they raise `StorageError` and leave the file unchanged.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.encoding import contains_folded
from app.errors import StorageError
from app.storage.private import create_private_file, make_private_folder
from app.storage.quarantine import Damage, set_aside

COMPANION_SUFFIXES = ("-shm", "-wal")
BUSY_TIMEOUT_S = 5.0
_DAMAGE_CODES = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_ACCESS_CODES = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}

Migration = Callable[[sqlite3.Connection], None]


class UnusableDatabaseError(Exception):
    """The file does not match its schema; the message says why."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The description of an SQLite file.

    Attributes:
        store: The name of its content, as the subject of a sentence: "The journal".
        migrations: Append-only. Each runs in its own transaction, so it must not use `executescript`. The
            number of completed migrations is the file's `user_version`.
        probes: Queries that fail if a table or column is missing.
        derived: Whether the content can be computed again, so that a damaged file is deleted.
        synchronous: FULL if a commit must survive a power failure.
        pragmas: Additional pragmas, run before the migrations.
        max_full_check_bytes: Size of the largest file that is checked completely when it is opened.
    """

    store: str
    migrations: Sequence[Migration]
    probes: Sequence[str]
    derived: bool = False
    synchronous: Literal["NORMAL", "FULL"] = "FULL"
    pragmas: Sequence[str] = ()
    max_full_check_bytes: int = 32 * 1024 * 1024


def connect_read_only(file: Path, *, timeout: float | None = None) -> sqlite3.Connection:
    """Open an existing file read-only, even while another process writes to it.

    Args:
        file: The file; it must exist.
        timeout: Seconds to wait for a lock; None for `BUSY_TIMEOUT_S`.

    Raises:
        sqlite3.Error: It can't be opened.
    """
    address = f"{file.absolute().as_uri()}?mode=ro"
    return _with_functions(
        sqlite3.connect(
            address, uri=True, isolation_level=None, timeout=BUSY_TIMEOUT_S if timeout is None else timeout
        )
    )


def connect(
    file: Path, schema: Schema, factory: type[sqlite3.Connection] = sqlite3.Connection
) -> sqlite3.Connection:
    """Open a file that `open_database` has prepared; threads may share the connection, one at a time."""
    connection = _open_connection(file, factory)
    try:
        _configure(connection, schema)
    except BaseException:
        connection.close()
        raise
    return connection


def _open_connection(
    file: Path, factory: type[sqlite3.Connection] = sqlite3.Connection
) -> sqlite3.Connection:
    return _with_functions(
        sqlite3.connect(
            file, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False, factory=factory
        )
    )


def _with_functions(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Add the function `contains(text, part)`, which ignores case; LIKE does so for ASCII letters only."""
    connection.create_function("contains", 2, _contains, deterministic=True)
    return connection


def _contains(text: str | None, part: str) -> bool:
    return text is not None and contains_folded(text, part)


def _configure(connection: sqlite3.Connection, schema: Schema) -> None:
    connection.execute(f"PRAGMA synchronous = {schema.synchronous}")
    if schema.synchronous == "FULL":
        connection.execute("PRAGMA fullfsync = ON")
    for pragma in schema.pragmas:
        connection.execute(f"PRAGMA {pragma}")


def open_database(
    file: Path, schema: Schema, *, writable: bool = True
) -> tuple[sqlite3.Connection, Damage | None]:
    """Open a file for reading and writing; create it if missing.

    Args:
        file: The file; its folder is created if missing.
        schema: The description of the file.
        writable: Whether this process owns the file. If not, nothing is written, and an empty database in
            memory stands in for a missing or unusable file.

    Returns:
        A connection in autocommit mode, and the damage if the file was unusable, or None.

    Raises:
        StorageError: The disk failed, or another program keeps the file locked.
    """
    try:
        try:
            return _open(file, schema) if writable else _open_without_writing(file, schema), None
        # The message of an error in a damaged file may not be UTF-8.
        except (sqlite3.DatabaseError, UnusableDatabaseError, UnicodeDecodeError) as error:
            if isinstance(error, sqlite3.Error) and not _is_damage_at_opening(error):
                raise
            if not writable:
                return _in_memory(schema), Damage(schema.store, file, str(error), file)
            damage = retire(file, schema, error)
            return _open(file, schema), damage
    except (OSError, sqlite3.Error, UnusableDatabaseError) as error:
        raise StorageError(f"{schema.store} can't be opened: {error}.", path=str(file)) from error


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether the file itself is damaged, as opposed to a disk error, a lock or a constraint."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _DAMAGE_CODES


def _is_damage_at_opening(error: sqlite3.Error) -> bool:
    # If SQLite can't compile a query, the file lacks a table or column. An error without a code is Python's
    # own: a text that is not UTF-8.
    return is_damage(error) or getattr(error, "sqlite_errorcode", None) in (None, sqlite3.SQLITE_ERROR)


def retire(file: Path, schema: Schema, reason: Exception | str) -> Damage:
    """Set a damaged file aside, or delete it if it is derived.

    Raises:
        OSError: It can't be renamed or deleted.
    """
    if not schema.derived:
        return Damage(schema.store, file, str(reason), set_aside(file, COMPANION_SUFFIXES))
    for suffix in (*COMPANION_SUFFIXES, ""):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    return Damage(schema.store, file, str(reason), None)


def _open(file: Path, schema: Schema) -> sqlite3.Connection:
    """Open, migrate and check the file."""
    if not file.parent.is_dir():
        make_private_folder(file.parent)
    if file.exists() and file.stat().st_size == 0 and not schema.derived:
        raise UnusableDatabaseError("it is empty")
    for suffix in ("", *COMPANION_SUFFIXES):
        companion = file.with_name(file.name + suffix)
        if not suffix or companion.exists():
            create_private_file(companion)
    connection = _open_connection(file)
    try:
        # Checked before the first write, so that a file of a newer version stays intact.
        _version(connection, schema)
        _configure(connection, schema)
        connection.execute("PRAGMA journal_mode = WAL")
        _migrate(connection, schema)
        _check(connection, schema, file.stat().st_size)
    except BaseException:
        connection.close()
        raise
    return connection


def _open_without_writing(file: Path, schema: Schema) -> sqlite3.Connection:
    """Open a file that another process owns, without writing to it."""
    if not file.exists():
        return _in_memory(schema)
    connection = _connect_without_writing(file, schema)
    try:
        if _version(connection, schema) < len(schema.migrations):
            raise UnusableDatabaseError("an older version of the app wrote it")
        _check(connection, schema, file.stat().st_size)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_without_writing(file: Path, schema: Schema) -> sqlite3.Connection:
    """Connect to a file that another process owns, or to one in a read-only folder."""
    try:
        connection = connect(file, schema)
        try:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _ACCESS_CODES:
            raise
    # Reading a write-ahead log needs an index file, which can't be created here. Without a log, the file is
    # complete and has no writer.
    wal_file = file.with_name(f"{file.name}-wal")
    if wal_file.exists() and wal_file.stat().st_size:
        raise UnusableDatabaseError(f"{wal_file.name} can't be read in a read-only folder")
    address = f"{file.absolute().as_uri()}?mode=ro&immutable=1"
    return _with_functions(sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False))


def _in_memory(schema: Schema) -> sqlite3.Connection:
    connection = connect(Path(":memory:"), schema)
    _migrate(connection, schema)
    return connection


def _migrate(connection: sqlite3.Connection, schema: Schema) -> None:
    while True:
        version = _version(connection, schema)
        if version == len(schema.migrations):
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have migrated the file while this one waited for the lock.
            if _version(connection, schema) == version:
                schema.migrations[version](connection)
                connection.execute(f"PRAGMA user_version = {version + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _version(connection: sqlite3.Connection, schema: Schema) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if not 0 <= version <= len(schema.migrations):
        raise UnusableDatabaseError(f"a newer version of the app wrote it (schema version {version})")
    return version


def _check(connection: sqlite3.Connection, schema: Schema, size: int) -> None:
    """Check the tables and columns, and for smaller files also the pages.

    Raises:
        UnusableDatabaseError: The check found a problem.
        sqlite3.Error: The file can't be read.
    """
    for probe in schema.probes:
        connection.execute(probe).fetchone()
    if size <= schema.max_full_check_bytes:
        (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if result != "ok":
            raise UnusableDatabaseError(str(result))


class Database:
    """A connection for one thread at a time, which replaces a file found to be damaged while in use.

    After a replacement, it calls `on_damage` with a message for the user, in the thread that detected the
    damage. Without `writable`, it replaces nothing.

    Args:
        file: The SQLite file.
        schema: The description of its content.
        writable: Whether this process owns the file, as for `open_database`.

    Raises:
        StorageError: The file can't be opened.
    """

    def __init__(self, file: Path, schema: Schema, *, writable: bool = True) -> None:
        self.file = file
        self.damage: Damage | None = None
        self.on_damage: Callable[[str], None] = lambda message: None
        self._schema = schema
        self._writable = writable
        self._lock = threading.RLock()
        self._db, self.damage = open_database(file, schema, writable=writable)
        if self.damage is not None and writable:
            self._after_replacement()

    def _after_replacement(self) -> None:
        """Handle the replacement of a damaged file; a subclass may restore a backup."""

    @property
    def problem(self) -> str | None:
        """A message for the user about a damaged file, or None."""
        return None if self.damage is None else self.damage.message

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """Run a transaction that is committed at the end and rolled back on any error.

        Raises:
            StorageError: The disk failed, or the file turned out to be damaged and was replaced.
            sqlite3.IntegrityError: A statement violates a constraint.
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
            except sqlite3.IntegrityError:
                raise
            except sqlite3.Error as error:
                if not is_damage(error) or not self._writable:
                    message = f"{self._schema.store} could not be read or written: {error}."
                    raise StorageError(message, path=str(self.file)) from error
                self._replace(error)
                raise StorageError(self.problem or "", path=str(self.file)) from error

    def _restore(self, backup: Path) -> bool:
        """Copy a backup into the new file; return False if the backup is damaged, too.

        Raises:
            sqlite3.Error: The disk failed; the new file stays empty.
        """
        try:
            with closing(connect_read_only(backup)) as source:
                _version(source, self._schema)
                _check(source, self._schema, 0)
                source.backup(self._db)
        except (sqlite3.DatabaseError, UnusableDatabaseError) as error:
            if isinstance(error, sqlite3.Error) and not _is_damage_at_opening(error):
                raise
            return False
        _migrate(self._db, self._schema)
        return True

    def _replace(self, error: sqlite3.Error) -> None:
        self._db.close()
        try:
            self.damage = retire(self.file, self._schema, error)
        except OSError as rename_error:
            message = f"{self._schema.store} is damaged and can't be set aside: {rename_error}."
            raise StorageError(message, path=str(self.file)) from rename_error
        self._db, _ = open_database(self.file, self._schema)
        self._after_replacement()
        self.on_damage(self.problem or "")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()
