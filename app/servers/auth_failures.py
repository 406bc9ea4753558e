"""Requests with a token that is not known (wrong, or taken back): counted, and told of without flooding."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from app.events import EventBus
from app.servers.server_state import RejectedTokens, TokenRefused

REPORT_INTERVAL_S = 60.0


class AuthFailures:
    """Tells of the first refused token at once, and of those that follow once a minute, as one.

    What such a request says of itself is anybody's word, so it is only shown; the token is not kept.

    Args:
        told_every: Seconds between two events.
        clock: Unix time in seconds.
    """

    def __init__(
        self, events: EventBus, told_every: float = REPORT_INTERVAL_S, clock: Callable[[], float] = time.time
    ) -> None:
        self._events = events
        self._told_every = told_every
        self._clock = clock
        self._new = 0
        self._timer: asyncio.TimerHandle | None = None
        self.last: RejectedTokens | None = None
        """All so far, and the last of them."""

    def add(self, says: str) -> None:
        """A request came with such a token; `says` is what it calls itself."""
        count = self.last.count if self.last is not None else 0
        self.last = RejectedTokens(count + 1, says, self._clock())
        self._new += 1
        if self._timer is None:
            self._publish()

    def close(self) -> None:
        """Tell of nothing more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _publish(self) -> None:
        self._timer = None
        if self.last is None or not self._new:
            return
        new, self._new = self._new, 0
        self._timer = asyncio.get_running_loop().call_later(self._told_every, self._publish)
        self._events.publish(TokenRefused(RejectedTokens(new, self.last.says, self.last.at)))
