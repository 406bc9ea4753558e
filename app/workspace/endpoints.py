"""A vault's server side: access for local programs, their tokens, and their endpoint."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.errors import NetworkError, ScriptoriumError
from app.events import EventBus
from app.servers.local_vault import LocalVaultAccess
from app.servers.mcp_lazy_app import LazyMcpApp
from app.servers.server_state import Holder, LocalServerState, LocalServerStateChanged, OnYield
from app.servers.tokens import ClientTokens
from app.settings import ServerSettings
from app.task_supervisor import TaskSupervisor
from app.toolkit.audit_writer import AuditWriter
from app.toolkit.memory_service import Memory
from app.toolkit.pending import PendingOperations
from app.toolkit.registry import ToolRegistry
from app.toolkit.runner import ToolRunner

if TYPE_CHECKING:
    from app.servers.local_server import LocalServer

log = logging.getLogger(__name__)


class Endpoints:
    """Gives other programs access to an open vault, once the endpoint has been opened.

    Args:
        name: The vault's name.
        folder: The vault's data folder; None if the vault is open read-only and can't have an endpoint.
        settings: Returns the current settings.
    """

    def __init__(
        self,
        name: str,
        runner: ToolRunner,
        registry: ToolRegistry,
        events: EventBus,
        folder: Path | None,
        settings: Callable[[], ServerSettings],
        pending: PendingOperations,
        memory: Memory,
    ) -> None:
        self.local_vault = LocalVaultAccess(name, runner, registry, events, pending, memory)
        self.tokens = ClientTokens(folder, events) if folder is not None else None
        if self.tokens is not None:
            self.tokens.on_set = partial(_log_token, runner.audit_writer)
        self.server: LocalServer | None = None
        self._folder = folder
        self._events = events
        self._settings = settings
        self._lock = asyncio.Lock()
        self._move_task: asyncio.Task[None] | None = None
        self._serve_task: asyncio.Task[None] | None = None
        self._supervisor = TaskSupervisor(events)
        self._wanted_port = 0
        self._problem = ""
        self._is_closed = False

    def state(self) -> LocalServerState:
        """Return the local server's address if it is open, the port setting, problems and rejected tokens."""
        wanted_port = self._settings().port
        if self.server is None or (endpoint := self.server.endpoint) is None:
            return LocalServerState(wanted_port=wanted_port, problem=self._problem)
        return LocalServerState(
            endpoint.address, endpoint.port, wanted_port, self._problem, self.server.auth_failures.last
        )

    async def open(self, holder: Holder = "desktop", on_yield: OnYield | None = None) -> int:
        """Open the endpoint for local programs and return its port.

        Args:
            holder: What kind of process this is.
            on_yield: Closes the vault when another of the user's processes requests it.

        Raises:
            NetworkError: No port is available, or the vault is closed or open read-only.
            StorageError: The endpoint could not be announced to other processes.
        """
        async with self._lock:
            return await self._open(holder, on_yield)

    async def begin(self) -> str:
        """Open the endpoint unless the vault is read-only; return a problem or an empty string."""
        if self.tokens is None:
            return ""
        try:
            port = await self.open()
        except ScriptoriumError as error:
            self._report_problem(error)
            return self._problem
        log.info("other programs can use the vault on port %d", port)
        return self.tokens.problem

    def apply_settings(self) -> None:
        """Apply changed settings to the tools and the server, and reopen the server if its port changed."""
        self.local_vault.notify_tools_changed()
        if self.server is None:
            return
        self.server.apply_settings()
        if self._settings().port != self._wanted_port and (self._move_task is None or self._move_task.done()):
            self._move_task = asyncio.create_task(self._move(), name="move the local server")

    async def _move(self) -> None:
        """Reopen the endpoint on the port in the settings; clients have to reconnect."""
        async with self._lock:
            if self.server is None:
                return
            holder, on_yield = self.server.holder, self.server.on_yield
            local_server, self.server = self.server, None
            await local_server.close()
            try:
                await self._open(holder, on_yield)
            except ScriptoriumError as error:
                self._report_problem(error)

    def _report_problem(self, error: ScriptoriumError) -> None:
        self._problem = f"Other programs can't use this vault. {error.message}"
        self._events.publish(LocalServerStateChanged(self.state()))

    async def _open(self, holder: Holder, on_yield: OnYield | None) -> int:
        if self._is_closed:
            raise NetworkError("The vault is closed.")
        if self._folder is None or self.tokens is None:
            raise NetworkError("A vault that is open read-only can't serve other programs.")
        if self.server is not None and self.server.endpoint is not None:
            return self.server.endpoint.port
        # Imported late: it takes a quarter of a second, and read-only access does not need it.
        server_module = await asyncio.to_thread(importlib.import_module, "app.servers.local_server")
        mcp = LazyMcpApp(self.local_vault)
        local_server: LocalServer = server_module.LocalServer(
            self.local_vault,
            self.tokens,
            self._folder,
            self._settings,
            self._events,
            server_module.MountedApp(mcp, mcp.lifespan),
            holder=holder,
            on_yield=on_yield,
        )
        self._wanted_port, self._problem = self._settings().port, ""
        port = await local_server.open()
        self.server = local_server
        self._events.publish(LocalServerStateChanged(self.state()))
        if self._serve_task is None or self._serve_task.done():
            self._serve_task = self._supervisor.start("serve other programs", self._serve)
        return port

    async def _serve(self) -> None:
        """Wait until the server is closed, across port changes; when restarted, reopen a failed server.

        Raises:
            NetworkError: The server stopped unexpectedly, or could not be reopened.
            StorageError: The reopened endpoint could not be announced to other processes.
        """
        while True:
            async with self._lock:
                if self._is_closed:
                    return
                if self.server is not None and self.server.has_failed and self._problem:
                    local_server, self.server = self.server, None
                    await local_server.close()
                    await self._open(local_server.holder, local_server.on_yield)
                current_server = self.server
            if current_server is None:
                return
            try:
                await current_server.wait_closed()
            except NetworkError as error:
                self._report_problem(error)
                raise

    async def close(self) -> None:
        """Stop accepting clients, and cancel their pending requests."""
        self._is_closed = True
        await self._supervisor.close()
        async with self._lock:
            if self.server is not None:
                await self.server.close()
                self.server = None
                self._events.publish(LocalServerStateChanged(self.state()))
        if self._move_task is not None:
            await asyncio.gather(self._move_task, return_exceptions=True)
        await self.local_vault.close()


_TOKEN_LINES = {
    "create": "Created a token for {0}.",
    "renew": "Created a new token for {0}; the previous one is no longer valid.",
    "revoke": "Revoked the token for {0}.",
}


def _log_token(audit: AuditWriter, op: str, name: str) -> None:
    audit.log_user_setting("tokens", {"op": op, "name": name}, _TOKEN_LINES[op].format(name))
