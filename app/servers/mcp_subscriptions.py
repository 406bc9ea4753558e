"""Notify clients of changes, over connections in the 2025 protocol and subscriptions in the 2026 protocol."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import mcp_types as t
from mcp.server.connection import Connection
from mcp.server.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from app.servers.mcp_progress import Context
from app.servers.mcp_uris import parse_uri

if TYPE_CHECKING:
    from app.servers.mcp_context import McpContext
    from app.servers.mcp_sessions import McpSession

log = logging.getLogger(__name__)

_MAX_URIS = 1000
_TOO_MANY_MESSAGE = f"A client can subscribe to at most {_MAX_URIS} resources."
_STATE_KEY = "subscriber"


class Subscriber:
    """Sends events to one connection in the 2025 protocol; identical unsent events are combined."""

    def __init__(self, connection: Connection, session: McpSession) -> None:
        self._connection = connection
        self._session = session
        self._uris: dict[str, Callable[[], None]] = {}
        self._waiting: dict[ServerEvent, None] = {}
        self._has_events = asyncio.Event()
        self._unsubscribe = session.subscribe(self._enqueue)
        self._send_task = asyncio.create_task(self._send_events(), name="notify an MCP client")

    @classmethod
    def for_request(cls, ctx: Context, context: McpContext) -> Subscriber:
        """Return the subscriber of the request's connection, created on first use.

        It is closed with the connection.

        Raises:
            LimitError: there are too many clients.
        """
        # The SDK has no public API for the connection.
        connection = ctx.session._connection
        if _STATE_KEY not in connection.state:
            new_subscriber = connection.state[_STATE_KEY] = cls(connection, context.session(ctx))
            connection.exit_stack.push_async_callback(new_subscriber.close)
        subscriber = connection.state[_STATE_KEY]
        assert isinstance(subscriber, Subscriber)
        return subscriber

    def add(self, uri: str) -> None:
        """Subscribe to changes of a resource.

        Raises:
            MCPError: there is no such resource, or there are too many subscriptions.
        """
        if parse_uri(uri) is None:
            raise MCPError(t.INVALID_PARAMS, "There is no resource with this URI.", {"uri": uri})
        if uri not in self._uris:
            if len(self._uris) >= _MAX_URIS:
                raise MCPError(t.INVALID_PARAMS, _TOO_MANY_MESSAGE)
            self._uris[uri] = self._session.watch((uri,))

    def remove(self, uri: str) -> None:
        """Unsubscribe from a resource."""
        if (unwatch := self._uris.pop(uri, None)) is not None:
            unwatch()

    async def close(self) -> None:
        """Stop sending events."""
        self._unsubscribe()
        for uri in tuple(self._uris):
            self.remove(uri)
        self._send_task.cancel()
        await asyncio.gather(self._send_task, return_exceptions=True)

    def _enqueue(self, event: ServerEvent) -> None:
        if isinstance(event, ResourceUpdated) and event.uri not in self._uris:
            return
        self._waiting[event] = None
        self._has_events.set()

    async def _send_events(self) -> None:
        while True:
            await self._has_events.wait()
            self._has_events.clear()
            while self._waiting:
                event = next(iter(self._waiting))
                del self._waiting[event]
                await self._send_event(event)

    async def _send_event(self, event: ServerEvent) -> None:
        match event:
            case ToolsListChanged():
                await self._connection.send_tool_list_changed()
            case PromptsListChanged():
                await self._connection.send_prompt_list_changed()
            case ResourcesListChanged():
                await self._connection.send_resource_list_changed()
            case ResourceUpdated():
                await self._connection.send_resource_updated(event.uri)


async def listen(
    context: McpContext, ctx: Context, params: t.SubscriptionsListenRequestParams
) -> t.SubscriptionsListenResult:
    """Serve a subscription in the 2026 protocol while its client listens.

    Raises:
        MCPError: the request names too many resources, or the client has too many subscriptions.
        LimitError: there are too many clients.
    """
    uris = params.notifications.resource_subscriptions or []
    if len(uris) > _MAX_URIS:
        raise MCPError(t.INVALID_PARAMS, _TOO_MANY_MESSAGE)
    session = context.session(ctx)
    unwatch = session.watch(uris)
    try:
        return await session.listen(ctx, params)
    finally:
        unwatch()
