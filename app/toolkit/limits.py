"""How often a caller may call: per category and per tool, within each minute."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from app.errors import LimitError
from app.permissions.caller import Caller, CallerKind
from app.toolkit.registry import Category
from app.toolkit.tool import Tool

_WINDOW = 60.0


class Limits:
    """Counts calls. The person at the window is not limited.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._calls: dict[tuple[str, str, str], deque[float]] = {}

    def check(self, tool: Tool, category: Category, caller: Caller) -> None:
        """Count a call of `tool` by `caller`.

        Raises:
            LimitError: there were too many in the last minute; `limit` and `retry_after` (seconds) say
                what is allowed. The call is not counted.
        """
        if caller.kind is CallerKind.USER:
            return
        now = self._clock()
        bounds = [(f"category {category.id}", category.rate_per_minute)]
        if tool.rate_per_minute is not None:
            bounds.append((f"tool {tool.name}", tool.rate_per_minute))
        windows = [(self._window(what, caller, now), what, limit) for what, limit in bounds]
        for calls, what, limit in windows:
            if len(calls) >= limit:
                retry = round(calls[0] + _WINDOW - now, 1)
                raise LimitError(
                    f"More than {limit} calls a minute of the {what}: try again in {retry} s.",
                    limit=limit,
                    retry_after=retry,
                )
        for calls, _, _ in windows:
            calls.append(now)

    def _window(self, what: str, caller: Caller, now: float) -> deque[float]:
        calls = self._calls.setdefault((what, caller.kind.value, caller.name), deque())
        while calls and calls[0] <= now - _WINDOW:
            calls.popleft()
        return calls
