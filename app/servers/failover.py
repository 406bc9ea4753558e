"""A vault that is served by whoever holds it: a running Scriptorium, or else this process.

The holder may change at any time: a window opens, and this process makes way for it; the window is closed,
and this process opens the vault again. Who calls notices nothing but a pause: a call that waits for its turn
or for the user is begun anew with the next holder, one that writes is waited for, and one of which nobody
knows whether it was done is told as that.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, cast

from app.errors import NetworkError, ScriptoriumError, VaultBusyError
from app.servers.remote_vault import HolderGoneError
from app.servers.vault_service import (
    CallProgress,
    Client,
    NotePage,
    OnProgress,
    ToolDescriptor,
    VaultChange,
    VaultService,
    Waiting,
)
from app.toolkit.outcome import ToolOutcome

log = logging.getLogger(__name__)

_FIND_TIMEOUT_S = 30.0
_YIELD_DELAY_S = 6.0
_POLL_INTERVAL_S = 0.05
_CLOSE_TIMEOUT_S = 10.0
_MAX_TRIES = 5
_RETRY_DELAY_S = 1.0
T = TypeVar("T")
_ALL_CHANGES = (VaultChange("tools"), VaultChange("notes", listed=True), VaultChange("memory", listed=True))


@dataclass
class Backend:
    """The vault as it is served at the moment.

    `here`: by this process. `has_window`: questions to the user appear in a window. `moved` is set when it
    is served so no longer; `working` are the calls that run.
    """

    service: VaultService
    close: Callable[[], Awaitable[None]]
    here: bool
    has_window: bool = False
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    working: set[ProgressRelay] = field(default_factory=set)


Join = Callable[[], Awaitable[Backend | None]]
"""Joins the process that has the vault open; None where there is none."""
Open = Callable[[Callable[[], Awaitable[None]]], Awaitable[Backend]]
"""Opens the vault in this process, given what to do when another process wants it.

