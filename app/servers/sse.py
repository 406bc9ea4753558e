"""Server-sent events, and work that is canceled when its client disconnects."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.types import Receive, Scope, Send

T = TypeVar("T")
GONE_REASON = "the client has gone"
_KEEP_ALIVE_INTERVAL_S = 15.0
_DISCONNECT_GRACE_S = 0.02


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of a stream: its name and its data, which is sent as JSON."""

    name: str
    data: Mapping[str, Any]

    def encoded(self) -> bytes:
        """Return the event in wire format; JSON contains no line breaks."""
        return f"event: {self.name}\ndata: {json.dumps(self.data, default=str)}\n\n".encode()


class EventStream:
    """ASGI app that sends events until they end or the client disconnects.

    The security middleware disconnects a client that does not read, as for every response.

    Args:
        events: The events; closed at the end.
        on_end: Called at the end, even if the stream never started.
        keep_alive_s: Seconds without an event after which a keep-alive is sent.
    """

    def __init__(
        self,
        events: AsyncGenerator[ServerEvent],
        on_end: Callable[[], None] = lambda: None,
        *,
        keep_alive_s: float = _KEEP_ALIVE_INTERVAL_S,
    ) -> None:
        self._events = events
        self._on_end = on_end
        self._keep_alive_s = keep_alive_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        try:
            await self._stream(receive, send)
        finally:
            self._on_end()

    async def _stream(self, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            await until_disconnected(receive, self._send_events(send))
        finally:
            await self._events.aclose()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_events(self, send: Send) -> None:
        next_event: asyncio.Task[ServerEvent] | None = None
        # Sent immediately, so that the client knows that the subscription is active.
        await self._send(send, b": open\n\n")
        try:
            while True:
                next_event = next_event or asyncio.ensure_future(_next_event(self._events))
                done, _ = await asyncio.wait({next_event}, timeout=self._keep_alive_s)
                if not done:
                    await self._send(send, b": still here\n\n")
                    continue
                event, next_event = next_event.result(), None
                await self._send(send, event.encoded())
        except StopAsyncIteration:
            return
        finally:
            if next_event is not None and not next_event.done():
                next_event.cancel()
                await asyncio.wait({next_event})

    async def _send(self, send: Send, body: bytes) -> None:
        await send({"type": "http.response.body", "body": body, "more_body": True})


async def _next_event(events: AsyncGenerator[ServerEvent]) -> ServerEvent:
    return await anext(events)


async def until_disconnected(receive: Receive, work: Coroutine[Any, Any, T]) -> T | None:
    """Return the result of `work`; if the client disconnects, cancel the work and return None.

    Args:
        receive: The receive function of the request, whose body has been read.
        work: The work that the client waits for; its cancellation has the reason as its message.
    """
    task = asyncio.ensure_future(work)
    tasks: set[asyncio.Task[Any]] = {task}
    reason = GONE_REASON
    try:
        # Most work is done quickly, without the cost of watching the client.
        await asyncio.wait(tasks, timeout=_DISCONNECT_GRACE_S)
        if not task.done():
            tasks.add(asyncio.ensure_future(_wait_disconnected(receive)))
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError as error:
        reason = str(error)
        raise
    finally:
        running = {task for task in tasks if not task.done()}
        for running_task in running:
            running_task.cancel(reason)
        if running:
            await asyncio.wait(running)
    return None if task.cancelled() else task.result()


async def _wait_disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
