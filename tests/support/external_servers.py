"""External servers for tests, and helpers to run them."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.events import EventBus
from app.external.connection import ConnectionState, ConnectionTimeouts
from app.external.servers import ExternalServers
from app.external.states import ExternalChanged, ServerState
from app.permissions.caller import Caller, CallerKind
from app.settings import ExternalServer
from app.workspace.workspace import Workspace

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent", turn="turn")
QUICK = ConnectionTimeouts(
    start_timeout=60.0,
    initial_delay=0.05,
    max_delay=0.2,
    exit_timeout=0.3,
    list_ttl=0.0,
    min_list_interval=0.0,
)
"""Waits are short, and the list of tools is never cached."""


def listed(name: str, description: str = "Does something.", **more: Any) -> dict[str, Any]:
    """Return a tool as a server lists it."""
    return {"name": name, "description": description, "inputSchema": {"type": "object"}, **more}


class PlainServer:
    """A server program whose tools and behavior can be changed while it runs."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._file = folder / f"{name}.json"
        self.configure(tools=[listed("echo")])

    def configure(self, **config: Any) -> None:
        """Replace the file that the program reads; `plain_mcp_server.py` describes it."""
        self._file.write_text(json.dumps(config), "utf-8")

    @property
    def settings(self) -> ExternalServer:
        """The app's settings for the server."""
        program = Path(__file__).with_name("plain_mcp_server.py")
        arguments = ("-S", str(program), str(self._file))
        return ExternalServer(
            name=self.name, command=sys.executable, arguments=arguments, on=True, seconds=30
        )

    @property
    def notes(self) -> list[Any]:
        """The events that the program has recorded."""
        file = Path(f"{self._file}.notes")
        return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []


async def until(events: EventBus, condition: Callable[[], bool]) -> None:
    """Wait until a condition is true, checking it after each change."""
    changed = asyncio.Event()
    stop = events.subscribe(ExternalChanged, lambda _: changed.set())
    try:
        while not condition():
            await changed.wait()
            changed.clear()
    finally:
        stop()


def state(external: ExternalServers, name: str) -> ServerState:
    """Return the state of the server with this name, which must exist."""
    return next(server_state for server_state in external.states() if server_state.name == name)


async def wait_for_state(workspace: Workspace, name: str, wanted: ConnectionState) -> ServerState:
    """Wait until a server has this state, and return it."""
    await until(workspace.events, lambda: state(workspace.external, name).connection_state is wanted)
    return state(workspace.external, name)


async def run_server(workspace: Workspace, *servers: ExternalServer) -> None:
    """Set these servers in the settings, and wait until they run."""
    workspace.change_settings("external", servers=servers)
    for server in servers:
        await wait_for_state(workspace, server.name, ConnectionState.RUNNING)


def allow_all(workspace: Workspace, name: str) -> dict[str, str]:
    """Allow all tools of a server in their current form; return their names in the registry."""
    for tool in state(workspace.external, name).tools:
        workspace.external.allow(name, tool.name, tool.digest)
    return {tool.name: tool.registered_name for tool in state(workspace.external, name).tools}
