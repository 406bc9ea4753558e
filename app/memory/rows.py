"""Write documents to the database: bytes, loro document and version, and an entry's words."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from sqlite3 import Connection

from app.errors import StorageError
from app.index.normalization import segment
from app.memory.block import Block
from app.memory.document import BlockDocument
from app.memory.entry import ArchiveEntry, parse_entry
from app.memory.labels import is_entry
from app.memory.serialization import parse_block
from app.vault.path import NotePath

_MAX_VERSIONS = 200


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """The state of a document: its bytes, which are parsed into `block` or `entry`, and their hash.

    `hash` is None for a deletion. `previous_hash` is the hash of the state that a change replaces; None if
    the change creates the document, and in a row that was loaded.
    """

    path: NotePath
    owner: str
    data: bytes
    hash: str | None
    previous_hash: str | None
    block: Block | None = None
    entry: ArchiveEntry | None = None


def write_row(db: Connection, row: DocumentRow) -> None:
    """Write a document over its stored state, or delete it if `row.hash` is None.

    Raises:
        StorageError: the loro document would differ from the bytes; the transaction must not be committed.
    """
    key = row.path.key
    if row.hash is None:
        _delete_rows(db, key)
        return
    document: bytes | None = None
    if row.block is not None:
        document = _write_document(db, row, row.block)
    db.execute(
        "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?)",
        (key, row.path.text, row.data, row.hash, document, time.time()),
    )
    if row.entry is not None:
        _write_entry(db, key, row.entry)


def _write_document(db: Connection, row: DocumentRow, block: Block) -> bytes:
    stored = db.execute("SELECT document FROM documents WHERE key = ?", (row.path.key,)).fetchone()
    document = BlockDocument(stored[0] if stored else None)
    document.write(block)
    if document.read() != block:
        raise StorageError(f"The memory could not store {row.path}; nothing was written.", path=str(row.path))
    document = document.compact()
    db.execute(
        "INSERT OR REPLACE INTO versions VALUES (?, ?, ?, ?)",
        (row.path.key, row.hash, document.version, time.time()),
    )
    db.execute(
        "DELETE FROM versions WHERE key = ? AND hash NOT IN "
        "(SELECT hash FROM versions WHERE key = ? ORDER BY at DESC LIMIT ?)",
        (row.path.key, row.path.key, _MAX_VERSIONS),
    )
    return document.save()


def _write_entry(db: Connection, key: str, entry: ArchiveEntry) -> None:
    cursor = db.execute(
        "INSERT INTO entries (key, owner, entry, created, text, metadata) VALUES (?, ?, ?, ?, ?, ?)",
        (key, entry.owner, entry.id, entry.created, entry.text, json.dumps(dict(entry.metadata))),
    )
    words = segment(entry.text)
    db.execute("INSERT INTO entry_words (rowid, words) VALUES (?, ?)", (cursor.lastrowid, words))


def _delete_rows(db: Connection, key: str) -> None:
    for (number,) in db.execute("SELECT id FROM entries WHERE key = ?", (key,)).fetchall():
        db.execute("DELETE FROM entry_words WHERE rowid = ?", (number,))
        db.execute("DELETE FROM entry_vectors WHERE id = ?", (number,))
        db.execute("DELETE FROM entries WHERE id = ?", (number,))
    db.execute("DELETE FROM documents WHERE key = ?", (key,))
    db.execute("DELETE FROM versions WHERE key = ?", (key,))


def document_row(path: NotePath, data: bytes, data_hash: str) -> DocumentRow:
    """Return the row of a stored document, from its bytes and their hash.

    Raises:
        InvalidParametersError: the bytes are not a valid block or entry.
    """
    if is_entry(path):
        entry = parse_entry(data)
        return DocumentRow(path, entry.owner, data, data_hash, None, entry=entry)
    block = parse_block(data)
    return DocumentRow(path, block.owner, data, data_hash, None, block=block)
