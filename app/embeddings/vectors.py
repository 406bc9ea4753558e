"""The vectors of a vault's notes: kept up to date by chunk hash, searched exactly.

A note that is private (`ai: private`) or that `excluded` names is never handed to the model, and what was
made of it before it became so is removed, from the file too. Updates work in small groups: each is
written before the next, so a stopped one goes on where it was, and a just-saved note can go in between.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from app.embeddings import EmbedderUnavailable
from app.embeddings.chunker import chunks
from app.embeddings.client import MODEL, Embedder
from app.embeddings.onnx_model import Vectors
from app.embeddings.table import Place, VectorHit, VectorTable
from app.embeddings.vector_file import NoteChunks, VectorFile, rounded
from app.embeddings.worker_process import DIMENSION
from app.errors import NotFoundError, StorageError
from app.index.records import NoteRecord
from app.vault.markdown.scan import scan
from app.vault.markdown.text import decode_lossy
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.index.vault_index import VaultIndex
    from app.vault.store import NoteStore

log = logging.getLogger(__name__)

_GROUP = 16


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


def _never(_path: NotePath) -> bool:
    return False


class VectorStore:
    """The vectors of one vault, in `cache_folder`. Belongs to the service thread's loop."""

    def __init__(self, cache_folder: Path, model: str = MODEL) -> None:
        self._file = VectorFile(cache_folder, model)
        self._notes = self._file.notes()
        self._table: VectorTable | None = None
        self._turn = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._loaded())

    @property
    def notes(self) -> int:
        """How many notes have vectors."""
        return len(self._notes)

    async def load(self) -> None:
        """Read the vectors into memory without holding up the loop; else the first search does it."""
        if self._table is None:
            places, vectors = await asyncio.to_thread(self._file.load)
            if self._table is None:
                self._table = _filled(places, vectors)

    def close(self) -> None:
        """Close the file; what was updated is kept."""
        self._file.close()

    def has(self, path: NotePath) -> bool:
        """Whether the note has vectors."""
        return path in self._notes

    def search(
        self, vector: npt.ArrayLike, limit: int = 20, min_similarity: float = 0.0, *, per_note: bool = False
    ) -> tuple[VectorHit, ...]:
        """The chunks most like the unit `vector`, best first, with a cosine of `min_similarity` or more.

        With `per_note` a note counts once, by its best chunk.
        """
        return self._loaded().search(vector, limit, min_similarity, per_note=per_note)

    def similar(
        self, path: NotePath, limit: int = 10, min_similarity: float = 0.0
    ) -> tuple[VectorHit, ...]:
        """The other notes most like the note at `path` as a whole, each by its best chunk, best first."""
        own = self._loaded().of(path)
        if not len(own):
            return ()
        middle = own.mean(axis=0)
        length = float(np.linalg.norm(middle)) or 1.0
        hits = self._loaded().search(middle / length, limit + 1, min_similarity, per_note=True)
        return tuple(hit for hit in hits if hit.path != path)[:limit]

    def similarity(self, one: NotePath, other: NotePath) -> float | None:
        """The cosine of two notes' mean vectors; None if either has no vectors."""
        first, second = self._loaded().of(one), self._loaded().of(other)
        if not len(first) or not len(second):
            return None
        a, b = first.mean(axis=0), second.mean(axis=0)
        return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b) or 1.0))

    async def forget(self, paths: Iterable[NotePath]) -> None:
        """Remove these notes' vectors now, from the file too."""
        async with self._turn:
            await self._remove([path for path in paths if path in self._notes])
            await asyncio.to_thread(self._file.prune)

    async def update(
        self,
        index: VaultIndex,
        store: NoteStore,
        embedder: Embedder,
        progress: Callable[[VectorProgress], None] = lambda _progress: None,
        cancelled: Callable[[], bool] = lambda: False,
        *,
        paths: Iterable[NotePath] | None = None,
        excluded: Callable[[NotePath], bool] = _never,
    ) -> VectorReport:
        """Bring the vectors in line with the indexed notes: what changed is embedded, what is gone removed.

        Args:
            index: Says which notes there are, their hashes, and which are private.
            store: Reads the notes.
            embedder: Makes vectors of chunks that have none yet.
            progress: Called after each group of notes.
            cancelled: Asked between groups.
            paths: Only these notes (some just changed or removed); all by default.
            excluded: Whether a rule keeps a note from being embedded.

        Raises:
            EmbedderUnavailable: the embedder can't work; what was done until then is kept.
        """
        await self.load()
        run = _Run(self, index, store, embedder, excluded)
        changed = await run.sort_out(paths)
        for at in range(0, len(changed), _GROUP):
            if cancelled():
                break
            await run.bring_up_to_date(changed[at : at + _GROUP])
            run.done = min(len(changed), at + _GROUP)
            progress(VectorProgress(run.done, len(changed)))
        async with self._turn:
            await asyncio.to_thread(self._file.prune)
        return VectorReport(
            run.updated, run.embedded, run.removed, tuple(run.failed), cancelled=run.done < len(changed)
        )

    def _loaded(self) -> VectorTable:
        if self._table is None:
            self._table = _filled(*self._file.load())
        return self._table

    async def _remove(self, paths: list[NotePath]) -> None:
        if paths:
            await asyncio.to_thread(self._file.remove, paths)
            for path in paths:
                self._loaded().remove(path)
                self._notes.pop(path, None)

    async def _put(
        self, notes: list[NoteChunks], fresh: dict[str, Vectors], every: dict[str, Vectors]
    ) -> None:
        await asyncio.to_thread(self._file.put, notes, fresh)
        table = self._loaded()
        for note in notes:
            table.remove(note.path)
            places = [Place(note.path, chunk.heading, chunk.line) for chunk in note.chunks]
            table.add(places, np.stack([every[chunk.hash] for chunk in note.chunks]))
            self._notes[note.path] = note.hash


