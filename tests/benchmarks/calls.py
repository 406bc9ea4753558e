"""Time calls by concurrent clients, for the tables of the server benchmarks."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass

import psutil

Call = Callable[[int], Awaitable[None]]
_BATCH_CALLS = 20


@dataclass(frozen=True, slots=True)
class Row:
    """The measured calls of one kind; all times are ms per call, `cpu` is the server's processor time."""

    name: str
    clients: int
    calls: int
    per_second: float
    p50: float
    p95: float
    cpu: float = 0.0


async def timed(name: str, callers: Iterable[Call], calls: int, pid: int | None = None) -> Row:
    """Measure `calls` sequential calls by each of `callers`, all callers concurrently.

    Args:
        name: The name of the row.
        callers: One per client; receives the number of the call.
        calls: The number of calls per client; a tenth as many, at least one, precede them and do not count.
        pid: The server's process, for its processor time; None for this process.
    """
    latencies: list[float] = []
    clients = list(callers)

    async def use(call: Call, keep: list[float], count: int) -> None:
        for number in range(count):
            start = time.perf_counter()
            await call(number)
            keep.append(1000 * (time.perf_counter() - start))

    await asyncio.gather(*(use(call, [], max(1, calls // 10)) for call in clients))
    server = psutil.Process(pid)
    start, used = time.perf_counter(), _cpu_seconds(server)
    await asyncio.gather(*(use(call, latencies, calls) for call in clients))
    elapsed, used = time.perf_counter() - start, _cpu_seconds(server) - used
    return _row(name, len(clients), latencies, elapsed, used)


async def in_turns(ways: Mapping[str, Call], calls: int, pid: int) -> list[Row]:
    """Measure one client of each kind, alternating in batches, so that other load affects all alike.

    The first batch of each does not count; `calls` is rounded up to a multiple of the batch size.
    """
    server = psutil.Process(pid)
    latencies: dict[str, list[float]] = {name: [] for name in ways}
    cpu = dict.fromkeys(ways, 0.0)
    for at in range(-_BATCH_CALLS, calls, _BATCH_CALLS):
        for name, call in ways.items():
            used, batch = _cpu_seconds(server), []
            for number in range(_BATCH_CALLS):
                start = time.perf_counter()
                await call(number)
                batch.append(1000 * (time.perf_counter() - start))
            if at >= 0:
                latencies[name] += batch
                cpu[name] += _cpu_seconds(server) - used
    return [_row(name, 1, times, sum(times) / 1000, cpu[name]) for name, times in latencies.items()]


def _row(name: str, clients: int, latencies: list[float], elapsed: float, used: float) -> Row:
    p95 = statistics.quantiles(latencies, n=20)[-1]
    cpu = 1000 * used / len(latencies)
    return Row(
        name, clients, len(latencies), len(latencies) / elapsed, statistics.median(latencies), p95, cpu
    )


def _cpu_seconds(process: psutil.Process) -> float:
    """Return the processor time that a process has used."""
    times = process.cpu_times()
    return float(times.user + times.system)


def table(rows: Iterable[Row]) -> str:
    """Return the rows as a table for a terminal."""
    heads = f"{'calls/s':>10}{'p50 ms':>9}{'p95 ms':>9}{'cpu ms':>9}"
    lines = [f"{'interface':<40}{'clients':>8}{'calls':>8}{heads}"]
    lines += [
        f"{row.name:<40}{row.clients:>8}{row.calls:>8}{row.per_second:>10.0f}"
        f"{row.p50:>9.2f}{row.p95:>9.2f}{row.cpu:>9.2f}"
        for row in rows
    ]
    return "\n".join(lines)
