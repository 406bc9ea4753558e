"""A scan of the whole vault: first the file list, then the notes' metadata and links, then their words.

The scan releases the lock between batches, so that a refresh (after a commit or by the watcher) need not wait
for it to finish. Files refreshed during a scan are newer than the scan's data and are kept: the indexer adds
their paths to `touched`.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from app.errors import StorageError
from app.index import deferred_indexes, fts_indexing
from app.index.database import IndexDatabase
from app.index.directory_walk import Exclusion, WalkResult, identity, walk
from app.index.extract import ExtractResult, MissingFile, extract_chunk, extract_outlines
from app.index.ingest import Ingest, run_shielded
from app.index.parser_pool import MIN_PROCESS_NOTES, ParserPool
from app.index.records import ScanProgress
from app.index.scan_plan import ScanPlan, known_files, make_plan
from app.index.writer import WriteBatch
from app.vault.path import NotePath

_FIRST_BATCH_NOTES = 256
_MAX_BATCH_NOTES = 1024
_TEXT_BATCH_NOTES = 1024
_POLL_INTERVAL_S = 0.02
T = TypeVar("T")
Progress = Callable[[ScanProgress], None]
Refresh = Callable[[Sequence[NotePath]], Awaitable[object]]


@dataclass(slots=True)
class ScanCounts:
    """The numbers of notes read, unchanged, removed and moved so far."""

    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    moved: int = 0
    cancelled: bool = False


class ScanRun:
    """A scan of the vault at `root`; `refresh` is called with notes that change while they are read."""

    def __init__(
        self,
        root: Path,
        database: IndexDatabase,
        ingest: Ingest,
        exclusion: Exclusion,
        max_bytes: int,
        refresh: Refresh,
    ) -> None:
        self.touched: set[str] = set()
        self._root = root
        self._database = database
        self._ingest = ingest
        self._exclusion = exclusion
        self._max_bytes = max_bytes
        self._refresh = refresh
        self._counts = ScanCounts()

    async def run(self, known_count: int, progress: Progress, is_cancelled: Callable[[], bool]) -> ScanCounts:
        """Scan the vault; if the walk finds many more notes than `known_count`, start the readers early.

        Raises:
            VaultLostError: the vault's folder is gone; the index keeps its data.
            StorageError: the index file can't be read or written.
        """
        readers = ParserPool(self._root, self._max_bytes)
        try:
            progress(ScanProgress(0, 0, "walk"))
            walked = await self._walk(readers, known_count, is_cancelled)
            if is_cancelled():
                return ScanCounts(cancelled=True)
            mean_size = _mean_size(walked)
            plan = await self._update_names(walked, known_count)
            readers.start(len(plan.tasks), len(plan.tasks) * mean_size)
            await self._read_notes(readers, plan, len(walked.notes), progress, is_cancelled)
            if not self._counts.cancelled:
                await self._index_texts(readers, mean_size, progress, is_cancelled)
            return self._counts
        finally:
            await readers.close()
            # If the file can't be written, the scan itself has failed; the next one creates the indexes.
            with suppress(StorageError):
                await self._create_deferred_indexes()

    async def _walk(
        self, readers: ParserPool, known_count: int, is_cancelled: Callable[[], bool]
    ) -> WalkResult:
        """Walk the vault, and start the readers as soon as there are enough new notes."""
        walked = WalkResult()
        walk_task = asyncio.ensure_future(
            asyncio.to_thread(walk, self._root, self._exclusion, is_cancelled, into=walked)
        )
        while not (walk_task.done() or readers.has_processes):
            await asyncio.wait((walk_task,), timeout=_POLL_INTERVAL_S)
            if (new_count := len(walked.notes) - known_count) >= MIN_PROCESS_NOTES:
                readers.start(new_count, new_count * _mean_size(walked))
        return await walk_task

    async def _update_names(self, walked: WalkResult, known_count: int) -> ScanPlan:
        async with self._ingest.lock:
            plan = await asyncio.to_thread(self._plan, walked, frozenset(self.touched))
            if not known_count and len(plan.tasks) >= MIN_PROCESS_NOTES:
                await asyncio.to_thread(self._in_transaction, deferred_indexes.defer_indexes)
            await run_shielded(self._ingest.update_names(plan))
        self._counts.unchanged, self._counts.removed = plan.unchanged, len(plan.removed) - len(plan.moved)
        self._counts.moved = len(plan.moved)
        return plan

    def _plan(self, walked: WalkResult, touched: frozenset[str]) -> ScanPlan:
        with self._database.read_connection() as connection:
            return make_plan(self._root, walked, known_files(connection), touched)

    # Metadata and links

    async def _read_notes(
        self,
        readers: ParserPool,
        plan: ScanPlan,
        total: int,
        progress: Progress,
        is_cancelled: Callable[[], bool],
    ) -> None:
        done = total - len(plan.tasks)
        progress(ScanProgress(done, total, "read"))
        pending: list[ExtractResult] = []
        size = _FIRST_BATCH_NOTES
        work = extract_chunk if len(plan.tasks) < MIN_PROCESS_NOTES else extract_outlines
        async for extracts in readers.read(work, plan.tasks, is_cancelled):
            pending += extracts
            done += len(extracts)
            if len(pending) >= size:
                await self._write(pending)
                pending = []
                size = min(2 * size, _MAX_BATCH_NOTES)
            # The last step announces the complete graph, so it waits until everything is written.
            progress(ScanProgress(min(done, total - bool(pending)), total, "read"))
        if pending:
            await self._write(pending)
            progress(ScanProgress(done, total, "read"))
        self._counts.cancelled = done < total

    async def _write(self, extracts: Sequence[ExtractResult]) -> None:
        """Write extracts and publish the changes."""
        counts = self._counts
        async with self._ingest.lock:
            untouched = [extract for extract in extracts if extract.path not in self.touched]
            counts.unchanged += len(extracts) - len(untouched)
            if any(isinstance(extract, MissingFile) for extract in untouched):
                await asyncio.to_thread(identity, self._root)
            batch = WriteBatch()
            delta = await run_shielded(self._ingest.put(untouched, batch, []))
        counts.indexed += sum(note.hash != "" for _, note in batch.extracted)
        counts.unchanged += len(batch.unchanged)
        counts.removed += len(delta.removed)

    # Full text

    async def _index_texts(
        self, readers: ParserPool, mean_size: int, progress: Progress, is_cancelled: Callable[[], bool]
    ) -> None:
        await self._create_deferred_indexes()
        notes = await asyncio.to_thread(self._pending_texts)
        if not notes:
            return
        total, pending, changed = len(notes), list[fts_indexing.TokenizedNote](), list[NotePath]()
        readers.start(total, total * mean_size)
        done = 0
        progress(ScanProgress(done, total, "words"))
        await self._run_in_transaction(fts_indexing.begin_bulk)
        try:
            async for texts in readers.read(fts_indexing.tokenize_chunk, notes, is_cancelled):
                pending += texts
                done += len(texts)
                if len(pending) >= _TEXT_BATCH_NOTES or done == total:
                    changed += await self._put_words(pending)
                    pending = []
                progress(ScanProgress(done, total, "words"))
            changed += await self._put_words(pending)
        finally:
            await run_shielded(self._run_in_transaction(fts_indexing.end_bulk))
        self._counts.cancelled = done < total
        if changed:
            await self._refresh(changed)
        while not is_cancelled() and await self._run_in_transaction(fts_indexing.merge_pages):
            pass

    async def _create_deferred_indexes(self) -> None:
        """Create the deferred indexes one at a time, so that no reader waits long."""
        while await asyncio.to_thread(self._has_deferred):
            await self._run_in_transaction(deferred_indexes.create_next_index)

    def _has_deferred(self) -> bool:
        with self._database.read_connection() as connection:
            return deferred_indexes.has_deferred(connection)

    async def _run_in_transaction(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function on the index file, in a thread and a transaction of its own."""
        async with self._ingest.lock:
            return await asyncio.to_thread(self._in_transaction, function)

    def _in_transaction(self, function: Callable[[sqlite3.Connection], T]) -> T:
        with self._database.transaction() as connection:
            return function(connection)

    def _pending_texts(self) -> list[fts_indexing.PendingText]:
        with self._database.read_connection() as connection:
            return fts_indexing.pending_texts(connection)

    async def _put_words(self, texts: Sequence[fts_indexing.TokenizedNote]) -> list[NotePath]:
        """Write the texts; return the notes to read again."""
        if not texts:
            return []
        return await self._run_in_transaction(lambda connection: fts_indexing.write_texts(connection, texts))


def _mean_size(walked: WalkResult) -> int:
    """Return the mean size of the notes found so far, in bytes."""
    return sum(file.size for file in walked.notes) // max(1, len(walked.notes))