class _Run:
    """One update: what it works with and what it has done so far."""

    def __init__(
        self,
        vectors: VectorStore,
        index: VaultIndex,
        store: NoteStore,
        embedder: Embedder,
        excluded: Callable[[NotePath], bool],
    ) -> None:
        self._vectors = vectors
        self._index = index
        self._store = store
        self._embedder = embedder
        self._excluded = excluded
        self.updated = self.embedded = self.removed = self.done = 0
        self.failed: list[tuple[NotePath, str]] = []

    async def sort_out(self, paths: Iterable[NotePath] | None) -> list[NotePath]:
        """Remove what may not or need not be kept; the notes whose text changed since."""
        kept = self._vectors._notes
        if paths is None:
            records = {record.path: record for record in self._index.notes()}
            asked: Iterable[NotePath] = {**kept, **records}
        else:
            asked = list(dict.fromkeys(paths))
            records = {record.path: record for path in asked if (record := self._index.note(path))}
        allowed = {path: record for path, record in records.items() if self._may(record)}
        async with self._vectors._turn:
            gone = [path for path in asked if path not in allowed and path in kept]
            await self._vectors._remove(gone)
        self.removed += len(gone)
        return [path for path, record in allowed.items() if kept.get(path) != record.hash]

    async def bring_up_to_date(self, paths: list[NotePath]) -> None:
        """Read, cut and embed some notes, all together; one by one when that takes the model down."""
        try:
            await self._bring(paths)
        except EmbedderUnavailable as error:
            if not self._embedder.available:
                raise
            if len(paths) == 1:
                log.warning("no vectors for %s: %s", paths[0], error.message)
                self.failed.append((paths[0], error.message))
                return
            for path in paths:
                await self.bring_up_to_date([path])

    async def _bring(self, paths: list[NotePath]) -> None:
        async with self._vectors._turn:
            # Asked anew: since it was sorted out, a note may have changed, gone or become private.
            records = [record for path in paths if (record := self._index.note(path)) and self._may(record)]
            notes = await asyncio.to_thread(self._cut, records)
            texts = {chunk.hash: chunk.text for note in notes for chunk in note.chunks}
            known = await asyncio.to_thread(self._vectors._file.known, list(texts))
            missing = [key for key in texts if key not in known]
            made = rounded(await self._embedder.embed([texts[key] for key in missing]))
            fresh = dict(zip(missing, made, strict=True))
            await self._vectors._put(notes, fresh, {**known, **fresh})
        self.updated += len(notes)
        self.embedded += len(missing)

    def _may(self, record: NoteRecord) -> bool:
        return not record.private and not self._excluded(record.path)

    def _cut(self, records: list[NoteRecord]) -> list[NoteChunks]:
        """The chunks of each note, read now; runs in another thread."""
        notes: list[NoteChunks] = []
        for record in records:
            try:
                text = decode_lossy(self._store.read(record.path))
                parsed = scan(text)
            except (NotFoundError, StorageError) as error:
                self.failed.append((record.path, error.message))
                continue
            # The text on disk may be newer than the index.
            if not parsed.is_private:
                notes.append(NoteChunks(record.path, record.hash, chunks(record.title, text, parsed)))
        return notes


def _filled(places: list[Place], vectors: Vectors) -> VectorTable:
    table = VectorTable(DIMENSION)
    if places:
        table.add(places, vectors)
    return table
