"""The watcher of a vault: batches of files changed outside the app, and loss and return of the folder.

watchfiles (Rust; inotify, FSEvents, ReadDirectoryChangesW) reports a batch after 50 ms without events, at
most 300 ms after the first one. The watcher compares the disk with its last state to interpret the events, so
that renames, atomic saves, moved folders and short-lived files appear as their net effect. The app's own
writes are recognized by their hashes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from watchfiles import Change, awatch
from watchfiles._rust_notify import WatchfilesRustInternalError

from app.encoding import is_encodable
from app.errors import StorageError
from app.events import Event
from app.vault.path import NotePath
from app.vault.watch_state import DetectedChanges, WatchState

log = logging.getLogger(__name__)

_STEP_MS = 50
_DEBOUNCE_MS = 300
_CHECK_INTERVAL_MS = 500
_POLL_INTERVAL_MS = 2_000
_RETRY_DELAY_S = 0.5


@dataclass(frozen=True, slots=True)
class VaultLost(Event):
    """The event that the vault's folder is gone: unplugged, unmounted, renamed or deleted."""


@dataclass(frozen=True, slots=True)
class VaultFound(Event):
    """The event that the vault's folder is back; anything in it may have changed."""


@dataclass(frozen=True, slots=True)
class FileBatch:
    """Files that other programs changed or removed.

    `lost` means that the vault's folder is gone; nothing else is set. `found` means that it is back and must
    be scanned again. `misnamed` are changed or removed files whose names are not UTF-8.
    """

    changed: tuple[NotePath, ...] = ()
    removed: tuple[NotePath, ...] = ()
    misnamed: tuple[NotePath, ...] = ()
    lost: bool = False
    found: bool = False


OnBatch = Callable[[FileBatch], Awaitable[None]]
IsOwn = Callable[[NotePath, str], bool]
WaitIdle = Callable[[], Awaitable[None]]
RawEvents = set[tuple[Change, str]]


class WatchRounds:
    """The rounds of a watch: each collects events until the system is quiet, and reports their changes."""

    def __init__(self) -> None:
        self._is_watching = False
        # Waiters of the round under way may have missed their change, so they wait for the next round, too.
        self._late: list[asyncio.Future[bool]] = []
        self._early: list[asyncio.Future[bool]] = []

    async def wait_next(self) -> bool:
        """Wait for a round that starts after this call.

        Returns:
            Whether the caller should look again: there were events in the round, whose changes have now been
                reported, or the watch has ended. False if there were none, or if the folder is not watched.
        """
        if not self._is_watching:
            return False
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._late.append(waiter)
        return await waiter

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Let others wait for rounds until the block ends."""
        self._is_watching = True
        try:
            yield
        finally:
            self._is_watching = False
            # Both kinds of waiters: a later watch may report their change.
            self.end(had_events=True)
            self.end(had_events=True)

    def end(self, *, had_events: bool) -> None:
        """End a round."""
        for waiter in self._early:
            if not waiter.done():
                waiter.set_result(had_events)
        self._early, self._late = self._late, []


async def watch(
    root: Path,
    on_batch: OnBatch,
    stop: asyncio.Event,
    is_own: IsOwn,
    *,
    ready: asyncio.Event | None = None,
    wait_idle: WaitIdle | None = None,
    rounds: WatchRounds | None = None,
) -> None:
    """Report outside changes, and the loss and return of the folder, until `stop` is set.

    Args:
        root: The vault's folder.
        on_batch: Awaited for each batch, one at a time.
        stop: Ends the watch.
        is_own: Returns whether the app wrote this hash to a file (`NoteStore.is_own_write`); an empty hash
            stands for a removed file.
        ready: Set once no later change can be missed; scan the vault after that.
        wait_idle: Awaited before the disk is checked, so that the check does not compete with a commit under
            way.
        rounds: Lets others wait until changes have been reported.

    Raises:
        StorageError: The folder can't be watched, not even by polling.
    """
    rounds = rounds or WatchRounds()
    real_root = await asyncio.to_thread(root.resolve)
    was_lost = False
    while not stop.is_set():
        identity = await asyncio.to_thread(_identity, real_root)
        if identity is None:
            if not was_lost:
                await on_batch(FileBatch(lost=True))
            was_lost = True
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _CHECK_INTERVAL_MS / 1000)
            continue
        watched = _Watch(real_root, identity, on_batch, stop, is_own, wait_idle, rounds)
        await watched.run(ready, was_lost=was_lost)
        was_lost = not stop.is_set()
        if was_lost and await asyncio.to_thread(_identity, real_root) is None:
            await on_batch(FileBatch(lost=True))


class _UnwatchableError(Exception):
    """The system can't watch the folder; the cause says why."""


