"""Reads notes, files, tags, properties, counts and problems from the index file."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from app.index.names import decode_list, stored_path
from app.index.records import (
    FileRecord,
    NoteRecord,
    Problem,
    PropertyCount,
    PropertyValueShares,
    TagCount,
    TaskRecord,
    VaultStats,
)
from app.vault.path import NotePath, name_key

_NOTE = (
    "SELECT path, name, title, type, confidence, tags, aliases, properties, note_id, size, modified, created,"
    " hash, problem, private, words FROM files JOIN notes USING (id)"
)
HIDDEN_IDS = (
    "SELECT id FROM notes WHERE private = 1 UNION SELECT id FROM files WHERE is_note AND hash IS NULL"
)
"""Selects the ids of the notes that are hidden from models and external programs."""
_ORPHANS = (
    "SELECT count(*) FROM (SELECT id FROM notes WHERE id NOT IN hidden"
    " EXCEPT SELECT source FROM links JOIN notes ON notes.id = target_id"
    " WHERE source <> target_id AND target_id NOT IN hidden"
    " EXCEPT SELECT target_id FROM links WHERE source <> target_id AND source NOT IN hidden)"
)

_MAX_VALUES = 20_000
_MAX_VALUE_LENGTH = 60
_MAX_SHARED_PROPERTIES = 64


def note_record(connection: sqlite3.Connection, path: NotePath) -> NoteRecord | None:
    """Return the note at this path, or None."""
    row = connection.execute(f"{_NOTE} WHERE path = ?", (stored_path(path),)).fetchone()
    return _note(row) if row else None


def note_records(connection: sqlite3.Connection) -> Iterator[NoteRecord]:
    """Yield every note, ordered by key."""
    return map(_note, connection.execute(f"{_NOTE} ORDER BY key, path"))


def refresh_records(
    connection: sqlite3.Connection, known: Mapping[str, NoteRecord], stale: Iterable[str]
) -> dict[str, NoteRecord]:
    """Return the known notes by path, ordered by key, with those at `stale` paths read again."""
    records = dict(known)
    for text in stale:
        records.pop(text, None)
        if (record := note_record(connection, NotePath(text))) is not None:
            records[text] = record
    order = sorted(records.values(), key=lambda note: (note.path.key, note.path.text))
    return {note.path.text: note for note in order}


def note_paths(connection: sqlite3.Connection) -> tuple[NotePath, ...]:
    """Return the path of every note, ordered by key."""
    rows = connection.execute("SELECT path FROM files JOIN notes USING (id) ORDER BY key, path")
    return tuple(NotePath(path) for (path,) in rows)


def private_paths(connection: sqlite3.Connection) -> frozenset[NotePath]:
    """Return the notes hidden from models and programs, including those not read yet."""
    rows = connection.execute(f"SELECT path FROM files WHERE id IN ({HIDDEN_IDS})")
    return frozenset(NotePath(path) for (path,) in rows)


def is_private(connection: sqlite3.Connection, path: NotePath) -> bool:
    """Return whether the note at this path is in `private_paths`; False if it is not indexed."""
    row = connection.execute(
        "SELECT is_note AND (hash IS NULL OR ifnull(private, 1)) FROM files LEFT JOIN notes USING (id)"
        " WHERE path = ?",
        (stored_path(path),),
    ).fetchone()
    return bool(row and row[0])


def _note(row: tuple[Any, ...]) -> NoteRecord:
    path, name, title, type_, confidence, tags, aliases, properties, note_id, *rest = row
    size, modified, created, digest, problem, private, words = rest
    return NoteRecord(
        NotePath(path),
        name,
        title,
        type_,
        confidence,
        decode_list(tags),
        decode_list(aliases),
        MappingProxyType(json.loads(properties) if properties != "{}" else {}),
        note_id,
        size,
        modified,
        created,
        digest or "",
        problem,
        bool(private),
        words,
    )


def file_records(connection: sqlite3.Connection) -> tuple[FileRecord, ...]:
    """Return every file that is not a note, ordered by key."""
    rows = connection.execute("SELECT path, size, modified FROM files WHERE is_note = 0 ORDER BY key, path")
    return tuple(FileRecord(NotePath(path), size, modified) for path, size, modified in rows)


def property_values(connection: sqlite3.Connection, *, private: bool = True) -> tuple[tuple[str, str], ...]:
    """Return the names and distinct text values of all properties, the most frequent first.

    Each item of a list counts as a value. Long text, dates and numbers are left out, and so are the least
    frequent pairs beyond `_MAX_VALUES`.

    Args:
        connection: The index.
        private: Whether to include notes that are hidden from models and external programs.
    """
    public = "" if private else f" AND note NOT IN ({HIDDEN_IDS})"
    rows = connection.execute(
        "SELECT min(name), value, count(*) FROM properties"
        """ WHERE (value GLOB '"*' AND value NOT GLOB '"[0-9][0-9][0-9][0-9]-*'"""
        f" AND length(value) <= {_MAX_VALUE_LENGTH} OR value GLOB '[[]*'){public} GROUP BY key, value"
    )
    counts: Counter[tuple[str, str]] = Counter()
    for name, value, count in rows:
        parsed = json.loads(value)
        for item in parsed if isinstance(parsed, list) else [parsed]:
            if isinstance(item, str) and item.strip():
                counts[name, item] += count
    return tuple(pair for pair, _ in counts.most_common(_MAX_VALUES))


def property_value_shares(
    connection: sqlite3.Connection, *, private: bool = True
) -> tuple[PropertyValueShares, ...]:
    """Return the value shares of the most frequent properties, the most frequent first.

    Args:
        connection: The index.
        private: Whether to include notes that are hidden from models and external programs.
    """
    public = "" if private else f" WHERE note NOT IN ({HIDDEN_IDS})"
    day = "[0-9][0-9][0-9][0-9]-[0-9]*"
    rows = connection.execute(
        f"""SELECT min(name), avg(value GLOB '"{day}'), avg(value GLOB '[-0-9]*'),"""
        """ avg(value IN ('true', 'false')), avg(value GLOB '"[[][[]*' OR value GLOB '[[]"[[][[]*'),"""
        """ coalesce(avg(CASE WHEN value NOT IN ('null', '""') THEN value GLOB '[[]*' END), 0)"""
        f" FROM properties{public} GROUP BY key ORDER BY count(*) DESC, key LIMIT {_MAX_SHARED_PROPERTIES}"
    )
    return tuple(PropertyValueShares(*row) for row in rows)


def public_files(connection: sqlite3.Connection) -> list[tuple[str, int, str, str | None]]:
    """Return the rows of all files except hidden notes, as `Resolver.load_rows` takes them."""
    return connection.execute(
        f"SELECT path, id, aliases, note_id FROM files WHERE id NOT IN ({HIDDEN_IDS})"
    ).fetchall()


def public_names(
    connection: sqlite3.Connection,
) -> tuple[
    tuple[str, ...],
    tuple[str, ...],
    tuple[str, ...],
    tuple[tuple[str, str], ...],
    tuple[PropertyValueShares, ...],
]:
    """Return the tags, types, properties, their texts and value shares, except of hidden notes.

    The most frequent tags come first.
    """

    def column(query: str) -> tuple[str, ...]:
        return tuple(str(value) for (value,) in connection.execute(f"{query} NOT IN ({HIDDEN_IDS})"))

    return (
        tuple(
            str(name)
            for (name,) in connection.execute(
                f"SELECT name FROM tags WHERE note NOT IN ({HIDDEN_IDS})"
                " GROUP BY name ORDER BY count(*) DESC, name"
            )
        ),
        column("SELECT DISTINCT type FROM notes WHERE id"),
        column("SELECT DISTINCT name FROM properties WHERE note"),
        property_values(connection, private=False),
        property_value_shares(connection, private=False),
    )


def note_types(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Return the distinct types of all notes, sorted."""
    return tuple(kind for (kind,) in connection.execute("SELECT DISTINCT type FROM notes ORDER BY type"))


def tasks(connection: sqlite3.Connection, limit: int, *, done: bool) -> tuple[TaskRecord, ...]:
    """Return the open tasks (with `done`, also the completed ones) by note and line, at most `limit`."""
    condition = "" if done else " WHERE done = 0"
    rows = connection.execute(
        "SELECT path, line, done, text FROM tasks JOIN files ON files.id = tasks.note"
        f"{condition} ORDER BY files.key, path, line LIMIT ?",
        (limit,),
    )
    return tuple(TaskRecord(NotePath(path), line, bool(flag), text) for path, line, flag, text in rows)


def tag_counts(connection: sqlite3.Connection) -> tuple[TagCount, ...]:
    """Return every tag and its ancestors, by name, each spelled as in the first note."""
    rows = connection.execute(
        "SELECT tags.key, tags.name, count(*), sum(1 - implied), min(files.key || char(0) || files.path)"
        " FROM tags JOIN files ON files.id = tags.note GROUP BY tags.key ORDER BY tags.key"
    ).fetchall()
    names = {key: name for key, name, *_ in rows}
    return tuple(
        TagCount(name, count, names.get(key.rpartition("/")[0]), own_count)
        for key, name, count, own_count, _ in rows
    )


def notes_with_tag(connection: sqlite3.Connection, tag: str, nested: bool) -> tuple[NotePath, ...]:
    """Return the notes with the tag or, if `nested`, one nested in it, ordered by key."""
    condition = "" if nested else " AND implied = 0"
    rows = connection.execute(
        "SELECT path FROM tags JOIN files ON files.id = tags.note"
        f" WHERE tags.key = ?{condition} ORDER BY files.key, path",
        (name_key(tag.strip().lstrip("#").rstrip("/")),),
    )
    return tuple(NotePath(path) for (path,) in rows)


def property_counts(connection: sqlite3.Connection) -> tuple[PropertyCount, ...]:
    """Return every property's name and number of notes, the most frequent first."""
    rows = connection.execute(
        "SELECT name, count(*) AS n, min(files.key || char(0) || files.path) FROM properties"
        " JOIN files ON files.id = note GROUP BY properties.key ORDER BY n DESC, properties.key"
    )
    return tuple(PropertyCount(name, count) for name, count, _ in rows)


def notes_with_property(connection: sqlite3.Connection, name: str) -> tuple[NotePath, ...]:
    """Return the notes that have the property, ordered by key."""
    rows = connection.execute(
        "SELECT path FROM properties JOIN files ON files.id = properties.note"
        " WHERE properties.key = ? ORDER BY files.key, path",
        (name_key(name.strip()),),
    )
    return tuple(NotePath(path) for (path,) in rows)


def problems(connection: sqlite3.Connection) -> tuple[Problem, ...]:
    """Return every file or folder that is not completely indexed, by path."""
    rows = connection.execute(
        "SELECT path, problem, problem_kind FROM notes JOIN files USING (id) WHERE problem IS NOT NULL"
        " UNION ALL SELECT path, reason, kind FROM problems ORDER BY 1"
    )
    return tuple(Problem(NotePath(path), reason, kind) for path, reason, kind in rows)


def ids_of(connection: sqlite3.Connection, paths: Collection[NotePath], *, private: bool) -> set[int]:
    """Return the ids of the files at `paths` and, with `private`, those of private notes."""
    query = "SELECT id FROM files WHERE path IN (SELECT value FROM json_each(?))"
    rows = connection.execute(query, (json.dumps([stored_path(path) for path in paths]),))
    private_rows = connection.execute(HIDDEN_IDS) if private else ()
    return {row_id for (row_id,) in (*rows, *private_rows)}


def vault_stats(connection: sqlite3.Connection, hidden: Collection[int] = ()) -> VaultStats:
    """Return counts for the vault as if the files with the ids in `hidden` did not exist.

    The numbers of skipped and failed files include them.
    """
    hidden_json = json.dumps(sorted(hidden))

    def count(query: str) -> int:
        sql = f"WITH hidden AS (SELECT value AS id FROM json_each(?)) {query}"
        return int(connection.execute(sql, (hidden_json,)).fetchone()[0] or 0)

    all_problems = problems(connection)
    return VaultStats(
        notes=count("SELECT count(*) FROM notes WHERE id NOT IN hidden"),
        attachments=count("SELECT count(*) FROM files WHERE is_note = 0 AND id NOT IN hidden"),
        links=count("SELECT count(*) FROM links WHERE source NOT IN hidden"),
        tags=count("SELECT count(DISTINCT key) FROM tags WHERE note NOT IN hidden"),
        unresolved=count(
            "SELECT count(DISTINCT target_key) FROM links WHERE source NOT IN hidden"
            " AND (target_id IS NULL OR target_id IN hidden) AND target_key <> ''"
        ),
        orphans=count(_ORPHANS),
        words=count("SELECT sum(words) FROM notes WHERE id NOT IN hidden"),
        indexed=count(
            "SELECT count(*) FROM notes JOIN files USING (id) WHERE hash <> '' AND id NOT IN hidden"
        ),
        skipped=sum(problem.kind in ("skipped", "misnamed") for problem in all_problems),
        failed=sum(problem.kind == "failed" for problem in all_problems),
    )
