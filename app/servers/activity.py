"""What a client's own calls come to, as it happens; of the calls of others it hears nothing."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.events import Event, EventBus
from app.permissions.caller import Caller
from app.permissions.pending import is_same
from app.servers.presence import CallMoved
from app.toolkit.outcome import ToolFinished
from app.toolkit.pending import PendingChanged

_MOST = 500


@dataclass(frozen=True, slots=True)
class Activity:
    """One thing that happened: a call's stage or its end, or another state of a pending operation."""

    kind: str
    data: Mapping[str, Any]


class ActivityReader:
    """The activity of one client, from when it was made until `end`; iterate over it.

    One that reads so slowly that too much waits comes to an end: it can look up in `pending` what it missed.
    """

    def __init__(self, caller: Caller, events: EventBus, release: Callable[[], None]) -> None:
        self._caller = caller
        self._release = release
        self._waiting: deque[Activity] = deque()
        self._some = asyncio.Event()
        self._over = False
        self._unsubscribe = events.subscribe(Event, self._take)

    def __aiter__(self) -> ActivityReader:
        return self

    async def __anext__(self) -> Activity:
        while not self._waiting:
            if self._over:
                raise StopAsyncIteration
            self._some.clear()
            await self._some.wait()
        return self._waiting.popleft()

    def end(self) -> None:
        """Hear no more."""
        if not self._over:
            self._over = True
            self._unsubscribe()
            self._release()
            self._some.set()

    def _take(self, event: Event) -> None:
        told = _told(event, self._caller)
        if told is None:
            return
        if len(self._waiting) >= _MOST:
            self._waiting.append(Activity("too-slow", {"message": "More happened than was read."}))
            self.end()
            return
        self._waiting.append(told)
        self._some.set()


def _told(event: Event, caller: Caller) -> Activity | None:
    """What a client hears of an event, if it is about its own calls."""
    match event:
        case CallMoved() if (event.client.kind, event.client.name) == (caller.kind, caller.name):
            return Activity("call", {"call": event.call, "tool": event.tool, "stage": event.stage})
        case ToolFinished() if is_same(event.caller, caller):
            outcome = event.outcome
            data = {
                "call": event.call_id,
                "tool": event.tool,
                "success": outcome.success,
                "denied": outcome.denied,
                "message": outcome.message,
                "entry": outcome.entry,
                "duration_ms": outcome.duration_ms,
            }
            return Activity("finished", data)
        case PendingChanged() if is_same(event.operation.caller, caller):
            one = event.operation
            data = {"pending_operation_id": one.id, "tool": one.tool, "state": one.state.value}
            return Activity("pending", data)
        case _:
            return None
