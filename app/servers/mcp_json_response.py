"""Send fast responses of the 2025 protocol as JSON instead of a stream with one event.

The protocol lets the server decide for each request; the SDK decides once for all requests. A stream is only
useful for slow calls. Clients close the connection after a stream, so every call would need a new connection.
"""

from __future__ import annotations

import asyncio
import re
from types import TracebackType
from typing import Any

from starlette.types import Message, Send

_HOLD_TIMEOUT_S = 0.05
_EVENT_STREAM = b"text/event-stream"
_RESPONSE = re.compile(rb'\{"jsonrpc":"2\.0","id":(?:\d+|"(?:[^"\\]|\\.)*"),"(?:result|error)":')


class JsonResponseUpgrade:
    """A `send` that briefly holds back an event stream until its first message.

    If that message arrives in time and is the response, it is sent as JSON and the stream ends; otherwise the
    stream is sent unchanged. Use it as a context manager around the request.

    Args:
        send: Sends the parts of the response.
        hold_timeout: Maximum seconds to hold the stream back.
    """

    def __init__(self, send: Send, hold_timeout: float = _HOLD_TIMEOUT_S) -> None:
        self._send = send
        self._hold_timeout = hold_timeout
        self._held_messages: list[Message] = []
        self._is_holding = True
        self._has_answered = False
        self._lock = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._flush_task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> JsonResponseUpgrade:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._flush_task is not None:
            self._flush_task.cancel()

    async def __call__(self, message: Message) -> None:
        """Send the next part now, or hold it back."""
        async with self._lock:
            if self._has_answered:
                return
            if not self._is_holding:
                await self._send(message)
                return
            self._held_messages.append(message)
            if message["type"] == "http.response.start":
                if _is_stream(message):
                    self._timer = asyncio.get_running_loop().call_later(self._hold_timeout, self._start_flush)
                else:
                    await self._send_held()
                return
            data = _event_data(message.get("body", b""))
            if _RESPONSE.match(data):
                await self._answer(data)
            elif data or not message.get("more_body"):
                await self._send_held()

    async def _answer(self, data: bytes) -> None:
        """Send the response as JSON instead of the held parts."""
        self._has_answered = True
        start = self._held_messages[0]
        headers = [
            pair for pair in start["headers"] if pair[0].lower() not in (b"content-type", b"connection")
        ]
        json_headers = [(b"content-type", b"application/json"), (b"content-length", str(len(data)).encode())]
        self._held_messages.clear()
        await self._send({**start, "headers": [*headers, *json_headers]})
        await self._send({"type": "http.response.body", "body": data, "more_body": False})

    def _start_flush(self) -> None:
        self._flush_task = asyncio.create_task(self._flush(), name="send a held event stream")

    async def _flush(self) -> None:
        async with self._lock:
            if not self._has_answered and self._is_holding:
                await self._send_held()

    async def _send_held(self) -> None:
        self._is_holding = False
        for message in self._held_messages:
            await self._send(message)
        self._held_messages.clear()


def _is_stream(start: Message) -> bool:
    headers: list[tuple[bytes, Any]] = list(start.get("headers", ()))
    return any(name.lower() == b"content-type" and value.startswith(_EVENT_STREAM) for name, value in headers)


def _event_data(event: bytes) -> bytes:
    """Return an event's data; empty for an event with only an id and for a keep-alive."""
    return b"\n".join(line[6:] for line in event.splitlines() if line.startswith(b"data: "))
