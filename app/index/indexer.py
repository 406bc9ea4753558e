"""Keeps the index true to the vault: scans the whole folder, refreshes single files.

Both run in the service thread and hand everything that takes time to worker threads and processes. The
protocol: the resolver is changed in the service thread, by whoever holds the writing lock; then a worker
thread writes the same change to the file, reading the resolver, which nobody changes meanwhile. Should the
writing fail, the resolver is loaded anew from the file, so the two never disagree.

A scan lets go of the lock between its batches, so that a refresh (after a commit, by the watcher) need not
wait for its end. What was refreshed during a scan is newer than what the scan knows of it and is kept.
"""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from app.events import EventBus
from app.index.database import Database
from app.index.extract import Extract, Gone, Same, Task
from app.index.plan import Plan, known_files, make_plan
from app.index.reading import extract_all
from app.index.records import IndexDelta, IndexUpdated, ScanProgress
from app.index.resolver import Entry, Resolver
from app.index.walk import Exclusion, FoundFile, Walk, found_file, identity, walk
from app.index.writer import Batch, write
from app.settings import IndexSettings
from app.vault.path import NotePath

_NOTES_PER_BATCH = 256
_MANY = 2000
T = TypeVar("T")
Progress = Callable[[ScanProgress], None]


@dataclass(slots=True)
class ScanCounts:
    """Notes read anew, notes as before, files gone, so far."""

    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    cancelled: bool = False


