"""Convert journal rows to values; file names that are not Unicode are preserved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from sqlite3 import Connection

from app.vault.commits import Commit, CommittedFile
from app.vault.path import NotePath


def to_text(text: str) -> str | bytes:
    """Return the stored form of `text`: a blob for a file name that is not UTF-8, otherwise text."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def from_text(value: str | bytes) -> str:
    """Return the text that `to_text` stored."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value


def read_commits(db: Connection, condition: str, values: Sequence[object], limit: int) -> list[Commit]:
    """Return at most `limit` commits that satisfy an SQL condition on `commits`, newest first, in full."""
    rows = db.execute(
        "SELECT id, digest, time, author, turn, summary, note, entry, place FROM commits "
        f"WHERE {condition} ORDER BY id DESC LIMIT ?",
        (*values, limit),
    ).fetchall()
    changes: dict[int, list[CommittedFile]] = defaultdict(list)
    undoes: dict[int, list[int]] = defaultdict(list)
    folders: dict[int, list[str]] = defaultdict(list)
    for part in _chunks([int(row[0]) for row in rows]):
        placeholders = f"({','.join('?' * len(part))})"
        query = "SELECT commit_id, path, target, before, after FROM changes WHERE commit_id IN "
        for number, path, target, before, after in db.execute(
            f"{query}{placeholders} ORDER BY position", part
        ):
            changes[number].append(_to_committed_file(path, target, before, after))
        query = "SELECT commit_id, undone FROM undoes WHERE commit_id IN "
        for number, undone in db.execute(f"{query}{placeholders} ORDER BY undone", part):
            undoes[number].append(undone)
        query = "SELECT commit_id, path FROM folders WHERE commit_id IN "
        for number, folder in db.execute(f"{query}{placeholders} ORDER BY rowid", part):
            folders[number].append(from_text(folder))
    undone_by = _active_undos(db)
    return [
        Commit(
            number,
            digest,
            time,
            tuple(changes[number]),
            author=from_text(author),
            turn=from_text(turn),
            summary=from_text(summary),
            note=from_text(note),
            entry=from_text(entry),
            undoes=tuple(undoes[number]),
            undone_by=undone_by.get(number),
            folders=tuple(folders[number]),
            place=place,
        )
        for number, digest, time, author, turn, summary, note, entry, place in rows
    ]


def read_changes(db: Connection, since: int, place: str) -> list[tuple[int, tuple[int, ...], CommittedFile]]:
    """Return the creations, moves and deletions in a store after the commit `since`, oldest first.

    Each comes with the number of its commit and the numbers of the commits that this commit undoes.
    """
    undoes: dict[int, tuple[int, ...]] = defaultdict(tuple)
    for number, undone in db.execute("SELECT commit_id, undone FROM undoes WHERE commit_id > ?", (since,)):
        undoes[number] += (undone,)
    rows = db.execute(
        "SELECT commit_id, path, target, before, after FROM changes JOIN commits ON id = commit_id "
        "WHERE commit_id > ? AND place = ? "
        "AND (target IS NOT NULL OR before IS NULL OR after IS NULL) ORDER BY commit_id, position",
        (since, place),
    )
    return [(int(number), undoes[number], _to_committed_file(*columns)) for number, *columns in rows]


def _to_committed_file(
    path: str | bytes, target: str | bytes | None, before: str | None, after: str | None
) -> CommittedFile:
    target_path = None if target is None else NotePath.on_disk(from_text(target))
    return CommittedFile(NotePath.on_disk(from_text(path)), target_path, before, after)


def _chunks(numbers: list[int]) -> Iterable[list[int]]:
    return (numbers[start : start + 500] for start in range(0, len(numbers), 500))


def _active_undos(db: Connection) -> dict[int, int]:
    """Map each undone commit to its undo; an undo that was itself undone does not count.

    An undo is always newer than the commit it undoes, so one pass from the newest down is enough.
    """
    undone_by: dict[int, int] = {}
    for number, undone in db.execute("SELECT commit_id, undone FROM undoes ORDER BY commit_id DESC"):
        if number not in undone_by:
            undone_by.setdefault(undone, number)
    return undone_by
