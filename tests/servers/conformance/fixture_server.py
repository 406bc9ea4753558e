"""Serves the sample vault with the conformance suite's fixtures over HTTP: `python -m … PORT`.

Everything between the socket and a fixture is the app's own: the HTTP transport, sessions, both eras, errors,
subscriptions. The suite sends no token, so the SDK's check of Host and Origin replaces the guard.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp_types as t
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from app.permissions.caller import CallerKind
from app.servers.mcp_http import McpHttpApp
from app.servers.mcp_progress import Context
from app.servers.mcp_server import VaultServer, mcp_server
from app.servers.security import CLIENT_KEY
from app.servers.vault_access import Client, VaultAccess
from tests.servers.conformance import fixtures

SUITE = Client(CallerKind.MCP, "Conformance suite")
_RESOURCES = ("test://static-text", "test://static-binary", "test://watched-resource")
_PROMPT_COMPLETIONS = {"arg1": ["paris", "park", "party"], "arg2": []}


def with_fixtures(served: VaultAccess, who: Callable[[Context], Client]) -> VaultServer:
    """Return the app's server with handlers that also know the fixtures."""
    server = mcp_server(served, who)
    ours = {
        name: server.get_request_handler(name)
        for name in (
            "tools/list",
            "tools/call",
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "resources/subscribe",
            "resources/unsubscribe",
            "prompts/list",
            "prompts/get",
            "completion/complete",
        )
    }

    async def further(method: str, ctx: Context, params: Any) -> Any:
        entry = ours[method]
        assert entry is not None
        return await entry.handler(ctx, params)

    async def tools(ctx: Context, params: Any) -> Any:
        listed = [
            {"name": name, "description": f"The fixture {name}.", "inputSchema": schema}
            for name, (_, schema) in fixtures.TOOLS.items()
        ]
        result = await further("tools/list", ctx, params)
        return {**result, "tools": [*result["tools"], *listed]}

    async def call(ctx: Context, params: t.CallToolRequestParams) -> Any:
        if params.name in fixtures.TOOLS:
            return await fixtures.TOOLS[params.name][0](ctx, params)
        return await further("tools/call", ctx, params)

    async def resources(ctx: Context, params: Any) -> Any:
        result = await further("resources/list", ctx, params)
        listed = [{"uri": uri, "name": uri, "mimeType": "text/plain"} for uri in _RESOURCES]
        return {**result, "resources": [*result["resources"], *listed]}

    async def templates(ctx: Context, params: Any) -> Any:
        result = await further("resources/templates/list", ctx, params)
        listed = [{"uriTemplate": "test://template/{id}/data", "name": "template"}]
        return {**result, "resourceTemplates": [*result["resourceTemplates"], *listed]}

    async def read(ctx: Context, params: t.ReadResourceRequestParams) -> Any:
        if (found := fixtures.read(params.uri)) is not None:
            return t.ReadResourceResult(contents=[found])
        return await further("resources/read", ctx, params)

    async def subscribe(ctx: Context, params: Any) -> Any:
        known = params.uri in _RESOURCES
        return t.EmptyResult() if known else await further("resources/subscribe", ctx, params)

    async def unsubscribe(ctx: Context, params: Any) -> Any:
        known = params.uri in _RESOURCES
        return t.EmptyResult() if known else await further("resources/unsubscribe", ctx, params)

    async def prompts(ctx: Context, params: Any) -> Any:
        result = await further("prompts/list", ctx, params)
        listed = [
            {
                "name": name,
                "description": f"The fixture {name}.",
                "arguments": [{"name": one, "description": one, "required": True} for one in needed],
            }
            for name, needed in fixtures.PROMPTS.items()
        ]
        return {**result, "prompts": [*result["prompts"], *listed]}

    async def prompt(ctx: Context, params: t.GetPromptRequestParams) -> Any:
        if params.name in fixtures.PROMPTS:
            return await fixtures.prompt(params)
        return await further("prompts/get", ctx, params)

    async def complete(ctx: Context, params: t.CompleteRequestParams) -> Any:
        if isinstance(params.ref, t.PromptReference) and params.ref.name in fixtures.PROMPTS:
            known = _PROMPT_COMPLETIONS.get(params.argument.name, [])
            values = [one for one in known if one.startswith(params.argument.value)]
            return t.CompleteResult(completion=t.Completion(values=values, total=len(values), has_more=False))
        return await further("completion/complete", ctx, params)

    for method, kind, handler in (
        ("tools/list", t.PaginatedRequestParams, tools),
        ("tools/call", t.CallToolRequestParams, call),
        ("resources/list", t.PaginatedRequestParams, resources),
        ("resources/templates/list", t.PaginatedRequestParams, templates),
        ("resources/read", t.ReadResourceRequestParams, read),
        ("resources/subscribe", t.SubscribeRequestParams, subscribe),
        ("resources/unsubscribe", t.UnsubscribeRequestParams, unsubscribe),
        ("prompts/list", t.PaginatedRequestParams, prompts),
        ("prompts/get", t.GetPromptRequestParams, prompt),
        ("completion/complete", t.CompleteRequestParams, complete),
    ):
        server.add_request_handler(method, kind, handler)  # type: ignore[type-var,arg-type]
    server.get_tool_input_schema = lambda name: (fixtures.TOOLS.get(name) or (None, None))[1]
    return server


async def serve(port: int) -> None:
    """Serve until the process ends."""
    from app.settings import Settings
    from app.workspace.opening import open_workspace

    with tempfile.TemporaryDirectory(prefix="scriptorium-conformance-") as folder:
        for name in ("CONFIG", "DATA", "CACHE", "LOGS"):
            os.environ[f"SCRIPTORIUM_{name}"] = str(Path(folder) / name.lower())
        vault = Path(folder) / "Vault"
        shutil.copytree(Path(__file__).parents[3] / "resources" / "sample-vault", vault)
        settings = Settings()
        settings.embeddings.enabled = False
        workspace = await open_workspace(vault, settings, None)
        await workspace.start_scan(lambda progress: None)
        security = TransportSecuritySettings(
            allowed_hosts=["127.0.0.1:*", "localhost:*"],
            allowed_origins=["http://127.0.0.1:*", "http://localhost:*"],
        )
        app = McpHttpApp(workspace.endpoints.local_vault, with_fixtures, security=security)

        async def let_in(scope: Scope, receive: Receive, send: Send) -> None:
            await app({**scope, CLIENT_KEY: SUITE}, receive, send)

        try:
            async with app.lifespan():
                config = uvicorn.Config(let_in, "127.0.0.1", port, log_level="error", lifespan="off")
                await uvicorn.Server(config).serve()
        finally:
            await workspace.close()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
