"""Indexes of the index file that a first scan puts off: made at once they cost a third of the time.

`meta` keeps what is to be made, so that a scan that was cut off leaves it to the next opening. Those by which
the rows of a changed note are found stay.
"""

from __future__ import annotations

import json
import sqlite3

_LATE = (
    "links_by_target",
    "links_by_key",
    "notes_by_type",
    "notes_by_name",
    "files_by_key",
    "files_by_change",
    "files_by_birth",
)
_KEPT_AS = "late_indexes"


def put_off(connection: sqlite3.Connection) -> None:
    """Drop them until `make_one` makes them."""
    marks = ",".join("?" * len(_LATE))
    query = f"SELECT name, sql FROM sqlite_master WHERE name IN ({marks})"
    rows = connection.execute(query, _LATE).fetchall()
    for name, _ in rows:
        connection.execute(f"DROP INDEX {name}")
    _keep(connection, [*_waiting(connection), *(sql for _, sql in rows)])


def make_one(connection: sqlite3.Connection) -> None:
    """Make one of those that were put off."""
    if waiting := _waiting(connection):
        connection.execute(waiting[0])
        _keep(connection, waiting[1:])


def is_one_late(connection: sqlite3.Connection) -> bool:
    """Whether one is still to be made."""
    return bool(_waiting(connection))


def _waiting(connection: sqlite3.Connection) -> list[str]:
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (_KEPT_AS,)).fetchone()
    return list(json.loads(row[0])) if row else []


def _keep(connection: sqlite3.Connection, statements: list[str]) -> None:
    connection.execute("REPLACE INTO meta VALUES (?, ?)", (_KEPT_AS, json.dumps(statements)))
