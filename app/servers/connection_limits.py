"""Limit the number of connections to the local server, and the time that they take to authenticate.

A connection is authenticated once it has sent a valid token. When there are too many connections, the oldest
unauthenticated one is dropped. So a flood of connections can't lock out clients, and the number of open files
is limited.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 256
HEADER_TIMEOUT_S = 10.0
_MAX_COALESCED_BYTES = 512
_MAX_PARTS = 32
_FLUSH_DELAY_S = 0.001

Address = tuple[str, int]


class ConnectionLimiter:
    """The open connections of one server.

    `dropped` counts the connections that it has closed.

    Args:
        max_connections: Maximum number of connections.
        header_timeout: Seconds until the first request of a connection must be authenticated.
    """

    def __init__(
        self, max_connections: int = MAX_CONNECTIONS, header_timeout: float = HEADER_TIMEOUT_S
    ) -> None:
        self._max_connections = max_connections
        self._header_timeout = header_timeout
        self._open: dict[Address, BoundedProtocol] = {}
        self._unauthenticated: dict[Address, asyncio.TimerHandle] = {}
        self.dropped = 0
        self.closed = False

    def __len__(self) -> int:
        return len(self._open)

    def add(self, address: Address, protocol: BoundedProtocol) -> None:
        """Add a connection, and drop the oldest unauthenticated one if there are too many.

        Once this limiter is closed, the connection is dropped instead.
        """
        if self.closed:
            # Accepted just before the server closed: nothing else would close it.
            protocol.transport.abort()
            return
        loop = asyncio.get_running_loop()
        self._open[address] = protocol
        self._unauthenticated[address] = loop.call_later(self._header_timeout, self.drop, address)
        if len(self._open) > self._max_connections:
            self.drop(next(iter(self._unauthenticated)))

    def remove(self, address: Address, protocol: BoundedProtocol) -> None:
        """Remove a closed connection."""
        if self._open.get(address) is protocol:
            del self._open[address]
            self._cancel_timeout(address)

    def mark_authenticated(self, address: Address) -> None:
        """Mark the connection from `address` as authenticated."""
        self._cancel_timeout(address)

    def close(self) -> None:
        """Drop all current and future connections."""
        self.closed = True
        for address in tuple(self._open):
            self.drop(address)

    def _cancel_timeout(self, address: Address) -> None:
        timer = self._unauthenticated.pop(address, None)
        if timer is not None:
            timer.cancel()

    def drop(self, address: Address) -> None:
        """Close a connection immediately, even with unsent data."""
        self._cancel_timeout(address)
        protocol = self._open.pop(address, None)
        if protocol is not None:
            self.dropped += 1
            protocol.transport.abort()


class CoalescingTransport(asyncio.Transport):
    """Coalesces small writes into one packet: the headers of a response, its body and its end.

    Otherwise the client would wake up for each of them. A short write waits a moment for the next; a long
    write and the end of a response are sent immediately with everything before them.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__()
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._parts: list[bytes | bytearray | memoryview[Any]] = []
        self._timer: asyncio.TimerHandle | None = None

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        """Send `data`, after a short delay if it is short."""
        if not data:
            return
        self._parts.append(data)
        if len(data) > _MAX_COALESCED_BYTES or len(self._parts) > _MAX_PARTS:
            self.flush()
        elif self._timer is None:
            self._timer = self._loop.call_later(_FLUSH_DELAY_S, self.flush)

    def flush(self) -> None:
        """Send the collected writes now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        parts, self._parts = self._parts, []
        if parts:
            self._transport.write(parts[0] if len(parts) == 1 else b"".join(parts))

    def close(self) -> None:
        """Close the connection after sending everything."""
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        """Close the connection immediately, even with unsent data."""
        self._parts.clear()
        self.flush()
        self._transport.abort()

    def is_closing(self) -> bool:
        """Return whether the connection is closed or closing."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 (asyncio's own)
        """Return information about the connection."""
        return self._transport.get_extra_info(name, default)

    def get_write_buffer_size(self) -> int:
        """Return the number of unsent bytes."""
        return sum(map(len, self._parts)) + self._transport.get_write_buffer_size()

    def pause_reading(self) -> None:
        """Pause reading from the client."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Resume reading from the client."""
        self._transport.resume_reading()


class BoundedProtocol(H11Protocol):
    """The HTTP protocol of one connection, registered in `ConnectionLimiter`."""

    limiter: ConnectionLimiter
    transport: CoalescingTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register the connection."""
        super().connection_made(CoalescingTransport(cast("asyncio.Transport", transport)))
        self.limiter.add(self._address, self)

    @property
    def _address(self) -> Address:
        # A client that disconnected before it was accepted has no address.
        return self.client or ("", id(self))

    def on_response_complete(self) -> None:
        """Flush the complete response."""
        self.transport.flush()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Unregister the connection."""
        super().connection_lost(exc)
        self.limiter.remove(self._address, self)


def protocol_class(limiter: ConnectionLimiter) -> type[asyncio.Protocol]:
    """Return a protocol class whose connections are registered in `limiter`."""
    return type("LimitedProtocol", (BoundedProtocol,), {"limiter": limiter})
