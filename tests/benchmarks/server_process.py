"""Open a vault and its endpoint in a separate process, for the server benchmarks.

    python -m tests.benchmarks.server_process VAULT NOTES [MAX_FILES]

It creates the vault, prints a JSON object with the ports, the endpoint's own token and a program's token, and
serves until its input ends. For comparison, a bare server of the same HTTP library reads the same notes,
without token, gate or log. The tool of the benchmark reads a note as `read_note` does, without a rate limit.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from app.settings import Settings
from app.toolkit.argument_types import NoteName
from app.toolkit.context import ToolContext
from app.toolkit.registry import AccessLevel, Category
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool
from app.workspace.opening import open_workspace
from app.workspace.workspace import Workspace

TOOL = "look"


class Looked(ToolResult):
    """The text of a note."""

    path: str
    text: str


@tool(category="bench")
async def look(context: ToolContext, name: NoteName) -> Looked:
    """Read a note.

    Args:
        name: The note.
    """
    note = await context.vault.resolve_for_reading(name)
    return Looked(path=str(note.path), text=note.text, message="Read.")


def make_vault(root: Path, notes: int) -> None:
    """Fill a folder with notes of about 2 kB."""
    root.mkdir(parents=True, exist_ok=True)
    for number in range(notes):
        text = f"# Note {number}\n\n[[Note {number // 2}]] #tag\n\n" + "Some words of a note. " * 90 + "\n"
        (root / f"Note {number}.md").write_text(text, encoding="utf-8")


async def open_bench_vault(root: Path) -> Workspace:
    """Open the vault, with the tool of the benchmark and the HTTP API enabled."""
    settings = Settings()
    settings.embeddings.enabled = False
    settings.servers.http_api = True
    workspace = await open_workspace(root, settings, None)
    workspace.registry.add_category(
        Category("bench", "Benchmark", AccessLevel.READ_ONLY, rate_per_minute=10**9)
    )
    workspace.registry.register(look)
    await workspace.start_scan(lambda progress: None)
    await workspace.endpoints.open()
    return workspace


class _BareServer(uvicorn.Server):
    async def wait_for_port(self) -> int:
        while not self.started:
            await asyncio.sleep(0.01)
        return int(self.servers[0].sockets[0].getsockname()[1])


def _bare(root: Path) -> _BareServer:
    async def read(request: Request) -> JSONResponse:
        asked = json.loads(await request.body())
        text = await asyncio.to_thread((root / f"{asked['name']}.md").read_text, "utf-8")
        answer = {"success": True, "path": f"{asked['name']}.md", "text": text, "message": "Read."}
        return JSONResponse(answer)

    app = Starlette(routes=[Route("/look", read, methods=["POST"])])
    return _BareServer(
        uvicorn.Config(app, "127.0.0.1", 0, log_level="error", access_log=False, lifespan="off")
    )


async def main(root: Path, notes: int) -> None:
    """Serve until the input ends."""
    make_vault(root, notes)
    workspace = await open_bench_vault(root)
    peer = _bare(root)
    serving = asyncio.create_task(peer.serve())
    local_server, tokens = workspace.endpoints.server, workspace.endpoints.tokens
    assert local_server is not None and local_server.endpoint is not None and tokens is not None
    endpoint = {
        "port": local_server.endpoint.port,
        "local": local_server.endpoint.token,
        "token": tokens.create("Bench"),
        "bare": await peer.wait_for_port(),
        "pid": os.getpid(),
    }
    print(json.dumps(endpoint), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    peer.should_exit = True
    await serving
    await workspace.close()


if __name__ == "__main__":
    if len(sys.argv) > 3:
        import resource

        max_files = int(sys.argv[3])
        resource.setrlimit(resource.RLIMIT_NOFILE, (max_files, max_files))
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
