"""A server made with the official SDK: a program over stdio, or a thread over HTTP."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import ToolsListChanged
from starlette.types import ASGIApp, Receive, Scope, Send

TAKES = {"type": "object", "properties": {"text": {"type": "string"}}}


class Tools:
    """The tools of a server; `called` and `cancelled` are the names of called and canceled tools."""

    def __init__(self, *names: str) -> None:
        self.names = list(names)
        self.called: list[str] = []
        self.cancelled: list[str] = []
        self.bus = InMemorySubscriptionBus()

    def server(self) -> Server[Any]:
        """Return a server of the SDK with these tools."""
        return Server(
            "sdk",
            version="1",
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=ListenHandler(self.bus),
        )

    async def _list(self, ctx: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """List two tools per page."""
        first = int(params.cursor) if params and params.cursor else 0
        page = self.names[first : first + 2]
        more = str(first + 2) if first + 2 < len(self.names) else None
        return types.ListToolsResult(
            tools=[types.Tool(name=name, description="Does it.", input_schema=TAKES) for name in page],
            next_cursor=more,
        )

    async def _call(self, ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        self.called.append(params.name)
        if params.name == "never":
            try:
                await anyio.sleep_forever()
            finally:
                self.cancelled.append(params.name)
        if params.name == "steps":
            await ctx.session.report_progress(1, 4, "a quarter")
        if params.name == "huge":
            return _text("x" * 9_000_000)
        if params.name == "asks":
            return types.InputRequiredResult(input_requests={"a": _question()}, request_state="s")  # type: ignore[return-value]
        return _text(str((params.arguments or {}).get("text", "")))


def _question() -> types.ElicitRequest:
    form: Any = {"type": "object", "properties": {}}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message="Who?", requested_schema=form))


def _text(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


class SdkServer:
    """Serves tools over HTTP on loopback until it is closed. Use as a context manager.

    `token` is required if set; `headers` are those of each request; below /away it redirects to another port,
    below /packed it sends compressed answers that were not requested.
    """

    def __init__(self, tools: Tools, token: str = "", port: int = 0) -> None:
        self.tools = tools
        self.token = token
        self.headers: list[dict[str, str]] = []
        self._app: ASGIApp = tools.server().streamable_http_app()
        config = uvicorn.Config(
            self._guarded,
            host="127.0.0.1",
            port=port,
            log_level="critical",
            interface="asgi3",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="sdk server")
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def port(self) -> int:
        return int(self._server.servers[0].sockets[0].getsockname()[1])

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def publish_change(self) -> None:
        """Notify the subscribers that the list of tools has changed."""
        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(self.tools.bus.publish(ToolsListChanged()), self._loop).result(10)

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.headers.append(headers)
        if scope["path"].startswith("/away"):
            return await _answer(send, 307, [(b"location", b"http://127.0.0.1:9/mcp")])
        if scope["path"].startswith("/packed"):
            kind = [(b"content-type", b"application/json"), (b"content-encoding", b"gzip")]
            return await _answer(send, 200, kind)
        if self.token and headers.get("authorization") != f"Bearer {self.token}":
            return await _answer(send, 401, [])
        return await self._app(scope, receive, send)

    def __enter__(self) -> SdkServer:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(20)

    def _serve(self) -> None:
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            runner.run(self._server._serve())


async def _answer(send: Send, status: int, headers: list[tuple[bytes, bytes]]) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def _main() -> None:
    server = Tools("echo", "steps", "third").server()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(_main)
