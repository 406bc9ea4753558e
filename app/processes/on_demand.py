"""A worker process that starts on demand and ends when it is idle."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from app.processes.worker import Worker, WorkerLostError

log = logging.getLogger(__name__)

W = TypeVar("W", bound=Worker)
T = TypeVar("T")


class WorkerClosedError(Exception):
    """The request was not answered, because the app no longer needs this worker."""


class OnDemandWorker(Generic[W]):
    """Starts a worker for the first request and ends it when it is idle. Belongs to one event loop.

    Requests run one at a time. A canceled request ends the worker, because its answer would be taken for the
    next request's. A request whose worker is lost may run again on another one.

    Args:
        name: The worker's name in tasks and in the log: "the analysis process".
        start: Starts a worker; called again after the worker has ended or been lost.
        idle_timeout: Seconds without requests after which the worker ends; None keeps it running.
        tries: The number of workers on which a request is tried.
    """

    def __init__(
        self, name: str, start: Callable[[], Awaitable[W]], *, idle_timeout: float | None, tries: int
    ) -> None:
        self._name = name
        self._start = start
        self.idle_timeout = idle_timeout
        self._tries = tries
        self._request_lock = asyncio.Lock()
        self._end_lock = asyncio.Lock()
        self._start_task: asyncio.Task[W] | None = None
        self._request: asyncio.Future[Any] | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._end_task: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def running(self) -> W | None:
        """The worker if it has started, else None."""
        start_task = self._start_task
        if start_task is None or not start_task.done() or start_task.cancelled() or start_task.exception():
            return None
        return start_task.result()

    async def run(self, request: Callable[[W], Awaitable[T]], *, timeout: float | None = None) -> T:
        """Return the result of `request`, which is called with a running worker.

        Args:
            request: Sends frames and reads the answers.
            timeout: Seconds to wait for the start, which continues after that; None for no limit.

        Raises:
            TimeoutError: The worker has not started yet.
            WorkerClosedError: `close` was called.
            WorkerLostError: Every worker was lost while running the request.
            Exception: any exception raised by `start` or `request`.
        """
        async with self._request_lock:
            self._stop_timer()
            try:
                for tries_left in reversed(range(self._tries)):
                    worker = await self.get_worker(timeout)
                    try:
                        return await self._run_request(request(worker))
                    except WorkerLostError as error:
                        log.warning("lost %s (%s)", self._name, error)
                        await self._end()
                        if not tries_left:
                            raise
                raise AssertionError("a request needs at least one try")
            finally:
                self._start_timer()

    async def get_worker(self, timeout: float | None = None) -> W:
        """Return the worker after starting it if necessary; arguments and errors are those of `run`."""
        if self._closed:
            raise WorkerClosedError
        if self._start_task is None:
            self._start_task = asyncio.create_task(self._run_start(), name=f"start {self._name}")
        start_task = self._start_task
        await asyncio.wait([start_task], timeout=timeout)
        if not start_task.done():
            raise TimeoutError
        if start_task.cancelled():
            raise WorkerClosedError
        if start_task.exception() is not None and self._start_task is start_task:
            self._start_task = None
        return start_task.result()

    async def close(self) -> None:
        """End the worker and fail pending requests; safe to call twice."""
        self._closed = True
        self._stop_timer()
        await self._end()
        if self._end_task is not None:
            await asyncio.wait([self._end_task])

    async def _run_start(self) -> W:
        return await self._start()

    async def _run_request(self, answer: Awaitable[T]) -> T:
        request = asyncio.ensure_future(answer)
        self._request = request
        try:
            return await request
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self._closed and not (task is not None and task.cancelling()):
                raise WorkerClosedError from None
            await self._end()
            raise

    def _stop_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()

    def _start_timer(self) -> None:
        if self.idle_timeout is not None and self._start_task is not None and not self._closed:
            self._idle_timer = asyncio.get_running_loop().call_later(self.idle_timeout, self._on_idle)

    def _on_idle(self) -> None:
        """End an idle worker, unless it is still starting, which may take a long time."""
        if self._start_task is not None and not self._start_task.done():
            self._start_timer()
        elif not self._request_lock.locked():
            self._end_task = asyncio.create_task(self._end(), name=f"end {self._name}")

    async def _end(self) -> None:
        """End the worker and the request that it is running; not interrupted by a cancellation."""
        await asyncio.shield(asyncio.ensure_future(self._end_now()))

    async def _end_now(self) -> None:
        async with self._end_lock:
            if self._request is not None:
                self._request.cancel()
                await asyncio.wait([self._request])
                if not self._request.cancelled():
                    # Its caller was canceled too, so an error must be retrieved here.
                    self._request.exception()
            start_task, self._start_task = self._start_task, None
            if start_task is None:
                return
            start_task.cancel()
            (outcome,) = await asyncio.gather(start_task, return_exceptions=True)
            if isinstance(outcome, Worker):
                await outcome.kill()
