"""Commit approved change sets one at a time, and update the index after each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from app.encoding import is_encodable
from app.events import EventBus
from app.permissions.caller import Caller
from app.toolkit.document_stores import DocumentsChanged, StoreRegistry
from app.vault.changes import ChangeSet
from app.vault.commits import Commit
from app.vault.path import NotePath
from app.vault.store import NotesChanged, NoteStore

if TYPE_CHECKING:
    from app.index.vault_index import VaultIndex

log = logging.getLogger(__name__)


class CommitQueue:
    """Writes change sets to their stores; nothing else in the app calls a store's `commit`."""

    def __init__(self, stores: StoreRegistry, vault: NoteStore, index: VaultIndex, events: EventBus) -> None:
        self._stores = stores
        self._vault = vault
        self._index = index
        self._events = events
        self._lock = asyncio.Lock()

    async def commit(
        self,
        change_set: ChangeSet,
        caller: Caller,
        *,
        entry: str,
        undoes: tuple[int, ...],
        on_written: Callable[[Commit], None],
    ) -> Commit:
        """Write `change_set`, update the index and publish the changes; canceling does not interrupt a write.

        `on_written` is called as soon as the change is on disk. If an error is raised, nothing was written.

        Raises:
            ConflictError: a file changed since the change set was made.
            NotFoundError: the change set's store is no longer open.
            InvalidParametersError, LimitError: the store rejects a path, the content or the size of a file.
            StorageError: the store is read-only, or the disk write failed.
        """
        async with self._lock:
            work = asyncio.ensure_future(self._commit(change_set, caller, entry, undoes, on_written))
            return await self._await_shielded(work)

    async def commit_external(
        self, change_set: ChangeSet, caller: Caller, *, entry: str, on_written: Callable[[Commit], None]
    ) -> Commit:
        """Record what a program has already written to the vault, update the index and publish the changes.

        `on_written` is called as soon as the change is in the journal; canceling does not interrupt that.

        Raises:
            StorageError: the vault is read-only, or the journal can't be written.
        """
        async with self._lock:
            work = asyncio.ensure_future(self._commit_external(change_set, caller, entry, on_written))
            return await self._await_shielded(work)

    @asynccontextmanager
    async def between_commits(self) -> AsyncIterator[None]:
        """Run a block after the running commit and those already queued; later commits wait for its end."""
        async with self._lock:
            yield

    async def wait_idle(self) -> None:
        """Wait for the running commit and those already queued."""
        async with self.between_commits():
            pass

    async def _await_shielded(self, work: asyncio.Task[Commit]) -> Commit:
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            # The thread can't be stopped, and the audit log must record its result, so wait for it.
            await asyncio.wait({work})
            if not work.cancelled() and (error := work.exception()) is not None:
                log.info("the commit of a canceled call failed: %s", error)
            raise

    async def _commit(
        self,
        change_set: ChangeSet,
        caller: Caller,
        entry: str,
        undoes: tuple[int, ...],
        on_written: Callable[[Commit], None],
    ) -> Commit:
        commit = await asyncio.to_thread(
            self._stores.get(change_set.place).store.commit,
            change_set,
            author=caller.name,
            turn=caller.turn,
            note=caller.claim,
            entry=entry,
            undoes=undoes,
        )
        on_written(commit)
        if commit.place:
            self._events.publish(DocumentsChanged(commit.place, commit.paths, commit.id))
            return commit
        return await self._publish(commit)

    async def _commit_external(
        self, change_set: ChangeSet, caller: Caller, entry: str, on_written: Callable[[Commit], None]
    ) -> Commit:
        commit = await asyncio.to_thread(
            self._vault.record_external, change_set, author=caller.name, turn=caller.turn, entry=entry
        )
        on_written(commit)
        return await self._publish(commit)

    async def _publish(self, commit: Commit) -> Commit:
        """Update the index after a commit to the vault, and publish the changes."""
        event = changes_of(commit)
        try:
            paths = [path for change in commit.changes for path in (change.path, change.final_path)]
            misnamed = (path for path in paths if not is_encodable(path.text))
            removed = (*event.removed, *(source for source, _ in event.moved))
            await self._index.refresh((*event.paths, *misnamed), removed)
        except Exception:
            # The notes are written, and they are authoritative; the next scan repairs the index.
            log.exception("the index could not be updated after commit %d", commit.id)
        self._events.publish(event)
        return commit


def changes_of(commit: Commit) -> NotesChanged:
    """Return the event for a commit: the files that were written, removed and moved.

    Paths that are not UTF-8 are left out, because no other part of the app knows about those files.
    """
    paths: list[NotePath] = []
    removed: list[NotePath] = []
    moved: list[tuple[NotePath, NotePath]] = []
    for change in commit.changes:
        if change.after is None or not is_encodable(change.final_path.text):
            removed.append(change.path)
        else:
            paths.append(change.final_path)
        if change.to is not None and is_encodable(change.path.text + change.to.text):
            moved.append((change.path, change.to))
    removed = [path for path in removed if is_encodable(path.text)]
    return NotesChanged(tuple(paths), tuple(removed), tuple(moved), commit.author, commit.id)
