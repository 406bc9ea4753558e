"""Writes a batch of changes to the index file in one transaction.

Each link stores its resolved target. A batch contains the link keys that added or removed names can affect
(`Resolver.link_keys`). The links with those keys are resolved again in the same transaction, so that stored
targets never differ from those that a rebuild would store.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from app.index.directory_walk import FoundFile
from app.index.extract import ExtractedNote, UnchangedFile
from app.index.records import Problem
from app.index.resolver import Resolver
from app.vault.path import NotePath

_CHILDREN = (
    ("links", "source"),
    ("tags", "note"),
    ("properties", "note"),
    ("headings", "note"),
    ("tasks", "note"),
    ("fulltext", "rowid"),
    ("heads", "rowid"),
    ("unworded", "note"),
)
_SQL_BATCH_SIZE = 500
T = TypeVar("T")


@dataclass(slots=True)
class WriteBatch:
    """Changes to write: files by row id. `link_keys` are the keys of links that may resolve differently.

    `problems`, unless None, replaces all problems of earlier walks; `changed_problems` has those of
    individual paths (None: resolved). `removed_paths` and `added` are files by path, `moved` has pairs of
    their row ids. `births` has the times when files were first seen, if known; a time later than a file's own
    has no effect.
    """

    files: list[tuple[int, FoundFile]] = field(default_factory=list)
    extracted: list[tuple[int, ExtractedNote]] = field(default_factory=list)
    unchanged: list[tuple[int, UnchangedFile]] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    link_keys: set[str] = field(default_factory=set)
    removed_paths: dict[NotePath, int] = field(default_factory=dict)
    added: list[tuple[int, NotePath]] = field(default_factory=list)
    moved: list[tuple[int, int]] = field(default_factory=list)
    births: dict[int, float] = field(default_factory=dict)
    problems: list[Problem] | None = None
    changed_problems: dict[str, Problem | None] = field(default_factory=dict)

    def __bool__(self) -> bool:
        files = self.files or self.extracted or self.unchanged or self.removed
        return bool(files or self.changed_problems or self.problems is not None)


def write(connection: sqlite3.Connection, batch: WriteBatch, resolver: Resolver) -> tuple[NotePath, ...]:
    """Write the batch; return the other notes whose links now resolve differently."""
    _transfer_creation_times(connection, batch)
    _remove(connection, batch.removed)
    _list_files(connection, batch.files, batch.births)
    connection.executemany(
        "UPDATE files SET size = ?, seen_ns = ?, modified = ? WHERE id = ?",
        ((s.size, s.modified_ns, s.modified, row_id) for row_id, s in batch.unchanged),
    )
    _put_notes(connection, batch.extracted, resolver, batch.births)
    if batch.problems is not None:
        connection.execute("DELETE FROM problems")
        rows = ((problem.path.text, problem.reason, problem.kind) for problem in batch.problems)
        connection.executemany("REPLACE INTO problems VALUES (?, ?, ?)", rows)
    for path, problem in batch.changed_problems.items():
        connection.execute("DELETE FROM problems WHERE path = ?", (path,))
        if problem is not None:
            row = (problem.path.text, problem.reason, problem.kind)
            connection.execute("INSERT INTO problems VALUES (?, ?, ?)", row)
    return _relink(connection, batch.link_keys, resolver, {row_id for row_id, _ in batch.extracted})


def _transfer_creation_times(connection: sqlite3.Connection, batch: WriteBatch) -> None:
    """Add the creation times of moved notes to `births`."""
    for old_id, new_id in batch.moved:
        row = connection.execute("SELECT created FROM files WHERE id = ?", (old_id,)).fetchone()
        if row is not None:
            batch.births[new_id] = min(row[0], batch.births.get(new_id, row[0]))


def _remove(connection: sqlite3.Connection, ids: Sequence[int]) -> None:
    rows = [(row_id,) for row_id in ids]
    for table, column in (*_CHILDREN, ("notes", "id"), ("files", "id")):
        connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", rows)


def _list_files(
    connection: sqlite3.Connection, files: Iterable[tuple[int, FoundFile]], births: Mapping[int, float]
) -> None:
    """Add files by name only, or update their size and times; notes are read later."""
    connection.executemany(
        "INSERT INTO files (id, path, key, is_note, size, seen_ns, modified, created)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET size = excluded.size, seen_ns = excluded.seen_ns,"
        " modified = excluded.modified, created = min(created, excluded.created)",
        (
            (
                row_id,
                f.path.text,
                f.path.key,
                f.path.is_note,
                f.size,
                modified_ns := f.modified_ns,
                modified_ns / 1e9,
                min(f.created, births.get(row_id, f.created)),
            )
            for row_id, f in files
        ),
    )


def _put_notes(
    connection: sqlite3.Connection,
    notes: Sequence[tuple[int, ExtractedNote]],
    resolver: Resolver,
    births: Mapping[int, float],
) -> None:
    ids = json.dumps([row_id for row_id, _ in notes])
    known_ids = connection.execute(
        "SELECT id FROM notes WHERE id IN (SELECT value FROM json_each(?))", (ids,)
    ).fetchall()
    for table, column in _CHILDREN:
        connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", known_ids)
    first_seen = {**births, **_first_seen(connection, ids, births)}
    connection.executemany(
        "INSERT INTO files VALUES (?,?,?,1,?,?,?,?,?,?,?) ON CONFLICT (id) DO UPDATE"
        " SET size = excluded.size, seen_ns = excluded.seen_ns, modified = excluded.modified,"
        " created = excluded.created, hash = excluded.hash, aliases = excluded.aliases,"
        " note_id = excluded.note_id",
        (_file_row(row_id, read, first_seen.get(row_id, read.created)) for row_id, read in notes),
    )
    _insert(connection, "REPLACE", "notes", ((row_id, *read.note) for row_id, read in notes))
    _insert(
        connection,
        "INSERT",
        "tags",
        ((row[0], row_id, *row[1:]) for row_id, read in notes for row in read.tags),
    )
    properties = ((row[0], row_id, *row[1:]) for row_id, read in notes for row in read.properties)
    _insert(connection, "INSERT", "properties", properties)
    _insert(
        connection, "INSERT", "headings", ((row_id, *row) for row_id, read in notes for row in read.headings)
    )
    _insert(connection, "INSERT", "tasks", ((row_id, *row) for row_id, read in notes for row in read.tasks))
    connection.executemany(
        "INSERT INTO links (source, target, target_key, link_key, target_id, ambiguous, type, confidence,"
        " note, embed, line, context, start, stop) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        _links(notes, resolver),
    )
    connection.executemany(
        "INSERT INTO fulltext (rowid, name, aliases, headings, tags, text) VALUES (?,?,?,?,?,?)",
        ((row_id, *read.heads, read.text) for row_id, read in notes if read.text is not None),
    )
    connection.executemany(
        "INSERT INTO heads (rowid, name, aliases, headings, tags) VALUES (?,?,?,?,?)",
        ((row_id, *read.heads) for row_id, read in notes if read.text is not None),
    )
    without_text = ((row_id, read.heads) for row_id, read in notes if read.text is None)
    _insert(
        connection, "INSERT", "unworded", ((row_id, *heads[:2], heads[3]) for row_id, heads in without_text)
    )


def _first_seen(connection: sqlite3.Connection, ids: str, births: Mapping[int, float]) -> dict[int, float]:
    """Return when each indexed file was first seen, because a save changes a file's own times."""
    rows = connection.execute(
        "SELECT id, created FROM files WHERE id IN (SELECT value FROM json_each(?))", (ids,)
    )
    return {row_id: min(created, births.get(row_id, created)) for row_id, created in rows}


