"""Periodic checks for changes that the watcher missed, for example on a network drive."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from app.errors import ScriptoriumError, VaultLostError
from app.events import EventBus
from app.index.records import IndexDelta
from app.index.vault_index import VaultIndex
from app.vault.store import NotesChanged

log = logging.getLogger(__name__)

_CHECK_STEP_S = 60.0


class Reconciler:
    """Checks every `interval_minutes()` (0: never) and publishes missed changes as changes by `author`."""

    def __init__(
        self, index: VaultIndex, events: EventBus, interval_minutes: Callable[[], int], author: str
    ) -> None:
        self._index = index
        self._events = events
        self._interval_minutes = interval_minutes
        self._author = author

    async def run(self, stop: asyncio.Event) -> None:
        """Check periodically until `stop` is set."""
        waited = 0.0
        while not stop.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _CHECK_STEP_S)
            waited += _CHECK_STEP_S
            interval = self._interval_minutes() * 60
            if interval and waited >= interval and not stop.is_set():
                await self.check(stop.is_set)
                waited = 0.0

    async def check(self, is_cancelled: Callable[[], bool] = lambda: False) -> IndexDelta:
        """Index missed changes and publish them; if that fails, log the error and return an empty delta."""
        try:
            delta = await self._index.check(is_cancelled)
        except VaultLostError:
            return IndexDelta()  # The watcher reports it.
        except ScriptoriumError as error:
            log.warning("could not check for missed changes: %s", error)
            return IndexDelta()
        if delta.changed or delta.removed:
            log.info("%d changes had been missed", len(delta.changed) + len(delta.removed))
            event = NotesChanged(delta.changed, delta.removed, delta.moved, self._author, None)
            self._events.publish(event)
        return delta
