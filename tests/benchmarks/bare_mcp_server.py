"""A bare server of the MCP SDK with one tool that reads a note, as a baseline for the app's server.

`python -m tests.benchmarks.bare_mcp_server VAULT http` prints its port; `… stdio` uses standard input and
output. It has no gate, no log, no schema checks and no index: the argument is the note's path.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from pathlib import Path

import mcp_types as t
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
_INPUT = {"type": "object", "properties": {"name": _TEXT}, "required": ["name"]}
_OUTPUT = {
    "type": "object",
    "properties": {
        "success": {"type": "boolean"},
        "name": _TEXT,
        "path": _TEXT,
        "text": _TEXT,
        "start_line": _NUMBER,
        "end_line": _NUMBER,
        "total_lines": _NUMBER,
        "hash": _TEXT,
        "message": _TEXT,
    },
    "required": ["success", "text"],
}


def build_server(root: Path) -> Server:
    """Return the server."""

    async def list_tools(ctx: object, params: object) -> t.ListToolsResult:
        tool = t.Tool(
            name="read_note", description="Read a note.", input_schema=_INPUT, output_schema=_OUTPUT
        )
        return t.ListToolsResult(tools=[tool])

    async def call_tool(ctx: object, params: t.CallToolRequestParams) -> t.CallToolResult:
        name = str((params.arguments or {})["name"])
        content = await asyncio.to_thread((root / name).read_bytes)
        text = content.decode()
        lines = len(text.splitlines())
        result = {
            "success": True,
            "name": Path(name).stem,
            "path": name,
            "text": text,
            "start_line": 1,
            "end_line": lines,
            "total_lines": lines,
            "hash": hashlib.sha256(content).hexdigest(),
            "message": f"Read {name}.",
        }
        text_content = t.TextContent(text=json.dumps(result))
        return t.CallToolResult(content=[text_content], structured_content=result)

    return Server("bare", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


class _PortPrintingServer(uvicorn.Server):
    """A server that prints its port when it listens."""

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        """Start listening and print the port."""
        await super().startup(sockets)  # type: ignore[arg-type]
        print(self.servers[0].sockets[0].getsockname()[1], flush=True)


async def _main(root: Path, transport: str) -> None:
    server = build_server(root)
    if transport == "stdio":
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
        return
    app = server.streamable_http_app(host="127.0.0.1")
    await _PortPrintingServer(uvicorn.Config(app, "127.0.0.1", 0, log_level="error")).serve()


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]), sys.argv[2]))
