"""Run the app without rate limits: `python -m tests.benchmarks.without_limits mcp VAULT`.

A benchmark makes more calls in a second than a client may make in a minute. With `serve VAULT` instead, it
opens the vault as a window does, prints the port and a token, and serves until its input ends.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

from app import __main__, tools

tools.CATEGORIES = tuple(replace(category, rate_per_minute=10**9) for category in tools.CATEGORIES)


async def _serve(root: Path) -> None:
    from app.settings import Settings
    from app.workspace.opening import open_workspace

    settings = Settings()
    settings.embeddings.enabled = False
    settings.servers.http_api = True
    workspace = await open_workspace(root, settings, None)
    try:
        await workspace.start_scan(lambda progress: None)
        port = await workspace.endpoints.open()
        assert workspace.endpoints.tokens is not None
        print(port, workspace.endpoints.tokens.create("Benchmark"), flush=True)
        await asyncio.to_thread(sys.stdin.read)
    finally:
        await workspace.close()


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        asyncio.run(_serve(Path(sys.argv[2])))
    else:
        sys.exit(__main__.main(sys.argv[1:]))
