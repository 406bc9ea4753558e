"""Slow or dead clients: each is dropped after its time limit, without effect on others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from app.permissions.caller import CallerKind
from app.servers.connection_limits import ConnectionLimiter, protocol_class
from app.servers.local_server import _listen
from app.servers.security import Mount, SecurityMiddleware
from app.servers.sse import EventStream, ServerEvent

TOKEN = "local"


@asynccontextmanager
async def serving(
    app: ASGIApp, connections: ConnectionLimiter, *, body_timeout: float = 30.0, send_timeout: float = 20.0
) -> AsyncIterator[int]:
    """Serve an app behind a guard with these limits; yield the port."""
    listener = _listen(0)
    port = listener.getsockname()[1]
    guard = SecurityMiddleware(
        (Mount("/x", CallerKind.HTTP, app),),
        port,
        lambda token: None,
        TOKEN,
        connections.mark_authenticated,
        connections.drop,
        body_timeout=body_timeout,
        send_timeout=send_timeout,
    )
    config = uvicorn.Config(
        guard, http=protocol_class(connections), ws="none", lifespan="off", log_config=None, access_log=False
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server._serve([listener]))
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield port
    finally:
        server.should_exit = True
        connections.close()
        await task


async def ok(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def head(port: int, *more: str, method: str = "GET") -> bytes:
    lines = [f"{method} /x HTTP/1.1", f"host: 127.0.0.1:{port}", f"authorization: Bearer {TOKEN}", *more]
    return "\r\n".join([*lines, "", ""]).encode()


async def test_a_client_that_does_not_finish_its_headers_is_dropped() -> None:
    connections = ConnectionLimiter(header_timeout=0.05)
    async with serving(ok, connections) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head(port)[:-4])
        with suppress(ConnectionError):
            while await reader.read():
                pass
        assert len(connections) == 0 and connections.dropped == 1
        writer.close()


async def test_an_authenticated_client_may_be_idle() -> None:
    connections = ConnectionLimiter(max_connections=2, header_timeout=0.05)
    async with serving(ok, connections) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(2):
            writer.write(head(port))
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
            strangers = [await asyncio.open_connection("127.0.0.1", port) for _ in range(5)]
            while connections.dropped < 5:
                await asyncio.sleep(0.01)
            connections.dropped = 0
            for _, one in strangers:
                one.close()
        writer.close()


async def test_a_body_that_trickles_is_not_waited_for() -> None:
    async with serving(ok, ConnectionLimiter(), body_timeout=0.05) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head(port, "content-length: 100", method="POST") + b"{")
        assert (await reader.read()).startswith(b"HTTP/1.1 408")
        writer.close()


async def test_a_client_that_does_not_read_is_dropped_and_its_stream_closed() -> None:
    closed, done = asyncio.Event(), asyncio.Event()

    async def endless() -> AsyncGenerator[ServerEvent]:
        try:
            while True:
                yield ServerEvent("news", {"text": "x" * 60_000})
        finally:
            closed.set()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await EventStream(endless(), done.set)(scope, receive, send)

    connections = ConnectionLimiter()
    async with serving(app, connections, send_timeout=0.05) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        writer.write(head(port))
        await asyncio.gather(closed.wait(), done.wait())
        while len(connections):
            await asyncio.sleep(0.01)
        writer.transport.abort()


async def test_a_quiet_stream_sends_heartbeats() -> None:
    async def silent() -> AsyncGenerator[ServerEvent]:
        await asyncio.Event().wait()
        yield ServerEvent("never", {})

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await EventStream(silent(), keep_alive_s=0.02)(scope, receive, send)

    async with serving(app, ConnectionLimiter()) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head(port))
        assert b": still here" in await reader.readuntil(b": still here\n\n")
        writer.transport.abort()


async def test_a_connection_that_is_accepted_after_the_end_is_dropped() -> None:
    class Late:
        """The part of a protocol that is needed to drop it."""

        def __init__(self) -> None:
            self.transport = self
            self.aborted = False

        def abort(self) -> None:
            self.aborted = True

    connections, early, late = ConnectionLimiter(), Late(), Late()
    connections.add(("127.0.0.1", 1), early)  # type: ignore[arg-type]
    connections.close()
    connections.add(("127.0.0.1", 2), late)  # type: ignore[arg-type]
    assert early.aborted and late.aborted and len(connections) == 0