Raises `VaultBusyError` while another process has it.
"""


class ProgressRelay:
    """Passes on how far a call has come, and keeps it.

    One that waits when its holder makes way (`moving`), or comes to wait then, is withdrawn there.

    Attributes:
        task: In which the call runs.
        over: Done when the holder has nothing more to do for it.
        withdrawn: Whether the call was withdrawn for the next holder.
    """

    def __init__(self, progress: OnProgress | None) -> None:
        self._progress = progress
        self._moving = False
        self.stage: CallProgress | None = None
        self.task = asyncio.current_task()
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.withdrawn = False

    def __call__(self, stage: CallProgress) -> None:
        """Pass a stage of the call on to the caller."""
        self.stage = stage
        if self._progress is not None:
            self._progress(stage)
        self._withdraw()

    def moving(self) -> None:
        """The holder makes way."""
        self._moving = True
        self._withdraw()

    def _withdraw(self) -> None:
        if self._moving and not self.is_working and not self.withdrawn and self.task is not None:
            self.withdrawn = True
            self.task.cancel("another process has the vault now")

    @property
    def is_waiting(self) -> bool:
        """Whether the call waits, for its turn or for the user, so that nothing has been done."""
        return self.stage is not None and self.stage.stage in ("queued", "asking")

    @property
    def is_working(self) -> bool:
        """Whether it may be doing what it is for."""
        return self.stage is not None and not self.is_waiting


class FailoverVaultService:
    """A `VaultService`. Close it in the end.

    Args:
        name: The vault's.
        join: How to reach a process that has the vault open.
        open_here: How to open the vault here.
        take_over: Asks a process without a window to make way.
        can_ask: Whether the user can be asked by this process, about the call that is being made.
    """

    def __init__(
        self,
        name: str,
        join: Join,
        open_here: Open,
        take_over: Callable[[], Awaitable[bool]],
        can_ask: Callable[[], bool] = lambda: False,
    ) -> None:
        self._name = name
        self._join = join
        self._open_here = open_here
        self._take_over = take_over
        self._can_ask = can_ask
        self._held: Backend | None = None
        self._changing = asyncio.Lock()
        self._others_first = 0.0
        self._reads: frozenset[str] = frozenset()
        self._closed = False

    @property
    def name(self) -> str:
        """The vault's name."""
        return self._name

    async def close(self) -> None:
        """Let go of the vault."""
        self._closed = True
        async with self._changing:
            await self._release_backend()

    async def begin(self) -> None:
        """Find the vault's holder, or become it, before the first call needs it."""
        await self._current()

    # A served vault

    async def tools(self, client: Client) -> tuple[ToolDescriptor, ...]:
        """The tools that `client` may call."""
        found = await self._read(lambda served: served.tools(client))
        self._reads = frozenset(entry.name for entry in found if entry.read_only)
        return found

    async def notes(self, client: Client, after: str = "", limit: int = 200) -> NotePage:
        """The notes that `client` may see."""
        return await self._read(lambda served: served.notes(client, after, limit))

    async def complete(self, client: Client, kind: Literal["note", "tag", "block"], text: str) -> list[str]:
        """Names that go on from `text`."""
        return await self._read(lambda served: served.complete(client, kind, text))

    async def changes(self, client: Client) -> AsyncIterator[VaultChange]:
        """What changes, from whoever holds the vault; when that changes, anything may have."""
        while not self._closed:
            held: Backend | None = None
            try:
                held = await self._current()
                async with aclosing(cast("Any", held.service.changes(client))) as stream:
                    async for one in stream:
                        yield one
            except ScriptoriumError as error:
                log.info("the news ended: %s", error)
                await asyncio.sleep(_RETRY_DELAY_S)
            else:
                await asyncio.sleep(_POLL_INTERVAL_S)
            if self._closed:
                return
            if held is not None:
                await self._handle_lost(held)
            for one in _ALL_CHANGES:
                yield one

    async def call(
        self,
        client: Client,
        tool: str,
        arguments: Mapping[str, object],
        *,
        waiting: Waiting = "wait",
        claim: str = "",
        progress: OnProgress | None = None,
    ) -> ToolOutcome:
        """Call a tool, as `VaultService.call` says, with whoever holds the vault.

        Raises:
            NetworkError: the holder went while the call ran; whether it was done is not known.
        """
        asks = waiting == "wait" and tool not in self._reads and self._can_ask()
        for _ in range(_MAX_TRIES):
            held, told = await self._current(asks=asks), ProgressRelay(progress)
            work = held.service.call(client, tool, arguments, waiting=waiting, claim=claim, progress=told)
            try:
                outcome = await _run_on(held, work, told)
            except HolderGoneError as error:
                await self._handle_lost(held)
                if error.sent and not told.is_waiting and tool not in self._reads:
                    raise
                continue
            if outcome is not None:
                return outcome
        raise NetworkError("The vault changed hands again and again; nothing was done.", sent=False)

    # Holders

    async def _read(self, ask: Callable[[VaultService], Coroutine[Any, Any, T]]) -> T:
        for _ in range(_MAX_TRIES):
            held = await self._current()
            try:
                return await ask(held.service)
            except HolderGoneError:
                await self._handle_lost(held)
        raise NetworkError("The vault changed hands again and again.", sent=False)

    async def _current(self, *, asks: bool = False) -> Backend:
        """Who serves the vault now.

        Args:
            asks: The user may have to be asked, which a process elsewhere without a window could not do.

        Raises:
            VaultBusyError: another process has it, and does not let anybody in.
            ScriptoriumError: it can't be opened.
        """
        held = self._held
        if held is not None and not held.moved.is_set() and not (asks and _cannot_ask(held)):
            return held
        async with self._changing:
            if self._closed:
                raise NetworkError("The vault was closed.", sent=False)
            if self._held is not None and asks and _cannot_ask(self._held):
                await self._release_backend()
                await self._take_over()
            if self._held is None:
                self._held = await self._find_backend(here=asks)
            return self._held

    async def _find_backend(self, *, here: bool) -> Backend:
        loop = asyncio.get_running_loop()
        until = loop.time() + _FIND_TIMEOUT_S
        while True:
            if (found := await self._join()) is not None:
                if not (here and _cannot_ask(found)):
                    return found
                await found.close()
                await self._take_over()
            if loop.time() >= self._others_first:
                try:
                    return await self._open_here(self._make_way)
                except VaultBusyError:
                    if loop.time() > until:
                        raise
            await asyncio.sleep(_POLL_INTERVAL_S)

    async def _make_way(self) -> None:
        """Close the vault here, because another process wants it; its own holder comes next."""
        async with self._changing:
            if self._held is not None and self._held.here:
                self._others_first = asyncio.get_running_loop().time() + _YIELD_DELAY_S
                await self._release_backend()

    async def _handle_lost(self, held: Backend) -> None:
        """The holder is gone, as far as one sees."""
        async with self._changing:
            if self._held is held and not held.here:
                await self._release_backend()

    async def _release_backend(self) -> None:
        held, self._held = self._held, None
        if held is None:
            return
        held.moved.set()
        working = tuple(held.working)
        for told in working:
            told.moving()
        if working:
            await asyncio.wait([told.over for told in working], timeout=_CLOSE_TIMEOUT_S)
        await held.close()


def _cannot_ask(held: Backend) -> bool:
    """Whether nobody can be asked there by whoever is asked here."""
    return not held.here and not held.has_window


async def _run_on(
    held: Backend, work: Coroutine[Any, Any, ToolOutcome], told: ProgressRelay
) -> ToolOutcome | None:
    """What comes of a call; None where it has to be begun anew with the next holder."""
    if not held.here:
        return await work
    held.working.add(told)
    try:
        return await work
    except asyncio.CancelledError:
        # The client may withdraw it at the same time.
        if not told.withdrawn or told.task is None or told.task.uncancel():
            raise
        return None
    finally:
        held.working.discard(told)
        told.over.set_result(None)
