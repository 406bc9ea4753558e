"""Coroutines of the window: started, kept until they end, and never failing in silence.

`asyncio` keeps only weak references to tasks, and a slot has nobody to raise to. So every coroutine that a
signal starts goes through `start`; what fails is logged and told to whoever listens to `failed`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

import shiboken6
from PySide6.QtWidgets import QWidget

log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """What a person was doing ("open the vault") and the error that ended it."""

    what: str
    error: BaseException


class TaskFailureReporter:
    """Hands each failure to its listeners; nothing is lost when there are none, the log has it."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[TaskFailure], None]] = []

    def connect(self, listener: Callable[[TaskFailure], None]) -> Callable[[], None]:
        """Call `listener` in the GUI thread for every failure; the returned function ends that."""
        self._listeners.append(listener)

        def disconnect() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return disconnect

    def report(self, failure: TaskFailure) -> None:
        """Log `failure` and hand it on."""
        log.error("failed to %s", failure.what or "finish a task", exc_info=failure.error)
        for listener in tuple(self._listeners):
            listener(failure)


# The one piece of state at module level: a task must outlive whoever started it, and belongs to no view.
failed = TaskFailureReporter()
_running: set[asyncio.Task[Any]] = set()


def start(coro: Coroutine[Any, Any, T], *, owner: QWidget | None = None, what: str = "") -> asyncio.Task[T]:
    """Run `coro` on the GUI thread's loop and keep it until it ends.

    Args:
        coro: What to run.
        owner: A widget whose destruction cancels it.
        what: What the user would call it, after "Could not": "open the vault".

    Raises:
        RuntimeError: no loop runs in this thread.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        coro.close()
        raise
    task = loop.create_task(coro)
    _running.add(task)

    def cancel(*_: object) -> None:
        task.cancel()

    if owner is not None:
        owner.destroyed.connect(cancel)
    task.add_done_callback(lambda done: _on_done(done, what, owner, cancel))
    return task


def running_tasks() -> frozenset[asyncio.Task[Any]]:
    """The tasks that have not ended."""
    return frozenset(_running)


async def cancel_all() -> None:
    """Cancel what still runs, but for the caller's own task, and wait until it has ended."""
    rest = [task for task in _running if task is not asyncio.current_task()]
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)


def _on_done(task: asyncio.Task[Any], what: str, owner: QWidget | None, cancel: Callable[..., None]) -> None:
    _running.discard(task)
    if owner is not None and shiboken6.isValid(owner):
        owner.destroyed.disconnect(cancel)
    if not task.cancelled() and (error := task.exception()) is not None:
        failed.report(TaskFailure(what, error))
