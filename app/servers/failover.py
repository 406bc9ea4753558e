"""A vault served by a running Scriptorium or else by this process, with failover between them.

The backend can change at any time: when a window opens, this process yields the vault to it; when the window
closes, this process opens the vault again. A client notices only a pause: a call that waits for a permit or
for the user is restarted on the next backend, a running call has 10 seconds to complete, and a call with an
unknown outcome fails with an error that says so.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from app.errors import NetworkError, ScriptoriumError
from app.servers.handoff import join_or_open
from app.servers.remote_vault import HolderGoneError
from app.servers.vault_access import (
    CallProgress,
    Client,
    NameKind,
    NotePage,
    OnProgress,
    ToolDescriptor,
    VaultAccess,
    VaultChange,
    WaitMode,
)
from app.toolkit.outcome import ToolOutcome

log = logging.getLogger(__name__)

_FIND_TIMEOUT_S = 30.0
_YIELD_DELAY_S = 6.0
_RESUBSCRIBE_DELAY_S = 0.05
_CLOSE_TIMEOUT_S = 10.0
_MAX_TRIES = 5
_RETRY_DELAY_S = 1.0
T = TypeVar("T")
_ALL_CHANGES = (VaultChange("tools"), VaultChange("notes", listed=True), VaultChange("memory", listed=True))


@dataclass
class Backend:
    """The current backend of the vault.

    `is_local`: it is this process. `has_window`: questions to the user appear in a window. `replaced` is set
    when another backend takes over; `running` holds the relays of the running calls.
    """

    service: VaultAccess
    close: Callable[[], Awaitable[None]]
    is_local: bool
    has_window: bool = False
    replaced: asyncio.Event = field(default_factory=asyncio.Event)
    running: set[ProgressRelay] = field(default_factory=set)


Join = Callable[[], Awaitable[Backend | None]]
"""Connects to the process that has the vault open; returns None if there is none."""
Open = Callable[[Callable[[], Awaitable[None]]], Awaitable[Backend]]
"""Opens the vault in this process; the argument is called when another process wants it.

