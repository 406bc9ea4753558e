"""State that an MCP server's handlers share: the vault and its clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from app.servers.mcp_elicitation import Elicitation, run_detached
from app.servers.mcp_progress import HEARTBEAT_INTERVAL_S, Context
from app.servers.vault_access import Client, VaultAccess
from app.toolkit.outcome import ToolOutcome

if TYPE_CHECKING:
    from app.servers.mcp_sessions import McpSession, SessionRegistry

IdentifyClient = Callable[[Context], Client]
"""Returns the client that sent a request; provided by the transport."""
_MAX_CLIENT_INFO_CHARS = 100


@dataclass(frozen=True)
class McpContext:
    """The server's state while it runs, passed to handlers as the SDK's lifespan context.

    `heartbeat` is the interval in seconds at which a call repeats its last progress notification.
    """

    service: VaultAccess
    sessions: SessionRegistry
    identify: IdentifyClient
    heartbeat: float = HEARTBEAT_INTERVAL_S
    elicitation: Elicitation = field(default_factory=Elicitation)

    def client(self, ctx: Context) -> Client:
        """Return the client that sent the request, with the name and version that it reported."""
        client = self.identify(ctx)
        params = ctx.session.client_params
        if params is None:
            return client
        client_info = f"{params.client_info.name} {params.client_info.version}".strip()
        return replace(client, says=client_info[:_MAX_CLIENT_INFO_CHARS])

    def session(self, ctx: Context) -> McpSession:
        """Return the state of the client that sent the request.

        Raises:
            LimitError: there are too many clients.
        """
        return self.sessions.session(self.identify(ctx))

    async def has_tools(self, ctx: Context, *tools: str) -> bool:
        """Return whether the client may call all of these tools.

        Raises:
            LimitError: there are too many clients.
        """
        available = await self.session(ctx).tools()
        return all(tool in available for tool in tools)

    async def call(self, ctx: Context, tool: str, arguments: Mapping[str, Any]) -> ToolOutcome:
        """Call a tool for the client, to answer a request that is not a tool call.

        Raises:
            MCPError: the call was canceled.
            ScriptoriumError: as in `VaultAccess.call`.
        """
        return await run_detached(self.service.call(self.client(ctx), tool, arguments))
