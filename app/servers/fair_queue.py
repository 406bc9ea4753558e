"""Fair queue: a limited number of calls run at once, and waiting clients take turns."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Hashable

from app.errors import LimitError


class RunPermit:
    """A permit to run, valid until `end`."""

    def __init__(self, queue: FairQueue, who: Hashable) -> None:
        self._queue = queue
        self._who = who
        self._over = False

    def release(self) -> None:
        """Return the permit; further calls do nothing."""
        if not self._over:
            self._over = True
            self._queue._release(self._who)


class FairQueue:
    """Hands out permits round-robin: each waiting client gets one before any gets a second.

    Args:
        at_once: Number of permits.
        each: Maximum permits of one client, so that its slow calls leave room for others.
        waiting: Maximum waiting calls of one client.
        waiting_all: Maximum waiting calls of all clients.
    """

    def __init__(self, at_once: int = 8, each: int = 6, waiting: int = 64, waiting_all: int = 1024) -> None:
        self._free = at_once
        self._each = min(each, at_once)
        self._longest = waiting
        self._longest_all = waiting_all
        self._running: Counter[Hashable] = Counter()
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[RunPermit]]] = OrderedDict()

    @property
    def running(self) -> int:
        """The number of permits in use."""
        return sum(self._running.values())

    def waiting(self, who: Hashable | None = None) -> int:
        """Return the number of waiting calls, of one client or of all."""
        if who is not None:
            return len(self._waiting.get(who, ()))
        return sum(map(len, self._waiting.values()))

    async def acquire(self, who: Hashable) -> RunPermit:
        """Wait for a permit for `who`; the caller must end it.

        Raises:
            LimitError: too many calls are waiting; `retry_after` is in seconds.
            CancelledError: the wait was cancelled; no permit is taken.
        """
        if self._free and not self._waiting.get(who) and self._running[who] < self._each:
            return self._grant(who)
        self._check_room(who)
        future: asyncio.Future[RunPermit] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(who, deque()).append(future)
        try:
            return await future
        except asyncio.CancelledError:
            self._cancel_wait(who, future)
            raise

    def _check_room(self, who: Hashable) -> None:
        if self.waiting(who) >= self._longest:
            message = f"{self._longest} of your calls are already waiting: wait until some have ended."
            raise LimitError(message, limit=self._longest, retry_after=1.0)
        if self.waiting() >= self._longest_all:
            message = "Too many calls of all programs are waiting: try again soon."
            raise LimitError(message, limit=self._longest_all, retry_after=5.0)

    def _grant(self, who: Hashable) -> RunPermit:
        self._free -= 1
        self._running[who] += 1
        return RunPermit(self, who)

    def _release(self, who: Hashable) -> None:
        self._free += 1
        self._running[who] -= 1
        if not self._running[who]:
            del self._running[who]
        self._grant_waiting()

    def _grant_waiting(self) -> None:
        """Give free permits to waiting calls; the client that has waited longest comes first."""
        while self._free and (who := self._next()) is not None:
            future = self._waiting[who].popleft()
            if self._waiting[who]:
                self._waiting.move_to_end(who)
            else:
                del self._waiting[who]
            future.set_result(self._grant(who))

    def _next(self) -> Hashable | None:
        """Return the next client; cancelled waits are removed."""
        for who, queue in tuple(self._waiting.items()):
            while queue and queue[0].done():
                queue.popleft()
            if not queue:
                del self._waiting[who]
            elif self._running[who] < self._each:
                return who
        return None

    def _cancel_wait(self, who: Hashable, future: asyncio.Future[RunPermit]) -> None:
        """Remove a cancelled wait, and return a permit that it got at the same moment."""
        if future.done() and not future.cancelled():
            future.result().release()
            return
        queue = self._waiting.get(who)
        if queue is not None and future in queue:
            queue.remove(future)
            if not queue:
                del self._waiting[who]
