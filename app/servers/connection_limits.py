"""Connections to the local server, bounded: how many, how long their headers take, how large those are.

Beside the server's own protocol of HTTP this knows which connections have shown a good token. When there is
no room for another one, the oldest goes that has not: so a flood of strangers keeps no client out, and costs
no more than so many open files.
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

    Args:
        most: How many there may be.
        headers_within: How many seconds a stranger has until its first request is let in.
    """

    def __init__(self, most: int = MAX_CONNECTIONS, headers_within: float = HEADER_TIMEOUT_S) -> None:
        self._most = most
        self._within = headers_within
        self._open: dict[Address, BoundedProtocol] = {}
        self._strangers: dict[Address, asyncio.TimerHandle] = {}
        self.turned_away = 0
        self.closed = False

    def __len__(self) -> int:
        return len(self._open)

    def add(self, address: Address, protocol: BoundedProtocol) -> None:
        """A new connection; another one, or this, is dropped where there is no room."""
        if self.closed:
            # It was accepted just before the end: nobody would close it later.
            protocol.transport.abort()
            return
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

    def mark_trusted(self, address: Address) -> None:
        """The client at `address` has shown a good token."""
        self._forget(address)

    def close(self) -> None:
        """Drop all of them, whatever they do, and each one that comes later."""
        self.closed = True
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


class CoalescingTransport(asyncio.Transport):
    """Sends in one packet what is written one by one: the head of an answer, its body and its end.

    The client would wake up for each of them. So what is short waits a moment for what follows; the end of
    an answer, and what is long, is sent at once with what waits.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__()
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._parts: list[bytes | bytearray | memoryview[Any]] = []
        self._timer: asyncio.TimerHandle | None = None

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        """Send `data`, in a moment if it is short."""
        if not data:
            return
        self._parts.append(data)
        if len(data) > _MAX_COALESCED_BYTES or len(self._parts) > _MAX_PARTS:
            self.flush()
        elif self._timer is None:
            self._timer = self._loop.call_later(_FLUSH_DELAY_S, self.flush)

    def flush(self) -> None:
        """Send now what was gathered."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        parts, self._parts = self._parts, []
        if parts:
            self._transport.write(parts[0] if len(parts) == 1 else b"".join(parts))

    def close(self) -> None:
        """Close the connection once all is sent."""
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        """Close the connection now, whatever is still to be sent."""
        self._parts.clear()
        self.flush()
        self._transport.abort()

    def is_closing(self) -> bool:
        """Whether it is closed, or about to be."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 (asyncio's own)
        """What is known of the connection."""
        return self._transport.get_extra_info(name, default)

    def get_write_buffer_size(self) -> int:
        """How many bytes wait to be sent."""
        return sum(map(len, self._parts)) + self._transport.get_write_buffer_size()

    def pause_reading(self) -> None:
        """Take nothing from the client for now."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Take again what the client sends."""
        self._transport.resume_reading()


class BoundedProtocol(H11Protocol):
    """The server's protocol for one connection, known to `ConnectionLimiter`."""

    bounds: ConnectionLimiter
    transport: CoalescingTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        super().connection_made(CoalescingTransport(cast("asyncio.Transport", transport)))
        self.bounds.add(self._address, self)

    @property
    def _address(self) -> Address:
        # A client that has gone before it was accepted has no address, and is closed with the others.
        return self.client or ("", id(self))

    def on_response_complete(self) -> None:
        """An answer is whole."""
        self.transport.flush()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        super().connection_lost(exc)
        self.bounds.remove(self._address, self)


def protocol_of(connections: ConnectionLimiter) -> type[asyncio.Protocol]:
    """The class of the protocol whose connections are kept in `connections`."""
    return type("BoundedHere", (BoundedProtocol,), {"bounds": connections})
