"""The clients of the MCP server: their notifications and their tools.

Each client has one stream of changes for all its connections. The notifications for both protocol eras are
derived from this stream, and the list of tools is cached until it changes.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any, cast

from mcp.server.subscriptions import (
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)

from app.errors import LimitError, ScriptoriumError
from app.servers.mcp_tools import McpTool
from app.servers.mcp_uris import parse_uri
from app.servers.vault_access import Client, VaultAccess, VaultChange

log = logging.getLogger(__name__)

_MAX_STREAMS = 16
_MAX_CLIENTS = 256
_IDLE_TIMEOUT_S = 60.0
Listener = Callable[[ServerEvent], None]


class McpSession:
    """One client: its tools and listeners. Implements the SDK's `SubscriptionBus`."""

    def __init__(self, service: VaultAccess, client: Client) -> None:
        self._service = service
        self._client = client
        self._listeners: dict[object, Listener] = {}
        self._watched_uris: Counter[str] = Counter()
        self._tools: Mapping[str, McpTool] | None = None
        self._version = 0
        self._follow_task: asyncio.Task[None] | None = None
        self._last_used = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.listen = ListenHandler(self, max_subscriptions=_MAX_STREAMS)

    @property
    def is_idle(self) -> bool:
        """True if the client has no listeners."""
        return not self._listeners

    async def tools(self) -> Mapping[str, McpTool]:
        """Return the tools that the client may call, by name.

        Raises:
            ScriptoriumError: as in `VaultAccess.tools`.
        """
        self._start_following()
        if self._tools is not None:
            return self._tools
        version = self._version
        tools = {
            entry.name: McpTool.from_descriptor(entry) for entry in await self._service.tools(self._client)
        }
        if version == self._version:
            self._tools = tools
        return tools

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Send each event to `listener` until the returned function is called."""
        self._start_following()
        key = object()
        self._listeners[key] = listener
        return lambda: cast("None", self._listeners.pop(key, None))

    def watch(self, uris: Iterable[str]) -> Callable[[], None]:
        """Report changes to these resources until the returned function is called."""
        new_uris = Counter(uris)
        self._watched_uris += new_uris

        def unwatch() -> None:
            self._watched_uris -= new_uris

        return unwatch

    async def publish(self, event: ServerEvent) -> None:
        """Send an event to the listeners."""
        self._notify(event)
        await asyncio.sleep(0)

    async def close(self) -> None:
        """End the stream of changes and the subscriptions."""
        self.listen.close()
        if self._timer is not None:
            self._timer.cancel()
        if self._follow_task is not None:
            self._follow_task.cancel()
            await asyncio.gather(self._follow_task, return_exceptions=True)

    def _start_following(self) -> None:
        loop = asyncio.get_running_loop()
        self._last_used = loop.time()
        if self._follow_task is None or self._follow_task.done():
            self._timer = loop.call_later(_IDLE_TIMEOUT_S, self._stop_when_idle)
            self._version += 1
            self._tools = None
            changes = self._service.changes(self._client)
            self._follow_task = asyncio.create_task(
                self._read_changes(changes), name=f"changes for {self._client.name}"
            )

    def _stop_when_idle(self) -> None:
        """Stop following changes when the client has no listeners and has made no calls for a while.

        A client that follows changes counts as connected, and the 2026 protocol has no session to end.
        """
        loop = asyncio.get_running_loop()
        remaining = self._last_used + _IDLE_TIMEOUT_S - loop.time()
        if self._listeners or remaining > 0:
            self._timer = loop.call_later(max(remaining, _IDLE_TIMEOUT_S / 10), self._stop_when_idle)
        elif self._follow_task is not None:
            self._follow_task.cancel()

    async def _read_changes(self, changes: AsyncIterator[VaultChange]) -> None:
        try:
            async with aclosing(cast("Any", changes)):
                async for change in changes:
                    self._handle_change(change)
        except ScriptoriumError as error:
            log.info("the changes for %s ended: %s", self._client.name, error)
        except Exception:
            log.exception("the changes for %s ended", self._client.name)
        finally:
            self._version += 1
            self._tools = None

    def _handle_change(self, change: VaultChange) -> None:
        if change.kind == "tools":
            self._version += 1
            self._tools = None
            self._notify(ToolsListChanged())
            self._notify(PromptsListChanged())
        elif change.kind == "notes":
            self._notify_resources("note", frozenset(change.paths))
        elif change.kind == "memory":
            self._notify_resources("block", frozenset())
        if change.kind in ("notes", "memory") and change.listed:
            self._notify(ResourcesListChanged())

    def _notify_resources(self, kind: str, changed_paths: frozenset[str]) -> None:
        """Report the watched resources of a kind that may have changed.

        These are all of them if `changed_paths` is empty; otherwise the changed notes and the notes that are
        watched by name instead of path.
        """
        for uri in tuple(self._watched_uris):
            address = parse_uri(uri)
            if address is None or address.kind != kind:
                continue
            if not changed_paths or address.name in changed_paths or not address.is_path:
                self._notify(ResourceUpdated(uri))

    def _notify(self, event: ServerEvent) -> None:
        for listener in tuple(self._listeners.values()):
            try:
                listener(event)
            except Exception:
                log.exception("a listener for %s failed", self._client.name)


class SessionRegistry:
    """The states of a server's clients. Lives as long as the server."""

    def __init__(self, service: VaultAccess) -> None:
        self._service = service
        self._sessions: dict[tuple[str, str], McpSession] = {}

    def session(self, client: Client) -> McpSession:
        """Return the state of a client.

        Raises:
            LimitError: there are too many clients.
        """
        key = (client.kind.value, client.name)
        if key not in self._sessions:
            if len(self._sessions) >= _MAX_CLIENTS:
                self._drop_idle_session()
            self._sessions[key] = McpSession(self._service, client)
        return self._sessions[key]

    def _drop_idle_session(self) -> None:
        for key, session in self._sessions.items():
            if session.is_idle:
                del self._sessions[key]
                task = asyncio.create_task(session.close(), name="forget an idle client")
                task.add_done_callback(lambda done: done.exception())
                return
        raise LimitError(
            f"{_MAX_CLIENTS} clients are already connected. Close one and try again.", limit=_MAX_CLIENTS
        )

    async def close(self) -> None:
        """Close all clients."""
        sessions = tuple(self._sessions.values())
        self._sessions.clear()
        await asyncio.gather(*(session.close() for session in sessions))


@asynccontextmanager
async def open_registry(service: VaultAccess) -> AsyncIterator[SessionRegistry]:
    """Open a registry while a server runs."""
    registry = SessionRegistry(service)
    try:
        yield registry
    finally:
        await registry.close()
