"""Fair queue: a limited number of calls run at once, and waiting clients take turns."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Hashable

from app.errors import LimitError


class RunPermit:
    """A permit to run, valid until `release`."""

    def __init__(self, queue: FairQueue, client: Hashable) -> None:
        self._queue = queue
        self._client = client
        self._ended = False

    def release(self) -> None:
        """Return the permit; further calls do nothing."""
        if not self._ended:
            self._ended = True
            self._queue._release(self._client)


class FairQueue:
    """Hands out permits round-robin: each waiting client gets one before any gets a second.

    Args:
        max_running: Number of permits.
        max_per_client: Maximum permits per client, so that its slow calls leave room for others.
        max_waiting_per_client: Maximum waiting calls per client.
        max_waiting: Maximum waiting calls in total.
    """

    def __init__(
        self,
        max_running: int = 8,
        max_per_client: int = 6,
        max_waiting_per_client: int = 64,
        max_waiting: int = 1024,
    ) -> None:
        self._free = max_running
        self._max_per_client = min(max_per_client, max_running)
        self._max_waiting_per_client = max_waiting_per_client
        self._max_waiting = max_waiting
        self._running: Counter[Hashable] = Counter()
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[RunPermit]]] = OrderedDict()

    @property
    def running(self) -> int:
        """The number of permits in use."""
        return sum(self._running.values())

    def waiting(self, client: Hashable | None = None) -> int:
        """Return the number of waiting calls, of one client or of all."""
        if client is not None:
            return len(self._waiting.get(client, ()))
        return sum(map(len, self._waiting.values()))

    async def acquire(self, client: Hashable) -> RunPermit:
        """Wait for a permit for `client`; the caller must release it.

        Raises:
            LimitError: too many calls are waiting; `retry_after` is in seconds.
            CancelledError: the wait was canceled; no permit is taken.
        """
        if self._free and not self._waiting.get(client) and self._running[client] < self._max_per_client:
            return self._grant(client)
        self._check_room(client)
        future: asyncio.Future[RunPermit] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(future)
        try:
            return await future
        except asyncio.CancelledError:
            self._cancel_wait(client, future)
            raise

    def _check_room(self, client: Hashable) -> None:
        if self.waiting(client) >= self._max_waiting_per_client:
            limit = self._max_waiting_per_client
            message = f"{limit} of your calls are already waiting. Wait until some have finished."
            raise LimitError(message, limit=limit, retry_after=1.0)
        if self.waiting() >= self._max_waiting:
            message = "Too many calls are waiting across all programs. Try again soon."
            raise LimitError(message, limit=self._max_waiting, retry_after=5.0)

    def _grant(self, client: Hashable) -> RunPermit:
        self._free -= 1
        self._running[client] += 1
        return RunPermit(self, client)

    def _release(self, client: Hashable) -> None:
        self._free += 1
        self._running[client] -= 1
        if not self._running[client]:
            del self._running[client]
        self._grant_waiting()

    def _grant_waiting(self) -> None:
        """Give free permits to waiting calls, one client at a time."""
        while self._free and (client := self._next_client()) is not None:
            future = self._waiting[client].popleft()
            if self._waiting[client]:
                self._waiting.move_to_end(client)
            else:
                del self._waiting[client]
            future.set_result(self._grant(client))

    def _next_client(self) -> Hashable | None:
        """Return the next client; canceled waits are removed."""
        for client, queue in tuple(self._waiting.items()):
            while queue and queue[0].done():
                queue.popleft()
            if not queue:
                del self._waiting[client]
            elif self._running[client] < self._max_per_client:
                return client
        return None

    def _cancel_wait(self, client: Hashable, future: asyncio.Future[RunPermit]) -> None:
        """Remove a canceled wait, and return a permit that it got at the same moment."""
        if future.done() and not future.cancelled():
            future.result().release()
            return
        queue = self._waiting.get(client)
        if queue is not None and future in queue:
            queue.remove(future)
            if not queue:
                del self._waiting[client]
