"""The facade of the index for the rest of the app.

`VaultIndex` lives in the service thread. Its async methods work in other threads and processes; the others
read the index file in the calling thread, which may be any thread. A damaged file is deleted and rebuilt;
`notice` and `IndexRebuilt` report that.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from app.errors import StorageError, VaultLostError
from app.events import EventBus
from app.index import links, memory_release, record_queries
from app.index.database import DamagedIndexError, IndexDatabase, delete_file, open_database
from app.index.graph_values import GraphDelta
from app.index.indexer import Indexer
from app.index.ingest import FirstSeen
from app.index.logseq import page_names
from app.index.name_table import NameEntry
from app.index.records import (
    FileRecord,
    GraphData,
    IndexDelta,
    IndexRebuilt,
    LinkRecord,
    Mention,
    NoteRecord,
    Problem,
    PropertyCount,
    PropertyValueShares,
    ScanProgress,
    ScanReport,
    SearchPage,
    TagCount,
    TaskRecord,
    UnresolvedName,
    VaultStats,
)
from app.index.renames import RenamePlan, plan_renames
from app.index.resolver import Resolver
from app.index.search_request import Grouping
from app.index.search_service import SearchService, Similarity
from app.index.term_statistics import TermStatistics
from app.settings import IndexSettings
from app.task_supervisor import TaskSupervisor
from app.vault.path import NotePath, name_key

log = logging.getLogger(__name__)


class VaultIndex:
    """The index of the vault at `root`, stored in `cache_folder`, which may be deleted at any time.

    `resolver` resolves names, `searcher` runs searches, and `notice` says why the index was rebuilt, if it
    was. Every method that reads the index raises StorageError if it is not open or can't be read.
    """

    def __init__(
        self,
        root: Path,
        cache_folder: Path,
        settings: IndexSettings,
        events: EventBus,
        first_seen: FirstSeen = lambda paths: {},
    ) -> None:
        self._first_seen = first_seen
        self.root = root
        self._pages = page_names(root)
        self.resolver = Resolver(settings.aliases_resolve, self._pages)
        self.notice: str | None = None
        self.searcher = SearchService(self._search_connection, self.resolver)
        self._folder = cache_folder
        self._settings = settings
        self._events = events
        self._database: IndexDatabase | None = None
        self._indexer: Indexer | None = None
        self._records: dict[str, NoteRecord] | None = None
        self._stale: set[str] = set()
        self._stats: tuple[tuple[IndexDatabase, int], VaultStats] | None = None
        self._values: tuple[tuple[IndexDatabase, int], tuple[tuple[str, str], ...]] | None = None
        self._public_resolver: tuple[tuple[IndexDatabase, int], Resolver] | None = None
        self._rebuild_task: asyncio.Task[None] | None = None
        self._supervisor = TaskSupervisor(events)
        self._loop: asyncio.AbstractEventLoop | None = None

    async def open(self) -> None:
        """Open the index file and load the names that the last session saved.

        Raises:
            StorageError: the cache folder cannot be written, or another program keeps the file locked.
        """
        self._loop = asyncio.get_running_loop()
        await self._open()

    async def _open(self) -> None:
        database, reason = await asyncio.to_thread(open_database, self._folder)
        self._database = database
        self._indexer = self._create_indexer(database)
        try:
            await self._indexer.load()
            await self._indexer.apply_settings()
        except DamagedIndexError as error:
            reason = error.message
            await asyncio.to_thread(self._recreate)
            await self._indexer.load()
        if reason:
            self._set_notice(reason)

    def _recreate(self) -> None:
        """Delete the file and create a new one."""
        if self._database is not None:
            self._database.close()
        delete_file(self._folder)
        self._database, _ = open_database(self._folder)
        self._indexer = self._create_indexer(self._database)
        self._records = None

    def _create_indexer(self, database: IndexDatabase) -> Indexer:
        return Indexer(
            self.root,
            database,
            self.resolver,
            self._settings,
            self._pages,
            self._events,
            self._mark_stale,
            self._first_seen,
        )

    def _set_notice(self, reason: str) -> None:
        self.notice = f"The index is being rebuilt: {reason}."
        log.warning("%s", self.notice)
        self._events.publish(IndexRebuilt(reason))

    async def close(self) -> None:
        """Stop running work and close the file."""
        await self._supervisor.close()
        if self._database is not None:
            await asyncio.to_thread(self._database.close)
            self._database = None

    # Keeping up to date

    def _release_memory(self) -> None:
        if self._database is not None:
            self._database.release_memory()
        memory_release.release_memory()

    async def scan(
        self,
        progress: Callable[[ScanProgress], None] = lambda progress: None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> ScanReport:
        """Bring the index up to date with the whole vault, publishing `IndexUpdated` for each batch.

        Raises:
            VaultLostError: the vault's folder is gone; the index keeps its data.
            StorageError: the index file can't be read or written.
        """
        try:
            counts = await self._open_indexer.scan(progress, is_cancelled)
        except DamagedIndexError as error:
            await self._rebuild(error.message)
            counts = await self._open_indexer.scan(progress, is_cancelled)
        problems = await asyncio.to_thread(self.problems)
        await asyncio.to_thread(self._release_memory)
        skipped = tuple(problem for problem in problems if problem.kind in ("skipped", "misnamed"))
        failed = tuple(problem for problem in problems if problem.kind == "failed")
        processed = (counts.indexed, counts.unchanged, counts.removed)
        return ScanReport(*processed, skipped, failed, counts.cancelled, counts.moved)

    async def refresh(self, changed: Iterable[NotePath], removed: Iterable[NotePath] = ()) -> IndexDelta:
        """Bring the index up to date with these files or folders; publish `IndexUpdated` if anything changed.

        Raises:
            VaultLostError: the vault's folder is gone; the index keeps its data.
            StorageError: the index file can't be read or written.
        """
        changed, removed = tuple(changed), tuple(removed)
        try:
            return await self._open_indexer.refresh(changed, removed)
        except DamagedIndexError as error:
            await self._rebuild(error.message)
            await self.scan()
            return IndexDelta(changed, removed)

    async def check(self, is_cancelled: Callable[[], bool] = lambda: False) -> IndexDelta:
        """Find and index missed changes, slowly, and return them; raises as `refresh` does.

        If the file is damaged, rebuild it and return an empty delta.
        """
        try:
            return await self._open_indexer.check(is_cancelled)
        except DamagedIndexError as error:
            await self._rebuild(error.message)
            await self.scan()
            return IndexDelta()

    async def _rebuild(self, reason: str) -> None:
        await asyncio.to_thread(self._recreate)
        await self._open_indexer.load()
        self._set_notice(reason)

    @property
    def _open_indexer(self) -> Indexer:
        if self._indexer is None or self._database is None:
            raise StorageError("The index is not open.")
        return self._indexer

    @property
    def _open_database(self) -> IndexDatabase:
        if self._database is None:
            raise StorageError("The index is not open.")
        return self._database

    @contextmanager
    def _rebuild_on_damage(self) -> Iterator[None]:
        """Start a rebuild if a read finds the file damaged; the read still fails."""
        try:
            yield
        except DamagedIndexError as error:
            if self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._schedule_rebuild, error.message)
            raise

    def _schedule_rebuild(self, reason: str) -> None:
        async def rebuild() -> None:
            await self._rebuild(reason)
            with suppress(VaultLostError):  # The watcher reports it and scans when the folder is back.
                await self.scan()

        if self._rebuild_task is None or self._rebuild_task.done():
            self._rebuild_task = self._supervisor.start("rebuild the index", rebuild)

    # Notes and files

    def note(self, path: NotePath) -> NoteRecord | None:
        """Return the note at this path, or None."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return record_queries.note_record(connection, path)

    def private_notes(self) -> frozenset[NotePath]:
        """Return the notes that are hidden from models and external programs."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return record_queries.private_paths(connection)

    def is_private(self, path: NotePath) -> bool:
        """Return whether the indexed note at this path is hidden from models and external programs."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return record_queries.is_private(connection, path)

    def notes(self, folder: str | None = None, recursive: bool = True) -> tuple[NoteRecord, ...]:
        """Return the notes in a folder (None: the root), ordered by key; if `recursive`, also below it."""
        records, folder_key = self._all_notes(), name_key((folder or "").strip("/"))
        if not recursive:
            return tuple(note for note in records if name_key(note.path.folder) == folder_key)
        return tuple(note for note in records if not folder_key or note.path.is_under(folder_key))

    def note_paths(self) -> tuple[NotePath, ...]:
        """Return the path of every note, ordered by key, without reading properties."""
        if self._records is not None:
            return tuple(note.path for note in self._all_notes())
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return record_queries.note_paths(connection)

    def _all_notes(self) -> Iterable[NoteRecord]:
        """Return every note, cached and kept up to date."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            if self._records is None:
                self._stale.clear()
                self._records = {note.path.text: note for note in record_queries.note_records(connection)}
            elif self._stale:
                stale, self._stale = self._stale, set()
                self._records = record_queries.refresh_records(connection, self._records, stale)
            return self._records.values()

    def _mark_stale(self, paths: Iterable[str]) -> None:
        self._stale = self._stale.union(paths)

    def files(self) -> tuple[FileRecord, ...]:
        """Return the files that are not notes, ordered by key."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return record_queries.file_records(connection)

    def problems(self) -> tuple[Problem, ...]:
        """Return every file or folder that is not completely indexed, with the reason."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return record_queries.problems(connection)

    def stats(self, *, private: bool = True, hidden: Collection[NotePath] = ()) -> VaultStats:
        """Return counts for the whole vault.

        Args:
            private: Whether to count private notes; otherwise they are treated as missing.
            hidden: Files to treat as missing.
        """
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            if hidden or not private:
                hidden_ids = record_queries.ids_of(connection, hidden, private=not private)
                return record_queries.vault_stats(connection, hidden_ids)
            state = (self._open_database, connection.execute("PRAGMA data_version").fetchone()[0])
            if self._stats is None or self._stats[0] != state:
                self._stats = state, record_queries.vault_stats(connection)
            return self._stats[1]

    # Tags, tasks and properties

    def tasks(self, limit: int, *, done: bool = False) -> tuple[TaskRecord, ...]:
        """Return the open tasks (with `done`, the completed ones, too) by note and line, at most `limit`."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return record_queries.tasks(connection, limit, done=done)

    def tags(self) -> tuple[TagCount, ...]:
        """Return every tag and its ancestors, by name."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return record_queries.tag_counts(connection)

    def notes_with_tag(self, tag: str, nested: bool = True) -> tuple[NotePath, ...]:
        """Return the notes with this tag (with or without `#`) or, if `nested`, one nested in it."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return record_queries.notes_with_tag(connection, tag, nested)

    def notes_with_property(self, name: str) -> tuple[NotePath, ...]:
        """Return the notes that have the property, even without a value."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return record_queries.notes_with_property(connection, name)

    def types(self) -> tuple[str, ...]:
        """Return the distinct types of all notes, sorted."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return record_queries.note_types(connection)

    def property_values(self) -> tuple[tuple[str, str], ...]:
        """Return the names and distinct texts of all properties, the most frequent first.

        The result is the same object until the index changes.
        """
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            state = (self._open_database, connection.execute("PRAGMA data_version").fetchone()[0])
            if self._values is None or self._values[0] != state:
                self._values = state, record_queries.property_values(connection)
            return self._values[1]

    def public_resolver(self) -> Resolver:
        """Return a resolver that knows all files except hidden notes, with its fuzzy names loaded.

        The result is the same object until the index changes. Loading 100,000 names takes a second, so call
        this outside the event loop's thread.
        """
        with self._rebuild_on_damage():
            database = self._open_database
            with database.read_connection() as connection:
                state = (database, connection.execute("PRAGMA data_version").fetchone()[0])
            if self._public_resolver is None or self._public_resolver[0] != state:
                with database.search_connection() as connection:
                    rows = record_queries.public_files(connection)
                resolver = Resolver(pages=self._pages)
                resolver.load_rows(rows)
                resolver.fuzzy_names()
                self._public_resolver = state, resolver
            return self._public_resolver[1]

    def public_names(
        self,
    ) -> tuple[
        tuple[str, ...],
        tuple[str, ...],
        tuple[str, ...],
        tuple[tuple[str, str], ...],
        tuple[PropertyValueShares, ...],
    ]:
        """Return the tags, types, properties, their texts and value shares, except of hidden notes."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return record_queries.public_names(connection)

    def properties(self) -> tuple[PropertyCount, ...]:
        """Return every property's name and number of notes, the most frequent first."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return record_queries.property_counts(connection)

    def property_value_shares(self) -> tuple[PropertyValueShares, ...]:
        """Return the value shares of the most frequent properties, the most frequent first."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return record_queries.property_value_shares(connection)

    # Links

    def outgoing(self, path: NotePath) -> tuple[LinkRecord, ...]:
        """Return the links in a note, in order."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return links.outgoing(connection, path)

    def backlinks(self, path: NotePath) -> tuple[LinkRecord, ...]:
        """Return the links in other notes to this file."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return links.backlinks(connection, path)

    def linking_notes(self, path: NotePath) -> set[NotePath]:
        """Return the notes that link to `path`."""
        return {link.source for link in self.backlinks(path)}

    def most_linked(self, limit: int) -> tuple[NotePath, ...]:
        """Return the notes with the most incoming and outgoing links; ties are ordered by key."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return links.most_linked(connection, limit)

    def unresolved(self) -> tuple[UnresolvedName, ...]:
        """Return the unresolved names, the most frequent first."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return links.unresolved(connection)

    def unlinked_mentions(self, path: NotePath) -> tuple[Mention, ...]:
        """Return unlinked mentions of the note's name, title or aliases in other notes."""
        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return links.unlinked_mentions(connection, path)

    async def moves_to_rewrite(self, moves: Mapping[NotePath, NotePath]) -> RenamePlan:
        """Plan the link rewrites for simultaneous moves from old to new paths.

        A file may have tens of thousands of links, so a worker thread reads them and plans with a copy of the
        resolver.
        """
        return await asyncio.to_thread(self._plan_moves, self.resolver.copy(), dict(moves))

    def _plan_moves(self, resolver: Resolver, moves: Mapping[NotePath, NotePath]) -> RenamePlan:
        keys: set[str] = set()
        for new_path in moves.values():
            keys |= resolver.link_keys(NameEntry(new_path, 0))
        with self._rebuild_on_damage():
            link_records = links.links_concerning(self._open_database.read_connection, moves, keys)
        return plan_renames(resolver, moves, link_records)

    def graph(self) -> GraphData:
        """Return the vault as arrays; for a large one, call it from another thread."""
        # Imported here because numpy takes a good part of a second, which would delay the window at startup.
        from app.index.graph_data import graph_data

        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return graph_data(connection)

    def graph_delta(
        self,
        touched: Iterable[str],
        unresolved: Iterable[str] = (),
        renamed: Iterable[tuple[str, str]] = (),
    ) -> GraphDelta:
        """Return the delta that updates a graph made from `graph()` or an earlier delta.

        Args:
            touched: Every path in `IndexUpdated` events since then, as changed, removed or relinked.
            unresolved: The unresolved names that the touched notes link to in that graph.
            renamed: Known pairs of old and new path; such a node keeps its position.
        """
        from app.index.graph_delta import graph_delta

        with self._rebuild_on_damage(), self._open_database.read_connection() as connection:
            return graph_delta(connection, touched, unresolved, renamed)

    # Search

    @property
    def similarity(self) -> Similarity | None:
        """The function that finds the notes closest to a text for `similar:`, if set."""
        return self.searcher.similarity

    @similarity.setter
    def similarity(self, similarity: Similarity | None) -> None:
        self.searcher.similarity = similarity

    async def search(
        self,
        query: str,
        limit: int = 50,
        offset: int = 0,
        *,
        order: str = "relevance",
        group: Grouping = "",
        private: bool = True,
        hidden: Iterable[NotePath] = (),
    ) -> SearchPage:
        """Return a page of the notes that match a query in the search language, in this order.

        Notes in `hidden` and, without `private`, private notes are treated as missing.

        Raises:
            QueryError: the query is invalid; `position` and `expected` describe the problem.
            InvalidParametersError: no visible note has the property to sort by.
            TimeoutExpiredError: the search took too long.
        """
        return await self.searcher.search(
            query, limit, offset, order=order, group=group, private=private, hidden=hidden
        )

    async def matching(self, query: str, *, private: bool = True) -> frozenset[NotePath]:
        """Return every note that matches a query, unordered; raises as `search` does."""
        return await self.searcher.matching(query, private=private)

    async def term_statistics(self, text: str, best: NotePath | None) -> TermStatistics:
        """Return the frequencies of a text's words; see `SearchService.term_statistics`."""
        return await self.searcher.term_statistics(text, best)

    @contextmanager
    def _search_connection(self) -> Iterator[sqlite3.Connection]:
        with self._rebuild_on_damage(), self._open_database.search_connection() as connection:
            yield connection
