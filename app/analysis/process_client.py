"""The client of the worker process: starts it on demand, ends it when idle or when a request is canceled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TypeVar, cast

import numpy as np

from app.analysis.worker import (
    ArrayChunks,
    WorkerFailure,
    WorkerProgress,
    WorkerRequest,
    WorkerResult,
    serve,
    split_array,
)
from app.errors import ScriptoriumError
from app.graph.static_layout import Report
from app.launch import worker_processes

T = TypeVar("T")
R = TypeVar("R")
IDLE_TIMEOUT_S = 90.0
_JOIN_TIMEOUT_S = 5.0


class AnalysisFailed(ScriptoriumError):
    """An analysis could not be finished; the notes and the graph are unchanged."""

    type = "internal"


class AnalysisWorker:
    """Runs one request at a time in a separate process. Belongs to one event loop.

    Canceling `ask` kills the process, so that no unwanted work continues; the next request starts another.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._burial = asyncio.Lock()
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._pending: asyncio.Future[object] | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def running(self) -> bool:
        """True if the process is running."""
        return self._process is not None

    async def ask(self, report: Report, work: Callable[..., T], *arguments: object) -> T:
        """Return the result of `work(*arguments, report=…)`; `report` is called in this loop.

        Raises:
            AnalysisFailed: The function raised an error, or the process died.
        """
        async with self._turn:
            if self._closed:
                raise AnalysisFailed("The vault is being closed.")
            if self._idle is not None:
                self._idle.cancel()
            try:
                return await self._exchange(report, work, arguments)
            except (EOFError, OSError) as error:
                await self._end()
                raise AnalysisFailed("The analysis process stopped unexpectedly. Try again.") from error
            except asyncio.CancelledError:
                await self._end()
                raise
            finally:
                if self._process is not None:
                    self._idle = asyncio.get_running_loop().call_later(IDLE_TIMEOUT_S, self._on_idle)

    async def close(self) -> None:
        """End the process; pending requests fail."""
        self._closed = True
        if self._idle is not None:
            self._idle.cancel()
        await self._end()
        if self._ending:
            await asyncio.wait(self._ending)

    async def _exchange(self, report: Report, work: Callable[..., T], arguments: tuple[object, ...]) -> T:
        connection = self._connection
        if connection is None:
            connection = await self._in_thread(self._start)
        await self._in_thread(_send, connection, work, arguments)
        while True:
            message = await self._in_thread(connection.recv)
            if isinstance(message, WorkerProgress):
                report(message.share, message.words)
            elif isinstance(message, WorkerResult):
                return cast("T", message.value)
            elif isinstance(message, WorkerFailure):
                raise AnalysisFailed(f"The analysis failed: {message.words}")

    async def _in_thread(self, work: Callable[..., R], *arguments: object) -> R:
        """Run a blocking function in a thread; a canceled caller leaves its future in `_pending`."""
        pending = asyncio.ensure_future(asyncio.to_thread(work, *arguments))
        self._pending = cast("asyncio.Future[object]", pending)
        return await asyncio.shield(pending)

    def _start(self) -> Connection:
        context = worker_processes()
        own_end, worker_end = context.Pipe()
        process = context.Process(target=serve, args=(worker_end,), name="analysis", daemon=True)
        process.start()
        worker_end.close()
        self._process, self._connection = process, own_end
        return own_end

    def _on_idle(self) -> None:
        """End the process if no request is running."""
        if not self._turn.locked():
            task = asyncio.get_running_loop().create_task(self._end(), name="end the analysis process")
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def _end(self) -> None:
        await asyncio.shield(asyncio.ensure_future(self._end_now()))

    async def _end_now(self) -> None:
        """End the process; a canceled request and `close` may both call this, one at a time."""
        async with self._burial:
            await self._end_it()

    async def _end_it(self) -> None:
        if self._process is not None:
            self._process.kill()
        if self._pending is not None:
            # A thread that still reads sees the end of the pipe; only then may the pipe be closed.
            await asyncio.wait([self._pending])
            if not self._pending.cancelled():
                self._pending.exception()
        process, connection = self._process, self._connection
        self._process = self._connection = self._pending = None
        if process is not None and connection is not None:
            await asyncio.to_thread(_reap, process, connection)


def _send(connection: Connection, work: Callable[..., object], arguments: tuple[object, ...]) -> None:
    """Send a request, large arrays in chunks; runs in another thread."""
    packed: list[object] = []
    for argument in arguments:
        pieces = split_array(argument) if isinstance(argument, np.ndarray) else []
        if len(pieces) > 1:
            for piece in pieces:
                connection.send(piece)
            packed.append(ArrayChunks(len(pieces)))
        else:
            packed.append(argument)
    connection.send(WorkerRequest(work, tuple(packed)))


def _reap(process: BaseProcess, connection: Connection) -> None:
    """Kill a process, wait for it, and close its pipe."""
    process.kill()
    process.join(_JOIN_TIMEOUT_S)
    process.close()
    connection.close()
