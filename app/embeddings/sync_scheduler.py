"""Background synchronization of a vault's vectors with its index, throttled to suit the machine.

Visible notes come first, then those that just changed, then the rest, newest first. Between batches, the
scheduler rests or pauses as the throttle requires. Notes that are removed or become private lose their
vectors before the next batch, even while it is paused.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from app.embeddings import EmbedderUnavailableError
from app.embeddings.sync_run import BATCH_NOTES, SyncRun
from app.embeddings.throttle import FULL_SPEED, Throttle, ThrottleState
from app.embeddings.vectors import VectorStore
from app.errors import VaultLostError
from app.events import Event, EventBus
from app.index.records import IndexUpdated
from app.task_supervisor import TaskSupervisor
from app.vault.path import NotePath
from app.vault.watcher import VaultFound

if TYPE_CHECKING:
    from app.embeddings.client import Embedder
    from app.index.vault_index import VaultIndex
    from app.vault.store import NoteStore

log = logging.getLogger(__name__)

_DEBOUNCE_S = 0.5
_MAX_BATCH_BYTES = 64 * 1024
_MIN_RECHECK_S = 10.0
_MAX_RECHECK_S = 600.0
_MIN_RETRY_DELAY_S = 60.0
_MAX_RETRY_DELAY_S = 3600.0


@dataclass(frozen=True, slots=True)
class EmbeddingProgressed(Event):
    """Published as changed notes are embedded.

    Attributes:
        done: The number of changed notes that have been embedded.
        total: The number of changed notes.
        pace: The speed, and the reason if it is reduced.
        failed: The number of notes that could not be read or embedded.
        switching: Whether the vectors are for a new model while searches still use the earlier model's.
    """

    done: int
    total: int
    pace: ThrottleState = FULL_SPEED
    failed: int = 0
    switching: bool = False

    @property
    def is_over(self) -> bool:
        """True if every changed note has vectors or has failed."""
        return self.done + self.failed >= self.total


@dataclass(frozen=True, slots=True)
class EmbeddingFailed(Event):
    """Published when semantic search becomes unavailable, with the `reason`.

    While `switching`, searches still use the earlier model's vectors.
    """

    reason: str
    switching: bool = False


class EmbeddingScheduler:
    """Updates the vectors of all notes when started, and of changed notes from then on.

    `is_complete` is True once every note has been processed. While `is_quiet`, no progress is published.

    Args:
        vectors: The vectors to update.
        index: The index of the notes.
        store: Reads the notes.
        embedder: Computes the vectors.
        events: Reports changed notes, and receives the progress.
        is_excluded: Returns whether a rule excludes a note from embedding.
        throttle: Limits the speed to what the machine can spare.
        on_complete: Called each time no more notes are waiting, even if some have failed.
        switching: Whether these vectors will replace another model's.
    """

    def __init__(
        self,
        vectors: VectorStore,
        index: VaultIndex,
        store: NoteStore,
        embedder: Embedder,
        events: EventBus,
        is_excluded: Callable[[NotePath], bool],
        throttle: Throttle,
        on_complete: Callable[[], None] = lambda: None,
        *,
        switching: bool = False,
    ) -> None:
        self._vectors = vectors
        self._index = index
        self._store = store
        self._embedder = embedder
        self._events = events
        self._is_excluded = is_excluded
        self._throttle = throttle
        self._on_complete = on_complete
        self.is_complete = False
        self.switching = switching
        # While another model's vectors are being computed, only that progress is published.
        self.is_quiet = False
        self._changed: set[NotePath] = set()
        self._queued: dict[NotePath, None] = {}
        self._prioritized: dict[NotePath, None] = {}
        self._done = 0
        self._failed: set[NotePath] = set()
        self._unread_retries = 0
        self._last_progress: EmbeddingProgressed | None = None
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_vault_lost = False
        self._unavailable = False
        self._supervisor = TaskSupervisor(events)
        self._unsubscribe = [
            events.subscribe(IndexUpdated, self._record_changes),
            events.subscribe(VaultFound, lambda _: self._handle_vault_found()),
        ]

    # Control

    def start(self) -> None:
        """Start, or retry a failed model immediately; do nothing while running."""
        if self._unavailable:
            self._wake.set()
        elif self._task is None or self._task.done():
            self._task = self._supervisor.start("prepare notes for semantic search", self._run)

    def stop(self) -> None:
        """Stop and keep the computed vectors; `start` resumes."""
        if self._task is not None:
            self._task.cancel()

    async def close(self) -> None:
        """Stop permanently."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        await self._supervisor.close()

    def pause(self) -> None:
        """Start no further batches until `resume`; obsolete vectors are still removed."""
        self._throttle.stopped_by_user = True
        self._wake.set()

    def resume(self) -> None:
        """Resume after a pause."""
        self._throttle.stopped_by_user = False
        self._wake.set()

    def prioritize(self, paths: Iterable[NotePath]) -> None:
        """Process these visible notes next, in this order; ignore those that are not waiting."""
        queued = [path for path in paths if path in self._queued]
        self._prioritized = dict.fromkeys([*queued, *self._prioritized])
        if queued:
            self._wake.set()

    def report(self) -> None:
        """Publish the current progress, even if it has not changed; do nothing while `is_quiet`."""
        self._last_progress = None
        self._publish_progress(self._throttle.state())

    async def replace_embedder(self, embedder: Embedder) -> None:
        """Stop, and use another embedder with the same model after the next `start`."""
        self.stop()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
        self._embedder = embedder

    # Synchronization

    def _record_changes(self, event: IndexUpdated) -> None:
        self._changed.update(event.changed, event.removed)
        self._wake.set()

    def _handle_vault_found(self) -> None:
        self._is_vault_lost = False
        self._wake.set()

    async def _run(self) -> None:
        """Keep the vectors up to date; retry after a delay if the model fails."""
        delay, last_reason = _MIN_RETRY_DELAY_S, ""
        while True:
            try:
                await self._keep_up()
            except EmbedderUnavailableError as error:
                log.warning("semantic search is unavailable: %s", error)
                if last_reason != str(error):
                    last_reason = str(error)
                    self._events.publish(EmbeddingFailed(last_reason, self.switching))
            self._wake.clear()
            self._unavailable = True
            try:
                await self._wait_for_work(delay)
            finally:
                self._unavailable = False
            delay = min(2 * delay, _MAX_RETRY_DELAY_S)
            with contextlib.suppress(EmbedderUnavailableError):
                await self._embedder.start()
                # A later failure is a new one, even with the same reason.
                delay, last_reason = _MIN_RETRY_DELAY_S, ""

    async def _keep_up(self) -> None:
        update = SyncRun(self._vectors, self._index, self._store, self._embedder, self._is_excluded)
        self._changed.clear()
        self._failed.clear()
        self._last_progress, self._is_vault_lost, self._unread_retries = None, False, 0
        self._queued, self._done = dict.fromkeys(await update.collect_changes()), 0
        if not self._queued:
            await self._finish(update)
        while True:
            self._wake.clear()
            await self._collect_changed(update)
            pace = self._throttle.state()
            self._publish_progress(pace)
            if self._is_vault_lost:
                # The watcher reports when the folder is back; without one, check periodically.
                await self._wait_for_work(_MIN_RECHECK_S)
                self._is_vault_lost = False
            elif not self._queued or pace.speed == "paused":
                await self._idle(update, pace)
            else:
                await self._advance(update, pace)

    async def _collect_changed(self, update: SyncRun) -> None:
        """Queue changed notes ahead of the others, and delete obsolete vectors immediately."""
        if self._changed:
            paths, self._changed = self._changed, set()
            was_busy = bool(self._queued)
            changed = await update.collect_changes(paths)
            for path in paths:
                self._queued.pop(path, None)
            self._failed -= paths
            update.unread -= paths
            self._queued = dict.fromkeys([*changed, *self._queued])
            if was_busy and not self._queued:
                # The last waiting notes were removed or became private.
                await self._finish(update)

    async def _advance(self, update: SyncRun, pace: ThrottleState) -> None:
        """Update the next notes, then rest as the throttle requires, unless a visible note is waiting."""
        clock = asyncio.get_running_loop().time
        batch = self._next_batch()
        started_at = clock()
        failed_before = len(update.failed)
        try:
            updated = await update.update_notes(batch)
        except VaultLostError:
            self._is_vault_lost = True
            return
        for path in batch:
            self._queued.pop(path, None)
        self._done += len(updated)
        self._failed |= {path for path, _ in update.failed[failed_before:]}
        self._failed -= set(updated)
        if not self._queued:
            await self._finish(update)
        elif not self._prioritized and (rest := pace.pause_after(clock() - started_at)):
            await self._wait_for_work(rest)

    async def _finish(self, update: SyncRun) -> None:
        await update.finish()
        self.is_complete = True
        self._on_complete()

    def _next_batch(self) -> list[NotePath]:
        """Return at least one note, and more only if their text can be embedded in a second or two."""
        self._prioritized = {path: None for path in self._prioritized if path in self._queued}
        batch: list[NotePath] = []
        size = 0
        for path in islice(self._prioritized or self._queued, BATCH_NOTES):
            record = self._index.note(path)
            size += record.size if record else 0
            if batch and size > _MAX_BATCH_BYTES:
                break
            batch.append(path)
        for path in batch:
            self._prioritized.pop(path, None)
        return batch

    async def _idle(self, update: SyncRun, pace: ThrottleState) -> None:
        """Wait for a change, a user action, or the next check of the machine; then retry unreadable notes."""
        if not self._queued and not self._failed:
            self._done = 0
        seconds: float | None = None
        if self._queued and pace.reason != "user":
            seconds = pace.pause_after(0.0)
        elif not self._queued and update.unread:
            seconds = min(_MIN_RECHECK_S * 2**self._unread_retries, _MAX_RECHECK_S)
        was_woken = await self._wait_for_work(seconds)
        if not self._queued and update.unread:
            self._unread_retries = 0 if was_woken else self._unread_retries + 1
            self._queued = dict.fromkeys(update.unread)
            self._failed -= update.unread
            update.unread.clear()
        if self._changed:
            # Combine a burst of saves into one update.
            await asyncio.sleep(_DEBOUNCE_S)

    async def _wait_for_work(self, seconds: float | None) -> bool:
        """Wait until woken, without a limit if `seconds` is None; return False after a timeout."""
        with contextlib.suppress(TimeoutError):
            return await asyncio.wait_for(self._wake.wait(), seconds)
        return False

    def _publish_progress(self, pace: ThrottleState) -> None:
        failed = len(self._failed)
        total = self._done + len(self._queued) + failed
        progress = EmbeddingProgressed(
            self._done, total, pace if self._queued else FULL_SPEED, failed, self.switching
        )
        if progress != self._last_progress and not self.is_quiet:
            self._last_progress = progress
            self._events.publish(progress)
