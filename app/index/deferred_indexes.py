"""SQLite indexes whose creation a first scan defers, because maintaining them takes a third of the time.

`meta` stores the pending statements, so that the indexes of an interrupted scan are created the next time the
vault is opened.
Indexes needed to find the rows of a changed note are not deferred.
"""

from __future__ import annotations

import json
import sqlite3

_DEFERRED = (
    "links_by_target",
    "links_by_key",
    "notes_by_type",
    "notes_by_name",
    "files_by_key",
    "files_by_change",
    "files_by_birth",
)
_META_KEY = "late_indexes"


def defer_indexes(connection: sqlite3.Connection) -> None:
    """Drop the indexes that `create_next_index` will create again, and save their statements."""
    placeholders = ",".join("?" * len(_DEFERRED))
    query = f"SELECT name, sql FROM sqlite_master WHERE name IN ({placeholders})"
    rows = connection.execute(query, _DEFERRED).fetchall()
    for name, _ in rows:
        connection.execute(f"DROP INDEX {name}")
    _save_deferred(connection, [*_load_deferred(connection), *(sql for _, sql in rows)])


def create_next_index(connection: sqlite3.Connection) -> None:
    """Create one deferred index; do nothing if none is left."""
    if deferred := _load_deferred(connection):
        connection.execute(deferred[0])
        _save_deferred(connection, deferred[1:])


def has_deferred(connection: sqlite3.Connection) -> bool:
    """Return whether a deferred index is still missing."""
    return bool(_load_deferred(connection))


def _load_deferred(connection: sqlite3.Connection) -> list[str]:
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (_META_KEY,)).fetchone()
    return list(json.loads(row[0])) if row else []


def _save_deferred(connection: sqlite3.Connection, statements: list[str]) -> None:
    connection.execute("REPLACE INTO meta VALUES (?, ?)", (_META_KEY, json.dumps(statements)))
