"""Synchronization of a vault's vectors with its indexed notes, in batches.

A note that is private (`ai: private`) or excluded by a rule is never passed to the model, and its earlier
vectors are deleted from memory and disk. Each batch is stored before the next one starts, so a stopped update
can resume, and a note that was just saved can be processed in between.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from app.embeddings import EmbedderUnavailableError
from app.embeddings.chunker import split_chunks
from app.embeddings.vector_file import NoteChunks, round_vectors
from app.errors import ScriptoriumError, VaultLostError
from app.index.records import NoteRecord
from app.vault.markdown.privacy import is_private
from app.vault.markdown.scan import scan
from app.vault.markdown.text import decode_lossy
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.embeddings.client import Embedder
    from app.embeddings.vectors import VectorStore
    from app.index.vault_index import VaultIndex
    from app.vault.store import NoteStore

log = logging.getLogger(__name__)

BATCH_NOTES = 16


class SyncRun:
    """Updates a vault's vectors.

    `failed` lists the notes that could not be read or embedded, each with the reason; `unread` contains those
    that could not be read.

    Args:
        vectors: The vectors to update.
        index: Provides the notes, their hashes and their privacy.
        store: Reads the notes.
        embedder: Embeds chunks without vectors.
        is_excluded: Returns whether a rule excludes a note from embedding.
    """

    def __init__(
        self,
        vectors: VectorStore,
        index: VaultIndex,
        store: NoteStore,
        embedder: Embedder,
        is_excluded: Callable[[NotePath], bool],
    ) -> None:
        self._vectors = vectors
        self._index = index
        self._store = store
        self._embedder = embedder
        self._is_excluded = is_excluded
        self.failed: list[tuple[NotePath, str]] = []
        self.unread: set[NotePath] = set()

    async def collect_changes(self, paths: Iterable[NotePath] | None = None) -> list[NotePath]:
        """Remove obsolete and forbidden vectors; return the notes without current vectors, newest first.

        Args:
            paths: The notes to check, which may have been removed; None checks all notes.
        """
        await self._vectors.load()
        hashes = self._vectors.hashes
        if paths is None:
            records = {record.path: record for record in self._index.notes()}
            requested: Iterable[NotePath] = {**hashes, **records}
        else:
            requested = list(dict.fromkeys(paths))
            records = {record.path: record for path in requested if (record := self._index.note(path))}
        allowed = {path: record for path, record in records.items() if self._is_allowed(record)}
        obsolete = [path for path in requested if path not in allowed and path in hashes]
        await self._vectors.remove_notes(obsolete)
        changed = [record for path, record in allowed.items() if hashes.get(path) != record.hash]
        return [record.path for record in sorted(changed, key=lambda record: -record.modified)]

    async def finish(self) -> None:
        """Delete unused vectors and maintain the approximate index."""
        await self._vectors.prune()
        await self._vectors.maintain_ann_index()

    async def update_notes(self, paths: list[NotePath]) -> tuple[NotePath, ...]:
        """Read, split and embed notes as a batch.

        If the batch fails but the embedder is still available, embed the notes one by one.

        Returns:
            The notes that now have vectors; the others failed, are gone or must not have any.

        Raises:
            EmbedderUnavailableError: the embedder has become unavailable.
            VaultLostError: the vault's folder is gone; the notes keep their vectors.
        """
        try:
            return await self._embed_notes(paths)
        except EmbedderUnavailableError as error:
            if not self._embedder.is_available:
                raise
            if len(paths) == 1:
                log.warning("no vectors for %s: %s", paths[0], error.message)
                self.failed.append((paths[0], error.message))
                return ()
            return tuple(
                [embedded_path for path in paths for embedded_path in await self.update_notes([path])]
            )

    async def _embed_notes(self, paths: list[NotePath]) -> tuple[NotePath, ...]:
        # Check again: a note may have changed, disappeared or become private since it was queued.
        records = [
            record for path in paths if (record := self._index.note(path)) and self._is_allowed(record)
        ]
        notes = await asyncio.to_thread(self._read_chunks, records)
        texts = {chunk.hash: chunk.text for note in notes for chunk in note.chunks}
        known_vectors = await self._vectors.known_vectors(texts)
        missing = [key for key in texts if key not in known_vectors]
        computed = round_vectors(await self._embedder.embed([texts[key] for key in missing]))
        vectors = {**known_vectors, **dict(zip(missing, computed, strict=True))}
        # Check once more: notes that became private during embedding must not be stored.
        storable = [
            note for note in notes if (record := self._index.note(note.path)) and self._is_allowed(record)
        ]
        await self._vectors.put(storable, {c.hash: vectors[c.hash] for note in storable for c in note.chunks})
        return tuple(note.path for note in storable)

    def _is_allowed(self, record: NoteRecord) -> bool:
        return not record.private and not self._is_excluded(record.path)

    def _read_chunks(self, records: list[NoteRecord]) -> list[NoteChunks]:
        """Read notes and split them into chunks; runs in another thread."""
        notes: list[NoteChunks] = []
        for record in records:
            try:
                content = self._store.read(record.path)
                text = decode_lossy(content)
                parsed = scan(text)
            except VaultLostError:
                raise
            except ScriptoriumError as error:
                self.failed.append((record.path, error.message))
                self.unread.add(record.path)
                continue
            self.unread.discard(record.path)
            # The text on disk may be newer than the index.
            if not is_private(content):
                notes.append(NoteChunks(record.path, record.hash, split_chunks(record.title, text, parsed)))
        return notes
