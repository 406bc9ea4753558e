"""Background tasks that never end silently: a failure is reported, and the task starts again later."""

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
    """A background task ended by an error.

    Attributes:
        task: What the task does, as the object of "Could not": "watch the vault".
        reason: Why it ended.
        again_in: In how many seconds it starts again.
    """

    task: str
    reason: str
    again_in: float


@dataclass(frozen=True, slots=True)
class TaskRecovered(Event):
    """A background task that had failed runs again, or has done its work."""

    task: str


class Supervisor:
    """Runs background tasks of one owner, such as an open vault.

    Args:
        events: Receives failures and recoveries.
    """

    def __init__(self, events: EventBus) -> None:
        self._events = events
        self._running: dict[str, asyncio.Task[None]] = {}
        self._closing = asyncio.Event()

    def start(self, task: str, work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        """Run `work` until it returns, and again after each error, with growing pauses.

        Args:
            task: What it does, for the user; only one task of a name runs at a time.
            work: Called for each run. It ends in order by returning or by being cancelled.

        Returns:
            The task that supervises; cancel it to end the work.

        Raises:
            ValueError: A task of this name runs already.
        """
        running = self._running.get(task)
        if running is not None and not running.done():
            raise ValueError(f"{task} runs already")
        made = self._running[task] = asyncio.create_task(self._supervise(task, work), name=task)
        made.add_done_callback(lambda _: self._forget(task, made))
        return made

    async def close(self, grace: float = 0.0) -> None:
        """End all tasks; none starts again.

        Args:
            grace: How many seconds they have to return before they are cancelled.
        """
        self._closing.set()
        running = tuple(self._running.values())
        if running and grace:
            await asyncio.wait(running, timeout=grace)
        for one in running:
            one.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _forget(self, task: str, made: asyncio.Task[None]) -> None:
        if self._running.get(task) is made:
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
                log.exception("could not %s; starting again in %g s", task, delay)
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
