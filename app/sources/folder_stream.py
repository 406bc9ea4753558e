"""A folder as a stream: the names of its changed files, without their text."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path

from app.events import EventBus
from app.processes.supervisor import Supervisor
from app.sources.config import FolderStreamConfig
from app.sources.source import Notification, SourcesChanged, Tell
from app.vault.globs import Glob
from app.vault.path import NotePath
from app.vault.watcher import FileBatch, watch

_CLOSE_TIMEOUT_S = 10.0
_MAX_BATCH_FILES = 20


class FolderStream:
    """Watches a folder and its subfolders; hidden and temporary files are excluded."""

    checked = None

    def __init__(self, kept: FolderStreamConfig, events: EventBus) -> None:
        self.kept = kept
        self.problem = ""
        self._events = events
        self._globs = tuple(Glob(text) for text in kept.globs)
        self._stop = asyncio.Event()
        self._supervisor = Supervisor(events)

    async def start(self, tell: Tell) -> None:
        """Start watching; wait for a folder that does not exist yet."""
        self._stop = asyncio.Event()
        ready = asyncio.Event()
        self._supervisor = Supervisor(self._events)
        self._supervisor.start(f"watch {self.kept.name}", lambda: self._watch(tell, ready))
        with suppress(TimeoutError):
            await asyncio.wait_for(ready.wait(), 2)

    async def stop(self) -> None:
        """Stop watching."""
        self._stop.set()
        await self._supervisor.close(_CLOSE_TIMEOUT_S)

    async def _watch(self, tell: Tell, ready: asyncio.Event) -> None:
        async def take(batch: FileBatch) -> None:
            self._handle_batch(batch, tell)

        if self.problem:
            self._set_problem("")
        try:
            await watch(Path(self.kept.folder), take, self._stop, _is_never_own, ready=ready)
        except Exception as error:
            self._set_problem(f"The folder can't be watched: {error}")
            raise

    def _handle_batch(self, batch: FileBatch, tell: Tell) -> None:
        if batch.lost or batch.found:
            self._set_problem("The folder is gone: unplugged, renamed or deleted." if batch.lost else "")
            return
        found = [(path, "changed") for path in batch.changed] + [(path, "removed") for path in batch.removed]
        wanted = [(path, what) for path, what in found if self._wanted(path)]
        for path, what in wanted[:_MAX_BATCH_FILES]:
            tell(self._news(str(path), f"{path} was {what}", str(path)))
        if len(wanted) > _MAX_BATCH_FILES:
            more = f"{len(wanted) - _MAX_BATCH_FILES} more files were changed or removed"
            tell(self._news(more, more, ""))

    def _news(self, key: str, title: str, path: str) -> Notification:
        return Notification(self.kept.id, key, title, time.time(), path=path)

    def _wanted(self, path: NotePath) -> bool:
        return not self._globs or any(glob.matches(path) for glob in self._globs)

    def _set_problem(self, problem: str) -> None:
        self.problem = problem
        self._events.publish(SourcesChanged((self.kept.id,)))


def _is_never_own(path: NotePath, digest: str) -> bool:
    return False
