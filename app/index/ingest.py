"""Takes what was found and read into the names and the index file, step by step the same for both.

The resolver is changed in the service thread, by whoever holds `lock`; then a worker thread writes the same
change to the file, reading the resolver, which nobody changes meanwhile. Should the writing fail, the
resolver is loaded anew from the file, so the two never disagree.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from app.events import EventBus
from app.index.database import IndexDatabase
from app.index.directory_walk import FoundFile
from app.index.extract import Extract, MissingFile, UnchangedFile
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
"""When notes were first seen, in Unix time, as far as that is known outside the index, which is deletable."""
Moves = Sequence[tuple[NotePath, NotePath]]


class Ingest:
    """The one way into `resolver` and `database`; `forget` is told of every path before any event is.

    Everything that changes asks the caller to hold `lock`.
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
        """Take the names from the index file as the last session left them."""
        rows = await asyncio.to_thread(self._rows)
        await asyncio.to_thread(self._resolver.load_rows, rows)
        self._next_id = 1 + max((row[1] for row in rows), default=0)

    def _rows(self) -> list[tuple[str, int, str, str | None]]:
        with self._database.read_connection() as connection:
            return connection.execute("SELECT path, id, aliases, note_id FROM files").fetchall()

    # What a scan found

    async def update_names(self, plan: ScanPlan) -> None:
        """List what is new and drop what is gone, so that every later link resolves at once."""
        batch = WriteBatch(problems=list(plan.problems))
        if len(plan.listed) + len(plan.removed) < _BATCH_FILES:
            for path in plan.removed:
                self.drop(path, batch)
            for file in plan.listed:
                self.register_file(file, batch)
        else:
            await self._take_many(plan, batch)
        self._note_moves(batch, plan.moved)
        relinked = await self._write(batch)
        self._publish(batch, plan.removed, relinked, plan.moved)

    async def _take_many(self, plan: ScanPlan, batch: WriteBatch) -> None:
        """As `drop` and `list` for each, by loading the resolver's tables anew in a thread."""
        rows = {row[0]: row for row in self._resolver.rows()}
        for path in plan.removed:
            if (row := rows.pop(path.text, None)) is not None:
                batch.removed.append(row[1])
                batch.gone[path] = row[1]
                batch.link_keys |= self._resolver.link_keys_of(path.text, decode_list(row[2]))
        for count, file in enumerate(plan.listed):
            known = rows.get(text := file.path.text)
            batch.files.append((known[1] if known else self._new_id(), file))
            if known is None:
                batch.new.append((batch.files[-1][0], file.path))
                rows[text] = (text, batch.files[-1][0], "[]", None)
                batch.link_keys |= self._resolver.link_keys_of(text)
            if count % _BATCH_FILES == 0:
                await asyncio.sleep(0)
        await asyncio.to_thread(self._resolver.load_rows, rows.values())

    # What was read

    async def put(
        self, extracts: Iterable[Extract], batch: WriteBatch, removed: list[NotePath], moved: Moves = ()
    ) -> IndexDelta:
        """Take files that were read, with what is in `batch` and `removed` already, and publish it all."""
        for extract in extracts:
            removed += self._ingest(extract, batch)
        self._note_moves(batch, moved)
        return self._publish(batch, removed, await self._write(batch), moved)

    async def put_problems(self, changed: Mapping[str, Problem | None]) -> None:
        """Take the problems of single paths, None for one that is no more, and tell of it."""
        await self._write(WriteBatch(changed_problems=dict(changed)))
        self._events.publish(IndexUpdated((), (), self._resolver.notes))

    def drop(self, path: NotePath, batch: WriteBatch) -> list[NotePath]:
        """Forget a file; its path, if it was known."""
        entry = self._resolver.entry(path)
        if entry is None:
            return []
        batch.removed.append(entry.id)
        batch.gone[path] = entry.id
        batch.link_keys |= self._resolver.link_keys(entry)
        self._resolver.remove(path)
        return [path]

    def register_file(self, file: FoundFile, batch: WriteBatch) -> None:
        """Know a file by its name."""
        entry = self._resolver.entry(file.path)
        if entry is None:
            entry = NameEntry(file.path, self._new_id())
            batch.new.append((entry.id, file.path))
            self._resolver.add(entry.path, entry.id)
            batch.link_keys |= self._resolver.link_keys(entry)
        batch.files.append((entry.id, file))

    def _ingest(self, extract: Extract, batch: WriteBatch) -> Sequence[NotePath]:
        """Take a file that was read; its path if it turned out to be gone."""
        path = NotePath(extract.path)
        if isinstance(extract, MissingFile):
            return self.drop(path, batch)
        was = self._resolver.entry(path)
        if isinstance(extract, UnchangedFile):
            if was is not None:
                batch.same.append((was.id, extract))
            return ()
        if was is not None and was.aliases == extract.aliases and was.note_id == extract.note_id:
            batch.read.append((was.id, extract))
            return ()
        entry = NameEntry(path, was.id if was else self._new_id(), extract.aliases, extract.note_id)
        if was is None:
            batch.new.append((entry.id, path))
        before = self._resolver.link_keys(was) if was else set()
        self._resolver.add(path, entry.id, entry.aliases, entry.note_id)
        batch.link_keys |= before ^ self._resolver.link_keys(entry)
        batch.read.append((entry.id, extract))
        return ()

    def _note_moves(self, batch: WriteBatch, moved: Moves) -> None:
        """Tell the writer which new files are old ones at another place."""
        for old, new in moved:
            entry = self._resolver.entry(new)
            if entry is not None and old in batch.gone:
                batch.moved.append((batch.gone[old], entry.id))

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    # The file, and the news

    async def _write(self, batch: WriteBatch) -> tuple[NotePath, ...]:
        if not batch:
            return ()
        try:
            return await asyncio.to_thread(self._commit, batch)
        except BaseException:
            await self.load()
            raise

    def _commit(self, batch: WriteBatch) -> tuple[NotePath, ...]:
        notes = [(id, path) for id, path in batch.new if path.is_note]
        seen = self._first_seen([path for _, path in notes]) if notes else {}
        batch.births.update((id, seen[path]) for id, path in notes if path in seen)
        with self._database.transaction() as connection:
            return write(connection, batch, self._resolver)

    def _publish(
        self,
        batch: WriteBatch,
        removed: Sequence[NotePath],
        relinked: tuple[NotePath, ...],
        moved: Moves = (),
    ) -> IndexDelta:
        paths = (*(NotePath(read.path) for _, read in batch.read), *(file.path for _, file in batch.files))
        same = (extract.path for _, extract in batch.same)
        self._forget((*same, *(path.text for path in (*paths, *removed))))
        delta = IndexDelta(tuple(dict.fromkeys(paths)), tuple(removed), relinked, tuple(moved))
        if delta:
            total = self._resolver.notes
            self._events.publish(
                IndexUpdated(delta.changed, delta.removed, total, delta.relinked, delta.moved)
            )
        return delta


async def run_shielded(work: Coroutine[Any, Any, T]) -> T:
    """Do the work to its end even when the caller is cancelled meanwhile: names and file change together."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
