"""Limit each caller's calls per minute (by category and tool) and per turn, with pauses between calls."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable

from app.errors import LimitError
from app.permissions.caller import Caller, CallerKind
from app.permissions.pluralize import pluralize
from app.settings import CallLimit
from app.toolkit.registry import Category
from app.toolkit.tool import Tool
from app.vault.globs import word_matches

_WINDOW_S = 60.0
_MAX_TRACKED_TURNS = 500

_CallTimes = deque[float]
_Key = tuple[str, str, str]


class RateLimiter:
    """Counts calls and refuses those that exceed a limit. The user's own calls in the app are not limited.

    Args:
        clock: Returns monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._user_limits: tuple[CallLimit, ...] = ()
        self._calls: dict[_Key, _CallTimes] = {}
        self._last: dict[_Key, float] = {}
        self._turns: OrderedDict[str, Counter[str]] = OrderedDict()

    def configure(self, user_limits: Iterable[CallLimit]) -> None:
        """Replace the user's limits, which apply in addition to those of tools and categories."""
        self._user_limits = tuple(user_limits)

    def check(self, tool: Tool, category: Category, caller: Caller) -> None:
        """Count a call to `tool` by `caller`.

        Raises:
            LimitError: the call exceeds a limit and is not counted. `limit` is the allowed number of calls;
                `retry_after`, if waiting helps, is the time to wait in seconds.
        """
        if caller.kind is CallerKind.USER:
            return
        now = self._clock()
        user_limits = [
            user_limit for user_limit in self._user_limits if word_matches(user_limit.tool, tool.name)
        ]
        windows = self._windows(tool, category, caller, user_limits, now)
        for calls, subject, limit in windows:
            if len(calls) >= limit:
                raise _limit_error(subject, limit, (calls[0] if calls else now) + _WINDOW_S - now)
        self._check_pause(tool, caller, user_limits, now)
        self._check_turn(caller, user_limits)
        # Several limits on one tool share the same window.
        for calls in {subject: calls for calls, subject, _ in windows}.values():
            calls.append(now)
        self._last[_window_key(tool.name, caller)] = now
        self._count(tool, caller)

    def _windows(
        self, tool: Tool, category: Category, caller: Caller, user_limits: list[CallLimit], now: float
    ) -> list[tuple[_CallTimes, str, int]]:
        """Return the calls in the last minute, the label, and the number of allowed calls for each limit."""
        limits = [(f"category {category.id}", category.rate_per_minute)]
        if tool.rate_per_minute is not None:
            limits.append((f"tool {tool.name}", tool.rate_per_minute))
        limits += [
            (_limit_label(limit), limit.per_minute) for limit in user_limits if limit.per_minute is not None
        ]
        return [(self._window(subject, caller, now), subject, limit) for subject, limit in limits]

    def _window(self, subject: str, caller: Caller, now: float) -> _CallTimes:
        calls = self._calls.setdefault(_window_key(subject, caller), deque())
        while calls and calls[0] <= now - _WINDOW_S:
            calls.popleft()
        return calls

    def _check_pause(self, tool: Tool, caller: Caller, user_limits: list[CallLimit], now: float) -> None:
        last = self._last.get(_window_key(tool.name, caller))
        for limit in user_limits:
            if limit.pause is not None and last is not None and now - last < limit.pause:
                retry = round(limit.pause - (now - last), 1)
                raise LimitError(
                    f"{tool.name} may be called only once every {limit.pause:g} s. Try again in {retry} s.",
                    limit=1,
                    retry_after=retry,
                )

    def _check_turn(self, caller: Caller, user_limits: list[CallLimit]) -> None:
        counts = self._turns.get(caller.turn, Counter())
        for limit in user_limits:
            call_count = sum(count for name, count in counts.items() if word_matches(limit.tool, name))
            if limit.per_turn is not None and caller.turn and call_count >= limit.per_turn:
                count = pluralize(limit.per_turn, "call")
                message = f"At most {count} to the {_limit_label(limit)} in a turn."
                raise LimitError(message, limit=limit.per_turn)

    def _count(self, tool: Tool, caller: Caller) -> None:
        if not caller.turn:
            return
        self._turns.setdefault(caller.turn, Counter())[tool.name] += 1
        self._turns.move_to_end(caller.turn)
        while len(self._turns) > _MAX_TRACKED_TURNS:
            self._turns.popitem(last=False)


def _limit_label(limit: CallLimit) -> str:
    return f"tools {limit.tool}" if any(mark in limit.tool for mark in "*?[{") else f"tool {limit.tool}"


def _window_key(subject: str, caller: Caller) -> _Key:
    return (subject, caller.kind.value, caller.name)


def _limit_error(subject: str, limit: int, wait: float) -> LimitError:
    retry = round(wait, 1)
    return LimitError(
        f"At most {pluralize(limit, 'call')} a minute to the {subject}. Try again in {retry} s.",
        limit=limit,
        retry_after=retry,
    )
