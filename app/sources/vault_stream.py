"""The vault as a stream: notes that the user or another program changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from app.events import EventBus
from app.sources.config import VaultStreamConfig
from app.sources.source import Notification, Notify
from app.vault.globs import Glob
from app.vault.path import NotePath
from app.vault.store import NotesChanged

_HUMAN_AUTHORS = frozenset({"You", "outside"})
_MAX_BATCH_NOTES = 20


class VaultStream:
    """Sends the names of changed and moved notes, and the number of removed ones.

    Changes that agents made are left out.
    """

    problem = ""
    checked = None

    def __init__(self, config: VaultStreamConfig, events: EventBus) -> None:
        self.config = config
        self._events = events
        self._globs = tuple(Glob(text) for text in config.globs)
        self._notify: Notify | None = None
        self._unsubscribe: Callable[[], None] | None = None

    async def start(self, notify: Notify) -> None:
        """Start following the vault."""
        self._notify = notify
        self._unsubscribe = self._events.subscribe(NotesChanged, self._handle_change)

    async def stop(self) -> None:
        """Stop following the vault."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    def _handle_change(self, event: NotesChanged) -> None:
        if event.author not in _HUMAN_AUTHORS:
            return
        origins = {old_path for old_path, _ in event.moved}
        destinations = {new_path for _, new_path in event.moved}
        actor = "by you" if event.author == "You" else "outside the app"
        for old_path, new_path in event.moved:
            self._publish(new_path, f"{old_path} is now {new_path}, moved {actor}", (old_path, new_path))
        changed = [path for path in event.paths if path not in destinations and self._matches(path)]
        for path in changed[:_MAX_BATCH_NOTES]:
            self._publish(path, f"{path} was changed {actor}", (path,))
        if len(changed) > _MAX_BATCH_NOTES:
            self._publish(None, f"{len(changed) - _MAX_BATCH_NOTES} more notes were changed {actor}", ())
        if removed := [path for path in event.removed if path not in origins and self._matches(path)]:
            # A deleted note may have been private, so it is not named.
            notes = "A note was" if len(removed) == 1 else f"{len(removed)} notes were"
            self._publish(None, f"{notes} removed {actor}", ())

    def _publish(self, path: NotePath | None, title: str, paths: Iterable[NotePath]) -> None:
        affected = tuple(paths)
        if self._notify is None or (
            affected and not any(self._matches(affected_path) for affected_path in affected)
        ):
            return
        key = str(path) if path is not None else title
        self._notify(Notification(self.config.id, key, title, time.time(), path=str(path or "")))

    def _matches(self, path: NotePath) -> bool:
        return path.is_note and (not self._globs or any(glob.matches(path) for glob in self._globs))
