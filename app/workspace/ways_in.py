"""The ways in from outside, put together: the hub, who has a token, and the door of this machine."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.errors import NetworkError, ScriptoriumError
from app.events import EventBus
from app.servers.hub import Hub
from app.servers.tokens import ClientTokens
from app.settings import ServerSettings
from app.toolkit.registry import ToolRegistry
from app.toolkit.runner import ToolRunner

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
        self.door: Door | None = None
        self._folder = folder
        self._events = events
        self._settings = settings
        self._opening = asyncio.Lock()

    async def open(self) -> int:
        """Let programs of this machine in; the port.

        Raises:
            NetworkError: no port could be had, or the vault is open for reading only.
            StorageError: other processes could not be told.
        """
        async with self._opening:
            if self._folder is None or self.tokens is None:
                raise NetworkError("A vault that is open for reading only serves no other programs.")
            if self.door is None:
                # A quarter of a second of imports, which whoever only looks at a vault does without.
                server = await asyncio.to_thread(importlib.import_module, "app.servers.local_server")
                self.door = server.Door(
                    self.hub, self.tokens, self._folder, self._settings, self._events
                )
            return await self.door.open()

    async def begin(self) -> str:
        """Open the door, where the vault is this app's; why that was not possible, for the user, or empty."""
        if self.tokens is None:
            return ""
        try:
            port = await self.open()
        except ScriptoriumError as error:
            return f"Other programs can't use this vault now: {error.message}"
        log.info("other programs may use the vault at port %d", port)
        return self.tokens.problem

    async def close(self) -> None:
        """Let nobody in any more, and withdraw what clients wait for."""
        async with self._opening:
            if self.door is not None:
                await self.door.close()
                self.door = None
        self.hub.close()
