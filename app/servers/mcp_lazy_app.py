"""The MCP server in the local server, loaded when the first client connects.

The SDK takes most of a second to import, which would delay the start of the window, and most users have no
such client.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from app.servers.vault_access import VaultAccess

if TYPE_CHECKING:
    from app.servers.mcp_http import McpHttpApp


log = logging.getLogger(__name__)


class LazyMcpApp:
    """ASGI app that loads the MCP server on first use; it works while its `lifespan` is open."""

    def __init__(self, service: VaultAccess) -> None:
        self._service = service
        self._stop = asyncio.Event()
        self._loading = asyncio.Lock()
        self._app: McpHttpApp | None = None
        self._lifespan_task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Serve clients while this is open."""
        self._stop.clear()
        try:
            yield
        finally:
            self._stop.set()
            if self._lifespan_task is not None:
                await asyncio.gather(self._lifespan_task, return_exceptions=True)
            self._lifespan_task = self._app = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        app = self._app or await self._load()
        await app(scope, receive, send)

    async def _load(self) -> McpHttpApp:
        async with self._loading:
            if self._app is None:
                module = await asyncio.to_thread(importlib.import_module, "app.servers.mcp_http")
                app: McpHttpApp = module.McpHttpApp(self._service)
                ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._lifespan_task = asyncio.create_task(self._run(app, ready), name="MCP server")
                self._lifespan_task.add_done_callback(self._handle_end)
                await asyncio.wait({ready, self._lifespan_task}, return_when=asyncio.FIRST_COMPLETED)
                if not ready.done():
                    await self._lifespan_task
                self._app = app
            return self._app

    def _handle_end(self, lifespan_task: asyncio.Task[None]) -> None:
        """Let the next request reload a server that ended unexpectedly."""
        if not self._stop.is_set() and not lifespan_task.cancelled():
            self._app = None
            if lifespan_task.exception() is not None:
                log.error("the MCP server ended", exc_info=lifespan_task.exception())

    async def _run(self, app: McpHttpApp, ready: asyncio.Future[None]) -> None:
        """Run the lifespan of the server in one task."""
        async with app.lifespan():
            ready.set_result(None)
            await self._stop.wait()
