"""Start coroutines in the GUI thread, keep them until they end, and report their failures.

`asyncio` keeps only weak references to tasks, and an exception in a slot has no caller to reach. Every
coroutine that a signal starts therefore goes through `start`, which logs a failure and passes it to the
listeners of `failed`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

import shiboken6
from PySide6.QtCore import QObject

log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """A failed task: its action as the user knows it ("open the vault"), and its error."""

    action: str
    error: BaseException


class TaskFailureReporter:
    """Logs each failure and passes it to the listeners."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[TaskFailure], None]] = []

    def connect(self, listener: Callable[[TaskFailure], None]) -> Callable[[], None]:
        """Call `listener` in the GUI thread for every failure, until the returned function is called."""
        self._listeners.append(listener)

        def disconnect() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return disconnect

    def report(self, failure: TaskFailure) -> None:
        """Log `failure` and pass it to the listeners."""
        log.error("failed to %s", failure.action or "finish a task", exc_info=failure.error)
        for listener in tuple(self._listeners):
            listener(failure)


# The only module-level state: a task must outlive its caller and belongs to no view.
failed = TaskFailureReporter()
_running: set[asyncio.Task[Any]] = set()


def start(coro: Coroutine[Any, Any, T], *, owner: QObject | None = None, action: str = "") -> asyncio.Task[T]:
    """Run `coro` on the GUI thread's loop and keep a reference until it ends.

    A failure is reported to `failed`, except for a RuntimeError in a task that was canceled because its owner
    was destroyed.

    Args:
        coro: The coroutine to run.
        owner: An object whose destruction cancels the task.
        action: The operation as the user knows it, to follow "Could not": "open the vault".

    Returns:
        The task.

    Raises:
        RuntimeError: No event loop is running in this thread.
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
    task.add_done_callback(lambda done: _on_done(done, action, owner, cancel))
    return task


async def cancel_all() -> None:
    """Cancel all tasks of this loop except the caller's own, and wait until they have ended.

    Tasks that start in the meantime, for example for a late event, are also canceled.
    """
    loop = asyncio.get_running_loop()
    # A task that outlived its loop never ends and can't be awaited in another one.
    _running.difference_update([task for task in _running if task.get_loop().is_closed()])
    while others := {task for task in _running if task.get_loop() is loop} - {asyncio.current_task()}:
        for task in others:
            task.cancel()
        await asyncio.wait(others)


def _on_done(
    task: asyncio.Task[Any], action: str, owner: QObject | None, cancel: Callable[..., None]
) -> None:
    _running.discard(task)
    is_orphaned = owner is not None and not shiboken6.isValid(owner)
    if owner is not None and not is_orphaned:
        owner.destroyed.disconnect(cancel)
    if task.cancelled() or (error := task.exception()) is None:
        return
    # A `finally` block of a canceled task can't restore widgets that were destroyed with the owner.
    if is_orphaned and task.cancelling() and isinstance(error, RuntimeError):
        log.debug("a task of a destroyed object could not clean up", exc_info=error)
        return
    failed.report(TaskFailure(action, error))
