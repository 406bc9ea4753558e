"""A folder as a stream: the names of its changed files, without their text."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path

from app.events import EventBus
from app.sources.config import FolderStreamConfig
from app.sources.source import Notification, Notify, SourcesChanged
from app.task_supervisor import TaskSupervisor
from app.vault.globs import Glob
from app.vault.path import NotePath
from app.vault.watcher import FileBatch, watch

_CLOSE_TIMEOUT_S = 10.0
_MAX_BATCH_FILES = 20
_MISSING_MESSAGE = "The folder is missing. It may have been unplugged, renamed or deleted."


class FolderStream:
    """Watches a folder and its subfolders; hidden and temporary files are excluded."""

    checked = None

    def __init__(self, config: FolderStreamConfig, events: EventBus) -> None:
        self.config = config
        self.problem = ""
        self._events = events
        self._globs = tuple(Glob(text) for text in config.globs)
        self._stop = asyncio.Event()
        self._supervisor = TaskSupervisor(events)

    async def start(self, notify: Notify) -> None:
        """Start watching the folder, even if it does not exist yet."""
        self._stop = asyncio.Event()
        ready = asyncio.Event()
        self._supervisor = TaskSupervisor(self._events)
        self._supervisor.start(f"watch {self.config.name}", lambda: self._watch(notify, ready))
        with suppress(TimeoutError):
            await asyncio.wait_for(ready.wait(), 2)

    async def stop(self) -> None:
        """Stop watching."""
        self._stop.set()
        await self._supervisor.close(_CLOSE_TIMEOUT_S)

    async def _watch(self, notify: Notify, ready: asyncio.Event) -> None:
        async def handle_batch(batch: FileBatch) -> None:
            self._handle_batch(batch, notify)

        if self.problem:
            self._set_problem("")
        try:
            await watch(Path(self.config.folder), handle_batch, self._stop, _is_own_write, ready=ready)
        except Exception as error:
            self._set_problem(f"The folder can't be watched: {error}")
            raise

    def _handle_batch(self, batch: FileBatch, notify: Notify) -> None:
        if batch.lost or batch.found:
            self._set_problem(_MISSING_MESSAGE if batch.lost else "")
            return
        changes = [(path, "changed") for path in batch.changed] + [
            (path, "removed") for path in batch.removed
        ]
        matching = [(path, action) for path, action in changes if self._matches(path)]
        for path, action in matching[:_MAX_BATCH_FILES]:
            notify(self._notification(str(path), f"{path} was {action}", str(path)))
        if len(matching) > _MAX_BATCH_FILES:
            summary = f"{len(matching) - _MAX_BATCH_FILES} more files were changed or removed"
            notify(self._notification(summary, summary, ""))

    def _notification(self, key: str, title: str, path: str) -> Notification:
        return Notification(self.config.id, key, title, time.time(), path=path)

    def _matches(self, path: NotePath) -> bool:
        return not self._globs or any(glob.matches(path) for glob in self._globs)

    def _set_problem(self, problem: str) -> None:
        self.problem = problem
        self._events.publish(SourcesChanged((self.config.id,)))


def _is_own_write(path: NotePath, digest: str) -> bool:
    """Return False: the app never writes to a stream's folder."""
    return False
