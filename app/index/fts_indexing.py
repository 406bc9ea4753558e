"""The words of notes, written last: a vault is seen and linked before its full text is in.

A scan of many notes writes what they say of themselves and of each other (properties, tags, links) first
and lists them as `unworded`, with what stands over them; then their texts are read once more, which costs
little, and go into the word indexes in large pieces, with the headings and tasks that only searches look at.
A scan that was cut off goes on where it was. A text that is not the one that was indexed any more, or that
cannot be understood, is left to a refresh.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from app.index.extract import Checked, Row, heading_rows, read_content, task_rows
from app.index.normalization import segment
from app.vault.markdown.scan import scan_lines
from app.vault.markdown.text import decode_lossy
from app.vault.path import NotePath

log = logging.getLogger(__name__)

_MERGE_PAGE_COUNT = 250
_AUTOMERGE = 4


class PendingText(NamedTuple):
    """A note whose words are wanted: its row, and the hash with which it was indexed."""

    id: int
    path: str
    hash: str


class TokenizedNote(NamedTuple):
    """A note's text as the word index keeps it; None where the file says something else by now.

    `head` is its headings as the word indexes keep them, `headings` and `tasks` are rows.
    """

    note: PendingText
    text: str | None
    head: str = ""
    headings: tuple[Row, ...] = ()
    tasks: tuple[Row, ...] = ()


def pending_texts(connection: sqlite3.Connection) -> list[PendingText]:
    """The notes whose words are not in the index yet."""
    rows = connection.execute(
        "SELECT note, path, hash FROM unworded JOIN files ON files.id = note ORDER BY note"
    )
    return [PendingText(id, path, digest or "") for id, path, digest in rows]


def tokenize_chunk(root: str, notes: Sequence[PendingText], max_bytes: int) -> list[TokenizedNote]:
    """Read the texts of these notes. Runs in worker processes."""
    folder, checked = Path(root), Checked()
    return [_tokenize_note(folder, note, max_bytes, checked) for note in notes]


def _tokenize_note(root: Path, note: PendingText, max_bytes: int, checked: Checked) -> TokenizedNote:
    try:
        content, _ = read_content(root, NotePath.on_disk(note.path), max_bytes, checked)
    except OSError:
        return TokenizedNote(note, None)
    if content is None or hashlib.sha256(content).hexdigest() != note.hash:
        return TokenizedNote(note, None)
    try:
        text = decode_lossy(content)
        facts = scan_lines(text)
        head = segment("\n".join(heading.text for heading in facts.headings))
        return TokenizedNote(note, segment(text), head, heading_rows(facts.headings), task_rows(facts.tasks))
    except Exception:  # as in `extract`: the refresh that reads it again lists it, and the others go on
        log.exception("the words of %s could not be read", note.path)
        return TokenizedNote(note, None)


def write_texts(
    connection: sqlite3.Connection, texts: Sequence[TokenizedNote]
) -> tuple[list[NotePath], list[NotePath]]:
    """Write these texts; the notes that can be found by their words now, and those to be read anew.

    What was refreshed meanwhile has its words already, and is in neither.
    """
    known = _known_hashes(connection, [worded.note.id for worded in texts])
    current = [worded for worded in texts if known.get(worded.note.id) == worded.note.hash]
    fresh = {worded.note.id: worded for worded in current if worded.text is not None}
    rows = list(_fts_rows(connection, fresh))
    connection.executemany(
        "INSERT INTO fulltext (rowid, name, aliases, headings, tags, text) VALUES (?,?,?,?,?,?)", rows
    )
    connection.executemany(
        "INSERT INTO heads (rowid, name, aliases, headings, tags) VALUES (?,?,?,?,?)",
        (row[:-1] for row in rows),
    )
    connection.executemany(
        "INSERT INTO headings VALUES (?,?,?,?)", ((id, *row) for id, w in fresh.items() for row in w.headings)
    )
    connection.executemany(
        "INSERT INTO tasks VALUES (?,?,?,?)", ((id, *row) for id, w in fresh.items() for row in w.tasks)
    )
    connection.executemany("DELETE FROM unworded WHERE note = ?", ((id,) for id in fresh))
    written = [NotePath(worded.note.path) for worded in current if worded.text is not None]
    return written, [NotePath(worded.note.path) for worded in current if worded.text is None]


def _known_hashes(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, str]:
    marks = ",".join("?" * len(ids))
    return dict(
        connection.execute(
            f"SELECT note, hash FROM unworded JOIN files ON files.id = note WHERE note IN ({marks})", ids
        )
    )


def _fts_rows(connection: sqlite3.Connection, texts: Mapping[int, TokenizedNote]) -> Iterator[Row]:
    marks = ",".join("?" * len(texts))
    query = f"SELECT note, name, aliases, tags FROM unworded WHERE note IN ({marks})"
    rows = connection.execute(query, list(texts))
    for id, name, aliases, tags in rows.fetchall():
        yield (id, name, aliases, texts[id].head, tags, texts[id].text)


def begin_bulk(connection: sqlite3.Connection) -> None:
    """Put off the merging of what is written until `merge_some`."""
    connection.execute("INSERT INTO fulltext (fulltext, rank) VALUES ('automerge', 0)")


def end_bulk(connection: sqlite3.Connection) -> None:
    """Let the word index merge as it is written, as it does by itself."""
    connection.execute("INSERT INTO fulltext (fulltext, rank) VALUES ('automerge', ?)", (_AUTOMERGE,))


def merge_some(connection: sqlite3.Connection) -> bool:
    """Merge a few pages of what a scan wrote; whether there is more to do."""
    before = connection.total_changes
    connection.execute("INSERT INTO fulltext (fulltext, rank) VALUES ('merge', ?)", (_MERGE_PAGE_COUNT,))
    # Documented by SQLite: a merge that had nothing to do changes less than two rows.
    return connection.total_changes - before >= 2