class _Watch:
    """The watch on one folder while it stays the same folder."""

    def __init__(
        self,
        root: Path,
        identity: tuple[int, int],
        on_batch: OnBatch,
        stop: asyncio.Event,
        is_own: IsOwn,
        wait_idle: WaitIdle | None,
        rounds: WatchRounds,
    ) -> None:
        self._root = root
        self._identity = identity
        self._on_batch = on_batch
        self._stop = stop
        self._is_own = is_own
        self._wait_idle = wait_idle
        self._rounds = rounds
        self._snapshot = WatchState(root)

    async def run(self, ready: asyncio.Event | None, *, was_lost: bool) -> None:
        """Watch until the folder disappears or `stop` is set.

        Raises:
            StorageError: The folder can't be watched, not even by polling.
        """
        # A wait for a round lasts through a restart of the watch, which reports the changes made before it.
        async with self._rounds.watching():
            await self._run(ready, was_lost=was_lost)

    async def _run(self, ready: asyncio.Event | None, *, was_lost: bool) -> None:
        polling: bool | None = None
        resumed = False
        while True:
            try:
                await self._follow(ready, was_lost=was_lost and not resumed, polling=polling, resumed=resumed)
                return
            except _UnwatchableError as error:
                if isinstance(error.__cause__, FileNotFoundError):
                    return
                if polling:
                    raise StorageError(f"The vault can't be watched: {error.__cause__}.") from error
                # The system allows no more watches, so poll all files.
                log.warning("falling back to polling: %s", error.__cause__)
                polling = True
            except (WatchfilesRustInternalError, BaseExceptionGroup) as error:
                if not _is_watchfiles_error(error):
                    raise
                # watchfiles fails on a name that is not UTF-8: restart the watch and check all files.
                log.warning("restarting the watch after a name that is not UTF-8: %s", error)
                resumed = True
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stop.wait(), _RETRY_DELAY_S)
                if self._stop.is_set() or await asyncio.to_thread(_identity, self._root) != self._identity:
                    return

    async def _follow(
        self, ready: asyncio.Event | None, *, was_lost: bool, polling: bool | None, resumed: bool
    ) -> None:
        async with self._stopping() as stop, aclosing(self._awatch(polling, stop)) as changes:
            first = asyncio.ensure_future(anext(changes, None))
            try:
                # The watches exist once the generator has run up to its first wait.
                await asyncio.sleep(0)
                if first.done() and (error := first.exception()) is not None:
                    raise _UnwatchableError from error
                if resumed:
                    await self._report({(Change.modified, str(self._root))})
                else:
                    await asyncio.to_thread(self._snapshot.capture)
                if ready is not None:
                    ready.set()
                if was_lost:
                    await self._on_batch(FileBatch(found=True))
                events = await first
            finally:
                first.cancel()
                await asyncio.gather(first, return_exceptions=True)
            while events is not None and not self._stop.is_set():
                if await asyncio.to_thread(_identity, self._root) != self._identity:
                    return
                if events:
                    await self._report(events)
                self._rounds.end(had_events=bool(events))
                events = await anext(changes, None)

    @asynccontextmanager
    async def _stopping(self) -> AsyncIterator[asyncio.Event]:
        """Yield a separate event for watchfiles, which sets it on cancellation; `stop` must stay clear."""
        ended = asyncio.Event()

        async def follow() -> None:
            await self._stop.wait()
            ended.set()

        following = asyncio.create_task(follow(), name="stop the watch")
        try:
            yield ended
        finally:
            ended.set()
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    def _awatch(self, polling: bool | None, stop: asyncio.Event) -> AsyncGenerator[RawEvents, None]:
        return awatch(
            self._root,
            watch_filter=self._snapshot.is_relevant,
            step=_STEP_MS,
            debounce=_DEBOUNCE_MS,
            rust_timeout=_CHECK_INTERVAL_MS,
            yield_on_timeout=True,
            stop_event=stop,
            force_polling=polling,
            poll_delay_ms=_POLL_INTERVAL_MS if polling else 300,
            ignore_permission_denied=True,
        )

    async def _report(self, events: RawEvents) -> None:
        if self._wait_idle is not None:
            await self._wait_idle()
        detected: DetectedChanges = await asyncio.to_thread(self._snapshot.process_events, events)
        changed = tuple(path for path, digest in detected.present if not self._is_own(path, digest))
        removed = tuple(path for path in detected.removed if not self._is_own(path, ""))
        misnamed = tuple(path for path in (*changed, *removed) if not is_encodable(path.text))
        if misnamed:
            changed = tuple(path for path in changed if is_encodable(path.text))
            removed = tuple(path for path in removed if is_encodable(path.text))
        if changed or removed or misnamed:
            await self._on_batch(FileBatch(changed, removed, misnamed))


def _is_watchfiles_error(error: BaseException) -> bool:
    """Return whether the error comes only from watchfiles."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_watchfiles_error, error.exceptions))
    return isinstance(error, WatchfilesRustInternalError)


def _identity(root: Path) -> tuple[int, int] | None:
    """Return the identity of a folder, which a replacement does not share, or None if there is none."""
    try:
        status = root.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if root.is_dir() else None
