"""One server's life: started, asked for its tools, watched, started again with growing pauses, ended."""

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

if TYPE_CHECKING:
    from mcp.client import Client, ClientSession
    from mcp_types import CallToolResult

log = logging.getLogger(__name__)

Open = Callable[[ServerLog], AbstractAsyncContextManager[Any]]
"""Opens the streams of a server, told in the log; a program is started by that."""
OnProgress = Callable[[float | None, str], None]
"""Told how far a call is: a share from 0 to 1 or None, and the server's words."""


class ConnectionState(StrEnum):
    """How a server stands."""

    OFF = "off"
    STARTING = "starting"
    RUNNING = "running"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ConnectionTimeouts:
    """How long things may take, in seconds.

    `start`: until a server runs and has listed its tools; `first_pause` to `longest_pause`: between two
    tries, doubled each time, from the first one again after it ran for `settled`; `grace`: for a program to
    end; `fresh`: until a list is asked for anew before a call; `calm`: at least between two lists.
    """

    start: float = 90.0
    first_pause: float = 1.0
    longest_pause: float = 300.0
    settled: float = 60.0
    grace: float = 1.5
    fresh: float = 30.0
    calm: float = 0.5


@dataclass(frozen=True, slots=True)
class _LiveConnection:
    """A connection that stands."""

    session: ClientSession
    lost: asyncio.Event


