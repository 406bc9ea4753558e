"""Limit the number of connections to the local server, and the time that they take to authenticate.

A connection is authenticated once it has sent a valid token. When there are too many connections, the oldest
unauthenticated one is dropped. So a flood of connections can't lock out clients, and the number of open files
is limited.
"""

from __future__ import annotations

import asyncio
from typing import cast

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 256
HEADER_TIMEOUT_S = 10.0

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


class BoundedProtocol(H11Protocol):
    """The HTTP protocol of one connection, registered in `ConnectionLimiter`."""

    limiter: ConnectionLimiter

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register the connection."""
        super().connection_made(cast("asyncio.Transport", transport))
        self.limiter.add(self._address, self)

    @property
    def _address(self) -> Address:
        # A client that disconnected before it was accepted has no address.
        return self.client or ("", id(self))

    def connection_lost(self, exc: Exception | None) -> None:
        """Unregister the connection."""
        super().connection_lost(exc)
        self.limiter.remove(self._address, self)


def protocol_class(limiter: ConnectionLimiter) -> type[asyncio.Protocol]:
    """Return a protocol class whose connections are registered in `limiter`."""
    return type("LimitedProtocol", (BoundedProtocol,), {"limiter": limiter})
