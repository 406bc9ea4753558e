"""The bridge between the GUI thread and the service thread.

The core runs on a standard asyncio loop in the service thread. Three kinds of messages cross: calls from a
view (`ServiceThread.call`), requests for approval (`DesktopApprover`), and events (`EventRelay`, which sends
them at most every 33 ms, so that a burst costs the window one batch). Events and requests are frozen.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from app.events import Event, EventBus
from app.permissions.approval import UNANSWERED_REASON, ApprovalRequest, Decision

if TYPE_CHECKING:
    from pathlib import Path

    from app.settings import Settings
    from app.workspace import VaultService

log = logging.getLogger(__name__)
T = TypeVar("T")
_DRAIN_INTERVAL_MS = 33
_STOP_TIMEOUT_S = 5.0
_CLOSE_TIMEOUT_S = 5.0


class ServiceThread:
    """A thread with a standard asyncio loop that runs the core.

    `call` may be awaited from any loop. Canceling the awaiting task cancels the work.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        """True if the loop accepts calls."""
        return self._loop is not None and self._loop.is_running()

    def start(self) -> None:
        """Start the thread, and return once its loop is running.

        Raises:
            RuntimeError: The thread was already started.
        """
        if self._thread is not None:
            raise RuntimeError("the service thread was already started")
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run_loop()), name="service")
        self._thread.start()
        self._ready.wait()

    def stop(self) -> bool:
        """Cancel all running work and wait up to 5 s for the thread; return whether it has ended."""
        if self._thread is None:
            return True
        if self._loop is not None and self._stopping is not None and self._loop.is_running():
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(_STOP_TIMEOUT_S)
        return not self._thread.is_alive()

    def finish(self, closing: Coroutine[Any, Any, object]) -> bool:
        """Run `closing`, then stop the thread; block for 10 s at most.

        For a caller whose own loop has ended.

        Returns:
            True if `closing` succeeded and both ended in time.
        """
        try:
            asyncio.run_coroutine_threadsafe(closing, self._running_loop()).result(_CLOSE_TIMEOUT_S)
        except Exception:
            log.exception("could not close the vault")
            self.stop()
            return False
        return self.stop()

    @overload
    async def call(self, fn: Callable[[], Awaitable[T]]) -> T: ...

    @overload
    async def call(self, fn: Callable[[], T]) -> T: ...

    async def call(self, fn: Callable[[], Awaitable[T] | T]) -> T:
        """Return the result of `fn`, run in the service thread and awaited if it is awaitable.

        Errors of `fn` are raised.

        Raises:
            RuntimeError: The service is not running.
        """
        loop = self._running_loop()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_invoke(fn), loop))

    def post(self, fn: Callable[[], object]) -> None:
        """Call `fn` in the service thread soon, without waiting; do nothing if the thread is not running."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(fn)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None or not self._loop.is_running():
            raise RuntimeError("the service thread is not running")
        return self._loop

    async def _run_loop(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        self._ready.set()
        await self._stopping.wait()
        remaining = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in remaining:
            task.cancel()
        if remaining:
            await asyncio.wait(remaining, timeout=_STOP_TIMEOUT_S - 1)


async def _invoke(fn: Callable[[], Awaitable[T] | T]) -> T:
    result = fn()
    if inspect.isawaitable(result):
        return await cast("Awaitable[T]", result)
    return result


def _is_loop_running() -> bool:
    """Return whether an event loop is running in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class EventRelay(QObject):
    """Relays events of the core to the window: `batch` carries a tuple of them, at most every 33 ms."""

    batch = Signal(object)
    _drain_requested = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._queue: deque[Event] = deque()
        self._is_scheduled = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DRAIN_INTERVAL_MS)
        self._timer.timeout.connect(self.drain)
        self._drain_requested.connect(self._timer.start, Qt.ConnectionType.QueuedConnection)

    def attach(self, events: EventBus) -> Callable[[], None]:
        """Relay every event of `events`, until the returned function is called."""
        return events.subscribe(Event, self.receive)

    def receive(self, event: Event) -> None:
        """Queue `event`, from any thread."""
        self._queue.append(event)
        if not self._is_scheduled:
            self._is_scheduled = True
            self._drain_requested.emit()

    @Slot()
    def drain(self) -> None:
        """Emit the queued events; an event that arrives meanwhile schedules the next batch."""
        self._is_scheduled = False
        if not _is_loop_running():
            # The window's loop has ended, and with it every view that would handle the events.
            self._queue.clear()
            return
        events = tuple(self._queue.popleft() for _ in range(len(self._queue)))
        if events:
            self.batch.emit(events)


