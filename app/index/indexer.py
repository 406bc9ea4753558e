"""The indexer: scans the whole vault, refreshes single files, and checks for missed changes.

It runs in the service thread and delegates slow work to worker threads and processes. `ingest.py` writes the
changes to the resolver and the index file.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from app.encoding import is_encodable
from app.events import EventBus
from app.index.database import IndexDatabase
from app.index.directory_walk import (
    NOT_UTF8_REASON,
    Exclusion,
    FoundFile,
    WalkResult,
    WalkThrottle,
    found_file,
    identity,
    walk,
)
from app.index.extract import ExtractedNote, ExtractResult, ExtractTask, extract_chunk
from app.index.ingest import FirstSeen, Ingest, Moves, run_shielded
from app.index.logseq import PageNames
from app.index.parser_pool import ParserPool
from app.index.records import IndexDelta, Problem
from app.index.resolver import Resolver
from app.index.scan import Progress, ScanCounts, ScanRun
from app.index.scan_plan import ScanPlan, known_files, make_plan, pair_moves
from app.index.writer import WriteBatch, write
from app.settings import IndexSettings
from app.vault import undecodable
from app.vault.path import NotePath


class Indexer:
    """Scans and refreshes the index of the vault at `root`; one per open vault.

    `forget` is called with the changed paths before the event that reports them.
    """

    def __init__(
        self,
        root: Path,
        database: IndexDatabase,
        resolver: Resolver,
        settings: IndexSettings,
        pages: PageNames | None,
        events: EventBus,
        forget: Callable[[Iterable[str]], None],
        first_seen: FirstSeen,
    ) -> None:
        self._root = root
        self._database = database
        self._resolver = resolver
        self._ingest = Ingest(database, resolver, events, forget, first_seen)
        self._exclusion = Exclusion(settings.exclude)
        self._aliases_resolve = settings.aliases_resolve
        self._pages = "" if pages is None else repr(pages)
        self._max_bytes = settings.max_note_mib * 2**20
        self._scanning = asyncio.Lock()
        self._scan: ScanRun | None = None

    async def load(self) -> None:
        """Load the names that the last session saved in the index file.

        Raises:
            StorageError: the index file can't be read.
        """
        await self._ingest.load()

    async def apply_settings(self) -> None:
        """Update the index after a change of links by alias, Logseq's names or the maximum note size.

        Notes affected by the size limit or by Logseq's names are read again by the next scan.

        Raises:
            StorageError: the index file can't be read or written.
        """
        async with self._ingest.lock:
            await run_shielded(asyncio.to_thread(self._apply_settings))

    def _apply_settings(self) -> None:
        current = {
            "aliases_resolve": str(self._aliases_resolve),
            "max_bytes": str(self._max_bytes),
            "page_names": self._pages,
        }
        with self._database.read_connection() as connection:
            # Indexes of earlier versions know no names of Logseq.
            stored = {"page_names": "", **dict(connection.execute("SELECT name, value FROM meta"))}
        if all(stored.get(name) == value for name, value in current.items()):
            return
        with self._database.transaction() as connection:
            connection.execute("UPDATE files SET hash = NULL WHERE hash = '' OR size > ?", (self._max_bytes,))
            if stored["page_names"] != self._pages:
                connection.execute("UPDATE files SET hash = NULL WHERE is_note")
            keys = {key for (key,) in connection.execute("SELECT DISTINCT link_key FROM links")}
            write(connection, WriteBatch(link_keys=keys), self._resolver)
            connection.executemany("REPLACE INTO meta VALUES (?, ?)", current.items())

    async def scan(self, progress: Progress, is_cancelled: Callable[[], bool]) -> ScanCounts:
        """Bring the index up to date with the whole vault.

        Raises:
            VaultLostError: the vault's folder is gone; the index keeps its data.
            StorageError: the index file can't be read or written.
        """
        async with self._scanning:
            self._scan = ScanRun(
                self._root,
                self._database,
                self._ingest,
                self._exclusion,
                self._max_bytes,
                self.refresh,
            )
            try:
                return await self._scan.run(self._resolver.notes, progress, is_cancelled)
            finally:
                self._scan = None
                async with self._ingest.lock:
                    await asyncio.to_thread(self._resolver.fuzzy_names)

    async def check(self, is_cancelled: Callable[[], bool]) -> IndexDelta:
        """Find missed changes by checking the times of all files, and refresh those files.

        The check is throttled to limit the load on the machine. During a scan or if canceled, it returns an
        empty delta. Raises the same errors as `refresh`.
        """
        if self._scanning.locked():
            return IndexDelta()
        walked = await asyncio.to_thread(walk, self._root, self._exclusion, WalkThrottle(is_cancelled))
        if is_cancelled():
            return IndexDelta()
        async with self._ingest.lock:
            plan = await asyncio.to_thread(self._plan, walked)
        changed = (*(NotePath(task.path) for task in plan.tasks), *(file.path for file in plan.listed))
        if not changed and not plan.removed:
            return IndexDelta()
        return await self.refresh(dict.fromkeys(changed), plan.removed)

    def _plan(self, walked: WalkResult) -> ScanPlan:
        with self._database.read_connection() as connection:
            return make_plan(self._root, walked, known_files(connection), frozenset())

    # Refreshing

    async def refresh(self, changed: Iterable[NotePath], removed: Iterable[NotePath] = ()) -> IndexDelta:
        """Bring the index up to date with these files or folders.

        Raises:
            VaultLostError: the vault's folder is gone; the index keeps its data.
            StorageError: the index file can't be read or written.
        """
        changed, removed = tuple(changed), tuple(removed)
        async with self._ingest.lock:
            if misnamed := [path for path in (*changed, *removed) if not is_encodable(path.text)]:
                misnamed_problems = await asyncio.to_thread(self._problems_of, misnamed)
                await run_shielded(self._ingest.put_problems(misnamed_problems))
                changed = tuple(path for path in changed if is_encodable(path.text))
                removed = tuple(path for path in removed if is_encodable(path.text))
            walked, missing, problems = await asyncio.to_thread(self._sort_paths, changed, removed)
            if problems:
                await run_shielded(self._ingest.put_problems(problems))
            tasks = await asyncio.to_thread(self._tasks, walked.notes)
            extracts = await self._read(tasks, sum(file.size for file in walked.notes))
            if self._scan is not None:
                self._scan.touched.update(path.text for path in missing)
                self._scan.touched.update(file.path.text for file in (*walked.notes, *walked.attachments))
            return await run_shielded(self._put_refreshed(walked, self._files_below(missing), extracts))

    def _problems_of(self, misnamed: Iterable[NotePath]) -> dict[str, Problem | None]:
        """Return the problem with each file whose name is not UTF-8, or None if it is gone."""
        problems: dict[str, Problem | None] = {}
        for path in misnamed:
            listed = undecodable.listed_path(path)
            exists = undecodable.find_path(self._root, listed) is not None
            problems[listed.text] = Problem(listed, NOT_UTF8_REASON, "misnamed") if exists else None
        return problems

    async def _read(self, tasks: Sequence[ExtractTask], size: int) -> list[ExtractResult]:
        readers = ParserPool(self._root, self._max_bytes)
        try:
            readers.start(len(tasks), size)
            chunks = readers.read(extract_chunk, tasks, lambda: False)
            return [extract async for extracts in chunks for extract in extracts]
        finally:
            await readers.close()

    async def _put_refreshed(
        self, walked: WalkResult, missing: Sequence[NotePath], extracts: Sequence[ExtractResult]
    ) -> IndexDelta:
        moved = await asyncio.to_thread(self._find_moves, missing, extracts)
        batch, removed = WriteBatch(), list[NotePath]()
        for path in missing:
            removed += self._ingest.drop(path, batch)
        for file in walked.attachments:
            self._ingest.register_file(file, batch)
        return await self._ingest.put(extracts, batch, removed, moved)

    def _find_moves(self, missing: Sequence[NotePath], extracts: Sequence[ExtractResult]) -> Moves:
        """Return the old and new paths, in pairs, of files that were only moved."""
        if not missing or not extracts:
            return []
        added = [(NotePath(e.path), e.hash) for e in extracts if isinstance(e, ExtractedNote)]
        with self._database.read_connection() as connection:
            query = "SELECT hash FROM files WHERE path = ?"
            gone_hashes = ((path, connection.execute(query, (path.text,)).fetchone()) for path in missing)
            hashes = [(path, row[0]) for path, row in gone_hashes if row and row[0]]
        new_notes = [(path, digest) for path, digest in added if path not in self._resolver]
        return pair_moves(hashes, new_notes)

    def _tasks(self, files: Sequence[FoundFile]) -> list[ExtractTask]:
        """Return the tasks to read these files, with the hashes of their indexed content."""
        with self._database.read_connection() as connection:
            query = "SELECT hash FROM files WHERE path = ?"
            rows = ((file, connection.execute(query, (file.path.text,)).fetchone()) for file in files)
            return [ExtractTask(file.path.text, row[0] if row else None) for file, row in rows]

    def _sort_paths(
        self, changed: Sequence[NotePath], removed: Sequence[NotePath]
    ) -> tuple[WalkResult, list[NotePath], dict[str, Problem | None]]:
        """Return the existing files, including those in existing folders, and the missing paths.

        The third value maps paths to the problems in these folders, or to None for resolved problems.
        """
        identity(self._root)
        walked, missing, real_folders = WalkResult(), list[NotePath](), dict[str, bool]()
        problems: dict[str, Problem | None] = {}
        # On a case-insensitive file system, the old name of a note still "exists" after a rename.
        renamed = {path.key for path in changed}
        for path in dict.fromkeys((*changed, *removed)):
            if path in removed and path not in changed and path.key in renamed:
                missing.append(path)
            elif not self._exclusion.excludes(path) and (status := self._status(path, real_folders)):
                if stat.S_ISDIR(status.st_mode):
                    walked_folder = walk(self._root, self._exclusion, folder=path.text)
                    walked.notes += walked_folder.notes
                    walked.attachments += walked_folder.attachments
                    problems.update(dict.fromkeys(self._known_problems(path)))
                    problems.update((problem.path.text, problem) for problem in walked_folder.problems)
                else:
                    (walked.notes if path.is_note else walked.attachments).append(found_file(path, status))
            else:
                missing.append(path)
        if missing:
            identity(self._root)
        # The paths may include both a folder and a file in it.
        walked.notes = list({file.path: file for file in walked.notes}.values())
        walked.attachments = list({file.path: file for file in walked.attachments}.values())
        return walked, missing, problems

    def _known_problems(self, folder: NotePath) -> list[str]:
        """Return the paths of the problems that earlier walks found at or below this folder."""
        below = f"{folder.text}/"
        query = "SELECT path FROM problems WHERE path = ? OR substr(path, 1, ?) = ?"
        with self._database.read_connection() as connection:
            return [path for (path,) in connection.execute(query, (folder.text, len(below), below))]

    def _status(self, path: NotePath, real_folders: dict[str, bool]) -> os.stat_result | None:
        """Return the status of a file or folder that the walk would find, else None.

        `real_folders` caches which folders the walk would enter: those not reached through links.
        """
        folder = path.folder
        try:
            status = os.lstat(f"{self._root}{os.sep}{path.text}")
            if folder not in real_folders:
                base = os.path.realpath(self._root)
                real_folders[folder] = os.path.realpath(self._root / folder) == str(Path(base, folder))
        except (OSError, ValueError):
            return None
        is_file_or_folder = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
        return status if is_file_or_folder and real_folders[folder] else None

    def _files_below(self, missing: Iterable[NotePath]) -> list[NotePath]:
        """Return these files; paths that are not indexed files are replaced with those below them."""
        files: list[NotePath] = []
        folders: list[NotePath] = []
        for path in missing:
            (files if path in self._resolver else folders).append(path)
        return files + self._resolver.paths_below(folders) if folders else files
