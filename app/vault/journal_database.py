"""The journal's SQLite file: opened, migrated, checked, and set aside when it is damaged."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.errors import StorageError

_CHECK_UP_TO = 32 * 1024 * 1024
_PARTS = ("", "-wal", "-shm")


def m001_commits(db: sqlite3.Connection) -> None:
    """Commits, their files, the folders they made, what they undo, and the contents by hash."""
    for statement in (
        """CREATE TABLE commits (
            id INTEGER PRIMARY KEY AUTOINCREMENT, uid TEXT NOT NULL UNIQUE, time REAL NOT NULL,
            author TEXT NOT NULL, turn TEXT NOT NULL, note TEXT NOT NULL, entry TEXT NOT NULL,
            summary TEXT NOT NULL, digest TEXT NOT NULL)""",
        "CREATE INDEX commits_turn ON commits (turn) WHERE turn != ''",
        """CREATE TABLE changes (
            commit_id INTEGER NOT NULL REFERENCES commits, position INTEGER NOT NULL,
            path BLOB NOT NULL, path_key BLOB NOT NULL, target BLOB, target_key BLOB,
            before TEXT, after TEXT, trash BLOB, PRIMARY KEY (commit_id, position)) WITHOUT ROWID""",
        "CREATE INDEX changes_path ON changes (path_key, commit_id)",
        "CREATE INDEX changes_target ON changes (target_key, commit_id) WHERE target_key IS NOT NULL",
        """CREATE TABLE folders (commit_id INTEGER NOT NULL REFERENCES commits, path BLOB NOT NULL)""",
        "CREATE INDEX folders_commit ON folders (commit_id)",
        """CREATE TABLE undoes (
            commit_id INTEGER NOT NULL REFERENCES commits, undone INTEGER NOT NULL,
            PRIMARY KEY (commit_id, undone)) WITHOUT ROWID""",
        "CREATE INDEX undoes_undone ON undoes (undone)",
        """CREATE TABLE contents (
            hash TEXT PRIMARY KEY, size INTEGER NOT NULL, stored INTEGER NOT NULL, newest INTEGER NOT NULL,
            data BLOB)""",
        # Holds all that pruning asks for, so that it never reads through the contents themselves.
        "CREATE INDEX contents_newest ON contents (newest, stored, hash)",
    ):
        db.execute(statement)


def m002_places(db: sqlite3.Connection) -> None:
    """Whose documents a commit changed: the vault's (empty), or those of another place."""
    db.execute("ALTER TABLE commits ADD COLUMN place TEXT NOT NULL DEFAULT ''")


MIGRATIONS = [m001_commits, m002_places]


class JournalDatabase:
    """One connection to `journal.sqlite` in a folder, used by one thread at a time.

    `problem` says in words what happened to a damaged file. A damaged file is renamed, never deleted; the
    file that takes its place numbers its commits from the current time in seconds on, so that a number
    which the audit log knows never means another commit.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / "journal.sqlite"
        self.problem: str | None = None
        self._lock = threading.RLock()
        try:
            self._db = self._open()
        except sqlite3.OperationalError as error:
            raise StorageError(f"The journal cannot be opened: {error}.", path=str(self.file)) from error
        except sqlite3.DatabaseError as error:
            self._db = self._replace(error)

    def _open(self, first_id: int = 0) -> sqlite3.Connection:
        db = sqlite3.connect(self.file, timeout=5.0, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA auto_vacuum = INCREMENTAL")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA fullfsync = ON")
            version = int(db.execute("PRAGMA user_version").fetchone()[0])
            if version > len(MIGRATIONS):
                raise sqlite3.OperationalError("it was written by a newer version of the app")
            for number, migrate in enumerate(MIGRATIONS[version:], version + 1):
                db.execute("BEGIN IMMEDIATE")
                migrate(db)
                db.execute(f"PRAGMA user_version = {number}")
                db.execute("COMMIT")
            if first_id:
                db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('commits', ?)", (first_id,))
            self._check(db)
        except BaseException:
            db.close()
            raise
        return db

    def _check(self, db: sqlite3.Connection) -> None:
        try:
            db.execute("SELECT count(*) FROM commits, changes, contents, undoes, folders LIMIT 0").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:
                raise sqlite3.DatabaseError(str(error)) from error
            raise
        if self.file.stat().st_size > _CHECK_UP_TO:
            return
        answer = db.execute("PRAGMA quick_check(1)").fetchone()
        if answer[0] != "ok":
            raise sqlite3.DatabaseError(str(answer[0]))

    def _replace(self, error: sqlite3.DatabaseError) -> sqlite3.Connection:
        """Set the damaged file aside and start a new one."""
        mark = f".damaged-{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 1_000_000:06d}"
        for part in _PARTS:
            old = self.file.with_name(self.file.name + part)
            if old.exists():
                old.rename(old.with_name(f"journal{mark}.sqlite{part}"))
        self.problem = (
            f"The journal was damaged ({error}). It was set aside as journal{mark}.sqlite and a new one was "
            "started: earlier changes can't be undone from the app."
        )
        return self._open(first_id=int(time.time()))

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction: committed at the end (and then on the disk), rolled back on any error.

        Raises:
            StorageError: the disk refused, or the file turned out to be damaged (and was set aside).
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
                message = f"The journal could not be read or written: {error}."
                raise StorageError(message, path=str(self.file)) from error
            except sqlite3.IntegrityError:
                raise
            except sqlite3.DatabaseError as error:
                self._db.close()
                self._db = self._replace(error)
                raise StorageError(self.problem or "", path=str(self.file)) from error

    def shrink(self) -> None:
        """Give the room of removed contents back to the disk."""
        with self._lock:
            self._db.execute("PRAGMA incremental_vacuum").fetchall()
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()