def _insert(connection: sqlite3.Connection, verb: str, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    rows = iter(rows)
    if first := next(rows, None):
        placeholders = ",".join("?" * len(first))
        connection.execute(f"{verb} INTO {table} VALUES ({placeholders})", first)
        connection.executemany(f"{verb} INTO {table} VALUES ({placeholders})", rows)


def _file_row(row_id: int, note: ExtractedNote, first_seen: float) -> tuple[Any, ...]:
    """Return the row of a note first seen at `first_seen`; a date in its properties takes precedence."""
    aliases = json.dumps(note.aliases) if note.aliases else "[]"
    path = NotePath(note.path)
    return (
        row_id,
        note.path,
        path.key,
        note.size,
        note.modified_ns,
        note.modified,
        note.created if note.is_dated else min(note.created, first_seen),
        note.hash,
        aliases,
        note.note_id,
    )


def _links(notes: Iterable[tuple[int, ExtractedNote]], resolver: Resolver) -> Iterator[tuple[Any, ...]]:
    for row_id, note in notes:
        source = NotePath(note.path)
        for row in note.links:
            entry, ambiguous = resolver.pick(row[0], source)
            yield (row_id, *row[:3], entry.id if entry else None, ambiguous, *row[3:])


def _relink(
    connection: sqlite3.Connection, link_keys: Iterable[str], resolver: Resolver, read_ids: set[int]
) -> tuple[NotePath, ...]:
    """Resolve the links with these keys again; return the other notes in which one changed."""
    changed: dict[str, None] = {}
    for keys in _chunks(link_keys, _SQL_BATCH_SIZE):
        updates: list[tuple[int | None, bool, int]] = []
        placeholders = ",".join("?" * len(keys))
        for row_id, source_id, path, target, target_id, was_ambiguous in connection.execute(
            "SELECT links.id, source, path, target, target_id, ambiguous"
            f" FROM links JOIN files ON files.id = source WHERE link_key IN ({placeholders})",
            keys,
        ):
            entry, ambiguous = resolver.pick(target, NotePath(path))
            new_target_id = entry.id if entry else None
            if new_target_id != target_id or ambiguous != bool(was_ambiguous):
                updates.append((new_target_id, ambiguous, row_id))
                if source_id not in read_ids:
                    changed[path] = None
        connection.executemany("UPDATE links SET target_id = ?, ambiguous = ? WHERE id = ?", updates)
    return tuple(NotePath(path) for path in sorted(changed))


def _chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