class PendingApproval(QObject):
    """A request for approval that waits for the user; belongs to the GUI thread.

    `withdrawn` is emitted when no answer is needed anymore, because the request timed out or was canceled;
    after a timeout, it is emitted even if an answer came too late. `reason` is then the message of the
    cancellation, if it had one. `is_answered` is true after an answer or the withdrawal.
    """

    withdrawn = Signal()

    def __init__(
        self, request: ApprovalRequest, reply: Callable[[Decision], None], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.request = request
        self.is_answered = False
        self.reason = ""
        self._reply = reply

    def postpone(self, seconds: float) -> None:
        """Extend the time limit of the request by `seconds`."""
        self.request.postponed.add(seconds)

    def answer(self, decision: Decision) -> None:
        """Answer the request; only the first answer counts."""
        if not self.is_answered:
            self.is_answered = True
            self._reply(decision)


class DesktopApprover(QObject):
    """The window's approver: passes each request to the GUI thread as a `PendingApproval`.

    `asked` carries it. The gate awaits `decide` in the service thread; if that is canceled before an answer
    arrives, the `PendingApproval` emits `withdrawn`.
    """

    asked = Signal(object)
    _request_received = Signal(object, object)
    _request_ended = Signal(str, str)

    def __init__(self, service: ServiceThread, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._service = service
        self._pending: dict[str, PendingApproval] = {}
        self._request_received.connect(self._announce, Qt.ConnectionType.QueuedConnection)
        self._request_ended.connect(self._forget, Qt.ConnectionType.QueuedConnection)

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Return the user's decision; called in the service thread. Canceling it withdraws the request."""
        answer: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()

        def resolve(decision: Decision) -> None:
            if not answer.done():
                answer.set_result(decision)

        def reply(decision: Decision) -> None:
            self._service.post(lambda: resolve(decision))

        self._request_received.emit(request, reply)
        reason = ""
        try:
            return await answer
        except asyncio.CancelledError as error:
            reason = str(error)
            raise
        finally:
            self._request_ended.emit(request.id, reason)

    @Slot(object, object)
    def _announce(self, request: ApprovalRequest, reply: Callable[[Decision], None]) -> None:
        pending = PendingApproval(request, reply, self)
        self._pending[request.id] = pending
        self.asked.emit(pending)

    @Slot(str, str)
    def _forget(self, request_id: str, reason: str) -> None:
        pending = self._pending.pop(request_id, None)
        if pending is None:
            return
        # The user must learn that an answer came too late and had no effect.
        if not pending.is_answered or reason == UNANSWERED_REASON:
            pending.is_answered, pending.reason = True, reason
            pending.withdrawn.emit()
        pending.deleteLater()


class VaultClient(QObject):
    """Gives views access to an open vault: runs functions on it and relays its events.

    `run` is the only way to use the vault from the window; the properties may be read in any thread.
    `events.batch` carries the vault's events.
    """

    def __init__(
        self,
        service: ServiceThread,
        vault: VaultService,
        approver: DesktopApprover | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._service = service
        self._vault = vault
        self.approver = approver or DesktopApprover(service, self)
        self.events = EventRelay(self)
        self._is_closing = False
        # Safe in this thread: subscribing is one list append, and publishing iterates over a copy.
        self._detach = self.events.attach(vault.events)

    @property
    def root(self) -> Path:
        """The vault's folder."""
        return self._vault.root

    @property
    def name(self) -> str:
        """The vault's name."""
        return self._vault.name

    @property
    def read_only(self) -> bool:
        """True if the vault is open read-only."""
        return self._vault.read_only

    @property
    def notices(self) -> tuple[str, ...]:
        """Messages about recovered changes and damaged files, found while opening the vault."""
        return tuple(self._vault.notices)

    @property
    def is_indexed(self) -> bool:
        """True if the index has names from an earlier scan; read here, since a call would delay the scan."""
        return self._vault.notes.is_indexed

    @property
    def settings(self) -> Settings:
        """The settings that the vault uses now; to change them, call the service."""
        return self._vault.settings.current

    @overload
    async def run(self, fn: Callable[[VaultService], Awaitable[T]]) -> T: ...

    @overload
    async def run(self, fn: Callable[[VaultService], T]) -> T: ...

    async def run(self, fn: Callable[[VaultService], Awaitable[T] | T]) -> T:
        """Return the result of `fn(vault)` from the service thread; an awaitable is awaited there.

        Errors of `fn` are raised.

        Raises:
            CancelledError: The vault is being closed, so the answer is not needed.
            RuntimeError: The service is not running.
        """
        try:
            return await self._service.call(cast("Callable[[], T]", lambda: fn(self._vault)))
        except Exception as error:
            if self._is_closing:
                raise asyncio.CancelledError from error
            raise

    async def close(self) -> None:
        """Stop relaying events and close the vault; running work is canceled."""
        self._is_closing = True
        self._detach()
        await self._service.call(self._vault.close)

    def finish(self) -> bool:
        """Close the vault and end the service thread after the window's loop has ended.

        Returns:
            True if both succeeded in time.
        """
        return self._service.finish(self._vault.close())
