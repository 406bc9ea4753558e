"""Keeps the vectors of a vault in step with its index, in the background."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.embeddings import EmbedderUnavailable
from app.embeddings.client import Embedder
from app.embeddings.vectors import VectorProgress, VectorStore
from app.errors import StorageError
from app.events import Event, EventBus
from app.index.records import IndexUpdated
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.index.vault_index import VaultIndex
    from app.vault.store import NoteStore

log = logging.getLogger(__name__)

_QUIET_S = 0.5


@dataclass(frozen=True, slots=True)
class EmbeddingProgressed(Event):
    """So many of the notes that changed have vectors; `done` equals `total` at the end."""

    done: int
    total: int


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
    ) -> None:
        self._vectors = vectors
        self._index = index
        self._store = store
        self._embedder = embedder
        self._events = events
        self._excluded = excluded
        self._changed: set[NotePath] = set()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._forget = events.subscribe(IndexUpdated, self._note)

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

    def _note(self, event: IndexUpdated) -> None:
        self._changed.update(event.changed, event.removed)
        self._wake.set()

    async def _run(self) -> None:
        try:
            self._changed.clear()
            await self._update(None)
            while True:
                await self._wake.wait()
                # A burst of saves becomes one update.
                await asyncio.sleep(_QUIET_S)
                self._wake.clear()
                paths, self._changed = self._changed, set()
                await self._update(paths)
        except (EmbedderUnavailable, StorageError) as error:
            log.warning("no search by meaning: %s", error)
            self._events.publish(EmbeddingFailed(str(error)))

    async def _update(self, paths: set[NotePath] | None) -> None:
        await self._vectors.update(
            self._index, self._store, self._embedder, self._tell, paths=paths, excluded=self._excluded
        )

    def _tell(self, progress: VectorProgress) -> None:
        self._events.publish(EmbeddingProgressed(progress.done, progress.total))
