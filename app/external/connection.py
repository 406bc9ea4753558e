"""Supervise one external server: start it, list its tools, restart it with backoff, and stop it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any

from app import __version__
from app.errors import LimitError, NetworkError, ScriptoriumError, TimeoutExpiredError
from app.external.error_messages import explain_error
from app.external.remote_tool import RemoteTool
from app.external.sanitize import one_line
from app.external.stdio_transport import ServerLog
from app.external.tool_discovery import ToolListing, list_tools
from app.sentence import as_sentence

if TYPE_CHECKING:
    from mcp.client import Client, ClientSession
    from mcp_types import CallToolResult

log = logging.getLogger(__name__)

OpenStreams = Callable[[ServerLog], AbstractAsyncContextManager[Any]]
"""Opens a server's streams, starting a local program; the log receives its errors and why it stopped."""
OnProgress = Callable[[float | None, str], None]
"""Receives the progress of a call: a share from 0 to 1 or None, and the server's message."""


class ConnectionState(StrEnum):
    """The state of a server."""

    OFF = "off"
    STARTING = "starting"
    RUNNING = "running"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ConnectionTimeouts:
    """Timeouts and delays, in seconds.

    Attributes:
        start_timeout: The time for a server to start and list its tools, and for each later listing.
        initial_delay: The delay before the first restart; each automatic restart doubles it.
        max_delay: The longest delay before a restart.
        delay_reset_after: How long a server must run to reset the delay.
        exit_timeout: The time for a program to exit.
        list_ttl: How long a list of tools stays valid.
        min_list_interval: The minimum interval between two listings after changes.
    """

    start_timeout: float = 90.0
    initial_delay: float = 1.0
    max_delay: float = 300.0
    delay_reset_after: float = 60.0
    exit_timeout: float = 1.5
    list_ttl: float = 30.0
    min_list_interval: float = 0.5


@dataclass(frozen=True, slots=True)
class _LiveConnection:
    """An established connection."""

    session: ClientSession
    lost: asyncio.Event


