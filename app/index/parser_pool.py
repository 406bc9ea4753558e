"""Parallel parsing of files, in worker processes if there is enough work to justify starting them."""

from __future__ import annotations

import asyncio
import gc
import logging
import multiprocessing
import os
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TypeVar

from app.launch import worker_processes

log = logging.getLogger(__name__)

MIN_PROCESS_NOTES = 200
# A thread's time per note, its throughput, and the start-up time of the processes.
_NOTE_COST_S = 0.0001
_BYTES_PER_SECOND = 12 * 2**20
_PROCESS_START_S = 0.5
_THREAD_CHUNK_NOTES = 32
_PROCESS_CHUNK_NOTES = 96
_CHUNKS_PER_WORKER = 3
_GC_THRESHOLD = 100_000
In = TypeVar("In")
Out = TypeVar("Out")
Work = Callable[[str, Sequence[In], int], list[Out]]


def justifies_processes(notes: int, size: int) -> bool:
    """Return whether a thread would take longer to read these notes than processes take to start."""
    return notes >= MIN_PROCESS_NOTES and notes * _NOTE_COST_S + size / _BYTES_PER_SECOND > _PROCESS_START_S


class ParserPool:
    """The workers that read the files of the vault at `root` for one scan or refresh; `close` ends them.

    A thread does the work, unless `start` is called with enough to justify processes (at most one per core).
    If the processes die or fail to start, a thread does the rest.
    """

    def __init__(self, root: Path, max_bytes: int) -> None:
        self._root = str(root)
        self._max_bytes = max_bytes
        self._workers = max(1, os.cpu_count() or 1)
        self._pool: ProcessPoolExecutor | None = None
        self._is_disabled = False

    @property
    def has_processes(self) -> bool:
        """True if processes have been started."""
        return self._pool is not None

    def start(self, notes: int, size: int) -> None:
        """Start the processes early if these numbers of notes and bytes justify them."""
        if self._pool is not None or self._is_disabled or not justifies_processes(notes, size):
            return
        try:
            context = worker_processes()
            self._pool = ProcessPoolExecutor(self._workers, mp_context=context, initializer=_init_worker)
            # A task starts the first process; the tasks of `read` start the others.
            self._pool.submit(os.getpid)
        except (BrokenProcessPool, OSError) as error:
            self._disable_processes(error)

    def _disable_processes(self, error: Exception) -> None:
        log.warning("the processes that read notes failed; continuing in a thread: %s", error)
        self._is_disabled = True

    async def read(
        self, work: Work[In, Out], items: Sequence[In], is_cancelled: Callable[[], bool]
    ) -> AsyncIterator[list[Out]]:
        """Yield the results of `work` for these items in chunks, in the order of completion.

        `work` is a module-level function, called with the vault's folder, some items and the maximum size of
        a file. Ends early when `is_cancelled` returns True.
        """
        remaining = items
        if len(items) >= MIN_PROCESS_NOTES and self._pool is not None and not self._is_disabled:
            chunks = [
                items[start : start + _PROCESS_CHUNK_NOTES]
                for start in range(0, len(items), _PROCESS_CHUNK_NOTES)
            ]
            finished: set[int] = set()
            try:
                async for number, results in self._read_in_processes(self._pool, work, chunks, is_cancelled):
                    finished.add(number)
                    yield results
            except (BrokenProcessPool, OSError) as error:
                self._disable_processes(error)
            remaining = [
                item for number, chunk in enumerate(chunks) if number not in finished for item in chunk
            ]
        for start in range(0, len(remaining), _THREAD_CHUNK_NOTES):
            if is_cancelled():
                return
            chunk = remaining[start : start + _THREAD_CHUNK_NOTES]
            yield await asyncio.to_thread(work, self._root, chunk, self._max_bytes)

    async def _read_in_processes(
        self,
        pool: ProcessPoolExecutor,
        work: Work[In, Out],
        chunks: Sequence[Sequence[In]],
        is_cancelled: Callable[[], bool],
    ) -> AsyncIterator[tuple[int, list[Out]]]:
        loop = asyncio.get_running_loop()
        pending = iter(enumerate(chunks))
        running: dict[asyncio.Future[list[Out]], int] = {}

        def submit_chunks() -> None:
            # Stay only a few chunks ahead, so that cancellation is quick and results don't pile up in memory.
            while (
                len(running) < self._workers * _CHUNKS_PER_WORKER
                and (item := next(pending, None)) is not None
            ):
                number, chunk = item
                future = loop.run_in_executor(pool, work, self._root, chunk, self._max_bytes)
                running[future] = number

        try:
            submit_chunks()
            while running and not is_cancelled():
                ready, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for future in ready:
                    number = running.pop(future)
                    submit_chunks()
                    yield number, future.result()
        finally:
            for future in running:
                if not future.cancel() and not future.cancelled():
                    # Retrieve it so that asyncio does not warn: the chunk is read again or no longer needed.
                    future.exception()

    async def close(self) -> None:
        """End the processes, if any."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await asyncio.shield(asyncio.to_thread(pool.shutdown, wait=True, cancel_futures=True))


def _init_worker() -> None:
    """Prepare a worker process: reduce garbage collection, and exit when the app ends."""
    # A worker is short-lived and creates hardly any cycles.
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD)
    threading.Thread(target=_end_with_the_app, daemon=True).start()


def _end_with_the_app() -> None:
    """Exit when the app ends, which a worker waiting for work would not notice otherwise."""
    if (app := multiprocessing.parent_process()) is not None:
        app.join()
        os._exit(1)
