"""Tells a client how far its call has come: by progress, and by the log where it asked for that.

While the user is being asked it says so again and again: clients end a call that they hear nothing of, and
people take their time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any, TypeVar, get_args

import mcp_types as t
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from app.servers.served import Progress

log = logging.getLogger(__name__)

HEARTBEAT_S = 5.0
LEVEL = "log level"
"""Under which a connection of the 2025 era keeps the level that `logging/setLevel` gave."""
_WORDS = {
    "queued": "Waiting for a turn: other calls run.",
    "running": "Working.",
    "asking": "Waiting for your answer in Scriptorium.",
    "writing": "Writing.",
}
_HERE = "Waiting for your answer."
_LEVELS: tuple[str, ...] = get_args(t.LoggingLevel)
_SAID_AT = "info"
T = TypeVar("T")
Context = ServerRequestContext[Any, Any]


def hears_log(ctx: Context, level: str = _SAID_AT) -> bool:
    """Whether the client asked for log messages of this level."""
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        wanted = (ctx.meta or {}).get(t.LOG_LEVEL_META_KEY)
    else:
        wanted = connection_state(ctx).get(LEVEL)
    return wanted in _LEVELS and _LEVELS.index(level) >= _LEVELS.index(str(wanted))


def connection_state(ctx: Context) -> dict[str, Any]:
    """What is kept with the connection; the SDK gives handlers no public way to it."""
    return ctx.session._connection.state


class Teller:
    """Tells of one call. `told` is handed to the call; `during` awaits it and sends what it tells.

    Args:
        ctx: The request.
        heartbeat: Seconds between two signs of life.
    """

    def __init__(self, ctx: Context, heartbeat: float) -> None:
        self._ctx = ctx
        self._heartbeat = heartbeat
        self._latest: Progress | None = None
        self._news = asyncio.Event()
        self._count = 0
        self._asks_here = False
        self._logs = hears_log(ctx)
        self._hears = self._logs or (ctx.meta or {}).get("progress_token") is not None

    def told(self, progress: Progress) -> None:
        """Take down how far the call has come."""
        self._latest = progress
        self._news.set()

    def asks_here(self) -> None:
        """Take down that the client itself asks its user."""
        self._asks_here = True

    async def during(self, work: Awaitable[T]) -> T:
        """What comes of `work`."""
        if not self._hears:
            return await work
        telling = asyncio.create_task(self._tell(), name="tell of a call")
        try:
            return await work
        finally:
            telling.cancel()

    async def _tell(self) -> None:
        try:
            while True:
                try:
                    async with asyncio.timeout(self._heartbeat):
                        await self._news.wait()
                except TimeoutError:
                    pass
                self._news.clear()
                if self._latest is not None:
                    await self._send(self._latest)
        except Exception as error:
            log.debug("the client hears no more of its call: %s", error)

    async def _send(self, progress: Progress) -> None:
        self._count += 1
        words = _HERE if progress.stage == "asking" and self._asks_here else _WORDS[progress.stage]
        await self._ctx.session.report_progress(float(self._count), None, words)
        if self._logs:
            data = {"stage": progress.stage, "message": words}
            params = t.LoggingMessageNotificationParams(level=_SAID_AT, logger="scriptorium", data=data)
            await self._ctx.session.send_notification(
                t.LoggingMessageNotification(params=params), self._ctx.request_id
            )


async def set_level(ctx: Context, params: t.SetLevelRequestParams) -> t.EmptyResult:
    """Send log messages of this level and above to the connection from now on."""
    connection_state(ctx)[LEVEL] = params.level
    return t.EmptyResult()
