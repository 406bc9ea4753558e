"""Ingestion of found and parsed files into the resolver and the index file, which stay consistent.

The holder of `lock` changes the resolver in the service thread; then a worker thread writes the same change
to the file while it reads the resolver, which does not change meanwhile. If the write fails, the resolver is
reloaded from the file.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from app.events import EventBus
from app.index.database import IndexDatabase
from app.index.directory_walk import FoundFile
from app.index.extract import ExtractResult, MissingFile, UnchangedFile
from app.index.name_table import NameEntry
from app.index.names import decode_list
from app.index.records import IndexDelta, IndexUpdated, Problem
from app.index.resolver import Resolver
from app.index.scan_plan import ScanPlan
from app.index.writer import WriteBatch, write
from app.vault.path import NotePath

_BATCH_FILES = 2000
T = TypeVar("T")
FirstSeen = Callable[[Sequence[NotePath]], Mapping[NotePath, float]]
"""Returns the Unix times when notes were first seen, if known outside the index, which may be deleted."""
Moves = Sequence[tuple[NotePath, NotePath]]


class Ingest:
    """Applies found and parsed files to `resolver` and `database`.

    It calls `forget` with the changed paths before the event that reports them. The caller of a method that
    changes the resolver or the file must hold `lock`. The methods raise StorageError if the file can't be
    read or written.
    """

    def __init__(
        self,
        database: IndexDatabase,
        resolver: Resolver,
        events: EventBus,
        forget: Callable[[Iterable[str]], None],
        first_seen: FirstSeen,
    ) -> None:
        self._first_seen = first_seen
        self.lock = asyncio.Lock()
        self._database = database
        self._resolver = resolver
        self._events = events
        self._forget = forget
        self._next_id = 1

    async def load(self) -> None:
        """Load the names that the last session saved in the index file."""
        rows = await asyncio.to_thread(self._rows)
        await asyncio.to_thread(self._resolver.load_rows, rows)
        self._next_id = 1 + max((row[1] for row in rows), default=0)

    def _rows(self) -> list[tuple[str, int, str, str | None]]:
        with self._database.read_connection() as connection:
            return connection.execute("SELECT path, id, aliases, note_id FROM files").fetchall()

    # Scan results

    async def update_names(self, plan: ScanPlan) -> None:
        """Add new names and remove old ones, so that links in the notes read next resolve immediately."""
        batch = WriteBatch(problems=list(plan.problems))
        if len(plan.listed) + len(plan.removed) < _BATCH_FILES:
            for path in plan.removed:
                self.drop(path, batch)
            for file in plan.listed:
                self.register_file(file, batch)
        else:
            await self._rebuild_names(plan, batch)
        self._record_moves(batch, plan.moved)
        relinked = await self._write(batch)
        self._publish(batch, plan.removed, relinked, plan.moved)

    async def _rebuild_names(self, plan: ScanPlan, batch: WriteBatch) -> None:
        """Add and remove many files by reloading the resolver's tables in a thread."""
        rows = {row[0]: row for row in self._resolver.rows()}
        for path in plan.removed:
            if (row := rows.pop(path.text, None)) is not None:
                batch.removed.append(row[1])
                batch.removed_paths[path] = row[1]
                batch.link_keys |= self._resolver.link_keys_of(path.text, decode_list(row[2]))
        for count, file in enumerate(plan.listed):
            known = rows.get(text := file.path.text)
            batch.files.append((known[1] if known else self._new_id(), file))
            if known is None:
                batch.added.append((batch.files[-1][0], file.path))
                rows[text] = (text, batch.files[-1][0], "[]", None)
                batch.link_keys |= self._resolver.link_keys_of(text)
            if count % _BATCH_FILES == 0:
                await asyncio.sleep(0)
        await asyncio.to_thread(self._resolver.load_rows, rows.values())

    # Parsed files

    async def put(
        self, extracts: Iterable[ExtractResult], batch: WriteBatch, removed: list[NotePath], moved: Moves = ()
    ) -> IndexDelta:
        """Ingest files that were read, together with `batch` and `removed`, and publish the changes."""
        for extract in extracts:
            removed += self._ingest(extract, batch)
        self._record_moves(batch, moved)
        return self._publish(batch, removed, await self._write(batch), moved)

    async def put_problems(self, changed: Mapping[str, Problem | None]) -> None:
        """Write the problems of individual paths (None: resolved) and publish `IndexUpdated`."""
        await self._write(WriteBatch(changed_problems=dict(changed)))
        self._events.publish(IndexUpdated((), (), self._resolver.notes))

    def drop(self, path: NotePath, batch: WriteBatch) -> list[NotePath]:
        """Remove a file; return its path in a list, which is empty if it was unknown."""
        entry = self._resolver.entry(path)
        if entry is None:
            return []
        batch.removed.append(entry.id)
        batch.removed_paths[path] = entry.id
        batch.link_keys |= self._resolver.link_keys(entry)
        self._resolver.remove(path)
        return [path]

    def register_file(self, file: FoundFile, batch: WriteBatch) -> None:
        """Add a file by its name, or update its size and times."""
        entry = self._resolver.entry(file.path)
        if entry is None:
            entry = NameEntry(file.path, self._new_id())
            batch.added.append((entry.id, file.path))
            self._resolver.add(entry.path, entry.id)
            batch.link_keys |= self._resolver.link_keys(entry)
        batch.files.append((entry.id, file))

    def _ingest(self, extract: ExtractResult, batch: WriteBatch) -> Sequence[NotePath]:
        """Ingest a file that was read; return its path if it was removed because it no longer exists."""
        path = NotePath(extract.path)
        if isinstance(extract, MissingFile):
            return self.drop(path, batch)
        previous = self._resolver.entry(path)
        if isinstance(extract, UnchangedFile):
            if previous is not None:
                batch.unchanged.append((previous.id, extract))
            return ()
        if (
            previous is not None
            and previous.aliases == extract.aliases
            and previous.note_id == extract.note_id
        ):
            batch.extracted.append((previous.id, extract))
            return ()
        entry = NameEntry(path, previous.id if previous else self._new_id(), extract.aliases, extract.note_id)
        if previous is None:
            batch.added.append((entry.id, path))
        self._resolver.add(path, entry.id, entry.aliases, entry.note_id)
        if previous is None:
            batch.link_keys |= self._resolver.link_keys(entry)
        else:
            batch.link_keys |= self._resolver.alias_link_keys({*previous.aliases} ^ {*entry.aliases})
        batch.extracted.append((entry.id, extract))
        return ()

    def _record_moves(self, batch: WriteBatch, moved: Moves) -> None:
        """Pair new files with the removed files from which they were moved."""
        for old_path, new_path in moved:
            entry = self._resolver.entry(new_path)
            if entry is not None and old_path in batch.removed_paths:
                batch.moved.append((batch.removed_paths[old_path], entry.id))

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    # Writing and publishing

    async def _write(self, batch: WriteBatch) -> tuple[NotePath, ...]:
        if not batch:
            return ()
        try:
            return await asyncio.to_thread(self._commit, batch)
        except BaseException:
            await self.load()
            raise

    def _commit(self, batch: WriteBatch) -> tuple[NotePath, ...]:
        notes = [(row_id, path) for row_id, path in batch.added if path.is_note]
        first_seen = self._first_seen([path for _, path in notes]) if notes else {}
        batch.births.update((row_id, first_seen[path]) for row_id, path in notes if path in first_seen)
        with self._database.transaction() as connection:
            return write(connection, batch, self._resolver)

    def _publish(
        self,
        batch: WriteBatch,
        removed: Sequence[NotePath],
        relinked: tuple[NotePath, ...],
        moved: Moves = (),
    ) -> IndexDelta:
        paths = (
            *(NotePath(note.path) for _, note in batch.extracted),
            *(file.path for _, file in batch.files),
        )
        unchanged_paths = (extract.path for _, extract in batch.unchanged)
        self._forget((*unchanged_paths, *(path.text for path in (*paths, *removed))))
        delta = IndexDelta(tuple(dict.fromkeys(paths)), tuple(removed), relinked, tuple(moved))
        if delta:
            total = self._resolver.notes
            self._events.publish(
                IndexUpdated(delta.changed, delta.removed, total, delta.relinked, delta.moved)
            )
        return delta


async def run_shielded(work: Coroutine[Any, Any, T]) -> T:
    """Complete the work even if the caller is canceled, so that names and file change together.

    The cancellation is raised when the work is done.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
