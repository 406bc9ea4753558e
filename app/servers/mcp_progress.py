"""Report the progress of a call to its client, and log messages if the client asked for them.

The last progress is repeated until the call ends: clients abort a call that shows no activity, and users need
time to decide.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any, TypeVar, get_args

import mcp_types as t
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from app.servers.vault_access import CallProgress

log = logging.getLogger(__name__)

HEARTBEAT_INTERVAL_S = 5.0
LEVEL_KEY = "log level"
"""Key of the level set by `logging/setLevel`, in the state of a connection that uses the 2025 protocol."""
_STAGE_MESSAGES = {
    "queued": "Waiting for other calls.",
    "running": "Running.",
    "asking": "Waiting for your answer in Scriptorium.",
    "writing": "Writing.",
}
_CLIENT_ASKING_MESSAGE = "Waiting for your answer."
_LEVELS: tuple[str, ...] = get_args(t.LoggingLevel)
_LOG_LEVEL = "info"
T = TypeVar("T")
Context = ServerRequestContext[Any, Any]


def accepts_log(ctx: Context) -> bool:
    """Return whether the client asked for log messages at the level used for progress."""
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        level_name = (ctx.meta or {}).get(t.LOG_LEVEL_META_KEY)
    else:
        level_name = connection_state(ctx).get(LEVEL_KEY)
    return level_name in _LEVELS and _LEVELS.index(_LOG_LEVEL) >= _LEVELS.index(str(level_name))


def connection_state(ctx: Context) -> dict[str, Any]:
    """Return the state of the connection, for which the SDK has no public API."""
    return ctx.session._connection.state


class ProgressReporter:
    """Reports the progress of one call. The call receives `report`; `run` awaits it and sends the progress.

    Args:
        ctx: The request.
        heartbeat: Seconds after which the last progress is sent again.
    """

    def __init__(self, ctx: Context, heartbeat: float) -> None:
        self._ctx = ctx
        self._heartbeat = heartbeat
        self._latest: CallProgress | None = None
        self._changed = asyncio.Event()
        self._count = 0
        self._client_asks = False
        self._logs = accepts_log(ctx)
        self._reports = self._logs or (ctx.meta or {}).get("progress_token") is not None

    def report(self, progress: CallProgress) -> None:
        """Record the progress of the call."""
        self._latest = progress
        self._changed.set()

    def report_question(self) -> None:
        """Record that the client itself is asking the user."""
        self._client_asks = True

    async def run(self, work: Awaitable[T]) -> T:
        """Return the result of `work`; meanwhile, send progress if the client asked for it."""
        if not self._reports:
            return await work
        reporting = asyncio.create_task(self._report_loop(), name="report the progress of a call")
        try:
            return await work
        finally:
            reporting.cancel()

    async def _report_loop(self) -> None:
        try:
            while True:
                try:
                    async with asyncio.timeout(self._heartbeat):
                        await self._changed.wait()
                except TimeoutError:
                    pass
                self._changed.clear()
                if self._latest is not None:
                    await self._send(self._latest)
        except Exception as error:
            log.debug("progress can no longer be sent to the client: %s", error)

    async def _send(self, progress: CallProgress) -> None:
        self._count += 1
        message = (
            _CLIENT_ASKING_MESSAGE
            if progress.stage == "asking" and self._client_asks
            else _STAGE_MESSAGES[progress.stage]
        )
        await self._ctx.session.report_progress(float(self._count), None, message)
        if self._logs:
            data = {"stage": progress.stage, "message": message}
            params = t.LoggingMessageNotificationParams(level=_LOG_LEVEL, logger="scriptorium", data=data)
            await self._ctx.session.send_notification(
                t.LoggingMessageNotification(params=params), self._ctx.request_id
            )


async def set_level(ctx: Context, params: t.SetLevelRequestParams) -> t.EmptyResult:
    """Send log messages at this level and above to the connection from now on."""
    connection_state(ctx)[LEVEL_KEY] = params.level
    return t.EmptyResult()
