"""Live events about a client's own calls; a client does not see other clients' calls."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.events import Event, EventBus
from app.permissions.caller import Caller
from app.permissions.pending import is_same_caller
from app.servers.client_registry import CallStageChanged
from app.toolkit.outcome import ToolFinished
from app.toolkit.pending import PendingChanged

_MAX_QUEUED_EVENTS = 500


@dataclass(frozen=True, slots=True)
class ActivityEvent:
    """An event: a new stage or the end of a call, a new state of a pending operation, or lost events."""

    kind: str
    data: Mapping[str, Any]


class ActivityStream:
    """Asynchronous iterator over the events of one client, from its creation until `end`.

    The stream ends if the client reads too slowly. The results of pending operations can still be listed.

    Args:
        caller: The client.
        events: The source of the events.
        release: Called when the stream ends.
    """

    def __init__(self, caller: Caller, events: EventBus, release: Callable[[], None]) -> None:
        self._caller = caller
        self._release = release
        self._waiting: deque[ActivityEvent] = deque()
        self._has_events = asyncio.Event()
        self._ended = False
        self._unsubscribe = events.subscribe(Event, self._handle_event)

    def __aiter__(self) -> ActivityStream:
        return self

    async def __anext__(self) -> ActivityEvent:
        while not self._waiting:
            if self._ended:
                raise StopAsyncIteration
            self._has_events.clear()
            await self._has_events.wait()
        return self._waiting.popleft()

    def end(self) -> None:
        """End the stream after the queued events."""
        if not self._ended:
            self._ended = True
            self._unsubscribe()
            self._release()
            self._has_events.set()

    def _handle_event(self, event: Event) -> None:
        activity_event = _to_activity(event, self._caller)
        if activity_event is None:
            return
        if len(self._waiting) >= _MAX_QUEUED_EVENTS:
            self._waiting.append(
                ActivityEvent("too-slow", {"message": "The client is reading too slowly; events were lost."})
            )
            self.end()
            return
        self._waiting.append(activity_event)
        self._has_events.set()


def _to_activity(event: Event, caller: Caller) -> ActivityEvent | None:
    """Return the client's view of an event, or None if it is not about its own calls."""
    match event:
        case CallStageChanged() if (event.client.kind, event.client.name) == (caller.kind, caller.name):
            return ActivityEvent("call", {"call": event.call, "tool": event.tool, "stage": event.stage})
        case ToolFinished() if is_same_caller(event.caller, caller):
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
            return ActivityEvent("finished", data)
        case PendingChanged() if is_same_caller(event.operation.caller, caller):
            operation = event.operation
            data = {
                "pending_operation_id": operation.id,
                "tool": operation.tool,
                "state": operation.state.value,
            }
            return ActivityEvent("pending", data)
        case _:
            return None
