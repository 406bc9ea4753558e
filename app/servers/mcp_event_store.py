"""The last messages of each session over HTTP, for clients that resume a broken stream.

The SDK uses one store for all sessions and names streams after the client's request ids, so streams of two
clients can have the same name. Here each session has its own store, which a context variable provides.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from weakref import WeakValueDictionary

from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCMessage
from starlette.types import Message, Send

_MAX_EVENTS = 128
_SESSION_HEADER = b"mcp-session-id"


class RecentEvents:
    """The last messages of one session, oldest first."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._events: OrderedDict[str, tuple[StreamId, JSONRPCMessage | None]] = OrderedDict()

    def add(self, stream: StreamId, message: JSONRPCMessage | None) -> EventId:
        """Store a message and return its id."""
        event_id = str(next(self._numbers))
        self._events[event_id] = (stream, message)
        if len(self._events) > _MAX_EVENTS:
            self._events.popitem(last=False)
        return event_id

    def events_after(self, last_event_id: EventId) -> tuple[StreamId, list[EventMessage]] | None:
        """Return the message's stream and that stream's later messages; None if the id is unknown."""
        if last_event_id not in self._events:
            return None
        stream = self._events[last_event_id][0]
        later = [
            EventMessage(message, event_id)
            for event_id, (stream_id, message) in self._events.items()
            if int(event_id) > int(last_event_id) and stream_id == stream and message is not None
        ]
        return stream, later


_CURRENT_EVENTS: ContextVar[RecentEvents | None] = ContextVar("events of the session", default=None)


class CurrentSessionEventStore(EventStore):
    """Event store that delegates to the store of the current session."""

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        """Store a message and return its id; outside a session, return "0" without storing it."""
        store = _CURRENT_EVENTS.get()
        return store.add(stream_id, message) if store is not None else "0"

    async def replay_events_after(
        self, last_event_id: EventId, send_callback: EventCallback
    ) -> StreamId | None:
        """Send the later messages of an event's stream and return the stream; None if the id is unknown."""
        store = _CURRENT_EVENTS.get()
        replay = store.events_after(last_event_id) if store is not None else None
        if replay is None:
            return None
        stream, later = replay
        for message in later:
            await send_callback(message)
        return stream


class _SessionOpening:
    """A request that may start a session; `wrap_send` detects the session's id."""

    def __init__(self, sessions: SessionEventStores, store: RecentEvents) -> None:
        self._sessions = sessions
        self._store = store

    def wrap_send(self, send: Send) -> Send:
        """Wrap `send` to record the id of a new session."""

        async def recording_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                for name, value in message.get("headers", ()):
                    if name.lower() == _SESSION_HEADER:
                        self._sessions.register(value.decode("latin-1"), self._store)
            await send(message)

        return recording_send


class SessionEventStores:
    """The stores of open sessions, held weakly: a session's tasks own its store."""

    def __init__(self) -> None:
        self._stores: WeakValueDictionary[str, RecentEvents] = WeakValueDictionary()

    def register(self, session: str, store: RecentEvents) -> None:
        """Register the store of a session."""
        self._stores[session] = store

    @contextmanager
    def opening(self) -> Iterator[_SessionOpening]:
        """Use a new store during a request without a session, which may start one."""
        store = RecentEvents()
        token = _CURRENT_EVENTS.set(store)
        try:
            yield _SessionOpening(self, store)
        finally:
            _CURRENT_EVENTS.reset(token)

    @contextmanager
    def entered(self, session: str) -> Iterator[None]:
        """Use the session's store during a request; none if the session is unknown."""
        token = _CURRENT_EVENTS.set(self._stores.get(session))
        try:
            yield
        finally:
            _CURRENT_EVENTS.reset(token)
