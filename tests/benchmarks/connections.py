"""Open ten thousand connections to the local server while two of its clients keep working.

Run: python -m tests.benchmarks.connections [COUNT] [--check]

The server's process can open at most 1,024 files, the usual limit. Unauthenticated connections send nothing,
half a request or a wrong token, and stay open. Meanwhile two clients with a token call a tool continuously:
one on a persistent connection, the other on a new one for each call. With --check, the exit status is 1 if a
client's call failed or the server had more than half of the allowed files open.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import httpx2
import psutil

from tests.benchmarks.server_calls import ServedProcess, over_http, served
from tests.benchmarks.server_process import TOOL

CONNECTIONS, MAX_CONCURRENT_CONNECTS, MAX_OPEN_FILES = 10_000, 200, 1024


async def connect_unauthenticated(port: int, number: int, writers: list[asyncio.StreamWriter]) -> None:
    """Open one unauthenticated connection, and ignore a refusal."""
    with suppress(OSError):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writers.append(writer)
        half = b"POST /api/v1/tools/look HTTP/1.1\r\nhost: 127.0.0.1\r\n"
        wrong = half + b"authorization: Bearer wrong\r\n\r\n"
        writer.write((b"", half, wrong)[number % 3])


async def flood(vault: ServedProcess, count: int) -> list[asyncio.StreamWriter]:
    """Open all unauthenticated connections, a limited number at a time."""
    writers: list[asyncio.StreamWriter] = []
    slots = asyncio.Semaphore(MAX_CONCURRENT_CONNECTS)

    async def connect(number: int) -> None:
        async with slots:
            await connect_unauthenticated(vault.port, number, writers)

    await asyncio.gather(*(connect(number) for number in range(count)))
    return writers


async def work(vault: ServedProcess, done: asyncio.Event, reconnects: bool) -> tuple[list[float], int]:
    """Call the tool until `done`; return the time of each call in ms, and the number of failures."""
    took, failed, number = [], 0, 0
    headers = {"authorization": f"Bearer {vault.token}"}
    limits = httpx2.Limits(max_keepalive_connections=0 if reconnects else 1)
    address = f"http://127.0.0.1:{vault.port}"
    async with httpx2.AsyncClient(base_url=address, limits=limits, timeout=30.0) as http:
        call = over_http(http, f"/api/v1/tools/{TOOL}", headers)
        while not done.is_set():
            start = time.perf_counter()
            try:
                await call(number)
            except httpx2.HTTPError:
                failed += 1
            took.append(1000 * (time.perf_counter() - start))
            number += 1
            await asyncio.sleep(0.002)
    return took, failed


async def watch_server(vault: ServedProcess, done: asyncio.Event) -> tuple[int, float]:
    """Return the server's maximum number of open files (0 on Windows) and its maximum memory in MB."""
    process = psutil.Process(vault.pid)
    files, memory = 0, 0.0
    while not done.is_set():
        files = max(files, process.num_fds() if hasattr(process, "num_fds") else 0)
        memory = max(memory, process.memory_info().rss / 1e6)
        await asyncio.sleep(0.02)
    return files, memory


async def measure(folder: Path, count: int) -> int:
    """Print the results and return the number of missed targets."""
    async with served(folder / "vault", str(MAX_OPEN_FILES)) as vault:
        done = asyncio.Event()
        watching = asyncio.create_task(watch_server(vault, done))
        workers = [asyncio.create_task(work(vault, done, reconnects)) for reconnects in (False, True)]
        start = time.perf_counter()
        writers = await flood(vault, count)
        seconds = time.perf_counter() - start
        await asyncio.sleep(1.0)
        done.set()
        (steady, lost), (fresh, fresh_lost) = [await worker for worker in workers]
        files, memory = await watching
        for writer in writers:
            writer.transport.abort()
    print(f"{len(writers)} of {count} unauthenticated connections in {seconds:.1f} s")
    for name, took, failed in (
        ("persistent connection", steady, lost),
        ("new connection per call", fresh, fresh_lost),
    ):
        p95 = statistics.quantiles(took, n=20)[-1]
        print(f"client, {name}: {len(took)} calls, {failed} failed, p95 {p95:.1f} ms, max {max(took):.0f} ms")
    print(f"server: at most {files} of {MAX_OPEN_FILES} files, {memory:.0f} MB")
    return (lost > 0) + (fresh_lost > 0) + (files > MAX_OPEN_FILES // 2)


def main() -> int:
    """Run the benchmark and return the exit status."""
    count = next((int(word) for word in sys.argv[1:] if word.isdecimal()), CONNECTIONS)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("CONFIG", "DATA", "CACHE", "LOGS"):
            os.environ[f"SCRIPTORIUM_{name}"] = str(Path(folder) / name.lower())
        missed = asyncio.run(measure(Path(folder), count))
    return 1 if missed and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
