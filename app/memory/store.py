"""MemoryStore: blocks and entries of all agents of a vault, with the same approval and journal as notes.

A change consists of a document's bytes before and after it. A commit stores the contents in the journal,
writes loro documents, bytes and an outbox row in one transaction, records the commit in the journal and
removes the row. Commits that a crash left in the outbox are recorded at the next commit, or when the store is
next opened for writing, so that memory and journal agree.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from rapidfuzz import process

from app.errors import (
    ConflictError,
    InvalidParametersError,
    NotFoundError,
    ScriptoriumError,
    StorageError,
    VaultBusyError,
)
from app.memory import outbox
from app.memory.block import Block, default_blocks
from app.memory.changes import MEMORY_PLACE
from app.memory.database import MemoryDatabase
from app.memory.document import BlockDocument
from app.memory.entry import parse_entry
from app.memory.labels import block_path, is_entry
from app.memory.replay import replay
from app.memory.rows import DocumentRow, document_row, write_row
from app.memory.serialization import check_path, parse_block, serialize_block
from app.vault.changes import ChangeSet, Create, FileChange, Move, after_of, before_of, content_hash
from app.vault.commits import Commit, CommitDraft, CommittedFile
from app.vault.journal import Journal
from app.vault.merge import merge
from app.vault.path import NotePath

log = logging.getLogger(__name__)

_BACKUP_CHECK_INTERVAL_S = 3600.0


@dataclass(frozen=True, slots=True)
class PinnedBlock:
    """A block in an agent's context: the displayed text, and the size of the whole text in characters.

    `outside`: the text comes from outside the vault, so its reader is tainted.
    """

    label: str
    description: str
    text: str
    size: int
    permission: str
    outside: bool = False


class MemoryStore:
    """The memory of one vault; a `DocumentStore`. Thread-safe.

    `problem` is a message for the user about a damaged file or a failed backup, or None.

    Args:
        folder: The vault's data folder.
        journal: Records the commits.
        writable: Whether this process may write.
        step: Called with the name of each disk operation; tests kill the process there.

    Raises:
        StorageError: the file or the journal can't be used.
        InvalidParametersError: a stored document is not a valid block or entry.
    """

    def __init__(
        self,
        folder: Path,
        journal: Journal,
        *,
        writable: bool = True,
        step: Callable[[str], None] | None = None,
    ) -> None:
        self.database = MemoryDatabase(folder, writable=writable, step=step)
        self._journal = journal
        self._step = self.database.step
        self._writable = writable
        self._lock = threading.RLock()
        self._documents: dict[str, DocumentRow] = {}
        self._blocks: dict[str, Block] = {}
        self.problem = self.database.problem
        self._backup_checked_at = time.monotonic()
        if self.database.restored is not None:
            count = replay(self.database, journal)
            changes = "1 later change was" if count == 1 else f"{count} later changes were"
            if count:
                self.problem = f"{self.problem or ''} {changes} restored from the journal."
            elif not self.database.restored:
                self.problem = f"{self.problem or ''} The memory starts empty."
        self._load()
        if writable:
            self._flush_outbox()

    @property
    def place(self) -> str:
        """The store name of its change sets."""
        return MEMORY_PLACE

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def back_up(self) -> None:
        """Make a backup if the newest is older than a day; a failure is logged and sets `problem`.

        Commits call this about once an hour, so that an app that stays open for weeks has backups.
        """
        self._backup_checked_at = time.monotonic()
        try:
            self.database.back_up()
        except StorageError as error:
            log.warning("%s", error)
            self.problem = error.message

    # Reading

    def read(self, path: NotePath) -> bytes:
        """Return the bytes of a block or an entry.

        Raises:
            NotFoundError: there is no document at the path.
        """
        with self._lock:
            row = self._documents.get(path.key)
        if row is None:
            raise NotFoundError(f"The memory has nothing at {path}.", path=str(path))
        return row.data

    def block_at(self, path: NotePath) -> Block | None:
        """Return the block at a path, without checking permissions; None if there is none."""
        with self._lock:
            return self._blocks.get(path.key)

    def all_blocks(self) -> tuple[Block, ...]:
        """Return every stored block of every agent, for the user."""
        with self._lock:
            return tuple(self._blocks.values())

    def agents(self) -> tuple[str, ...]:
        """Return the agents that own documents here, sorted."""
        with self._lock:
            return tuple(sorted({row.owner for row in self._documents.values()}))

    def blocks(self, agent: str) -> tuple[Block, ...]:
        """Return the blocks that the agent may read, its own first: stored, default and shared ones."""
        with self._lock:
            stored = [block for block in self._blocks.values() if block.permission_of(agent) is not None]
            defaults = [block for block in default_blocks(agent) if block.path.key not in self._blocks]
        return tuple(
            sorted((*defaults, *stored), key=lambda block: (block.owner != agent, block.type, block.label))
        )

    def find(self, label: str, agent: str) -> Block | None:
        """Return the block with this label that the agent may read, its own before a shared one, or None.

        Raises:
            InvalidParametersError: the label is not valid.
        """
        own_key = block_path(agent, label).key
        matches = [
            block for block in self.blocks(agent) if block.label.casefold() == label.strip().casefold()
        ]
        return next((block for block in matches if block.path.key == own_key), next(iter(matches), None))

    def block(self, label: str, agent: str) -> Block:
        """Return the block with this label that the agent may read, its own before a shared one.

        Raises:
            NotFoundError: there is no such block; `suggestions` lists similar labels.
            InvalidParametersError: the label is not valid.
        """
        block = self.find(label, agent)
        if block is None:
            labels = [block.label for block in self.blocks(agent)]
            suggestions = [match[0] for match in process.extract(label, labels, limit=3, score_cutoff=60)]
            message = f"The memory has no block “{label}”."
            raise NotFoundError(message, label=label, suggestions=suggestions, blocks=labels[:50])
        return block

    def pinned(self, agent: str) -> tuple[PinnedBlock, ...]:
        """Return the blocks pinned to the agent's context, as the agent sees them."""
        return tuple(
            PinnedBlock(
                block.label,
                block.description,
                block.text_for(agent),
                block.size,
                str(block.permission_of(agent)),
                outside=bool(block.origin),
            )
            for block in self.blocks(agent)
            if block.view_of(agent).pinned
        )

    def merge_edit(self, path: NotePath, base: bytes, theirs: bytes) -> bytes:
        """Merge an edit of an earlier version into the current state of a block.

        Args:
            path: The block's path.
            base: Its bytes when the edit began.
            theirs: Its bytes after the edit.

        Returns:
            The merged block's bytes.

        Raises:
            NotFoundError: the block no longer exists.
            ConflictError: the version is no longer stored, and both changed the same lines.
            InvalidParametersError: `theirs` or the merged block is not valid.
            StorageError: reading failed.
        """
        current, edit = self.read(path), parse_block(theirs)
        if current == base:
            return serialize_block(edit)
        document, earlier = self._documents_at(path, base)
        if earlier is None:
            return _merge_lines(path, base, current, theirs)
        earlier.write(edit)
        document.merge(earlier)
        return serialize_block(document.read())

    def _documents_at(self, path: NotePath, base: bytes) -> tuple[BlockDocument, BlockDocument | None]:
        with self.database.transaction() as db:
            data = db.execute("SELECT document FROM documents WHERE key = ?", (path.key,)).fetchone()
            row = db.execute(
                "SELECT version FROM versions WHERE key = ? AND hash = ?", (path.key, content_hash(base))
            ).fetchone()
        document = BlockDocument(data[0] if data else None)
        return document, None if row is None else document.at_version(row[0])

    # Writing

    def check_writable(self) -> None:
        """Check that writing is possible, before the user is asked for approval.

        Raises:
            VaultBusyError: another process owns the memory.
        """
        if not self._writable:
            raise VaultBusyError("The vault is open read-only, so the memory can't be changed.")

    def commit(
        self,
        change_set: ChangeSet,
        *,
        author: str,
        turn: str = "",
        note: str = "",
        entry: str = "",
        undoes: Iterable[int] = (),
    ) -> Commit:
        """Write a change set completely or not at all, and record it in the journal.

        Raises:
            VaultBusyError: another process owns the memory.
            ConflictError: a document has changed since the change set was built, or one to create already
                exists; nothing was written.
            InvalidParametersError: the change set is for another store, renames a block, changes an entry, or
                holds bytes that are not a valid block or entry; nothing was written.
            StorageError: writing failed; nothing was written. If the rollback or the clearing of the outbox
                failed, the outbox keeps the commit, and the next commit or opening completes it.
        """
        self.check_writable()
        if change_set.place != MEMORY_PLACE:
            store_name = change_set.place or "the vault"
            raise InvalidParametersError(f"A change for {store_name} was sent to the memory.")
        with self._lock:
            self._flush_outbox()
            rows = [self._row(change) for change in change_set.changes]
            undoes = tuple(undoes) or self._journal.planned_undos(change_set.digest)
            draft = CommitDraft(
                author,
                change_set.digest,
                tuple(CommittedFile(row.path, None, row.previous_hash, row.hash) for row in rows),
                (None,) * len(rows),
                turn=turn,
                note=note,
                entry=entry,
                summary=change_set.summary,
                undoes=undoes,
                place=MEMORY_PLACE,
            )
            try:
                commit = self._commit(change_set, draft, rows)
            except StorageError:
                self._load()
                raise
        if time.monotonic() - self._backup_checked_at > _BACKUP_CHECK_INTERVAL_S:
            self.back_up()
        return commit

    def _commit(self, change_set: ChangeSet, draft: CommitDraft, rows: list[DocumentRow]) -> Commit:
        self._step("keep")
        contents = [before for change in change_set.changes if (before := before_of(change)) is not None]
        contents += [row.data for row in rows if row.hash is not None]
        self._journal.store_contents({content_hash(content): content for content in contents})
        previous_rows = {row.path.key: self._documents.get(row.path.key) for row in rows}
        self._step("begin")
        with self.database.transaction(write=True) as db:
            for row in rows:
                _check_current_hash(db, row)
                write_row(db, row)
                self._step("row")
            outbox.add_commit(db, draft)
            self._step("outbox")
        self._step("written")
        try:
            commit = self._journal.record(draft)
        except ScriptoriumError:
            self._roll_back(draft, rows, previous_rows)
            raise
        for row in rows:
            self._load_row(row)
        self._step("recorded")
        self._remove_from_outbox(draft.uid)
        self._step("sent")
        return commit

    def _row(self, change: FileChange) -> DocumentRow:
        """Return the row of a change, with its document in normalized form."""
        path, before, after = change.path, before_of(change), after_of(change)
        if isinstance(change, Move):
            raise InvalidParametersError(
                "A block can't be renamed. Create a new block instead.", path=str(path)
            )
        document = self._documents.get(path.key)
        if isinstance(change, Create) and document is not None:
            message = f"{path} already exists."
            raise ConflictError(message, path=str(path), current_hash=document.hash)
        if before is not None and (document is None or document.data != before):
            message = f"{path} changed in the meantime; nothing was written."
            stored_hash = None if document is None else document.hash
            raise ConflictError(
                message, path=str(path), expected_hash=content_hash(before), current_hash=stored_hash
            )
        hash_before = None if before is None else content_hash(before)
        if after is None:
            return DocumentRow(path, "", b"", None, hash_before)
        if is_entry(path):
            entry = parse_entry(after)
            if entry.path.key != path.key or (before is not None and before != after):
                raise InvalidParametersError("An archive entry can't be changed.", path=str(path))
            return DocumentRow(
                path, entry.owner, entry.data, content_hash(entry.data), hash_before, entry=entry
            )
        block = parse_block(after)
        check_path(block, path)
        data = serialize_block(block)
        return DocumentRow(path, block.owner, data, content_hash(data), hash_before, block=block)

    def _load_row(self, row: DocumentRow) -> None:
        """Update the in-memory state after a row was written."""
        key = row.path.key
        self._documents.pop(key, None)
        self._blocks.pop(key, None)
        if row.hash is not None:
            self._documents[key] = row
            if row.block is not None:
                self._blocks[key] = row.block

    def _roll_back(
        self, draft: CommitDraft, rows: list[DocumentRow], previous_rows: dict[str, DocumentRow | None]
    ) -> None:
        """Roll back after the journal failed; if that fails too, the outbox keeps the commit."""
        with self.database.transaction(write=True) as db:
            for row in reversed(rows):
                previous = previous_rows[row.path.key] or DocumentRow(row.path, "", b"", None, None)
                write_row(db, previous)
            outbox.remove_commit(db, draft.uid)

    def _flush_outbox(self) -> None:
        """Record the commits in the outbox that may not be in the journal."""
        with self.database.transaction() as db:
            commits = outbox.pending_commits(db)
        for draft in commits:
            if self._journal.find(draft.uid) is None:
                self._journal.record(draft)
            self._remove_from_outbox(draft.uid)

    def _remove_from_outbox(self, uid: str) -> None:
        with self.database.transaction(write=True) as db:
            outbox.remove_commit(db, uid)

    def _load(self) -> None:
        with self._lock, self.database.transaction() as db:
            self._documents.clear()
            self._blocks.clear()
            for path, data, stored_hash in db.execute("SELECT path, data, hash FROM documents"):
                self._load_row(document_row(NotePath.on_disk(path), data, stored_hash))


def _check_current_hash(db: Connection, row: DocumentRow) -> None:
    """Check that the database has the state that this process expects; restoring a backup can change it."""
    stored_row = db.execute("SELECT hash FROM documents WHERE key = ?", (row.path.key,)).fetchone()
    if (stored_row[0] if stored_row else None) != row.previous_hash:
        raise ConflictError(f"{row.path} changed in the meantime; nothing was written.", path=str(row.path))


def _merge_lines(path: NotePath, base: bytes, current: bytes, theirs: bytes) -> bytes:
    merged = merge(base, current, theirs)
    if merged.conflicts:
        message = f"{path} changed in the meantime, on the same lines."
        raise ConflictError(message, path=str(path), current_hash=content_hash(current))
    return serialize_block(parse_block(merged.text))
