"""The SQLite file of the memory: tables, backups, and restoration after damage."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from app.errors import StorageError
from app.storage.private import create_private_file, make_private_folder
from app.storage.sqlite import Database, Schema

_BACKUP_INTERVAL_S = 86_400.0
_MAX_BACKUPS = 5


def m001_documents(db: sqlite3.Connection) -> None:
    """Create the tables: documents, versions of loro documents, searchable entries and the outbox."""
    for statement in (
        """CREATE TABLE documents (
            key TEXT PRIMARY KEY, path TEXT NOT NULL, data BLOB NOT NULL, hash TEXT NOT NULL,
            document BLOB, changed REAL NOT NULL)""",
        # Versions of loro documents by the hash of the block, so that edits to an older one can be merged.
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
        # Commits that may not be in the journal yet.
        "CREATE TABLE outbox (uid TEXT PRIMARY KEY, draft TEXT NOT NULL) WITHOUT ROWID",
    ):
        db.execute(statement)


SCHEMA = Schema(
    store="The agents' memory",
    migrations=(m001_documents,),
    probes=("SELECT count(*) FROM documents, versions, entries, entry_words, entry_vectors, outbox LIMIT 0",),
    max_full_check_bytes=64 * 1024 * 1024,
)


class MemoryDatabase(Database):
    """One connection to `memory.sqlite` in a folder, used by one thread at a time.

    A damaged file is set aside and replaced with the newest readable backup; then `problem` explains it, and
    `restored` is the Unix time of that backup (0 without one). `restored` is None if the file was not
    replaced.

    Args:
        folder: The folder of the file and its backups.
        writable: Whether this process may write.
        step: Called with the name of each disk operation; tests kill the process there.

    Raises:
        StorageError: the folder or the file can't be used.
    """

    def __init__(
        self, folder: Path, *, writable: bool = True, step: Callable[[str], None] | None = None
    ) -> None:
        self.backups_folder = folder / "memory-backups"
        self.restored: float | None = None
        self.step = step or (lambda name: None)
        super().__init__(folder / "memory.sqlite", SCHEMA, writable=writable)

    @property
    def problem(self) -> str | None:
        """The message for the user about a damaged file, or None."""
        if self.damage is None:
            return None
        if self.restored is None:
            return self.damage.message
        if not self.restored:
            return f"{self.damage.message} There was no usable backup."
        backup_time = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.restored))
        return f"{self.damage.message} The backup of {backup_time} was restored."

    def _after_replacement(self) -> None:
        """Restore the newest readable backup into the new file."""
        self.restored = 0.0
        for backup in reversed(self.list_backups()):
            if self._restore(backup):
                self.restored = backup.stat().st_mtime
                return

    def list_backups(self) -> list[Path]:
        """Return the backups, oldest first."""
        return sorted(self.backups_folder.glob("memory-*.sqlite")) if self.backups_folder.is_dir() else []

    def back_up(self, *, min_age: float = _BACKUP_INTERVAL_S) -> Path | None:
        """Make a backup if the newest is older than `min_age` seconds, and delete surplus and partial ones.

        Returns:
            The new backup; None if none was due, the memory is empty, or this process may not write.

        Raises:
            StorageError: reading or writing failed.
        """
        backups = self.list_backups()
        if not self._writable or (backups and time.time() - backups[-1].stat().st_mtime < min_age):
            return None
        with self.transaction() as db:
            if not db.execute("SELECT 1 FROM documents LIMIT 1").fetchone():
                return None
        # Reading the clock twice could pair a second with the nanoseconds of the next one, and break the
        # order of names.
        seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
        name = f"memory-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(seconds))}-{nanoseconds:09d}.sqlite"
        try:
            make_private_folder(self.backups_folder)
            for partial in self.backups_folder.glob("memory-*.part"):
                partial.unlink(missing_ok=True)
            backup = self._copy_to(self.backups_folder / name)
            for outdated in backups[: max(0, len(backups) + 1 - _MAX_BACKUPS)]:
                outdated.unlink(missing_ok=True)
        except (OSError, sqlite3.Error) as error:
            message = f"The memory could not be backed up: {error}. The memory itself is unchanged."
            raise StorageError(message, path=str(self.backups_folder)) from error
        return backup

    def _copy_to(self, target: Path) -> Path:
        """Copy the database under a temporary name first, so that a partial backup is never used."""
        partial = target.with_suffix(".part")
        create_private_file(partial)
        with self._lock, contextlib.closing(sqlite3.connect(partial)) as copy:
            self._db.backup(copy)
        partial.replace(target)
        return target
