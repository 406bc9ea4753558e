"""One scan of a whole vault: its files, then what they say, then their words.

It lets go of the lock between its batches, so that a refresh (after a commit, by the watcher) need not wait
for its end. What was refreshed during a scan is newer than what the scan knows of it and is kept: the
indexer adds such paths to `touched`.
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
from app.events import EventBus
from app.index import late_indexes, words
from app.index.database import Database
from app.index.extract import Extract, Gone, extract_chunk, outline_chunk
from app.index.intake import Intake, uninterrupted
from app.index.plan import Plan, known_files, make_plan
from app.index.reading import FEW, Readers
from app.index.records import ScanProgress, WordsIndexed
from app.index.walk import Exclusion, Walk, identity, walk
from app.index.writer import Batch
from app.vault.path import NotePath

_NOTES_PER_BATCH = 256
_MOST_PER_BATCH = 1024
_WORDS_PER_BATCH = 1024
_LOOK_S = 0.02
T = TypeVar("T")
Progress = Callable[[ScanProgress], None]
Refresh = Callable[[Sequence[NotePath]], Awaitable[object]]


@dataclass(slots=True)
class ScanCounts:
    """Notes read anew, notes as before, files gone, files that moved, so far."""

    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    moved: int = 0
    cancelled: bool = False


class ScanRun:
    """A scan of the vault at `root`; `refresh` takes the notes that changed while they were read."""

    def __init__(
        self,
        root: Path,
        database: Database,
        intake: Intake,
        exclusion: Exclusion,
        max_bytes: int,
        events: EventBus,
        refresh: Refresh,
    ) -> None:
        self.touched: set[str] = set()
        self._root = root
        self._database = database
        self._intake = intake
        self._exclusion = exclusion
        self._max_bytes = max_bytes
        self._events = events
        self._refresh = refresh
        self._counts = ScanCounts()

    async def run(self, known: int, progress: Progress, cancelled: Callable[[], bool]) -> ScanCounts:
        """Scan. `known` notes are in the index: where there are many more, readers start at once."""
        readers = Readers(self._root, self._max_bytes)
        try:
            progress(ScanProgress(0, 0, "walk"))
            found = await self._walk(readers, known, cancelled)
            if cancelled():
                return ScanCounts(cancelled=True)
            each = _mean_size(found)
            plan = await self._names(found, known)
            readers.start(len(plan.tasks), len(plan.tasks) * each)
            await self._notes(readers, plan, len(found.notes), progress, cancelled)
            if not self._counts.cancelled:
                await self._words(readers, each, progress, cancelled)
            return self._counts
        finally:
            await readers.close()
            # Where the file can't be written the scan has failed, and says so; the next one makes them.
            with suppress(StorageError):
                await self._make_late_indexes()

    async def _walk(self, readers: Readers, known: int, cancelled: Callable[[], bool]) -> Walk:
        """Look for files, and start the readers as soon as there are enough that are new."""
        found = Walk()
        walking = asyncio.ensure_future(
            asyncio.to_thread(walk, self._root, self._exclusion, cancelled, into=found)
        )
        while not (walking.done() or readers.started):
            await asyncio.wait((walking,), timeout=_LOOK_S)
            if (new := len(found.notes) - known) >= FEW:
                readers.start(new, new * _mean_size(found))
        return await walking

    async def _names(self, found: Walk, known: int) -> Plan:
        async with self._intake.lock:
            plan = await asyncio.to_thread(self._plan, found, frozenset(self.touched))
            if not known and len(plan.tasks) >= FEW:
                await asyncio.to_thread(self._changed, late_indexes.put_off)
            await uninterrupted(self._intake.put_names(plan))
        self._counts.unchanged, self._counts.removed = plan.unchanged, len(plan.removed) - len(plan.moved)
        self._counts.moved = len(plan.moved)
        return plan

    def _plan(self, found: Walk, touched: frozenset[str]) -> Plan:
        with self._database.reading() as connection:
            return make_plan(self._root, found, known_files(connection), touched)

    # What notes say of themselves and of each other

    async def _notes(
        self, readers: Readers, plan: Plan, total: int, progress: Progress, cancelled: Callable[[], bool]
    ) -> None:
        done = total - len(plan.tasks)
        progress(ScanProgress(done, total, "read"))
        waiting: list[Extract] = []
        size = _NOTES_PER_BATCH
        work = extract_chunk if len(plan.tasks) < FEW else outline_chunk
        async for extracts in readers.read(work, plan.tasks, cancelled):
            waiting += extracts
            done += len(extracts)
            if len(waiting) >= size:
                await self._put(waiting)
                waiting = []
                size = min(2 * size, _MOST_PER_BATCH)
            # The last step says that the graph is whole: not before all that was read is written.
            progress(ScanProgress(min(done, total - bool(waiting)), total, "read"))
        if waiting:
            await self._put(waiting)
            progress(ScanProgress(done, total, "read"))
        self._counts.cancelled = done < total

    async def _put(self, extracts: Sequence[Extract]) -> None:
        """Write what was read, and publish it."""
        counts = self._counts
        async with self._intake.lock:
            fresh = [extract for extract in extracts if extract.path not in self.touched]
            counts.unchanged += len(extracts) - len(fresh)
            if any(isinstance(extract, Gone) for extract in fresh):
                await asyncio.to_thread(identity, self._root)
            batch = Batch()
            delta = await uninterrupted(self._intake.put(fresh, batch, []))
        counts.indexed += sum(read.hash != "" for _, read in batch.read)
        counts.unchanged += len(batch.same)
        counts.removed += len(delta.removed)

    # Their words

    async def _words(
        self, readers: Readers, each: int, progress: Progress, cancelled: Callable[[], bool]
    ) -> None:
        await self._make_late_indexes()
        notes = await asyncio.to_thread(self._unworded)
        if not notes:
            return
        total, waiting, changed = len(notes), list[words.Worded](), list[NotePath]()
        readers.start(total, total * each)
        done = 0
        progress(ScanProgress(done, total, "words"))
        await self._change(words.begin_bulk)
        try:
            async for texts in readers.read(words.word_chunk, notes, cancelled):
                waiting += texts
                done += len(texts)
                if len(waiting) >= _WORDS_PER_BATCH or done == total:
                    changed += await self._put_words(waiting, done, total)
                    waiting = []
                progress(ScanProgress(done, total, "words"))
            changed += await self._put_words(waiting, done, total)
        finally:
            await uninterrupted(self._change(words.end_bulk))
        self._counts.cancelled = done < total
        if changed:
            await self._refresh(changed)
        while not cancelled() and await self._change(words.merge_some):
            pass

    async def _make_late_indexes(self) -> None:
        """Make what this scan, or one before it, has put off; one at a time, so that nobody waits long."""
        while await asyncio.to_thread(self._is_index_late):
            await self._change(late_indexes.make_one)

    def _is_index_late(self) -> bool:
        with self._database.reading() as connection:
            return late_indexes.is_one_late(connection)

    async def _change(self, act: Callable[[sqlite3.Connection], T]) -> T:
        """Do something to the index file in a thread, in a transaction of its own."""
        async with self._intake.lock:
            return await asyncio.to_thread(self._changed, act)

    def _changed(self, act: Callable[[sqlite3.Connection], T]) -> T:
        with self._database.writing() as connection:
            return act(connection)

    def _unworded(self) -> list[words.Unworded]:
        with self._database.reading() as connection:
            return words.unworded(connection)

    async def _put_words(self, texts: Sequence[words.Worded], done: int, total: int) -> list[NotePath]:
        if not texts:
            return []
        written, changed = await self._change(lambda connection: words.put_words(connection, texts))
        self._events.publish(WordsIndexed(tuple(written), done, total))
        return changed


def _mean_size(found: Walk) -> int:
    """How large the notes are that were found by now, in bytes."""
    return sum(file.size for file in found.notes) // max(1, len(found.notes))
