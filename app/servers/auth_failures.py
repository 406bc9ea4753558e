"""Count requests with an unknown or revoked token, and report them at a limited rate."""

from __future__ import annotations

import asyncio
import time

from app.events import EventBus
from app.servers.server_state import RejectedTokens, TokenRefused

REPORT_INTERVAL_S = 60.0


class AuthFailures:
    """Reports the first rejected token immediately, and later ones combined once a minute.

    The name that a request claims is unverified and only for display; the token is not stored.

    Args:
        events: Receives `TokenRefused`.
        report_interval: Seconds between two events.
    """

    def __init__(self, events: EventBus, report_interval: float = REPORT_INTERVAL_S) -> None:
        self._events = events
        self._report_interval = report_interval
        self._unreported = 0
        self._timer: asyncio.TimerHandle | None = None
        self.last: RejectedTokens | None = None
        """The number of rejected requests so far, and the last one."""

    def add(self, claimed_name: str) -> None:
        """Record a request with a rejected token; `claimed_name` is the name that it claims."""
        count = self.last.count if self.last is not None else 0
        self.last = RejectedTokens(count + 1, claimed_name, time.time())
        self._unreported += 1
        if self._timer is None:
            self._publish()

    def close(self) -> None:
        """Stop reporting."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _publish(self) -> None:
        self._timer = None
        if self.last is None or not self._unreported:
            return
        count, self._unreported = self._unreported, 0
        self._timer = asyncio.get_running_loop().call_later(self._report_interval, self._publish)
        self._events.publish(TokenRefused(RejectedTokens(count, self.last.claimed_name, self.last.time)))
