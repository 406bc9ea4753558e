"""Keeps the vectors of a vault in step with its index, in the background, at the pace that suits the machine.

What is on the screen goes first, then what was just changed, then the rest, the newest notes before the
old. Between two groups of notes it rests, waits or stops as the pace says; notes that vanish or become
private lose their vectors at once, also while it is paused.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from app.embeddings import EmbedderUnavailable
from app.embeddings.pace import FULL, Pace, Pacer
from app.embeddings.update import GROUP, Update
from app.embeddings.vectors import VectorStore
from app.errors import StorageError
from app.events import Event, EventBus
from app.index.records import IndexUpdated
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.embeddings.client import Embedder
    from app.index.vault_index import VaultIndex
    from app.vault.store import NoteStore

log = logging.getLogger(__name__)

_QUIET_S = 0.5
_MOST_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class EmbeddingProgressed(Event):
    """So many of the notes that changed have vectors, at this pace; `done` equals `total` at the end."""

    done: int
    total: int
    pace: Pace = FULL


@dataclass(frozen=True, slots=True)
class EmbeddingFailed(Event):
    """Notes can't be found by meaning for now; `reason` says why."""

    reason: str


class VectorUpkeep:
    """Updates the vectors of all notes when it is started, and of changed notes from then on."""

    def __init__(
        self,
        vectors: VectorStore,
        index: VaultIndex,
        store: NoteStore,
        embedder: Embedder,
        events: EventBus,
        excluded: Callable[[NotePath], bool],
        pacer: Pacer,
    ) -> None:
        self._vectors = vectors
        self._index = index
        self._store = store
        self._embedder = embedder
        self._events = events
        self._excluded = excluded
        self._pacer = pacer
        self._changed: set[NotePath] = set()
        self._waiting: dict[NotePath, None] = {}
        self._first: dict[NotePath, None] = {}
        self._done = 0
        self._told: EmbeddingProgressed | None = None
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._forget = events.subscribe(IndexUpdated, self._note)

    # For the user

    def start(self) -> None:
        """Begin; nothing happens while it runs already."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="embed notes")

    def stop(self) -> None:
        """Stop; what was computed is kept."""
        if self._task is not None:
            self._task.cancel()

    async def close(self) -> None:
        """Stop for good."""
        self._forget()
        self.stop()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    def pause(self) -> None:
        """Let no more notes begin until `resume`."""
        self._pacer.stopped_by_user = True
        self._wake.set()

    def resume(self) -> None:
        """Go on."""
        self._pacer.stopped_by_user = False
        self._wake.set()

    def prefer(self, paths: Iterable[NotePath]) -> None:
        """Take these notes next, in this order: they are on the screen. Those that have vectors stay out."""
        wanted = [path for path in paths if path in self._waiting]
        self._first = dict.fromkeys([*wanted, *self._first])
        if wanted:
            self._wake.set()

    async def change_model(self, embedder: Embedder) -> None:
        """Make all vectors anew by another model; what the old one made is dropped at once."""
        self.stop()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
        self._embedder = embedder
        await self._vectors.change_model(embedder.model.key)

    # The work

    def _note(self, event: IndexUpdated) -> None:
        self._changed.update(event.changed, event.removed)
        self._wake.set()

    async def _run(self) -> None:
        update = Update(self._vectors, self._index, self._store, self._embedder, self._excluded)
        try:
            self._changed.clear()
            self._waiting, self._done = dict.fromkeys(await update.sort_out()), 0
            if not self._waiting:
                await update.finish()
            while True:
                self._wake.clear()
                await self._take_in(update)
                pace = self._pacer.pace()
                self._tell(pace)
                if not self._waiting or pace.speed == "paused":
                    await self._idle(pace)
                else:
                    await self._advance(update, pace)
        except (EmbedderUnavailable, StorageError) as error:
            log.warning("no search by meaning: %s", error)
            self._events.publish(EmbeddingFailed(str(error)))

    async def _take_in(self, update: Update) -> None:
        """What changed since: first in line, or without vectors at once."""
        if self._changed:
            paths, self._changed = self._changed, set()
            fresh = await update.sort_out(paths)
            for path in paths:
                self._waiting.pop(path, None)
            self._waiting = dict.fromkeys([*fresh, *self._waiting])

    async def _advance(self, update: Update, pace: Pace) -> None:
        """Bring the next notes up to date; then rest as the pace asks, unless one on the screen waits."""
        clock = asyncio.get_running_loop().time
        group = self._next()
        begun = clock()
        await update.bring_up_to_date(group)
        for path in group:
            self._waiting.pop(path, None)
        self._done += len(group)
        if not self._waiting:
            await update.finish()
        elif not self._first and (rest := pace.rest(clock() - begun)):
            await self._woken(rest)

    def _next(self) -> list[NotePath]:
        """The notes whose turn it is: some, but no more text than takes a second or two."""
        self._first = {path: None for path in self._first if path in self._waiting}
        group: list[NotePath] = []
        size = 0
        for path in islice(self._first or self._waiting, GROUP):
            record = self._index.note(path)
            size += record.size if record else 0
            if group and size > _MOST_BYTES:
                break
            group.append(path)
        for path in group:
            self._first.pop(path, None)
        return group

    async def _idle(self, pace: Pace) -> None:
        """Wait for something to do: a change, the user's word, or another look at the machine."""
        if not self._waiting:
            self._done = 0
        by_machine = bool(self._waiting) and pace.reason != "user"
        await self._woken(pace.rest(0.0) if by_machine else None)
        if self._changed:
            # A burst of saves becomes one update.
            await asyncio.sleep(_QUIET_S)

    async def _woken(self, seconds: float | None) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), seconds)

    def _tell(self, pace: Pace) -> None:
        total = self._done + len(self._waiting)
        told = EmbeddingProgressed(self._done, total, pace if self._waiting else FULL)
        if told != self._told:
            self._told = told
            self._events.publish(told)
