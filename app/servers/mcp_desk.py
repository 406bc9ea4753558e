"""What the handlers of one MCP server share: the vault, who its clients are, and what is kept for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from app.servers.mcp_asking import Asking, apart
from app.servers.mcp_progress import HEARTBEAT_S, Context
from app.servers.served import Client, ServedVault
from app.toolkit.outcome import ToolOutcome

if TYPE_CHECKING:
    from app.servers.mcp_audience import Audience, Member

Who = Callable[[Context], Client]
"""Who sent a request; the transport knows."""
_LONGEST_SAID = 100


@dataclass(frozen=True)
class Desk:
    """The server's state while it runs; handlers find it as the SDK's lifespan context.

    `heartbeat`: after how many seconds a client whose user is being asked hears that it still is.
    """

    served: ServedVault
    audience: Audience
    who: Who
    heartbeat: float = HEARTBEAT_S
    asking: Asking = field(default_factory=Asking)

    def client(self, ctx: Context) -> Client:
        """The client that sent the request, with what it says of itself."""
        client = self.who(ctx)
        params = ctx.session.client_params
        if params is None:
            return client
        said = f"{params.client_info.name} {params.client_info.version}".strip()
        return replace(client, says=said[:_LONGEST_SAID])

    def member(self, ctx: Context) -> Member:
        """What is kept for the client that sent the request.

        Raises:
            LimitError: there are too many clients.
        """
        return self.audience.member(self.who(ctx))

    async def offered(self, ctx: Context, *tools: str) -> bool:
        """Whether the client may call all of these tools."""
        offers = await self.member(ctx).offers()
        return all(tool in offers for tool in tools)

    async def call(self, ctx: Context, tool: str, arguments: Mapping[str, Any]) -> ToolOutcome:
        """Call a tool for the client, which asked for something that is made from what the tool says."""
        return await apart(self.served.call(self.client(ctx), tool, arguments))
