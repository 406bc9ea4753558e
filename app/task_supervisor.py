"""Supervision of background tasks: failures are reported, and the task restarts after a delay."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from app.errors import ScriptoriumError
from app.events import Event, EventBus

log = logging.getLogger(__name__)

MIN_RESTART_DELAY_S = 1.0
MAX_RESTART_DELAY_S = 300.0
STEADY_AFTER_S = 20.0


@dataclass(frozen=True, slots=True)
class TaskFailed(Event):
    """A background task ended with an error.

    Attributes:
        task: A description of the task, as the object of "Could not": "watch the vault".
        reason: Why it ended.
        retry_delay: Seconds until it restarts.
    """

    task: str
    reason: str
    retry_delay: float


@dataclass(frozen=True, slots=True)
class TaskRecovered(Event):
    """A failed background task is running steadily again, or has completed."""

    task: str


class TaskSupervisor:
    """Runs the background tasks of one owner, such as an open vault.

    Args:
        events: Receives failures and recoveries.
    """

    def __init__(self, events: EventBus) -> None:
        self._events = events
        self._running: dict[str, asyncio.Task[None]] = {}
        self._closing = asyncio.Event()

    def start(self, task: str, work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        """Run `work` until it returns, restarting it after each error with increasing delays.

        Args:
            task: A description of the task for the user; only one task with this description runs at a time.
            work: Called for each run. It ends normally by returning or by cancellation.

        Returns:
            The supervising task; cancel it to end the work.

        Raises:
            ValueError: A task with this description is already running.
        """
        running = self._running.get(task)
        if running is not None and not running.done():
            raise ValueError(f"{task} is already running")
        supervisor_task = self._running[task] = asyncio.create_task(self._supervise(task, work), name=task)
        supervisor_task.add_done_callback(lambda _: self._forget(task, supervisor_task))
        return supervisor_task

    async def close(self, grace: float = 0.0) -> None:
        """End all tasks without restarting them.

        Args:
            grace: Seconds to wait for the tasks to return before they are canceled.
        """
        self._closing.set()
        running = tuple(self._running.values())
        if running and grace:
            await asyncio.wait(running, timeout=grace)
        for running_task in running:
            running_task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _forget(self, task: str, supervisor_task: asyncio.Task[None]) -> None:
        if self._running.get(task) is supervisor_task:
            del self._running[task]

    async def _supervise(self, task: str, work: Callable[[], Awaitable[None]]) -> None:
        delay = MIN_RESTART_DELAY_S
        has_failed = False
        while True:
            run = asyncio.ensure_future(_run(work))
            try:
                if has_failed:
                    await asyncio.wait({run}, timeout=STEADY_AFTER_S)
                    if not run.done() or run.exception() is None:
                        has_failed, delay = False, MIN_RESTART_DELAY_S
                        self._events.publish(TaskRecovered(task))
                await run
                return
            except asyncio.CancelledError:
                run.cancel()
                await asyncio.gather(run, return_exceptions=True)
                raise
            except Exception as error:
                log.exception("could not %s; restarting in %g s", task, delay)
                self._events.publish(TaskFailed(task, _error_text(error), delay))
            has_failed = True
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), delay)
            if self._closing.is_set():
                return
            delay = min(2 * delay, MAX_RESTART_DELAY_S)


async def _run(work: Callable[[], Awaitable[None]]) -> None:
    await work()


def _error_text(error: Exception) -> str:
    if isinstance(error, ScriptoriumError):
        return error.message
    return str(error).splitlines()[0] if str(error) else type(error).__name__
