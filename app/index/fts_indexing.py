"""Deferred full-text indexing: a vault is listed and linked before its texts are searchable.

A scan of many notes first writes properties, tags and links and lists the notes as `unworded`. Then it reads
their texts again, which is cheap, and writes them to the full-text indexes in large batches, together
with headings and tasks, which only searches use. An interrupted scan resumes there. A text that has changed
since, or can't be parsed, is left to a refresh.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from app.index.extract import FolderCache, Row, heading_rows, read_content, task_rows
from app.index.normalization import segment
from app.vault.markdown.scan import scan_lines
from app.vault.markdown.text import decode_lossy
from app.vault.path import NotePath

log = logging.getLogger(__name__)

_MERGE_PAGE_COUNT = 250
_AUTOMERGE = 4


class PendingText(NamedTuple):
    """A note whose text is not indexed yet: its row and its hash."""

    id: int
    path: str
    hash: str


class TokenizedNote(NamedTuple):
    """A note's segmented text for the full-text index, or None if the file has changed or can't be read.

    `head` holds its segmented headings; `headings` and `tasks` are rows.
    """

    note: PendingText
    text: str | None
    head: str = ""
    headings: tuple[Row, ...] = ()
    tasks: tuple[Row, ...] = ()


def pending_texts(connection: sqlite3.Connection) -> list[PendingText]:
    """Return the notes whose texts are not indexed yet."""
    rows = connection.execute(
        "SELECT note, path, hash FROM unworded JOIN files ON files.id = note ORDER BY note"
    )
    return [PendingText(row_id, path, digest or "") for row_id, path, digest in rows]


def tokenize_chunk(root: str, notes: Sequence[PendingText], max_bytes: int) -> list[TokenizedNote]:
    """Read and segment the texts of these notes. Runs in worker processes or a thread."""
    folder, folder_cache = Path(root), FolderCache()
    return [_tokenize_note(folder, note, max_bytes, folder_cache) for note in notes]


def _tokenize_note(root: Path, note: PendingText, max_bytes: int, folder_cache: FolderCache) -> TokenizedNote:
    try:
        content, _ = read_content(root, NotePath.on_disk(note.path), max_bytes, folder_cache)
    except OSError:
        return TokenizedNote(note, None)
    if content is None or hashlib.sha256(content).hexdigest() != note.hash:
        return TokenizedNote(note, None)
    try:
        text = decode_lossy(content)
        outline = scan_lines(text)
        head = segment("\n".join(heading.text for heading in outline.headings))
        return TokenizedNote(
            note, segment(text), head, heading_rows(outline.headings), task_rows(outline.tasks)
        )
    except Exception:  # As in `extract`, a failure affects only this note; the refresh lists it.
        log.exception("could not tokenize %s", note.path)
        return TokenizedNote(note, None)


def write_texts(connection: sqlite3.Connection, texts: Sequence[TokenizedNote]) -> list[NotePath]:
    """Write these texts; return the notes to read again.

    Notes refreshed in the meantime are already indexed.
    """
    known_hashes = _known_hashes(connection, [note_text.note.id for note_text in texts])
    current_texts = [
        note_text for note_text in texts if known_hashes.get(note_text.note.id) == note_text.note.hash
    ]
    new_texts = {note_text.note.id: note_text for note_text in current_texts if note_text.text is not None}
    rows = list(_fts_rows(connection, new_texts))
    connection.executemany(
        "INSERT INTO fulltext (rowid, name, aliases, headings, tags, text) VALUES (?,?,?,?,?,?)", rows
    )
    connection.executemany(
        "INSERT INTO heads (rowid, name, aliases, headings, tags) VALUES (?,?,?,?,?)",
        (row[:-1] for row in rows),
    )
    connection.executemany(
        "INSERT INTO headings VALUES (?,?,?,?)",
        ((row_id, *row) for row_id, note_text in new_texts.items() for row in note_text.headings),
    )
    connection.executemany(
        "INSERT INTO tasks VALUES (?,?,?,?)",
        ((row_id, *row) for row_id, note_text in new_texts.items() for row in note_text.tasks),
    )
    connection.executemany("DELETE FROM unworded WHERE note = ?", ((row_id,) for row_id in new_texts))
    return [NotePath(note_text.note.path) for note_text in current_texts if note_text.text is None]


def _known_hashes(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, str]:
    placeholders = ",".join("?" * len(ids))
    return dict(
        connection.execute(
            f"SELECT note, hash FROM unworded JOIN files ON files.id = note WHERE note IN ({placeholders})",
            ids,
        )
    )


def _fts_rows(connection: sqlite3.Connection, texts: Mapping[int, TokenizedNote]) -> Iterator[Row]:
    placeholders = ",".join("?" * len(texts))
    query = f"SELECT note, name, aliases, tags FROM unworded WHERE note IN ({placeholders})"
    rows = connection.execute(query, list(texts))
    for row_id, name, aliases, tags in rows.fetchall():
        yield (row_id, name, aliases, texts[row_id].head, tags, texts[row_id].text)


def begin_bulk(connection: sqlite3.Connection) -> None:
    """Turn off automatic merging in the full-text index until `end_bulk`."""
    connection.execute("INSERT INTO fulltext (fulltext, rank) VALUES ('automerge', 0)")


def end_bulk(connection: sqlite3.Connection) -> None:
    """Restore automatic merging in the full-text index."""
    connection.execute("INSERT INTO fulltext (fulltext, rank) VALUES ('automerge', ?)", (_AUTOMERGE,))


def merge_pages(connection: sqlite3.Connection) -> bool:
    """Merge a few pages in the full-text index; return whether more remain."""
    before = connection.total_changes
    connection.execute("INSERT INTO fulltext (fulltext, rank) VALUES ('merge', ?)", (_MERGE_PAGE_COUNT,))
    # As documented by SQLite, a merge with nothing to do changes fewer than two rows.
    return connection.total_changes - before >= 2
