"""The versions of one note from the journal, across moves and including changes made outside the app."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from app.vault.changes import VAULT
from app.vault.commits import OUTSIDE_AUTHOR, Version
from app.vault.journal_rows import from_text, to_text
from app.vault.path import NotePath

_PRECEDING_CHANGE = """
SELECT commit_id, time, author, turn, summary, path, path_key, target, target_key, before, after,
    coalesce((SELECT size FROM contents WHERE hash = before), 0),
    coalesce((SELECT size FROM contents WHERE hash = after), 0)
FROM changes JOIN commits ON id = commit_id
WHERE place = ? AND commit_id < ? AND (path_key = ? OR target_key = ?)
ORDER BY commit_id DESC, position DESC LIMIT 1
"""
_MAX_COMMIT_ID = 2**62
# For more notes than this, one pass over the whole journal is faster.
_MAX_SINGLE_LOOKUPS = 16


@dataclass(frozen=True, slots=True)
class _HistoryRow:
    commit: int
    time: float
    author: str
    turn: str
    summary: str
    path: str
    path_key: str
    target: str | None
    target_key: str | None
    before: str | None
    after: str | None
    before_size: int
    after_size: int


def read_history(db: Connection, path: NotePath, limit: int, place: str) -> list[Version]:
    """Return at most `limit` versions of the document now at `path` in `place`, newest first."""
    versions: list[Version] = []
    newer: _HistoryRow | None = None
    for row, key in _iter_rows(db, path.key, place):
        if newer is not None and newer.before not in (None, row.after):
            versions.append(_outside_version(newer))
        versions.append(_version(row, key))
        newer = row
        if len(versions) >= limit:
            return versions[:limit]
    if newer is not None and newer.before is not None:
        versions.append(_outside_version(newer))
    return versions[:limit]


def first_commits(db: Connection, paths: Sequence[NotePath]) -> dict[NotePath, float]:
    """Map each of `paths` that has commits to the time of the first one, under any former path."""
    if len(paths) <= _MAX_SINGLE_LOOKUPS:
        commits = {}
        for path in paths:
            for row, key in _iter_rows(db, path.key, VAULT):
                was_moved_away = row.target_key not in (None, key)
                if was_moved_away or (row.after is None and row.target is None):
                    break  # An earlier note had the same name.
                commits[path] = row.time
                if row.before is None:
                    break
        return commits
    first_times: dict[str, float] = {}
    rows = db.execute(
        "SELECT time, path_key, target_key, after FROM changes JOIN commits ON id = commit_id"
        " WHERE place = ? ORDER BY commit_id, position",
        (VAULT,),
    )
    for time, key, target, after in rows:
        first = first_times.setdefault(key, time)
        if target is not None:
            first_times[target] = first
        if target not in (None, key) or after is None:
            del first_times[key]
    keys = ((path, to_text(path.key)) for path in paths)
    return {path: first_times[key] for path, key in keys if key in first_times}


def group_sessions(versions: Sequence[Version]) -> list[tuple[Version, ...]]:
    """Group adjacent versions from the same writing session or turn; the order is kept."""
    groups: list[list[Version]] = []
    for version in versions:
        if groups and version.turn and groups[-1][-1].turn == version.turn:
            groups[-1].append(version)
        else:
            groups.append([version])
    return [tuple(group) for group in groups]


def _iter_rows(db: Connection, key: str, place: str) -> Iterator[tuple[_HistoryRow, str]]:
    """Yield a file's changes, newest first, each with the file's key after the change."""
    before_id = _MAX_COMMIT_ID
    while True:
        values = db.execute(_PRECEDING_CHANGE, (place, before_id, to_text(key), to_text(key))).fetchone()
        if values is None:
            return
        texts: list[Any] = [
            from_text(value) if isinstance(value, (str, bytes)) else value for value in values
        ]
        row = _HistoryRow(*texts)
        yield row, key
        before_id = row.commit
        if row.target_key == key:
            key = row.path_key


def _version(row: _HistoryRow, key: str) -> Version:
    """Return the file's version after this change; it is gone if it was deleted or moved away."""
    is_removed = row.after is None or (row.target_key is not None and row.target_key != key)
    path = NotePath.on_disk(row.path if is_removed or row.target is None else row.target)
    size = 0 if is_removed else row.after_size
    hash_after = None if is_removed else row.after
    return Version(row.commit, row.time, row.author, path, hash_after, size, row.summary, row.turn)


def _outside_version(row: _HistoryRow) -> Version:
    """Return the version that the change replaced, which was not written through the app."""
    path = NotePath.on_disk(row.path)
    return Version(row.commit, row.time, OUTSIDE_AUTHOR, path, row.before, row.before_size, "")
