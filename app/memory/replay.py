"""Replay commits from the journal that are newer than a restored backup."""

from __future__ import annotations

import logging
from sqlite3 import Connection

from app.errors import ScriptoriumError
from app.memory.changes import MEMORY_PLACE
from app.memory.database import MemoryDatabase
from app.memory.rows import DocumentRow, document_row, write_row
from app.vault.commits import CommittedFile
from app.vault.journal import Journal

log = logging.getLogger(__name__)


def replay(database: MemoryDatabase, journal: Journal) -> int:
    """Restore each document to its last state in the journal, and return the number of changed documents.

    A document whose content is missing from the journal or not valid is logged and skipped.

    Raises:
        StorageError: reading or writing failed; nothing was changed.
    """
    last: dict[str, CommittedFile] = {}
    for commit in journal.commits(1_000_000, place=MEMORY_PLACE):
        for change in commit.changes:
            last.setdefault(change.path.key, change)
    with database.transaction(write=True) as db:
        return sum(_restore_document(db, journal, change) for change in last.values())


def _restore_document(db: Connection, journal: Journal, change: CommittedFile) -> bool:
    stored = db.execute("SELECT hash FROM documents WHERE key = ?", (change.path.key,)).fetchone()
    if (stored[0] if stored else None) == change.after:
        return False
    row = DocumentRow(change.path, "", b"", None, None)
    if change.after is not None:
        try:
            row = document_row(change.path, journal.content(change.after), change.after)
        except ScriptoriumError:
            log.warning("%s could not be restored from the journal", change.path)
            return False
    write_row(db, row)
    return True