class Indexer:
    """Scans and refreshes the index of the vault at `root`; one per open vault.

    `forget` is told, before any event, the paths of which something was written.
    """

    def __init__(
        self,
        root: Path,
        database: Database,
        resolver: Resolver,
        settings: IndexSettings,
        events: EventBus,
        forget: Callable[[Iterable[str]], None],
    ) -> None:
        self._root = root
        self._database = database
        self._resolver = resolver
        self._events = events
        self._forget = forget
        self._exclusion = Exclusion(settings.exclude)
        self._aliases_resolve = settings.aliases_resolve
        self._max_bytes = settings.max_note_mib * 2**20
        self._scanning, self._writing = asyncio.Lock(), asyncio.Lock()
        self._touched: set[str] | None = None
        self._next_id = 1

    async def load(self) -> None:
        """Take the names from the index file as the last session left them."""
        entries = await asyncio.to_thread(self._read_entries)
        await asyncio.to_thread(self._resolver.load, entries)
        self._next_id = 1 + max((entry.id for entry in entries), default=0)

    async def heed_settings(self) -> None:
        """Undo what the last session did by other settings: links by aliases, notes too large to read."""
        async with self._writing:
            await _uninterrupted(asyncio.to_thread(self._heed_settings))

    def _heed_settings(self) -> None:
        now = {"aliases_resolve": str(self._aliases_resolve), "max_bytes": str(self._max_bytes)}
        with self._database.reading() as connection:
            before = dict(connection.execute("SELECT name, value FROM meta"))
        if all(before.get(name) == value for name, value in now.items()):
            return
        with self._database.writing() as connection:
            connection.execute("UPDATE files SET hash = NULL WHERE hash = '' OR size > ?", (self._max_bytes,))
            keys = {key for (key,) in connection.execute("SELECT DISTINCT link_key FROM links")}
            write(connection, Batch(link_keys=keys), self._resolver)
            connection.executemany("REPLACE INTO meta VALUES (?, ?)", now.items())

    def _read_entries(self) -> list[Entry]:
        with self._database.reading() as connection:
            rows = connection.execute("SELECT path, id, aliases, note_id FROM files")
            return [
                Entry(NotePath(path), id, tuple(json.loads(aliases)) if aliases != "[]" else (), note_id)
                for path, id, aliases, note_id in rows
            ]

    # Scanning

    async def scan(self, progress: Progress, cancelled: Callable[[], bool]) -> ScanCounts:
        """Bring the index up to date with the whole vault.

        Raises:
            VaultLostError: the vault's folder is gone; what is in the index stays.
            StorageError: the index file cannot be written.
        """
        async with self._scanning:
            self._touched = set()
            try:
                return await self._scan(progress, cancelled)
            finally:
                self._touched = None

    async def _scan(self, progress: Progress, cancelled: Callable[[], bool]) -> ScanCounts:
        counts = ScanCounts()
        progress(ScanProgress(0, 0, "walk"))
        found = await asyncio.to_thread(walk, self._root, self._exclusion, cancelled)
        if cancelled():
            return ScanCounts(cancelled=True)
        async with self._writing:
            plan = await asyncio.to_thread(self._plan, found, frozenset(self._touched or ()))
            await _uninterrupted(self._put_names(plan))
        counts.unchanged, counts.removed = plan.unchanged, len(plan.removed)
        total = len(found.notes)
        done = total - len(plan.tasks)
        progress(ScanProgress(done, total, "read"))
        waiting: list[Extract] = []
        async for extracts in extract_all(self._root, plan.tasks, self._max_bytes, cancelled):
            waiting += extracts
            done += len(extracts)
            if len(waiting) >= _NOTES_PER_BATCH:
                await self._put(waiting, counts)
                waiting = []
            progress(ScanProgress(done, total, "read"))
        await self._put(waiting, counts)
        counts.cancelled = done < total
        return counts

    def _plan(self, found: Walk, touched: frozenset[str]) -> Plan:
        with self._database.reading() as connection:
            return make_plan(found, known_files(connection), touched)

    async def _put_names(self, plan: Plan) -> None:
        """List what is new and drop what is gone, so that every later link resolves at once."""
        batch = Batch(problems=list(plan.problems))
        if len(plan.listed) + len(plan.removed) < _MANY:
            for path in plan.removed:
                self._drop(path, batch)
            for file in plan.listed:
                self._list(file, batch)
        else:
            await self._take_many(plan, batch)
        relinked = await self._write(batch)
        self._publish(batch, plan.removed, relinked)

    async def _take_many(self, plan: Plan, batch: Batch) -> None:
        """As `_drop` and `_list` for each, by loading the resolver's tables anew in a thread."""
        gone = {path.text for path in plan.removed}
        entries = {entry.path.text: entry for entry in self._resolver.entries()}
        for text in gone & entries.keys():
            entry = entries.pop(text)
            batch.removed.append(entry.id)
            batch.link_keys |= self._resolver.link_keys(entry)
        for count, file in enumerate(plan.listed):
            known = entries.get(file.path.text)
            batch.files.append((known.id if known else self._new_id(), file))
            if known is None:
                entries[file.path.text] = entry = Entry(file.path, batch.files[-1][0])
                batch.link_keys |= self._resolver.link_keys(entry)
            if count % _MANY == 0:
                await asyncio.sleep(0)
        await asyncio.to_thread(self._resolver.load, entries.values())

    async def _put(self, extracts: Sequence[Extract], counts: ScanCounts) -> None:
        """Write what a scan read, and publish it."""
        async with self._writing:
            fresh = [extract for extract in extracts if extract.path not in (self._touched or ())]
            counts.unchanged += len(extracts) - len(fresh)
            if any(isinstance(extract, Gone) for extract in fresh):
                await asyncio.to_thread(identity, self._root)
            batch = Batch()
            delta = await _uninterrupted(self._put_extracts(fresh, batch, []))
        counts.indexed += sum(read.hash != "" for _, read in batch.read)
        counts.unchanged += len(batch.same)
        counts.removed += len(delta.removed)

    async def _put_extracts(
        self, extracts: Iterable[Extract], batch: Batch, removed: list[NotePath]
    ) -> IndexDelta:
        for extract in extracts:
            removed += self._take(extract, batch)
        return self._publish(batch, removed, await self._write(batch))

    # Refreshing

    async def refresh(self, changed: Iterable[NotePath], removed: Iterable[NotePath]) -> IndexDelta:
        """Bring the index up to date with these files or folders.

        Raises:
            VaultLostError: the vault's folder is gone; what is in the index stays.
            StorageError: the index file cannot be written.
        """
        async with self._writing:
            found, gone = await asyncio.to_thread(self._look, tuple(changed), tuple(removed))
            tasks = await asyncio.to_thread(self._tasks, found.notes)
            extracts: list[Extract] = []
            async for some in extract_all(self._root, tasks, self._max_bytes, lambda: False):
                extracts += some
            if self._touched is not None:
                self._touched.update(path.text for path in gone)
                self._touched.update(file.path.text for file in (*found.notes, *found.attachments))
            return await _uninterrupted(self._put_refreshed(found, gone, extracts))

    async def _put_refreshed(
        self, found: Walk, gone: Sequence[NotePath], extracts: Sequence[Extract]
    ) -> IndexDelta:
        batch, removed = Batch(), []
        for path in self._below(gone):
            removed += self._drop(path, batch)
        for file in found.attachments:
            self._list(file, batch)
        return await self._put_extracts(extracts, batch, removed)

    def _tasks(self, files: Sequence[FoundFile]) -> list[Task]:
        """The notes to read, with the hashes that they had."""
        with self._database.reading() as connection:
            query = "SELECT hash FROM files WHERE path = ?"
            rows = ((file, connection.execute(query, (file.path.text,)).fetchone()) for file in files)
            return [Task(file.path.text, row[0] if row else None) for file, row in rows]

    def _look(self, changed: Sequence[NotePath], removed: Sequence[NotePath]) -> tuple[Walk, list[NotePath]]:
        """The files among these that are there, folders walked, and the paths that are not."""
        identity(self._root)
        found, gone = Walk(), []
        # On a file system that ignores case, the old name of a note still "exists" after a rename.
        renamed = {path.key for path in changed}
        for path in dict.fromkeys((*changed, *removed)):
            if path in removed and path not in changed and path.key in renamed:
                gone.append(path)
            elif not self._exclusion.leaves_out(path) and (status := self._status(path)):
                if stat.S_ISDIR(status.st_mode):
                    below = walk(self._root, self._exclusion, folder=path.text)
                    found.notes += below.notes
                    found.attachments += below.attachments
                else:
                    (found.notes if path.is_note else found.attachments).append(found_file(path, status))
            else:
                gone.append(path)
        if gone:
            identity(self._root)
        return found, gone

    def _status(self, path: NotePath) -> os.stat_result | None:
        """The status of a file or folder that the walk would find at this path, else None."""
        try:
            status = (self._root / path.text).lstat()
            real = os.path.realpath(self._root / path.folder)
        except (OSError, ValueError):
            return None
        if real != str(Path(os.path.realpath(self._root), path.folder)):
            return None
        return status if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode) else None

    def _below(self, gone: Iterable[NotePath]) -> list[NotePath]:
        """These files, and the known files below those that were folders."""
        files: list[NotePath] = []
        folders: list[NotePath] = []
        for path in gone:
            (files if path in self._resolver else folders).append(path)
        if folders:
            starts = tuple(f"{path.text}/" for path in folders)
            files += [e.path for e in self._resolver.entries() if e.path.text.startswith(starts)]
        return files

    # Taking changes into the resolver, in the service thread

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def _drop(self, path: NotePath, batch: Batch) -> list[NotePath]:
        entry = self._resolver.entry(path)
        if entry is None:
            return []
        batch.removed.append(entry.id)
        batch.link_keys |= self._resolver.link_keys(entry)
        self._resolver.remove(path)
        return [path]

    def _list(self, file: FoundFile, batch: Batch) -> None:
        entry = self._resolver.entry(file.path)
        if entry is None:
            entry = Entry(file.path, self._new_id())
            self._resolver.add(entry.path, entry.id)
            batch.link_keys |= self._resolver.link_keys(entry)
        batch.files.append((entry.id, file))

    def _take(self, extract: Extract, batch: Batch) -> list[NotePath]:
        """Take a file that was read; its path if it turned out to be gone."""
        path = NotePath(extract.path)
        if isinstance(extract, Gone):
            return self._drop(path, batch)
        was = self._resolver.entry(path)
        if isinstance(extract, Same):
            if was is not None:
                batch.same.append((was.id, extract))
            return []
        entry = Entry(path, was.id if was else self._new_id(), extract.aliases, extract.note_id)
        before = self._resolver.link_keys(was) if was else set()
        if was != entry:
            self._resolver.add(path, entry.id, entry.aliases, entry.note_id)
            batch.link_keys |= before ^ self._resolver.link_keys(entry)
        batch.read.append((entry.id, extract))
        return []

    async def _write(self, batch: Batch) -> tuple[NotePath, ...]:
        if not batch:
            return ()
        try:
            return await asyncio.to_thread(self._commit, batch)
        except BaseException:
            await self.load()
            raise

    def _commit(self, batch: Batch) -> tuple[NotePath, ...]:
        with self._database.writing() as connection:
            return write(connection, batch, self._resolver)

    def _publish(
        self, batch: Batch, removed: Sequence[NotePath], relinked: tuple[NotePath, ...]
    ) -> IndexDelta:
        paths = (*(NotePath(read.path) for _, read in batch.read), *(file.path for _, file in batch.files))
        same = (extract.path for _, extract in batch.same)
        self._forget((*same, *(path.text for path in (*paths, *removed))))
        delta = IndexDelta(tuple(dict.fromkeys(paths)), tuple(removed), relinked)
        if delta:
            total = self._resolver.notes
            self._events.publish(IndexUpdated(delta.changed, delta.removed, total, delta.relinked))
        return delta


async def _uninterrupted(work: Coroutine[Any, Any, T]) -> T:
    """Do the work to its end even when the caller is cancelled meanwhile: names and file change together."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
