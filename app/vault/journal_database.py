"""The journal's SQLite file: its schema and the numbering of commits."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from app.storage.sqlite import Database, Schema


def m001_commits(db: sqlite3.Connection) -> None:
    """Create the tables for commits, their files, created folders, undone commits and contents."""
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
        # A covering index, so that pruning never reads the contents themselves.
        "CREATE INDEX contents_newest ON contents (newest, stored, hash)",
    ):
        db.execute(statement)


def m002_places(db: sqlite3.Connection) -> None:
    """Add the name of the store whose documents a commit changed; it is empty for the vault."""
    db.execute("ALTER TABLE commits ADD COLUMN place TEXT NOT NULL DEFAULT ''")


SCHEMA = Schema(
    store="The journal",
    migrations=(m001_commits, m002_places),
    probes=("SELECT count(*) FROM commits, changes, contents, undoes, folders LIMIT 0",),
    pragmas=("auto_vacuum = INCREMENTAL",),
)


class JournalDatabase(Database):
    """One connection to `journal.sqlite` in a folder, used by one thread at a time.

    Commit numbers are never reused: a file that replaces a damaged one continues from the current Unix time,
    and `reserve` skips numbers known elsewhere.

    Args:
        folder: The folder of the file.
        writable: Whether this process owns the file.

    Raises:
        StorageError: The file can't be opened.
    """

    def __init__(self, folder: Path, *, writable: bool = True) -> None:
        super().__init__(folder / "journal.sqlite", SCHEMA, writable=writable)

    @property
    def problem(self) -> str | None:
        """A message for the user about a damaged file, or None."""
        if self.damage is None:
            return None
        return f"{self.damage.message} Earlier changes can't be undone from the app."

    def reserve(self, number: int) -> None:
        """Give later commits numbers above `number`."""
        with self.transaction(write=True) as db:
            _raise_last(db, number)

    def _after_replacement(self) -> None:
        _raise_last(self._db, int(time.time()))

    def shrink(self) -> None:
        """Return the space of removed contents to the file system."""
        with self._lock:
            self._db.execute("PRAGMA incremental_vacuum").fetchall()
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _raise_last(db: sqlite3.Connection, number: int) -> None:
    """Raise SQLite's last commit number to `number` if it is smaller."""
    last = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'commits'").fetchone()
    if last is None:
        db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('commits', ?)", (number,))
    elif last[0] < number:
        db.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'commits'", (number,))
