"""Serve an ASGI app in the test's own event loop, on a free port."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.types import ASGIApp


class _TestServer(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to pytest."""
        yield


@asynccontextmanager
async def served(app: ASGIApp) -> AsyncIterator[str]:
    """Serve the app and yield its address."""
    server = _TestServer(uvicorn.Config(app, "127.0.0.1", 0, log_level="error", lifespan="off"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await serving
