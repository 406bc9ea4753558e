"""Brings the vectors of a vault in line with its indexed notes, some notes at a time.

A note that is private (`ai: private`) or that `excluded` names is never handed to the model, and what was
made of it before it became so is removed, from the file too. Each group of notes is written before the
next, so a stopped update goes on where it was, and a just-saved note can go in between.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.embeddings import EmbedderUnavailable
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


@dataclass(frozen=True, slots=True)
class VectorProgress:
    """How far an update is: notes done of `total` that had changed."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class VectorReport:
    """What an update did.

    Notes brought up to date, chunks that went through the model, notes whose vectors were removed, notes
    that failed and why, and whether it was stopped before the end.
    """

    updated: int
    embedded: int
    removed: int
    failed: tuple[tuple[NotePath, str], ...]
    cancelled: bool


def _exclude_none(_path: NotePath) -> bool:
    return False


def _ignore_progress(_progress: VectorProgress) -> None:
    return None


def _always_continue() -> bool:
    return False


class SyncRun:
    """Updates of one vault's vectors, and what they have done so far.

    `failed` are notes without vectors and why; `unread` are those of them that could not be read just now.

    Args:
        vectors: What is brought in line.
        index: Says which notes there are, their hashes, and which are private.
        store: Reads the notes.
        embedder: Makes vectors of chunks that have none yet.
        excluded: Whether a rule keeps a note from being embedded.
    """

    def __init__(
        self,
        vectors: VectorStore,
        index: VaultIndex,
        store: NoteStore,
        embedder: Embedder,
        excluded: Callable[[NotePath], bool] = _exclude_none,
    ) -> None:
        self._vectors = vectors
        self._index = index
        self._store = store
        self._embedder = embedder
        self._excluded = excluded
        self.updated = self.embedded = self.removed = 0
        self.failed: list[tuple[NotePath, str]] = []
        self.unread: set[NotePath] = set()

    async def run(
        self,
        paths: Iterable[NotePath] | None = None,
        progress: Callable[[VectorProgress], None] = _ignore_progress,
        cancelled: Callable[[], bool] = _always_continue,
    ) -> VectorReport:
        """Bring `paths` (all notes by default) up to date.

        Raises:
            EmbedderUnavailable: the embedder can't work; what was done until then is kept.
        """
        changed = await self.collect_changes(paths)
        done = 0
        while done < len(changed) and not cancelled():
            await self.update_notes(changed[done : done + BATCH_NOTES])
            done = min(len(changed), done + BATCH_NOTES)
            progress(VectorProgress(done, len(changed)))
        await self.finish()
        return VectorReport(
            self.updated, self.embedded, self.removed, tuple(self.failed), cancelled=done < len(changed)
        )

    async def collect_changes(self, paths: Iterable[NotePath] | None = None) -> list[NotePath]:
        """Remove what may not or need not be kept; the notes whose text changed, newest first."""
        await self._vectors.load()
        kept = self._vectors.hashes
        if paths is None:
            records = {record.path: record for record in self._index.notes()}
            asked: Iterable[NotePath] = {**kept, **records}
        else:
            asked = list(dict.fromkeys(paths))
            records = {record.path: record for path in asked if (record := self._index.note(path))}
        allowed = {path: record for path, record in records.items() if self._may(record)}
        gone = [path for path in asked if path not in allowed and path in kept]
        await self._vectors.remove_notes(gone)
        self.removed += len(gone)
        changed = [record for path, record in allowed.items() if kept.get(path) != record.hash]
        return [record.path for record in sorted(changed, key=lambda record: -record.modified)]

    async def finish(self) -> None:
        """Drop what no note has any more, and see to the index of very many vectors."""
        await self._vectors.prune()
        await self._vectors.maintain_ann_index()

    async def update_notes(self, paths: list[NotePath]) -> tuple[NotePath, ...]:
        """Read, cut and embed some notes, all together; one by one when that takes the model down.

        Returns:
            The notes that have vectors now; the others failed, or are not to have any.

        Raises:
            EmbedderUnavailable: the embedder can't work.
            VaultLostError: the vault's folder is gone; the notes stay as they were.
        """
        try:
            return await self._embed_notes(paths)
        except EmbedderUnavailable as error:
            if not self._embedder.available:
                raise
            if len(paths) == 1:
                log.warning("no vectors for %s: %s", paths[0], error.message)
                self.failed.append((paths[0], error.message))
                return ()
            return tuple([one for path in paths for one in await self.update_notes([path])])

    async def _embed_notes(self, paths: list[NotePath]) -> tuple[NotePath, ...]:
        # Asked anew: since it was sorted out, a note may have changed, gone or become private.
        records = [record for path in paths if (record := self._index.note(path)) and self._may(record)]
        notes = await asyncio.to_thread(self._cut, records)
        texts = {chunk.hash: chunk.text for note in notes for chunk in note.chunks}
        known = await self._vectors.known_vectors(texts)
        missing = [key for key in texts if key not in known]
        made = round_vectors(await self._embedder.embed([texts[key] for key in missing]))
        every = {**known, **dict(zip(missing, made, strict=True))}
        # Asked once more: what became private while the model was at work must not be kept.
        kept = [note for note in notes if (record := self._index.note(note.path)) and self._may(record)]
        await self._vectors.put(kept, {c.hash: every[c.hash] for note in kept for c in note.chunks})
        self.updated += len(kept)
        self.embedded += len(missing)
        return tuple(note.path for note in kept)

    def _may(self, record: NoteRecord) -> bool:
        return not record.private and not self._excluded(record.path)

    def _cut(self, records: list[NoteRecord]) -> list[NoteChunks]:
        """The chunks of each note, read now; runs in another thread."""
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
