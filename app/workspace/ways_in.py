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
from app.servers.door_state import DoorChanged, DoorState, Holder, OnYield
from app.servers.hub import Hub
from app.servers.mcp_mount import McpMount
from app.servers.tokens import ClientTokens
from app.settings import ServerSettings
from app.toolkit.registry import ToolRegistry
from app.toolkit.runner import ToolRunner
from app.toolkit.trail import Trail

if TYPE_CHECKING:
    from app.servers.local_server import Door

log = logging.getLogger(__name__)


class WaysIn:
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
        self.hub = Hub(name, runner, registry, events)
        self.tokens = ClientTokens(folder, events) if folder is not None else None
        if self.tokens is not None:
            self.tokens.on_set = partial(_log_token, runner.trail)
        self.door: Door | None = None
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

    def state(self) -> DoorState:
        """Where programs of this machine come in, and why they don't."""
        wanted = self._settings().port
        if self.door is None or (sign := self.door.sign) is None:
            return DoorState(wanted_port=wanted, problem=self._problem)
        return DoorState(sign.address, sign.port, wanted, self._problem, self.door.refusals.last)

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
            self._events.publish(DoorChanged(self.state()))
            return self._problem
        log.info("other programs may use the vault at port %d", port)
        return self.tokens.problem

    def settings_changed(self) -> None:
        """Let other settings take effect: what is switched off ends, and another port is moved to."""
        self.hub.tools_changed()
        if self.door is None:
            return
        self.door.settings_changed()
        if self._settings().port != self._wanted and (self._moving is None or self._moving.done()):
            self._moving = asyncio.create_task(self._move(), name="move the local server")

    async def _move(self) -> None:
        """Close the door and open it at the port of the settings; the clients have to come anew."""
        async with self._opening:
            if self.door is None:
                return
            holder, on_yield = self.door.holder, self.door.on_yield
            door, self.door = self.door, None
            await door.close()
            try:
                await self._open(holder, on_yield)
            except ScriptoriumError as error:
                self._problem = f"Other programs can't use this vault now: {error.message}"
                self._events.publish(DoorChanged(self.state()))

    async def _open(self, holder: Holder, on_yield: OnYield | None) -> int:
        if self._closed:
            raise NetworkError("The vault is closed.")
        if self._folder is None or self.tokens is None:
            raise NetworkError("A vault that is open for reading only serves no other programs.")
        if self.door is not None and self.door.sign is not None:
            return self.door.sign.port
        # A quarter of a second of imports, which whoever only looks at a vault does without.
        server = await asyncio.to_thread(importlib.import_module, "app.servers.local_server")
        mcp = McpMount(self.hub)
        door: Door = server.Door(
            self.hub,
            self.tokens,
            self._folder,
            self._settings,
            self._events,
            server.Mounted(mcp, mcp.lifespan),
            holder=holder,
            on_yield=on_yield,
        )
        self._wanted, self._problem = self._settings().port, ""
        port = await door.open()
        self.door = door
        self._events.publish(DoorChanged(self.state()))
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
                if self.door is not None and self.door.has_failed and self._problem:
                    door, self.door = self.door, None
                    await door.close()
                    await self._open(door.holder, door.on_yield)
                serving = self.door
            if serving is None:
                return
            try:
                await serving.wait_ended()
            except NetworkError as error:
                self._problem = f"Other programs can't use this vault now: {error.message}"
                self._events.publish(DoorChanged(self.state()))
                raise

    async def close(self) -> None:
        """Let nobody in any more, and withdraw what clients wait for."""
        self._closed = True
        await self._supervisor.close()
        async with self._opening:
            if self.door is not None:
                await self.door.close()
                self.door = None
                self._events.publish(DoorChanged(self.state()))
        if self._moving is not None:
            await asyncio.gather(self._moving, return_exceptions=True)
        await self.hub.close()


_TOKEN_LINES = {
    "create": "Gave {0} a token.",
    "renew": "Gave {0} a new token; the one before is void.",
    "revoke": "Revoked the token of {0}.",
}


def _log_token(trail: Trail, op: str, name: str) -> None:
    trail.set_by_user("tokens", {"op": op, "name": name}, _TOKEN_LINES[op].format(name))
