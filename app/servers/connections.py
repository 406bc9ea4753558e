"""Connections to the local server, bounded: how many, how long their headers take, how large those are.

Beside the server's own protocol of HTTP this knows which connections have shown a good token. When there is
no room for another one, the oldest goes that has not: so a flood of strangers keeps no client out, and costs
no more than so many open files.
"""

from __future__ import annotations

import asyncio
from typing import cast

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 256
HEADERS_WITHIN_S = 10.0

Address = tuple[str, int]


class Connections:
    """The open connections of one server.

    Args:
        most: How many there may be.
        headers_within: How many seconds a stranger has until its first request is let in.
    """

    def __init__(self, most: int = MOST, headers_within: float = HEADERS_WITHIN_S) -> None:
        self._most = most
        self._within = headers_within
        self._open: dict[Address, BoundedProtocol] = {}
        self._strangers: dict[Address, asyncio.TimerHandle] = {}
        self.turned_away = 0

    def __len__(self) -> int:
        return len(self._open)

    def add(self, address: Address, protocol: BoundedProtocol) -> None:
        """A new connection; another one, or this, is dropped where there is no room."""
        loop = asyncio.get_running_loop()
        self._open[address] = protocol
        self._strangers[address] = loop.call_later(self._within, self.drop, address)
        if len(self._open) > self._most:
            self.drop(next(iter(self._strangers)))

    def remove(self, address: Address, protocol: BoundedProtocol) -> None:
        """A connection is closed."""
        if self._open.get(address) is protocol:
            del self._open[address]
            self._forget(address)

    def trust(self, address: Address) -> None:
        """The client at `address` has shown a good token."""
        self._forget(address)

    def close(self) -> None:
        """Drop all of them, whatever they do."""
        for address in tuple(self._open):
            self.drop(address)

    def _forget(self, address: Address) -> None:
        timer = self._strangers.pop(address, None)
        if timer is not None:
            timer.cancel()

    def drop(self, address: Address) -> None:
        """Close a connection at once, whatever is still to be sent."""
        self._forget(address)
        protocol = self._open.pop(address, None)
        if protocol is not None:
            self.turned_away += 1
            protocol.transport.abort()


class BoundedProtocol(H11Protocol):
    """The server's protocol for one connection, known to `Connections`."""

    bounds: Connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        super().connection_made(cast("asyncio.Transport", transport))
        if self.client is not None:
            self.bounds.add(self.client, self)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        super().connection_lost(exc)
        if self.client is not None:
            self.bounds.remove(self.client, self)


def protocol_of(connections: Connections) -> type[asyncio.Protocol]:
    """The class of the protocol whose connections are kept in `connections`."""
    return type("BoundedHere", (BoundedProtocol,), {"bounds": connections})
