"""Looks now and then for changes that the system did not tell of: a full queue, a network drive."""

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
    """Finds them every `minutes()` (0: never) and tells of them as of any change by `author`."""

    def __init__(self, index: VaultIndex, events: EventBus, minutes: Callable[[], int], author: str) -> None:
        self._index = index
        self._events = events
        self._minutes = minutes
        self._author = author

    async def run(self, stop: asyncio.Event) -> None:
        """Look again and again until `stop` is set."""
        waited = 0.0
        while not stop.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _CHECK_STEP_S)
            waited += _CHECK_STEP_S
            every = self._minutes() * 60
            if every and waited >= every and not stop.is_set():
                await self.check(stop.is_set)
                waited = 0.0

    async def check(self, cancelled: Callable[[], bool] = lambda: False) -> IndexDelta:
        """Take what was missed into the index and tell of it."""
        try:
            delta = await self._index.check(cancelled)
        except VaultLostError:
            return IndexDelta()  # the watcher says so
        except ScriptoriumError as error:
            log.warning("missed changes could not be looked for: %s", error)
            return IndexDelta()
        if delta.changed or delta.removed:
            log.info("%d changes had been missed", len(delta.changed) + len(delta.removed))
            told = NotesChanged(delta.changed, delta.removed, delta.moved, self._author, None)
            self._events.publish(told)
        return delta
