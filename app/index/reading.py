"""Reads many files: in worker processes when there is enough work to pay for starting them."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from app.index.extract import Extract, Task, extract_chunk

log = logging.getLogger(__name__)

FEW = 200
_IN_PROCESS_CHUNK = 32
_CHUNK = 48
_AHEAD = 3


async def extract_all(
    root: Path, tasks: Sequence[Task], max_bytes: int, cancelled: Callable[[], bool]
) -> AsyncIterator[list[Extract]]:
    """Read these files, some at a time, in the order in which they are done.

    Below `FEW` files a thread does it; above, at most as many processes as there are cores. Should the
    processes die or not start, a thread goes on. Ends early when `cancelled` answers yes.
    """
    done = 0
    if len(tasks) >= FEW:
        chunks = [tasks[start : start + _CHUNK] for start in range(0, len(tasks), _CHUNK)]
        seen: set[int] = set()
        try:
            async for number, extracts in _by_processes(root, chunks, max_bytes, cancelled):
                seen.add(number)
                yield extracts
        except (BrokenProcessPool, OSError) as error:
            log.warning("processes to read notes are not to be had, going on without: %s", error)
        tasks = [task for number, chunk in enumerate(chunks) if number not in seen for task in chunk]
    while done < len(tasks) and not cancelled():
        chunk = tasks[done : done + _IN_PROCESS_CHUNK]
        yield await asyncio.to_thread(extract_chunk, str(root), chunk, max_bytes)
        done += len(chunk)


async def _by_processes(
    root: Path, chunks: Sequence[Sequence[Task]], max_bytes: int, cancelled: Callable[[], bool]
) -> AsyncIterator[tuple[int, list[Extract]]]:
    loop = asyncio.get_running_loop()
    workers = max(1, min(os.cpu_count() or 1, len(chunks)))
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    waiting = iter(enumerate(chunks))
    running: dict[asyncio.Future[list[Extract]], int] = {}

    def hand_over() -> None:
        # Only a few chunks ahead: a cancel ends soon, and results do not pile up in memory.
        while len(running) < workers * _AHEAD and (item := next(waiting, None)) is not None:
            number, chunk = item
            running[loop.run_in_executor(pool, extract_chunk, str(root), chunk, max_bytes)] = number

    try:
        hand_over()
        while running and not cancelled():
            ready, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for future in ready:
                number = running.pop(future)
                hand_over()
                yield number, future.result()
    finally:
        for future in running:
            if not future.cancel() and not future.cancelled():
                future.exception()  # seen: it is read again without processes, or nobody wants it any more
        await asyncio.shield(asyncio.to_thread(pool.shutdown, wait=True, cancel_futures=True))
