"""External servers of an open vault: keep enabled servers running and register their allowed tools."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from app.errors import ConflictError, NetworkError, NotFoundError, PermissionDeniedError, ScriptoriumError
from app.events import EventBus
from app.external.connection import ConnectionState, ConnectionTimeouts, ServerConnection
from app.external.names import category_id, server_slug, tool_name
from app.external.orphan_processes import end_orphans
from app.external.pins import Pins
from app.external.remote_tool import RemoteTool
from app.external.results import MismatchError, RemoteResult, check_output_schema, read_result
from app.external.sanitize import one_line, sanitize_text
from app.external.states import ExternalChanged, ExternalProgress, ServerState, ToolState, ToolStatus
from app.external.stdio_transport import ServerLog, StdioServerSpec, environment_of, stdio_transport
from app.external.tool_adapter import adapt_tool, category_for
from app.permissions.redaction import REDACTED, without_secrets
from app.settings import ExternalServer, ExternalSettings
from app.storage.private import make_private_folder
from app.toolkit.registry import ToolRegistry

KeyOf = Callable[[str, str], str | None]
"""Returns the key for a service and an account, or None."""

_PROGRESS_INTERVAL_S = 0.1
_MIN_SECRET_CHARS = 6
_SETTINGS_PAGE = "Settings, External tools"


@dataclass(slots=True)
class _RunningServer:
    """An enabled server, its connection, and the digest and removal function of each registered tool."""

    server: ExternalServer
    connection: ServerConnection
    remove_category: Callable[[], None]
    registered_tools: dict[str, tuple[str, Callable[[], None]]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


class ExternalServers:
    """Keeps the enabled servers running and registers their allowed tools.

    Belongs to the service thread. An allowed tool is registered immediately, in its allowed form, even before
    its server is running: calls wait for the server. A tool whose description has changed is removed until
    the user has reviewed the difference.

    Args:
        registry: The registry of the tools.
        events: Publishes changes.
        folder: The user's data folder, for allowed tools and the working folders of programs.
        key_of: Returns a server's token.
        on_categories_changed: Called when a category is added or removed, or can now be turned on or off.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        events: EventBus,
        folder: Path,
        key_of: KeyOf,
        on_categories_changed: Callable[[], None],
    ) -> None:
        self._registry = registry
        self._events = events
        self._folder = folder / "external"
        self._key_of = key_of
        self._on_categories_changed = on_categories_changed
        self.timeouts = ConnectionTimeouts()
        self._pins = Pins(folder)
        self._running_servers: dict[str, _RunningServer] = {}
        self._background_tasks: set[asyncio.Task[None]] = set()
        self._configured: tuple[ExternalServer, ...] = ()
        self._is_open = False

    @property
    def problem(self) -> str:
        """The reason why the list of allowed tools could not be read; empty if it could."""
        return self._pins.problem

    @property
    def categories_on(self) -> frozenset[str]:
        """The categories of servers with allowed tools: they are on unless turned off."""
        return frozenset(
            category_id(name) for name, running in self._running_servers.items() if running.registered_tools
        )

    # Lifecycle

    def start(self, settings: ExternalSettings) -> None:
        """Start the enabled servers without waiting for them; end programs that a killed app left behind."""
        self._is_open = True
        if self._folder.exists():
            self._track(asyncio.create_task(self._end_orphans(), name="end orphaned external servers"))
        self.configure(settings)

    def configure(self, settings: ExternalSettings) -> None:
        """Apply the settings; servers whose settings are unchanged keep running.

        Before `start` and after `close`, the settings are only recorded.
        """
        self._configured = settings.servers
        if not self._is_open:
            return
        enabled = _without_duplicates(server for server in settings.servers if server.on)
        for name, running in tuple(self._running_servers.items()):
            if enabled.get(name) != running.server:
                self._remove(name)
        for name, server in enabled.items():
            if name not in self._running_servers:
                self._add(server)
        self._on_categories_changed()

    async def close(self) -> None:
        """Stop all servers and their child processes."""
        self._is_open = False
        for name in tuple(self._running_servers):
            self._remove(name)
        await asyncio.gather(*self._background_tasks, return_exceptions=True)

    def _add(self, server: ExternalServer) -> None:
        handle_change = partial(self._refresh, server.name)
        connection = ServerConnection(
            server.name, partial(self._open_streams, server), handle_change, self.timeouts
        )
        remove = self._registry.add_category(category_for(server))
        self._running_servers[server.name] = _RunningServer(server, connection, remove)
        self._refresh(server.name)
        connection.start()

    def _remove(self, name: str) -> None:
        running = self._running_servers.pop(name)
        for _, unregister in running.registered_tools.values():
            unregister()
        running.remove_category()
        stopping = running.connection.stop()
        self._track(asyncio.create_task(stopping, name=f"end the external server {name}"))
        self._events.publish(ExternalChanged(name))

    def _track(self, task: asyncio.Task[None]) -> None:
        self._background_tasks.add(task)
        task.add_done_callback(self._background_tasks.discard)

    async def _end_orphans(self) -> None:
        await asyncio.to_thread(end_orphans, self._folder)

    def _open_streams(
        self, server: ExternalServer, log: ServerLog, token: str | None = None
    ) -> AbstractAsyncContextManager[Any]:
        """Open the streams of a server, over HTTP with this token or the stored one."""
        if server.transport == "http":
            # The HTTP client takes time to import, and most vaults have no such server.
            from app.external.http_transport import http_transport, token_account

            sent_token = token or self._key_of(*token_account(server.name, server.address))
            return http_transport(server.address, sent_token, log)
        folder = self._folder / server_slug(server.name)
        make_private_folder(folder)
        program = StdioServerSpec(server.command, server.arguments, environment_of(server.variables), folder)
        return stdio_transport(program, log, self.timeouts.exit_timeout)

    # User decisions

    def allow(self, server: str, tool: str, digest: str) -> None:
        """Allow a tool in the form that the user has seen.

        Raises:
            NotFoundError: the server is not enabled, or does not offer the tool.
            ConflictError: the tool has changed since the user saw it.
            OSError: the permission can't be saved.
        """
        running = self._running_server(server)
        listing = running.connection.listing
        current = listing.tools.get(tool) if listing is not None else None
        if current is None:
            raise NotFoundError(
                f"{server} does not currently offer the tool {one_line(tool, 60)}.", tool=tool
            )
        if current.digest != digest:
            message = (
                f"{one_line(tool, 60)} has changed again. It is not allowed yet: review the new version."
            )
            raise ConflictError(message, tool=tool)
        self._pins.allow(running.server, current)
        self._refresh(server)

    def revoke(self, server: str, tool: str) -> None:
        """Revoke the permission for a tool.

        Raises:
            NotFoundError: the server is not enabled.
            OSError: the change can't be saved.
        """
        running = self._running_server(server)
        self._pins.revoke(running.server, tool)
        self._refresh(server)

    def remove_server(self, server: str) -> None:
        """Delete the permissions of a server that was removed from the settings.

        Raises:
            OSError: the change can't be saved.
        """
        self._pins.remove_server(server)

    def retry(self, server: str) -> None:
        """Restart a server; one that is waiting for a restart starts now.

        Raises:
            NotFoundError: the server is not enabled.
        """
        running = self._running_server(server)
        if running.connection.state is ConnectionState.FAILED:
            running.connection.retry()
        else:
            self._remove(server)
            self._add(running.server)

    async def test(self, server: ExternalServer, token: str | None = None) -> ServerState:
        """Connect to a server once, list its tools, disconnect, and return its state; no tool is called.

        Args:
            server: The server, which need not be in the settings.
            token: The token for an HTTP server; the stored one by default.
        """
        finished = asyncio.Event()

        def handle_change() -> None:
            if connection.state in (ConnectionState.RUNNING, ConnectionState.FAILED):
                finished.set()

        open_streams = partial(self._open_streams, server, token=token)
        connection = ServerConnection(server.name, open_streams, handle_change, self.timeouts)
        connection.start()
        try:
            await finished.wait()
            return self._state(server, connection, ())
        finally:
            await asyncio.shield(asyncio.ensure_future(connection.stop()))

    # States

    def states(self) -> tuple[ServerState, ...]:
        """Return the states of all servers in the settings, in order."""
        return tuple(self._state_of(server) for server in self._configured)

    def _state_of(self, server: ExternalServer) -> ServerState:
        running = self._running_servers.get(server.name)
        if running is None or running.server != server:
            problem = (
                f"Another server has the same short name, {server_slug(server.name)}: rename one of them."
            )
            return ServerState(server.name, ConnectionState.OFF, problems=(problem,) if server.on else ())
        return self._state(server, running.connection, tuple(running.problems))

    def _state(
        self, server: ExternalServer, connection: ServerConnection, problems: tuple[str, ...]
    ) -> ServerState:
        listing = connection.listing
        current_tools = dict(listing.tools) if listing is not None else {}
        pinned = self._pins.allowed_tools(server)
        names = sorted({*current_tools, *pinned})
        is_listed = listing is not None
        states = (
            _tool_state(server, name, pinned.get(name), current_tools.get(name), is_listed) for name in names
        )
        missing = tuple(
            f"The variable {name} is not set." for name in server.variables if name not in os.environ
        )
        return ServerState(
            name=server.name,
            connection_state=connection.state,
            reason=self._clean(server, connection.reason),
            implementation=connection.implementation,
            errors=tuple(self._clean(server, line) for line in connection.errors),
            tools=tuple(states),
            problems=(*missing, *problems, *(listing.problems if listing is not None else ())),
            is_listed=is_listed,
        )

    def _clean(self, server: ExternalServer, text: str) -> str:
        """Return a server's text, truncated, without secrets or invisible characters."""
        for name in server.variables:
            value = os.environ.get(name, "")
            if len(value) >= _MIN_SECRET_CHARS:
                text = text.replace(value, REDACTED)
        return sanitize_text(without_secrets(text), 500)

    def _running_server(self, server: str) -> _RunningServer:
        if server not in self._running_servers:
            raise NotFoundError(f"The server {one_line(server, 60)} is not enabled.", server=server)
        return self._running_servers[server]

    # Registered tools

    def _refresh(self, name: str) -> None:
        """Register the allowed and unchanged tools, and remove the others."""
        running = self._running_servers.get(name)
        if running is None:
            return
        listing = running.connection.listing
        allowed_tools: dict[str, RemoteTool] = {}
        for tool in self._pins.allowed_tools(running.server).values():
            current = listing.tools.get(tool.name) if listing is not None else tool
            if current is not None and current.digest == tool.digest:
                allowed_tools[tool_name(name, tool.name)] = tool
        previous_names = set(running.registered_tools)
        for registered_name, (digest, unregister) in tuple(running.registered_tools.items()):
            if registered_name not in allowed_tools or allowed_tools[registered_name].digest != digest:
                unregister()
                del running.registered_tools[registered_name]
        running.problems.clear()
        for registered_name, tool in allowed_tools.items():
            if registered_name not in running.registered_tools:
                self._register_tool(running, registered_name, tool)
        if set(running.registered_tools) != previous_names:
            self._on_categories_changed()
        self._events.publish(ExternalChanged(name))

    def _register_tool(self, running: _RunningServer, registered_name: str, tool: RemoteTool) -> None:
        adapted = adapt_tool(
            running.server, tool, partial(self._check, running), partial(self._call, running)
        )
        try:
            running.registered_tools[registered_name] = (tool.digest, self._registry.register(adapted))
        except ScriptoriumError as error:
            running.problems.append(error.message)

    # Calls

    async def _check(self, running: _RunningServer, tool: RemoteTool) -> None:
        """Check that a tool is still what the user allowed.

        Raises:
            PermissionDeniedError: the tool has changed or is no longer allowed.
            NotFoundError: its server no longer offers it.
            NetworkError, TimeoutExpiredError: as in `ServerConnection.tools`.
        """
        name = running.server.name
        current = (await running.connection.tools()).get(tool.name)
        if current is None:
            raise NotFoundError(f"{name} no longer offers {one_line(tool.name, 60)}.", tool=tool.name)
        if current.digest != tool.digest:
            message = (
                f"{name} has changed its description of {one_line(tool.name, 60)} since you allowed it."
                f" The tool is off until you review it in {_SETTINGS_PAGE}."
            )
            raise PermissionDeniedError(message, tool=tool.name)
        allowed = self._pins.allowed_tools(running.server).get(tool.name)
        if allowed is None or allowed.digest != tool.digest or self._running_servers.get(name) is not running:
            raise PermissionDeniedError(f"{one_line(tool.name, 60)} is no longer allowed.", tool=tool.name)

    async def _call(
        self, running: _RunningServer, tool: RemoteTool, arguments: dict[str, object]
    ) -> RemoteResult:
        """Call a tool of a server and publish its progress.

        Raises:
            NetworkError: the call failed, or the result violates the tool's output schema; `said` holds the
                message of a failure.
            TimeoutExpiredError, LimitError: as in `ServerConnection.call`.
        """
        server = running.server
        clock = asyncio.get_running_loop().time
        last_report = float("-inf")
        registered_name = tool_name(server.name, tool.name)

        def report_progress(share: float | None, message_text: str) -> None:
            nonlocal last_report
            if clock() - last_report >= _PROGRESS_INTERVAL_S:
                last_report = clock()
                self._events.publish(ExternalProgress(registered_name, share, one_line(message_text, 200)))

        response = await running.connection.call(tool.name, arguments, server.seconds, report_progress)
        try:
            await asyncio.to_thread(check_output_schema, response, tool.output_schema)
        except MismatchError as error:
            message = f"{server.name} violated its own schema: {error}. Its answer was discarded."
            raise NetworkError(message, server=server.name) from error
        result = await asyncio.to_thread(read_result, response, server.name, tool.name)
        if response.is_error:
            message = f"{server.name} reports that {one_line(tool.name, 60)} failed."
            raise NetworkError(message, server=server.name, said=result.text)
        return result


def _without_duplicates(servers: Iterable[ExternalServer]) -> dict[str, ExternalServer]:
    """Return the servers by name; of several with the same short name, only the first."""
    unique: dict[str, ExternalServer] = {}
    used_names: set[str] = set()
    for server in servers:
        slug = server_slug(server.name)
        if slug not in used_names:
            used_names.add(slug)
            unique[server.name] = server
    return unique


def _tool_state(
    server: ExternalServer, name: str, pinned: RemoteTool | None, current: RemoteTool | None, is_listed: bool
) -> ToolState:
    status: ToolStatus = "allowed"
    if pinned is None:
        status = "new"
    elif current is None:
        status = "gone" if is_listed else "allowed"
    elif current.digest != pinned.digest:
        status = "changed"
    tool = current or pinned
    assert tool is not None
    return ToolState(
        name=name,
        registered_name=tool_name(server.name, name),
        summary=tool.summary,
        status=status,
        digest=current.digest if current is not None else "",
        hints=tool.hint_labels,
        current_text=current.text if current is not None else "",
        allowed_text=pinned.text if pinned is not None else "",
    )
