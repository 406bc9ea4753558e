"""The ways in from outside, put together: the hub, who has a token, and the door of this machine."""

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
from app.processes.supervisor import Supervisor
from app.servers.local_vault import LocalVaultService
from app.servers.mcp_lazy_app import LazyMcpApp
from app.servers.server_state import Holder, LocalServerState, LocalServerStateChanged, OnYield
from app.servers.tokens import ClientTokens
from app.settings import ServerSettings
from app.toolkit.audit_writer import AuditWriter
from app.toolkit.registry import ToolRegistry
from app.toolkit.runner import ToolRunner

if TYPE_CHECKING:
    from app.servers.local_server import LocalServer

log = logging.getLogger(__name__)


class Endpoints:
    """Lets programs outside use an open vault. The hub is there at once; the door has to be opened.

    Args:
        name: The vault's.
        folder: Its data folder; None for a vault that is open for reading beside another app: the door is
            that one's.
        settings: What is in force at the moment.
    """

    def __init__(
        self,
        name: str,
        runner: ToolRunner,
        registry: ToolRegistry,
        events: EventBus,
        folder: Path | None,
        settings: Callable[[], ServerSettings],
    ) -> None:
        self.local_vault = LocalVaultService(name, runner, registry, events)
        self.tokens = ClientTokens(folder, events) if folder is not None else None
        if self.tokens is not None:
            self.tokens.on_set = partial(_log_token, runner.audit_writer)
        self.server: LocalServer | None = None
        self._folder = folder
        self._events = events
        self._settings = settings
        self._opening = asyncio.Lock()
        self._moving: asyncio.Task[None] | None = None
        self._serving: asyncio.Task[None] | None = None
        self._supervisor = Supervisor(events)
        self._wanted = 0
        self._problem = ""
        self._closed = False

    def state(self) -> LocalServerState:
        """Where programs of this machine come in, and why they don't."""
        wanted = self._settings().port
        if self.server is None or (sign := self.server.endpoint) is None:
            return LocalServerState(wanted_port=wanted, problem=self._problem)
        return LocalServerState(
            sign.address, sign.port, wanted, self._problem, self.server.auth_failures.last
        )

    async def open(self, holder: Holder = "desktop", on_yield: OnYield | None = None) -> int:
        """Let programs of this machine in; the port.

        Args:
            holder: What this process is.
            on_yield: Closes the vault when another process of the user asks for it.

        Raises:
            NetworkError: no port could be had, or the vault is open for reading only.
            StorageError: other processes could not be told.
        """
        async with self._opening:
            return await self._open(holder, on_yield)

    async def begin(self) -> str:
        """Open the door, where the vault is this app's; why that was not possible, for the user, or empty."""
        if self.tokens is None:
            return ""
        try:
            port = await self.open()
        except ScriptoriumError as error:
            self._problem = f"Other programs can't use this vault now: {error.message}"
            self._events.publish(LocalServerStateChanged(self.state()))
            return self._problem
        log.info("other programs may use the vault at port %d", port)
        return self.tokens.problem

    def settings_changed(self) -> None:
        """Let other settings take effect: what is switched off ends, and another port is moved to."""
        self.local_vault.tools_changed()
        if self.server is None:
            return
        self.server.settings_changed()
        if self._settings().port != self._wanted and (self._moving is None or self._moving.done()):
            self._moving = asyncio.create_task(self._move(), name="move the local server")

    async def _move(self) -> None:
        """Close the door and open it at the port of the settings; the clients have to come anew."""
        async with self._opening:
            if self.server is None:
                return
            holder, on_yield = self.server.holder, self.server.on_yield
            door, self.server = self.server, None
            await door.close()
            try:
                await self._open(holder, on_yield)
            except ScriptoriumError as error:
                self._problem = f"Other programs can't use this vault now: {error.message}"
                self._events.publish(LocalServerStateChanged(self.state()))

    async def _open(self, holder: Holder, on_yield: OnYield | None) -> int:
        if self._closed:
            raise NetworkError("The vault is closed.")
        if self._folder is None or self.tokens is None:
            raise NetworkError("A vault that is open for reading only serves no other programs.")
        if self.server is not None and self.server.endpoint is not None:
            return self.server.endpoint.port
        # A quarter of a second of imports, which whoever only looks at a vault does without.
        server = await asyncio.to_thread(importlib.import_module, "app.servers.local_server")
        mcp = LazyMcpApp(self.local_vault)
        door: LocalServer = server.LocalServer(
            self.local_vault,
            self.tokens,
            self._folder,
            self._settings,
            self._events,
            server.MountedApp(mcp, mcp.lifespan),
            holder=holder,
            on_yield=on_yield,
        )
        self._wanted, self._problem = self._settings().port, ""
        port = await door.open()
        self.server = door
        self._events.publish(LocalServerStateChanged(self.state()))
        if self._serving is None or self._serving.done():
            self._serving = self._supervisor.start("serve other programs", self._serve)
        return port

    async def _serve(self) -> None:
        """Wait until the server is closed, also one that was moved to another port; reopen one that failed.

        Raises:
            NetworkError: the server ended by itself, or could not be opened again.
        """
        while True:
            async with self._opening:
                if self._closed:
                    return
                if self.server is not None and self.server.has_failed and self._problem:
                    door, self.server = self.server, None
                    await door.close()
                    await self._open(door.holder, door.on_yield)
                serving = self.server
            if serving is None:
                return
            try:
                await serving.wait_closed()
            except NetworkError as error:
                self._problem = f"Other programs can't use this vault now: {error.message}"
                self._events.publish(LocalServerStateChanged(self.state()))
                raise

    async def close(self) -> None:
        """Let nobody in any more, and withdraw what clients wait for."""
        self._closed = True
        await self._supervisor.close()
        async with self._opening:
            if self.server is not None:
                await self.server.close()
                self.server = None
                self._events.publish(LocalServerStateChanged(self.state()))
        if self._moving is not None:
            await asyncio.gather(self._moving, return_exceptions=True)
        await self.local_vault.close()


_TOKEN_LINES = {
    "create": "Gave {0} a token.",
    "renew": "Gave {0} a new token; the one before is void.",
    "revoke": "Revoked the token of {0}.",
}


def _log_token(trail: AuditWriter, op: str, name: str) -> None:
    trail.log_user_setting("tokens", {"op": op, "name": name}, _TOKEN_LINES[op].format(name))
