"""Measure calls per second and p95 through each interface.

Run: python -m tests.benchmarks.server_calls [--check]

The vault is open in its own process; the clients are in this one. Every call reads a note of 2 kB. The peers
read the same notes in the same run: the bare HTTP library, the bare SDK server of MCP, and the runner alone.
Target: a read by one client, by MCP or the HTTP API, takes at most 1.3 times as long as with the bare SDK
server.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from app.permissions.caller import Caller, CallerKind
from app.servers.endpoint_file import Endpoint
from app.servers.remote_vault import RemoteVaultAccess
from app.servers.vault_access import Client
from app.toolkit.call import Call as ToolCall
from tests.benchmarks.calls import Call, Row, in_turns, table, timed
from tests.benchmarks.server_mcp import MAX_RATIO, McpRow, mcp_rows
from tests.benchmarks.server_process import TOOL, open_bench_vault

NOTES, CALLS, CLIENTS, EACH = 400, 400, 50, 20


@dataclass(frozen=True, slots=True)
class ServedProcess:
    """The served vault: its process, its endpoint, and the port of the bare server."""

    root: Path
    port: int
    local: str
    token: str
    bare: int
    pid: int


@asynccontextmanager
async def served(root: Path, *more: str) -> AsyncIterator[ServedProcess]:
    """Serve a new vault in its own process; `more` are further arguments of `server_process`."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.benchmarks.server_process",
        str(root),
        str(NOTES),
        *more,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        yield ServedProcess(root, **json.loads(await process.stdout.readline()))
    finally:
        process.stdin.close()
        await process.wait()


def _name(number: int) -> str:
    return f"Note {number % NOTES}"


def over_http(http: httpx2.AsyncClient, path: str, headers: dict[str, str]) -> Call:
    """Return a call through the HTTP API, or to the bare server."""

    async def call(number: int) -> None:
        answer = await http.post(path, json={"name": _name(number)}, headers=headers)
        assert answer.json()["success"] is True, answer.text

    return call


def over_link(link: RemoteVaultAccess, client: Client) -> Call:
    """Return a call through a remote vault, like those of the command line."""

    async def call(number: int) -> None:
        outcome = await link.call(client, TOOL, {"name": _name(number)})
        assert outcome.success, outcome

    return call


async def http_rows(vault: ServedProcess) -> list[Row]:
    """Measure the HTTP API and a remote vault against the bare library, for one client and for many."""
    bearer = {"authorization": f"Bearer {vault.token}"}
    rows: list[Row] = []
    async with AsyncExitStack() as stack:
        limits = httpx2.Limits(max_connections=200, max_keepalive_connections=200)
        endpoint = await stack.enter_async_context(
            httpx2.AsyncClient(base_url=f"http://127.0.0.1:{vault.port}", limits=limits, timeout=60.0)
        )
        bare = await stack.enter_async_context(
            httpx2.AsyncClient(base_url=f"http://127.0.0.1:{vault.bare}", limits=limits, timeout=60.0)
        )
        link = await RemoteVaultAccess.join(Endpoint(vault.port, vault.local, vault.pid, ""))
        stack.push_async_callback(link.close)
        ways: dict[str, Callable[[int], Call]] = {
            "bare starlette (no gate)": lambda _: over_http(bare, "/look", {}),
            "HTTP API": lambda _: over_http(endpoint, f"/api/v1/tools/{TOOL}", bearer),
            "link": lambda number: over_link(link, Client(CallerKind.CLI, f"Client {number}")),
        }
        rows += await in_turns({name: caller(0) for name, caller in ways.items()}, CALLS, vault.pid)
        for name, caller in ways.items():
            crowd = [caller(number) for number in range(_client_count(name))]
            rows.append(await timed(name, crowd, EACH, vault.pid))
    return rows


def _client_count(interface: str) -> int:
    """Return the number of concurrent clients; the HTTP API limits a program's concurrent requests."""
    return 40 if interface == "HTTP API" else CLIENTS


async def runner_row(root: Path) -> Row:
    """Measure the runner alone, in one process: the cost of the gate without a server."""
    workspace = await open_bench_vault(root)
    caller = Caller(CallerKind.HTTP, "Bench")
    try:

        async def call(number: int) -> None:
            assert (await workspace.runner.run(ToolCall.of(TOOL, {"name": _name(number)}, caller))).success

        return await timed("runner (no server)", [call], CALLS)
    finally:
        await workspace.close()


async def measure(folder: Path) -> tuple[list[Row], list[McpRow]]:
    """Measure everything and return the rows."""
    vault = folder / "vault"
    async with served(vault) as endpoint:
        rows = await http_rows(endpoint)
    return [await runner_row(vault), *rows], await mcp_rows(vault, CALLS // 2)


def main() -> int:
    """Print the rows; with --check, the exit status is 1 if a target is missed."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("CONFIG", "DATA", "CACHE", "LOGS"):
            os.environ[f"SCRIPTORIUM_{name}"] = str(Path(folder) / name.lower())
        rows, mcp = asyncio.run(measure(Path(folder)))
    print(table(rows))
    alone = {row.name: row for row in rows if row.clients == 1}
    for ours, peer in (("HTTP API", "bare starlette (no gate)"), ("link", "bare starlette (no gate)")):
        print(f"{ours}: {alone[ours].p50 / alone[peer].p50:.2f} times {peer}")
    for row in mcp:
        print(
            f"{row.title}: p50 {row.median:.2f} ms, p95 {row.p95:.2f} ms, "
            f"{row.ratio:.2f} times the bare SDK server (at most {MAX_RATIO})"
        )
    missed = [row.title for row in mcp if row.ratio > MAX_RATIO]
    for name in missed:
        print(f"missed: {name}")
    return 1 if missed and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
