"""The MCP server over HTTP, behind the security middleware: both protocol eras at one address.

A session of the 2025 protocol belongs to the client whose token started it; for other clients it does not
exist. Idle sessions end, and each client's number of sessions is limited. Messages that a client missed
while its stream was broken are kept for a while; calls of a client that does not reconnect are canceled.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from http import HTTPStatus

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import CallNext, HandlerResult
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from app.servers.mcp_elicitation import CALLS_KEY
from app.servers.mcp_event_store import CurrentSessionEventStore, SessionEventStores
from app.servers.mcp_json_response import JsonResponseUpgrade
from app.servers.mcp_progress import Context
from app.servers.mcp_server import VaultServer, mcp_server
from app.servers.security import CLIENT_KEY, MAX_BODY_BYTES
from app.servers.vault_access import Client, VaultAccess

_MAX_SESSIONS = 512
_MAX_CLIENT_SESSIONS = 32
_IDLE_TIMEOUT_S = 30 * 60.0
_LISTENING_TIMEOUT_S = 2 * 3600.0
"""Idle timeout of a session whose client keeps its stream of notifications open."""
_MIN_EVICTION_IDLE_S = 60.0
"""Idle time after which a session can be ended for a new one of the same client."""
_RECONNECT_TIMEOUT_S = 20.0
_RETRY_INTERVAL_MS = 1000
_SESSION_HEADERS = (b"host", b"mcp-session-id", b"mcp-protocol-version", b"accept", b"authorization")
log = logging.getLogger(__name__)

_SessionKey = tuple[tuple[str, str], str]
"""Key of a session: its client and its id."""
BuildServer = Callable[[VaultAccess, Callable[[Context], Client]], VaultServer]
"""Creates the server of a vault; the function that it receives identifies the client of a request."""


@dataclass(slots=True)
class _Session:
    """A session: the scope of its first request, the timer that ends it, and the number of running requests.

    `since` is the time of the event loop at which the last request ended.
    """

    scope: Scope
    timer: asyncio.TimerHandle
    since: float
    requests: int = 0


class McpHttpApp:
    """ASGI app of the MCP server. It works while its `lifespan` is open, which can be entered only once.

    The security middleware has put the `Client` into the scope.

    Args:
        service: The vault.
        build: Creates the server.
        idle_timeout: Seconds without a request after which a session ends.
        listening_timeout: The same for a session whose stream of notifications is open.
        reconnect_timeout: Seconds that a client has to resume a broken stream.
        security: Checks of Host and Origin, for use without the middleware.
    """

    def __init__(
        self,
        service: VaultAccess,
        build: BuildServer = mcp_server,
        *,
        idle_timeout: float = _IDLE_TIMEOUT_S,
        listening_timeout: float = _LISTENING_TIMEOUT_S,
        reconnect_timeout: float = _RECONNECT_TIMEOUT_S,
        security: TransportSecuritySettings | None = None,
    ) -> None:
        server = build(service, _request_client)
        server.middleware.append(self._count_session)
        self._event_stores = SessionEventStores()
        self._session_counts: Counter[tuple[str, str]] = Counter()
        self._reconnect_timeout = reconnect_timeout
        self._listening_timeout = listening_timeout
        self._sessions: dict[_SessionKey, _Session] = {}
        self._end_tasks: set[asyncio.Task[None]] = set()
        self._reconnect_timers: dict[str, list[asyncio.TimerHandle]] = {}
        self._manager = StreamableHTTPSessionManager(
            app=server,
            event_store=CurrentSessionEventStore(),
            retry_interval=_RETRY_INTERVAL_MS,
            security_settings=security,
            session_idle_timeout=idle_timeout,
            max_request_body_size=MAX_BODY_BYTES,
            max_sessions=_MAX_SESSIONS,
        )

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Serve requests while this is open; sessions end with it."""
        try:
            async with self._manager.run():
                yield
        finally:
            for session in self._sessions.values():
                session.timer.cancel()
            self._sessions.clear()
            for task in self._end_tasks:
                task.cancel()
            for timers in self._reconnect_timers.values():
                for timer in timers:
                    timer.cancel()
            self._reconnect_timers.clear()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        client = scope.get(CLIENT_KEY)
        if not isinstance(client, Client):
            await _error_response(HTTPStatus.UNAUTHORIZED, "A token is required.")(scope, receive, send)
            return
        scope["user"] = AuthenticatedUser(_credential(client))
        version, session = _header(scope, b"mcp-protocol-version"), _header(scope, b"mcp-session-id")
        if version and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._manager.handle_request(scope, receive, send)
        elif session:
            await self._handle_in_session(session, scope, receive, send)
        elif self._session_counts[_client_key(client)] >= _MAX_CLIENT_SESSIONS and not await self._make_room(
            client
        ):
            response = _error_response(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"{_MAX_CLIENT_SESSIONS} sessions are already open. Close one and try again.",
            )
            await response(scope, receive, send)
        else:
            with self._event_stores.opening() as opening:
                await self._manager.handle_request(scope, receive, opening.wrap_send(send))

    async def _handle_in_session(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        if _header(scope, b"last-event-id"):
            for timer in self._reconnect_timers.pop(session, ()):
                timer.cancel()
        calls: set[asyncio.Task[object]] = set()
        scope[CALLS_KEY] = calls
        session_key = (_client_key(scope[CLIENT_KEY]), session)

        async def send_response(message: Message) -> None:
            is_gone = message["type"] == "http.response.start" and message["status"] == HTTPStatus.NOT_FOUND
            if is_gone or scope["method"] == "DELETE":
                self._forget(session_key)
            await send(message)

        async def receive_message() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect" and calls:
                self._schedule_withdrawal(session, calls)
            return message

        with self._event_stores.entered(session):
            if scope["method"] != "POST":
                self._track_session(session_key, scope)
                await self._manager.handle_request(scope, receive_message, send_response)
                return
            with self._keep_active(session_key, scope):
                async with JsonResponseUpgrade(send_response) as upgraded_send:
                    await self._manager.handle_request(scope, receive_message, upgraded_send)

    # Idle sessions

    def _track_session(self, session_key: _SessionKey, scope: Scope) -> _Session:
        session_state = self._sessions.get(session_key)
        if session_state is None:
            loop = asyncio.get_running_loop()
            timer = loop.call_later(self._listening_timeout, self._expire, session_key)
            session_state = self._sessions[session_key] = _Session(scope, timer, since=loop.time())
        return session_state

    def _forget(self, session_key: _SessionKey) -> None:
        if (session_state := self._sessions.pop(session_key, None)) is not None:
            session_state.timer.cancel()

    @contextmanager
    def _keep_active(self, session_key: _SessionKey, scope: Scope) -> Iterator[None]:
        """Keep a session active during a request, and restart its idle timer afterwards."""
        session_state = self._track_session(session_key, scope)
        session_state.requests += 1
        try:
            yield
        finally:
            session_state.requests -= 1
            if self._sessions.get(session_key) is session_state:
                loop = asyncio.get_running_loop()
                session_state.timer.cancel()
                session_state.since = loop.time()
                session_state.timer = loop.call_later(self._listening_timeout, self._expire, session_key)

    def _expire(self, session_key: _SessionKey) -> None:
        """End a session in the background, unless it has running requests."""
        session_state = self._sessions.get(session_key)
        if session_state is not None and not session_state.requests:
            task = asyncio.ensure_future(self._end(session_key))
            self._end_tasks.add(task)
            task.add_done_callback(self._end_tasks.discard)

    async def _end(self, session_key: _SessionKey) -> None:
        """End a session as its client would: with a DELETE request."""
        session_state = self._sessions.get(session_key)
        if session_state is None:
            # Its client has just ended it.
            return
        self._forget(session_key)
        log.info("ending an idle MCP session of %s", session_key[0][1])

        async def receive_nothing() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def discard(message: Message) -> None:
            return

        headers = [(key, value) for key, value in session_state.scope["headers"] if key in _SESSION_HEADERS]
        scope = {**session_state.scope, "method": "DELETE", "headers": headers}
        await self._manager.handle_request(scope, receive_nothing, discard)

    async def _make_room(self, client: Client) -> bool:
        """End the client's session that has been idle longest; return whether one was idle long enough."""
        now, key = asyncio.get_running_loop().time(), _client_key(client)
        idle = [
            (entry.since, session_key)
            for session_key, entry in self._sessions.items()
            if session_key[0] == key and not entry.requests and now - entry.since >= _MIN_EVICTION_IDLE_S
        ]
        if not idle:
            return False
        await self._end(min(idle)[1])
        return True

    def _schedule_withdrawal(self, session: str, calls: set[asyncio.Task[object]]) -> None:
        """Cancel the calls later, unless the client reconnects in time."""

        def withdraw() -> None:
            timers = self._reconnect_timers[session]
            timers.remove(timer)
            if not timers:
                del self._reconnect_timers[session]
            for task in tuple(calls):
                task.cancel("the client has gone")

        timer = asyncio.get_running_loop().call_later(self._reconnect_timeout, withdraw)
        self._reconnect_timers.setdefault(session, []).append(timer)

    async def _count_session(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Count each client's sessions; the SDK only counts all sessions."""
        if ctx.method == "initialize" and ctx.request is not None:
            key = _client_key(_request_client(ctx))
            self._session_counts[key] += 1
            # The SDK has no public API for the connection.
            ctx.session._connection.exit_stack.callback(self._uncount_session, key)
        return await call_next(ctx)

    def _uncount_session(self, key: tuple[str, str]) -> None:
        self._session_counts[key] -= 1
        if self._session_counts[key] <= 0:
            del self._session_counts[key]


def _request_client(ctx: Context) -> Client:
    """Return the authenticated client."""
    assert ctx.request is not None
    client = ctx.request.scope[CLIENT_KEY]
    assert isinstance(client, Client)
    return client


def _client_key(client: Client) -> tuple[str, str]:
    return (client.kind.value, client.name)


def _credential(client: Client) -> AccessToken:
    """Return the identity that sessions are bound to, without the token itself."""
    return AccessToken(token="", client_id=f"{client.kind.value}:{client.name}", scopes=[])


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _error_response(status: HTTPStatus, message: str) -> JSONResponse:
    error = {"code": -32600, "message": message}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, int(status))