class ServerConnection:
    """Keeps a server running while it is enabled, and calls its tools. Belongs to one event loop.

    `reason` explains a failed state. `implementation` is the name and version that the server reports.
    `listing` contains the tools from its last list; None before the first one.

    Args:
        name: The server's name, for messages.
        open_streams: Starts the server or connects to it.
        on_changed: Called when the server's state is set and when its tools have been listed.
        timeouts: Timeouts and delays.
    """

    def __init__(
        self,
        name: str,
        open_streams: OpenStreams,
        on_changed: Callable[[], None],
        timeouts: ConnectionTimeouts,
    ) -> None:
        self._name = name
        self._open_streams = open_streams
        self._on_changed = on_changed
        self._timeouts = timeouts
        self._task: asyncio.Task[None] | None = None
        self._connection: _LiveConnection | None = None
        self._start_done = asyncio.Event()
        self._log = ServerLog()
        self._previous_errors: tuple[str, ...] = ()
        self._listed_at = 0.0
        self._list_lock = asyncio.Lock()
        self._tools_changed = asyncio.Event()
        self._retry_now = asyncio.Event()
        self.state = ConnectionState.OFF
        self.reason = ""
        self.implementation = ""
        self.listing: ToolListing | None = None

    @property
    def errors(self) -> tuple[str, ...]:
        """The last lines of the server's error output, from an earlier run if this one has none."""
        return tuple(self._log.lines) or self._previous_errors

    def start(self) -> None:
        """Start the server and keep it running; do nothing if it has been started already."""
        if self._task is None:
            self._set_state(ConnectionState.STARTING, "")
            self._task = asyncio.create_task(self._keep_running(), name=f"external server {self._name}")

    async def stop(self) -> None:
        """Stop a local server and its child processes, or disconnect from a remote one."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        self._set_state(ConnectionState.OFF, "")

    def retry(self) -> None:
        """Restart the server now if it is waiting for a restart."""
        self._retry_now.set()

    # Calls

    async def tools(self) -> Mapping[str, RemoteTool]:
        """Return the server's current tools after refreshing an outdated list; wait while the server starts.

        Raises:
            NetworkError: the server is not running (see `state`) or could not list its tools.
            TimeoutExpiredError: the server did not list its tools in time.
        """
        connection = await self._live_connection()
        if asyncio.get_running_loop().time() - self._listed_at > self._timeouts.list_ttl:
            try:
                async with asyncio.timeout(self._timeouts.start_timeout):
                    await self._list(connection.session)
            except TimeoutError as error:
                raise TimeoutExpiredError(f"{self._name} did not list its tools in time.") from error
            except Exception as error:
                raise self._connection_error(error) from error
        assert self.listing is not None
        return self.listing.tools

    async def call(
        self, tool: str, arguments: dict[str, object], seconds: float, on_progress: OnProgress
    ) -> CallToolResult:
        """Call a tool and return the server's response. Cancellation is sent to the server.

        Raises:
            TimeoutExpiredError: the call took longer than `seconds`; the server was asked to stop.
            NetworkError: the server is not running, the connection was lost, or the response is an error or
                invalid; `said` holds the server's message, if any.
            LimitError: the server asked for user input, which is not supported.
        """
        from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, InputRequiredResult
        from pydantic import TypeAdapter

        connection = await self._live_connection()
        adapter: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(
            CallToolResult | InputRequiredResult
        )

        async def report_progress(progress: float, total: float | None, message: str | None) -> None:
            on_progress(min(1.0, max(0.0, progress / total)) if total else None, message or "")

        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
        try:
            async with asyncio.timeout(seconds) as limit:
                answer = await connection.session.send_request(
                    request, adapter, progress_callback=report_progress
                )
        except TimeoutError as error:
            if not limit.expired():
                raise self._connection_error(error) from error
            message = f"{self._name} did not answer within {seconds:g} s; it was asked to stop."
            raise TimeoutExpiredError(message, limit=seconds) from error
        except Exception as error:
            raise self._connection_error(error) from error
        if isinstance(answer, InputRequiredResult):
            raise LimitError(
                f"{self._name} asked for user input, which is not supported for external servers."
            )
        return answer

    def _connection_error(self, error: BaseException) -> ScriptoriumError:
        """Return an error with our own message; its field `said` holds the server's message, if any."""
        explanation = explain_error(error)
        return NetworkError(
            f"{self._name}: {explanation.reason}.",
            server=self._name,
            **({"said": explanation.server_message} if explanation.server_message else {}),
        )

    async def _live_connection(self) -> _LiveConnection:
        """Return the connection; wait while the server starts.

        Raises:
            NetworkError: the server is not running.
        """
        if self.state is ConnectionState.STARTING:
            await self._start_done.wait()
        if self._connection is None or self._connection.lost.is_set():
            reason = f" {as_sentence(self.reason)}" if self.reason else ""
            raise NetworkError(f"The server {self._name} is not running.{reason}", server=self._name)
        return self._connection

    # Lifecycle

    async def _keep_running(self) -> None:
        delay = self._timeouts.initial_delay
        clock = asyncio.get_running_loop().time
        while True:
            self._set_state(ConnectionState.STARTING, "")
            self._previous_errors = self.errors
            self._log = ServerLog()
            started_at = clock()
            reason = await self._run_once()
            if clock() - started_at > self._timeouts.delay_reset_after:
                delay = self._timeouts.initial_delay
            self._connection = None
            self._set_state(ConnectionState.FAILED, reason)
            self._retry_now.clear()
            try:
                async with asyncio.timeout(delay):
                    await self._retry_now.wait()
            except TimeoutError:
                delay = min(2 * delay, self._timeouts.max_delay)

    async def _run_once(self) -> str:
        """Run the server until it stops, and return the reason as text."""
        try:
            async with asyncio.timeout(self._timeouts.start_timeout) as limit:
                async with self._connect() as connection:
                    await self._list(connection.session)
                    limit.reschedule(None)
                    self._connection = connection
                    self._set_state(ConnectionState.RUNNING, "")
                    await connection.lost.wait()
        except Exception as error:
            if isinstance(error, TimeoutError) and limit.expired():
                return f"it did not start within {self._timeouts.start_timeout:g} s"
            reason = self._log.end_reason or explain_error(error).reason
            log.info("the external server %s failed: %s", self._name, reason)
            return reason
        finally:
            self._connection = None
        return self._log.end_reason or "it stopped"

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[_LiveConnection]:
        # The app offers no sampling, elicitation or roots: the SDK refuses such requests.
        library = await asyncio.to_thread(import_module, "mcp.client")
        from mcp_types import Implementation

        silence_sdk_loggers()
        async with library.Client(
            self._open_streams(self._log),
            cache=None,
            client_info=Implementation(name="Scriptorium", version=__version__),
            message_handler=self._handle_notification,
        ) as client:
            server_info = client.server_info
            self.implementation = (
                one_line(f"{server_info.name} {server_info.version}", 100) if server_info else ""
            )
            tasks = [
                asyncio.create_task(self._subscribe(client), name="listen to an external server"),
                asyncio.create_task(
                    self._refresh_changed_tools(client.session), name="list changed external tools"
                ),
            ]
            try:
                yield _LiveConnection(client.session, self._log.closed)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _handle_notification(self, message: object) -> None:
        """Mark the list of tools as outdated when the server reports a change; ignore other messages."""
        from mcp_types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._mark_outdated()

    async def _subscribe(self, client: Client) -> None:
        """Subscribe to tool changes if the server supports it."""
        from mcp.shared.exceptions import MCPError

        try:
            async with client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._mark_outdated()
        except (MCPError, RuntimeError, TimeoutError) as error:
            log.debug("%s does not report changes: %s", self._name, type(error).__name__)

    def _mark_outdated(self) -> None:
        self._listed_at = float("-inf")
        self._tools_changed.set()

    async def _refresh_changed_tools(self, session: ClientSession) -> None:
        """Refresh the list of tools after changes, at a limited rate."""
        while True:
            await self._tools_changed.wait()
            self._tools_changed.clear()
            try:
                await self._list(session)
            except Exception as error:
                log.info("%s did not list its tools: %s", self._name, type(error).__name__)
            await asyncio.sleep(self._timeouts.min_list_interval)

    async def _list(self, session: ClientSession) -> None:
        """List the tools; concurrent callers share a request that began after they called."""
        requested_at = asyncio.get_running_loop().time()
        async with self._list_lock:
            if self._listed_at >= requested_at:
                return
            started_at = asyncio.get_running_loop().time()
            self.listing = await list_tools(session)
            self._listed_at = started_at
        self._on_changed()

    def _set_state(self, state: ConnectionState, reason: str) -> None:
        self.state, self.reason = state, reason
        if state is ConnectionState.STARTING:
            self._start_done.clear()
        else:
            self._start_done.set()
        self._on_changed()


def silence_sdk_loggers() -> None:
    """Silence the SDK and limit its HTTP client to warnings: both log messages, session ids and addresses."""
    for name in ("mcp.client", "mcp.shared"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    for name in ("httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)