Raises `VaultBusyError` while another process has it open.
"""


class ProgressRelay:
    """Forwards the progress of a call, and records it.

    A call that is waiting when its backend yields (`yield_backend`), or starts waiting later, is canceled.

    Attributes:
        stage: The last stage; None before the first.
        task: The call's task.
        done: Resolved when a backend in this process has finished the call.
        cancelled: Whether the call was canceled so that the next backend can restart it.
    """

    def __init__(self, progress: OnProgress | None) -> None:
        self._progress = progress
        self._yielding = False
        self.stage: CallProgress | None = None
        self.task = asyncio.current_task()
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.cancelled = False

    def __call__(self, stage: CallProgress) -> None:
        """Record a stage of the call and forward it to the caller."""
        self.stage = stage
        if self._progress is not None:
            self._progress(stage)
        self._cancel_if_waiting()

    def yield_backend(self) -> None:
        """Cancel the call if it is waiting, because the backend is yielding."""
        self._yielding = True
        self._cancel_if_waiting()

    def _cancel_if_waiting(self) -> None:
        if self._yielding and not self.is_working and not self.cancelled and self.task is not None:
            self.cancelled = True
            self.task.cancel("another process has the vault now")

    @property
    def is_waiting(self) -> bool:
        """True if the call is waiting for a permit or for the user, and so has had no effect."""
        return self.stage is not None and self.stage.stage in ("queued", "asking")

    @property
    def is_working(self) -> bool:
        """True if the call may be having an effect."""
        return self.stage is not None and not self.is_waiting


class FailoverVaultAccess:
    """A `VaultAccess` with failover. The caller must close it.

    Args:
        name: The vault's name.
        join: Connects to a process that has the vault open.
        open_local: Opens the vault in this process.
        request_yield: Asks a headless process to yield the vault.
        can_ask: Returns whether this process can ask the user about the current call.
    """

    def __init__(
        self,
        name: str,
        join: Join,
        open_local: Open,
        request_yield: Callable[[], Awaitable[bool]],
        can_ask: Callable[[], bool] = lambda: False,
    ) -> None:
        self._name = name
        self._join = join
        self._open_local = open_local
        self._request_yield = request_yield
        self._can_ask = can_ask
        self._backend: Backend | None = None
        self._backend_lock = asyncio.Lock()
        self._yield_until = 0.0
        self._reads: frozenset[str] = frozenset()
        self._closed = False

    @property
    def name(self) -> str:
        """The vault's name."""
        return self._name

    async def close(self) -> None:
        """Disconnect from the vault, or close it."""
        self._closed = True
        async with self._backend_lock:
            await self._release_backend()

    async def begin(self) -> None:
        """Connect to a backend, or open the vault, before the first call."""
        await self._current_backend()

    # Vault access

    async def tools(self, client: Client) -> tuple[ToolDescriptor, ...]:
        """Return the tools that `client` may call."""
        tools = await self._read(lambda service: service.tools(client))
        self._reads = frozenset(tool.name for tool in tools if tool.read_only)
        return tools

    async def notes(self, client: Client, after: str = "", limit: int = 200) -> NotePage:
        """Return a page of the notes that `client` may see."""
        return await self._read(lambda service: service.notes(client, after, limit))

    async def complete(self, client: Client, kind: NameKind, text: str) -> list[str]:
        """Return completions of `text`."""
        return await self._read(lambda service: service.complete(client, kind, text))

    async def changes(self, client: Client) -> AsyncIterator[VaultChange]:
        """Yield changes from the current backend; a new backend counts as a change to everything."""
        while not self._closed:
            backend: Backend | None = None
            try:
                backend = await self._current_backend()
                async with aclosing(cast("Any", backend.service.changes(client))) as stream:
                    async for change in stream:
                        yield change
            except ScriptoriumError as error:
                log.info("the stream of changes ended: %s", error)
                await asyncio.sleep(_RETRY_DELAY_S)
            else:
                await asyncio.sleep(_RESUBSCRIBE_DELAY_S)
            if self._closed:
                return
            if backend is not None:
                await self._handle_lost(backend)
            for change in _ALL_CHANGES:
                yield change

    async def call(
        self,
        client: Client,
        tool: str,
        arguments: Mapping[str, object],
        *,
        wait_mode: WaitMode = "wait",
        claim: str = "",
        progress: OnProgress | None = None,
    ) -> ToolOutcome:
        """Call a tool like `VaultAccess.call`, on the current backend.

        Raises:
            NetworkError: the backend was lost during the call, and whether the call had an effect is unknown;
                or the backend changed too often, and nothing was done.
            VaultBusyError: another process has the vault open, and can't be reached.
            ScriptoriumError: the vault can't be opened, or the backend raised this error.
        """
        needs_user = wait_mode == "wait" and tool not in self._reads and self._can_ask()
        for _ in range(_MAX_TRIES):
            backend, progress_relay = (
                await self._current_backend(needs_user=needs_user),
                ProgressRelay(progress),
            )
            work = backend.service.call(
                client, tool, arguments, wait_mode=wait_mode, claim=claim, progress=progress_relay
            )
            try:
                outcome = await _run_on(backend, work, progress_relay)
            except HolderGoneError as error:
                await self._handle_lost(backend)
                if error.sent and not progress_relay.is_waiting and tool not in self._reads:
                    raise
                continue
            if outcome is not None:
                return outcome
        raise NetworkError(
            "The vault moved between processes too often. Nothing was done. Try again.", sent=False
        )

    # Backends

    async def _read(self, read: Callable[[VaultAccess], Coroutine[Any, Any, T]]) -> T:
        for _ in range(_MAX_TRIES):
            backend = await self._current_backend()
            try:
                return await read(backend.service)
            except HolderGoneError:
                await self._handle_lost(backend)
        raise NetworkError("The vault moved between processes too often. Try again.", sent=False)

    async def _current_backend(self, *, needs_user: bool = False) -> Backend:
        """Return the current backend.

        Args:
            needs_user: Whether the user may have to be asked, which another headless process can't do.

        Raises:
            VaultBusyError: another process has the vault open, and can't be reached.
            ScriptoriumError: the vault can't be opened, or `close` was called.
        """
        backend = self._backend
        if (
            backend is not None
            and not backend.replaced.is_set()
            and not (needs_user and _cannot_ask(backend))
        ):
            return backend
        async with self._backend_lock:
            if self._closed:
                raise NetworkError("The vault was closed.", sent=False)
            if self._backend is not None and needs_user and _cannot_ask(self._backend):
                await self._release_backend()
                await self._request_yield()
            if self._backend is None:
                self._backend = await self._find_backend(needs_user=needs_user)
            return self._backend

    async def _find_backend(self, *, needs_user: bool) -> Backend:
        async def join() -> Backend | None:
            backend = await self._join()
            if backend is not None and needs_user and _cannot_ask(backend):
                await backend.close()
                await self._request_yield()
                return None
            return backend

        async def open_here() -> Backend | None:
            if asyncio.get_running_loop().time() < self._yield_until:
                return None
            return await self._open_local(self._yield_vault)

        return await join_or_open(join, open_here, _FIND_TIMEOUT_S)

    async def _yield_vault(self) -> None:
        """Close the vault here because another process wants it."""
        async with self._backend_lock:
            if self._backend is not None and self._backend.is_local:
                self._yield_until = asyncio.get_running_loop().time() + _YIELD_DELAY_S
                await self._release_backend()

    async def _handle_lost(self, backend: Backend) -> None:
        """Drop a backend that can't be reached."""
        async with self._backend_lock:
            if self._backend is backend and not backend.is_local:
                await self._release_backend()

    async def _release_backend(self) -> None:
        backend, self._backend = self._backend, None
        if backend is None:
            return
        backend.replaced.set()
        running = tuple(backend.running)
        for progress_relay in running:
            progress_relay.yield_backend()
        if running:
            await asyncio.wait([progress_relay.done for progress_relay in running], timeout=_CLOSE_TIMEOUT_S)
        await backend.close()


def _cannot_ask(backend: Backend) -> bool:
    """Return whether a backend can't ask the user: it is another process without a window."""
    return not backend.is_local and not backend.has_window


async def _run_on(
    backend: Backend, work: Coroutine[Any, Any, ToolOutcome], progress_relay: ProgressRelay
) -> ToolOutcome | None:
    """Return the outcome of a call, or None if it must be restarted on the next backend."""
    if not backend.is_local:
        return await work
    backend.running.add(progress_relay)
    try:
        return await work
    except asyncio.CancelledError:
        # The client may cancel the call at the same time.
        if not progress_relay.cancelled or progress_relay.task is None or progress_relay.task.uncancel():
            raise
        return None
    finally:
        backend.running.discard(progress_relay)
        progress_relay.done.set_result(None)