class ServerConnection:
    """A server while it is on. Belongs to one event loop.

    Args:
        name: The server's, for messages.
        open_streams: Starts or reaches it.
        changed: Told when how it stands, or what it offers, has changed.
        pace: How long things may take.
    """

    def __init__(
        self, name: str, open_streams: Open, changed: Callable[[], None], pace: ConnectionTimeouts
    ) -> None:
        self._name = name
        self._open = open_streams
        self._changed = changed
        self._pace = pace
        self._task: asyncio.Task[None] | None = None
        self._live: _LiveConnection | None = None
        self._settled = asyncio.Event()
        self._log = ServerLog()
        self._said_before: tuple[str, ...] = ()
        self._listed = 0.0
        self._listing = asyncio.Lock()
        self._told_of_changes = asyncio.Event()
        self._hurry = asyncio.Event()
        self.standing = ConnectionState.OFF
        self.words = ""
        self.says = ""
        self.listing: ToolListing | None = None

    @property
    def errors(self) -> tuple[str, ...]:
        """The last lines of its error output: of this run, or of the one before while there are none."""
        return tuple(self._log.lines) or self._said_before

    def start(self) -> None:
        """Begin to keep it running."""
        if self._task is None:
            self._set_state(ConnectionState.STARTING, "")
            self._task = asyncio.create_task(self._keep_running(), name=f"external server {self._name}")

    async def stop(self) -> None:
        """End it, with all that it started."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        self._set_state(ConnectionState.OFF, "")

    def retry(self) -> None:
        """Start it again now, if it waits for that."""
        self._hurry.set()

    # Calls

    async def tools(self) -> Mapping[str, RemoteTool]:
        """Its tools as they are now: asked for anew where that was a while ago.

        Raises:
            NetworkError: it does not run; `standing` says how it stands.
        """
        live = await self._running()
        if asyncio.get_running_loop().time() - self._listed > self._pace.fresh:
            try:
                async with asyncio.timeout(self._pace.start):
                    await self._list(live.session)
            except TimeoutError as error:
                raise TimeoutExpiredError(f"{self._name} did not list its tools in time.") from error
            except Exception as error:
                raise self._broken(error) from error
        assert self.listing is not None
        return self.listing.tools

    async def call(
        self, tool: str, arguments: dict[str, object], seconds: float, on_progress: OnProgress
    ) -> CallToolResult:
        """The server's answer to a call. Cancelling it tells the server so.

        Raises:
            TimeoutExpiredError: it took longer than `seconds`; the server was told to stop.
            NetworkError: it does not run, ended meanwhile, or refused; what it said is `said`.
            LimitError: it wants to ask back, which external servers can't.
        """
        from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, InputRequiredResult
        from pydantic import TypeAdapter

        live = await self._running()
        adapter: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(
            CallToolResult | InputRequiredResult
        )

        async def tell(progress: float, total: float | None, message: str | None) -> None:
            on_progress(min(1.0, max(0.0, progress / total)) if total else None, message or "")

        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
        try:
            async with asyncio.timeout(seconds) as limit:
                answer = await live.session.send_request(request, adapter, progress_callback=tell)
        except TimeoutError as error:
            if not limit.expired():
                raise
            message = f"{self._name} did not answer within {seconds:g} s; it was told to stop."
            raise TimeoutExpiredError(message, limit=seconds) from error
        except Exception as error:
            raise self._broken(error) from error
        if isinstance(answer, InputRequiredResult):
            raise LimitError(f"{self._name} wants to ask back, which external servers can't do here.")
        return answer

    def _broken(self, error: BaseException) -> ScriptoriumError:
        """What went wrong, as an error whose words are ours; what the server said of it is apart."""
        found = explain_error(error)
        return NetworkError(
            f"{self._name}: {found.words}.", server=self._name, **({"said": found.said} if found.said else {})
        )

    async def _running(self) -> _LiveConnection:
        """The connection, once it stands; waits while the server starts.

        Raises:
            NetworkError: it does not run.
        """
        if self.standing is ConnectionState.STARTING:
            await self._settled.wait()
        if self._live is None or self._live.lost.is_set():
            how = f" ({self.words})" if self.words else ""
            raise NetworkError(f"The server {self._name} does not run{how}.", server=self._name)
        return self._live

    # Life

    async def _keep_running(self) -> None:
        pause = self._pace.first_pause
        clock = asyncio.get_running_loop().time
        while True:
            self._set_state(ConnectionState.STARTING, "")
            self._said_before = self.errors
            self._log = ServerLog()
            began = clock()
            words = await self._run_once()
            if clock() - began > self._pace.settled:
                pause = self._pace.first_pause
            self._live = None
            self._set_state(ConnectionState.FAILED, words)
            self._hurry.clear()
            try:
                async with asyncio.timeout(pause):
                    await self._hurry.wait()
            except TimeoutError:
                pause = min(2 * pause, self._pace.longest_pause)

    async def _run_once(self) -> str:
        """Run it until it ends; how it ended, in words."""
        try:
            async with asyncio.timeout(self._pace.start) as limit:
                async with self._connected() as live:
                    await self._list(live.session)
                    limit.reschedule(None)
                    self._live = live
                    self._set_state(ConnectionState.RUNNING, "")
                    await live.lost.wait()
        except Exception as error:
            if isinstance(error, TimeoutError) and limit.expired():
                return f"it did not start within {self._pace.start:g} s"
            words = self._log.ended or explain_error(error).words
            log.info("the external server %s failed: %s", self._name, words)
            return words
        finally:
            self._live = None
        return self._log.ended or "it ended"

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[_LiveConnection]:
        # What a server may ask of the app (its model, its user, folders) is not offered: the SDK refuses it.
        library = await asyncio.to_thread(import_module, "mcp.client")
        from mcp_types import Implementation

        keep_contents_out_of_logs()
        async with library.Client(
            self._open(self._log),
            cache=None,
            client_info=Implementation(name="Scriptorium", version=__version__),
            message_handler=self._handle_notification,
        ) as client:
            said = client.server_info
            self.says = one_line(f"{said.name} {said.version}", 100) if said else ""
            work = [
                asyncio.create_task(self._subscribe(client), name="listen to an external server"),
                asyncio.create_task(self._list_again(client.session), name="list changed external tools"),
            ]
            try:
                yield _LiveConnection(client.session, self._log.over)
            finally:
                for task in work:
                    task.cancel()
                await asyncio.gather(*work, return_exceptions=True)

    async def _handle_notification(self, message: object) -> None:
        """What the server says by itself: only that its tools have changed is of interest."""
        from mcp_types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._is_old()

    async def _subscribe(self, client: Client) -> None:
        """Where the protocol has it, subscribe to changes of the tools."""
        from mcp.shared.exceptions import MCPError

        try:
            async with client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._is_old()
        except (MCPError, RuntimeError, TimeoutError) as error:
            log.debug("%s does not tell of changes: %s", self._name, type(error).__name__)

    def _is_old(self) -> None:
        self._listed = float("-inf")
        self._told_of_changes.set()

    async def _list_again(self, session: ClientSession) -> None:
        """Ask for the tools when they have changed, however often a server says so."""
        while True:
            await self._told_of_changes.wait()
            self._told_of_changes.clear()
            try:
                await self._list(session)
            except Exception as error:
                log.info("%s did not list its tools: %s", self._name, type(error).__name__)
            await asyncio.sleep(self._pace.calm)

    async def _list(self, session: ClientSession) -> None:
        """Ask for the tools; one question at a time, and one that began since now is as good."""
        asked = asyncio.get_running_loop().time()
        async with self._listing:
            if self._listed >= asked:
                return
            began = asyncio.get_running_loop().time()
            self.listing = await list_tools(session)
            self._listed = began
        self._changed()

    def _set_state(self, standing: ConnectionState, words: str) -> None:
        self.standing, self.words = standing, words
        if standing is ConnectionState.STARTING:
            self._settled.clear()
        else:
            self._settled.set()
        self._changed()


def keep_contents_out_of_logs() -> None:
    """Let the protocol's library log nothing: it would log what servers send, sessions and addresses."""
    for name in ("mcp.client", "mcp.shared"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    for name in ("httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)
