"""Clients of the MCP server for tests: in both eras, in this process or over HTTP, with a scripted user."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp_types as t
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from app.permissions.caller import CallerKind
from app.servers.mcp_server import mcp_server
from app.servers.vault_access import Client as Outside
from app.servers.vault_access import VaultAccess

ERAS = ("legacy", "auto")
ROBOT = Outside(CallerKind.MCP, "Robot")


@asynccontextmanager
async def inside(
    served: VaultAccess, era: str, caller: Outside = ROBOT, heartbeat: float = 5.0, **options: Any
) -> AsyncIterator[Client]:
    """Connect a client to a server in this process."""
    async with Client(mcp_server(served, lambda ctx: caller, heartbeat), mode=era, **options) as client:
        yield client


@asynccontextmanager
async def over_http(address: str, token: str, era: str, **options: Any) -> AsyncIterator[Client]:
    """Connect a client over HTTP to a running Scriptorium."""
    headers = {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30.0, trust_env=False) as http:
        transport = streamable_http_client(f"{address}/mcp", http_client=http)
        async with Client(transport, mode=era, **options) as client:
            yield client


def says(answer: t.ElicitResult, asked: list[str]) -> Callable[[Any, Any], Any]:
    """Return the callback of a user who always gives this answer; `asked` records the questions."""

    async def elicited(context: Any, params: Any) -> t.ElicitResult:
        asked.append(params.message)
        return answer

    return elicited


YES = t.ElicitResult(action="accept", content={"approve": True})
NO = t.ElicitResult(action="accept", content={"approve": False, "words": "not now"})
