"""Measure reads of a note through each interface, next to a bare server of the SDK in the same run.

`python -m tests.benchmarks.server_mcp [VAULT] [--calls N] [--check]`: MCP over HTTP and stdio in both eras,
each compared with the bare server, and the HTTP API compared with MCP over HTTP of the bare server in the
2026 era. The calls of the two alternate in small batches, so that other load affects both alike. Target: at
most 1.3 times the bare server's latency.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

ROOT = Path(__file__).parents[2]
ERAS = {"2025": "legacy", "2026": "2026-07-28"}
API = "API"
MAX_RATIO = 1.3
_BATCH_CALLS = 20
_READ_NOTE_BYTES = 2000
Read = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class McpRow:
    """One interface: milliseconds per read, ours and the bare server's.

    `ratio` is the median ratio to the bare server in consecutive batches.
    """

    interface: str
    era: str
    median: float
    p95: float
    bare_median: float
    bare_p95: float
    ratio: float

    @property
    def title(self) -> str:
        """The name of the interface."""
        return "HTTP API" if self.interface == API else f"MCP over {self.interface}, {self.era}"


async def mcp_rows(vault: Path, calls: int) -> list[McpRow]:
    """Measure all interfaces; the notes of `vault` are only read."""
    sizes = {path: path.stat().st_size for path in vault.rglob("*.md")}
    note = min(sizes, key=lambda path: abs(sizes[path] - _READ_NOTE_BYTES))
    name = note.relative_to(vault).as_posix()
    rows = []
    for interface, connect in (("HTTP", _http), ("stdio", _stdio)):
        for era, mode in ERAS.items():
            async with connect(vault, mode) as (ours, bare):
                rows.append(
                    await _compare(interface, era, _over_mcp(ours, name), _over_mcp(bare, name), calls)
                )
    async with _api(vault) as (api, peer):
        rows.append(await _compare(API, "", _over_api(api, name), _over_mcp(peer, name), calls))
    return rows


def _over_mcp(client: Client, name: str) -> Read:
    async def read() -> None:
        result = await client.call_tool("read_note", {"name": name})
        assert not result.is_error, result

    return read


def _over_api(http: httpx2.AsyncClient, name: str) -> Read:
    async def read() -> None:
        answer = await http.post("/api/v1/tools/read_note", json={"name": name})
        assert answer.json()["success"] is True, answer.text

    return read


async def _compare(interface: str, era: str, ours: Read, bare: Read, calls: int) -> McpRow:
    times: tuple[list[float], list[float]] = ([], [])
    for read in (ours, bare):
        await _timed(read, 30)
    while len(times[1]) < calls:
        for read, read_times in zip((ours, bare), times, strict=True):
            read_times += await _timed(read, _BATCH_CALLS)
    own_times, others = (sorted(series) for series in times)
    batches = zip(*(_batches(series) for series in times), strict=True)
    return McpRow(
        interface,
        era,
        statistics.median(own_times),
        own_times[int(len(own_times) * 0.95)],
        statistics.median(others),
        others[int(len(others) * 0.95)],
        statistics.median(batch / other for batch, other in batches),
    )


def _batches(times: list[float]) -> list[float]:
    """Return the median of each batch, since other load changes between batches."""
    return [statistics.median(times[at : at + _BATCH_CALLS]) for at in range(0, len(times), _BATCH_CALLS)]


async def _timed(read: Read, count: int) -> list[float]:
    took = []
    for _ in range(count):
        start = time.perf_counter()
        await read()
        took.append((time.perf_counter() - start) * 1000)
    return took


def _environment(home: str) -> dict[str, str]:
    variables = {f"SCRIPTORIUM_{name}": f"{home}/{name}" for name in ("CONFIG", "DATA", "CACHE", "LOGS")}
    return {**os.environ, **variables, "PYTHONPATH": str(ROOT)}


def _module(name: str, *arguments: str) -> list[str]:
    return ["-m", f"tests.benchmarks.{name}", *arguments]


@asynccontextmanager
async def _process(home: str, *arguments: str) -> AsyncIterator[list[str]]:
    """Start a server process and return the words of its first line."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        env=_environment(home),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None and process.stdin is not None
    try:
        yield (await process.stdout.readline()).decode().split()
    finally:
        process.stdin.close()
        if "bare_mcp_server" in " ".join(arguments):
            process.terminate()
        await process.wait()


@asynccontextmanager
async def _http(vault: Path, mode: str) -> AsyncIterator[tuple[Client, Client]]:
    async with AsyncExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory())
        enter = stack.enter_async_context
        port, token = await enter(_process(home, *_module("without_limits", "serve", str(vault))))
        (other,) = await enter(_process(home, *_module("bare_mcp_server", str(vault), "http")))
        ours = await enter(_http_client(port, token))
        bare = await enter(_http_client(other))
        yield await enter(_mcp_client(ours, mode)), await enter(_mcp_client(bare, mode))


@asynccontextmanager
async def _api(vault: Path) -> AsyncIterator[tuple[httpx2.AsyncClient, Client]]:
    async with AsyncExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory())
        enter = stack.enter_async_context
        port, token = await enter(_process(home, *_module("without_limits", "serve", str(vault))))
        (other,) = await enter(_process(home, *_module("bare_mcp_server", str(vault), "http")))
        bare = await enter(_http_client(other))
        yield await enter(_http_client(port, token)), await enter(_mcp_client(bare, ERAS["2026"]))


def _http_client(port: str, token: str = "") -> httpx2.AsyncClient:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    address = f"http://127.0.0.1:{port}"
    return httpx2.AsyncClient(base_url=address, headers=headers, timeout=60, trust_env=False)


def _mcp_client(http: httpx2.AsyncClient, mode: str) -> Client:
    return Client(streamable_http_client(str(http.base_url.join("/mcp")), http_client=http), mode=mode)


@asynccontextmanager
async def _stdio(vault: Path, mode: str) -> AsyncIterator[tuple[Client, Client]]:
    async with AsyncExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory())
        (Path(home) / "CONFIG").mkdir()
        (Path(home) / "CONFIG" / "settings.json").write_text('{"embeddings": {"enabled": false}}')
        clients = []
        for arguments in (
            _module("without_limits", "mcp", str(vault)),
            _module("bare_mcp_server", str(vault), "stdio"),
        ):
            server = StdioServerParameters(
                command=sys.executable, args=arguments, env=_environment(home), cwd=ROOT
            )
            clients.append(await stack.enter_async_context(Client(server, mode=mode)))
        yield clients[0], clients[1]


def main() -> int:
    """Print the table; with `--check`, the exit status is 1 if the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vault", nargs="?", type=Path, default=ROOT / "resources" / "sample-vault")
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "Vault"
        shutil.copytree(arguments.vault, vault)
        rows = asyncio.run(mcp_rows(vault, arguments.calls))
    print("via    era     ours median / p95     bare median / p95     ratio   calls/s")
    for row in rows:
        print(
            f"{row.interface:<6} {row.era:<6} {row.median:>6.2f} ms {row.p95:>7.2f} ms   "
            f"{row.bare_median:>6.2f} ms {row.bare_p95:>7.2f} ms   {row.ratio:>6.2f}x   "
            f"{1000 / row.median:>6.0f}"
        )
    missed = [row.title for row in rows if row.ratio > MAX_RATIO]
    if missed:
        print(f"missed (more than {MAX_RATIO}x): {', '.join(missed)}")
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
