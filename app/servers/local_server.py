"""The local server, which makes an open vault available to programs on this machine (127.0.0.1 only)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from app.errors import NetworkError
from app.events import EventBus
from app.permissions.caller import CallerKind
from app.servers.auth_failures import AuthFailures
from app.servers.codec import API_PREFIX
from app.servers.connection_limits import ConnectionLimiter, protocol_class
from app.servers.endpoint_file import Endpoint, new_endpoint, publish, unpublish
from app.servers.http_api import http_api
from app.servers.local_vault import LocalVaultAccess
from app.servers.security import Mount, SecurityMiddleware
from app.servers.server_state import Holder, OnYield
from app.servers.tokens import ClientsChanged, ClientTokens
from app.settings import ServerSettings

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
MCP_PATH = "/mcp"
_BACKLOG = 64
_MAX_HEADER_BYTES = 32 * 1024
_KEEP_ALIVE_TIMEOUT_S = 30
_SHUTDOWN_TIMEOUT_S = 3.0

Lifespan = Callable[[], AbstractAsyncContextManager[object]]


@dataclass(frozen=True, slots=True)
class MountedApp:
    """An app that the server serves in addition to the HTTP API, and its lifespan."""

    app: ASGIApp
    lifespan: Lifespan = contextlib.nullcontext


class LocalServer:
    """Serves one open vault to programs on this machine.

    Args:
        service: The vault.
        tokens: The programs that may connect.
        folder: The vault's data folder, for `door.json`.
        settings: Returns the current settings.
        events: Announces revoked clients, and receives rejected tokens.
        mcp: The MCP server's app; None to disable MCP.
        holder: What kind of process this is.
        on_yield: Closes the vault when another process asks for it; None if that is not allowed.
    """

    def __init__(
        self,
        service: LocalVaultAccess,
        tokens: ClientTokens,
        folder: Path,
        settings: Callable[[], ServerSettings],
        events: EventBus,
        mcp: MountedApp | None = None,
        holder: Holder = "desktop",
        on_yield: OnYield | None = None,
    ) -> None:
        self._service = service
        self._tokens = tokens
        self._folder = folder
        self._settings = settings
        self._mcp = mcp
        self.holder = holder
        self.on_yield = on_yield
        self._stop = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None
        self._middleware: SecurityMiddleware | None = None
        self.connections = ConnectionLimiter()
        self.auth_failures = AuthFailures(events)
        self.endpoint: Endpoint | None = None
        self._events = events
        self._unsubscribe: Callable[[], None] = lambda: None

    async def open(self) -> int:
        """Listen on the port in the settings, or another one if it is taken, and publish the endpoint file.

        Returns:
            The port; if the server is already open, its current one.

        Raises:
            NetworkError: no port is available, or the server could not be started.
            StorageError: the endpoint file can't be written.
        """
        if self.endpoint is not None:
            return self.endpoint.port
        listener = _listen(self._settings().port)
        endpoint = new_endpoint(int(listener.getsockname()[1]), self.holder)
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._stop.clear()
        self.connections.closed = False
        self._serving = asyncio.create_task(self._serve(listener, endpoint, ready), name="local server")
        # Close it however the task ends, even before its first step.
        self._serving.add_done_callback(lambda _: listener.close())
        try:
            await asyncio.wait({self._serving, ready}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.close()
            raise
        if not ready.done():
            ready.cancel()
            serving, self._serving = self._serving, None
            raise NetworkError(f"The local server could not be started: {serving.exception()}.")
        try:
            await asyncio.to_thread(publish, self._folder, endpoint)
        except BaseException:
            await self.close()
            raise
        self.endpoint = endpoint
        self._unsubscribe = self._events.subscribe(ClientsChanged, self._end_revoked_requests)
        return endpoint.port

    def apply_settings(self) -> None:
        """Cancel running requests to apps that the settings now turn off."""
        if self._middleware is not None:
            self._middleware.end_closed_requests()

    @property
    def has_failed(self) -> bool:
        """True if the server has ended unexpectedly."""
        return self._serving is not None and self._serving.done() and not self._stop.is_set()

    async def wait_closed(self) -> None:
        """Wait until the server is closed.

        Raises:
            NetworkError: it ended unexpectedly.
        """
        if self._serving is None:
            return
        await asyncio.wait({self._serving})
        if not self._stop.is_set():
            error = None if self._serving.cancelled() else self._serving.exception()
            raise NetworkError(f"The local server ended: {error or 'it was stopped'}.")

    async def close(self) -> None:
        """Remove the endpoint file, stop listening and cancel running requests."""
        self._unsubscribe()
        self.auth_failures.close()
        endpoint, self.endpoint = self.endpoint, None
        if endpoint is not None:
            await asyncio.to_thread(unpublish, self._folder, endpoint)
        if self._serving is not None:
            self._stop.set()
            await asyncio.gather(self._serving, return_exceptions=True)
            self._serving = None

    async def _serve(self, listener: socket.socket, endpoint: Endpoint, ready: asyncio.Future[None]) -> None:
        self._middleware = middleware = SecurityMiddleware(
            self._mounts(),
            endpoint.port,
            self._tokens.authenticate,
            endpoint.token,
            self.connections.mark_authenticated,
            self.connections.drop,
            self._service.client_registry.mark_seen,
            self.auth_failures.add,
        )
        server = _Server(middleware, self.connections, self._stop, ready)
        async with AsyncExitStack() as stack:
            if self._mcp is not None:
                await stack.enter_async_context(self._mcp.lifespan())
            try:
                await server.serve(sockets=[listener])
            finally:
                # A server that is canceled or fails does not close its listeners.
                for asyncio_server in getattr(server, "servers", ()):
                    asyncio_server.close()
                self.connections.close()

    def _mounts(self) -> tuple[Mount, ...]:
        mounts = [
            Mount(
                API_PREFIX, CallerKind.HTTP, http_api(self._service, self.on_yield), self._api_closed_reason
            )
        ]
        if self._mcp is not None:
            mounts.append(Mount(MCP_PATH, CallerKind.MCP, self._mcp.app, self._mcp_closed_reason))
        return tuple(mounts)

    def _api_closed_reason(self) -> str:
        return "" if self._settings().http_api else "The HTTP API is turned off in the settings."

    def _mcp_closed_reason(self) -> str:
        return "" if self._settings().mcp else "The MCP server is turned off in the settings."

    def _end_revoked_requests(self, event: ClientsChanged) -> None:
        if self._middleware is not None:
            for name in event.revoked_names:
                self._middleware.end_requests(name)


class _Server(uvicorn.Server):
    """A uvicorn server inside the app: it leaves signals to the app and stops on an event."""

    def __init__(
        self,
        middleware: SecurityMiddleware,
        connections: ConnectionLimiter,
        stop: asyncio.Event,
        ready: asyncio.Future[None],
    ) -> None:
        config = uvicorn.Config(
            middleware,
            HOST,
            http=protocol_class(connections),
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            backlog=_BACKLOG,
            timeout_keep_alive=_KEEP_ALIVE_TIMEOUT_S,
            h11_max_incomplete_event_size=_MAX_HEADER_BYTES,
        )
        super().__init__(config)
        self._middleware = middleware
        self._connections = connections
        self._stop = stop
        self._ready = ready

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to the app."""
        yield

    async def main_loop(self) -> None:
        """Wait until the server is stopped."""
        self._ready.set_result(None)
        await self._stop.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Cancel running requests, then drop the connections."""
        for server in self.servers:
            server.close()
        self._middleware.end_all_requests()
        if self.server_state.tasks:
            await asyncio.wait(set(self.server_state.tasks), timeout=_SHUTDOWN_TIMEOUT_S)
        self._connections.close()
        await asyncio.sleep(0)


def _listen(port: int) -> socket.socket:
    """Return a socket on 127.0.0.1 at `port`, or at any free port.

    Raises:
        NetworkError: no port is available.
    """
    for candidate in (port, 0):
        # With an explicit protocol, asyncio disables Nagle's algorithm, which delays responses by 40 ms.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if os.name == "posix":
                # Allows reusing a port that was closed recently. On Windows this would share the port.
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((HOST, candidate))
            # Two sockets can be bound to a port with this option, but only one can listen on it.
            listener.listen()
            listener.setblocking(False)
            return listener
        except OSError as error:
            listener.close()
            log.info("port %d is not available: %s", candidate, error)
            last_error = error
    raise NetworkError(f"No port on this machine is available: {last_error.strerror or last_error}.")
