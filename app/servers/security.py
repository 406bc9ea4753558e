"""Security middleware of the local server.

A request must name this server in its Host header (a web page that uses DNS rebinding names its own), must
not come from another origin, must have a token, and is limited in size and time. An app receives an accepted
request with its body already read and the authenticated client in its scope.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import unquote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.encoding import check_json_size
from app.errors import LimitError
from app.permissions.caller import CallerKind
from app.servers.vault_access import Client

log = logging.getLogger(__name__)

MAX_BODY_BYTES = 10 * 1024 * 1024
BODY_TIMEOUT_S = 30.0
MAX_CONCURRENT_REQUESTS = 48
"""Maximum number of running requests per program; with the local token, four times as many in total."""
SEND_TIMEOUT_S = 20.0
"""Time limit for a client to accept a part of a response; its connection is closed afterwards."""
_FINAL_SEND_TIMEOUT_S = 1.0
_MAX_NAME_CHARS = 60
_MAX_USER_AGENT_CHARS = 120
_KINDS = {"cli": CallerKind.CLI, "mcp": CallerKind.MCP}
CLIENT_KEY = "scriptorium.client"
"""Key of the authenticated `Client` in a request's scope."""
LOCAL_KEY = "scriptorium.local"
"""Key in the scope: whether the request has the local token, which only the user's processes can read."""
CLOSED_REASON = "the app was closed"
SWITCHED_OFF_REASON = "this interface was turned off"
REVOKED_REASON = "its token was revoked"


class RequestRejectedError(Exception):
    """A request is rejected, with this status, message and additional headers."""

    def __init__(self, status: HTTPStatus, message: str, *headers: tuple[bytes, bytes]) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers


@dataclass(frozen=True, slots=True)
class Credential:
    """The credential of a request: the local token (`local`), or the token of the program `name`."""

    local: bool
    name: str = ""


@dataclass(frozen=True, slots=True)
class Mount:
    """An app behind the middleware: its path prefix, the kind of its callers, and whether it is enabled.

    `closed_reason` returns why programs with their own token are not allowed, or an empty string. The user's
    processes with the local token are always allowed.
    """

    prefix: str
    kind: CallerKind
    app: ASGIApp
    closed_reason: Callable[[], str] = field(default=lambda: "")


class SecurityMiddleware:
    """ASGI middleware that authenticates requests and forwards them to the apps.

    Args:
        mounts: The apps.
        port: The port of the server.
        authenticate: Returns the program that a token belongs to, or None.
        local_token: The token in the endpoint file.
        on_trusted: Called with the client's address for each request with a valid token.
        close_connection: Closes a connection immediately, even with unsent data.
        on_seen: Called with the client of each authenticated request to an app.
        on_refused: Called with the user agent of each request that has an unknown token.
        body_timeout: Seconds that a client has to send a request's body.
        send_timeout: Seconds that a client has to accept a part of a response.
    """

    def __init__(
        self,
        mounts: tuple[Mount, ...],
        port: int,
        authenticate: Callable[[str], str | None],
        local_token: str,
        on_trusted: Callable[[tuple[str, int]], None] = lambda address: None,
        close_connection: Callable[[tuple[str, int]], None] = lambda address: None,
        on_seen: Callable[[Client], None] = lambda client: None,
        on_refused: Callable[[str], None] = lambda user_agent: None,
        *,
        body_timeout: float = BODY_TIMEOUT_S,
        send_timeout: float = SEND_TIMEOUT_S,
    ) -> None:
        self._mounts = mounts
        self._hosts = {f"{host}:{port}" for host in ("127.0.0.1", "localhost")}
        self._origins = {f"http://{host}" for host in self._hosts}
        self._authenticate_token = authenticate
        self._local_token = local_token.encode()
        self._on_trusted = on_trusted
        self._on_seen = on_seen
        self._on_refused = on_refused
        self._body_timeout = body_timeout
        self._close_connection = close_connection
        self._send_timeout = send_timeout
        self._running: dict[str, dict[asyncio.Task[object], Mount]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or reject it with a reason."""
        if scope["type"] != "http":
            return
        try:
            mount, client, credential = self._authenticate(scope)
            body = await self._read_body(scope, receive)
        except RequestRejectedError as rejection:
            await _send_rejection(send, rejection)
            return
        except TimeoutError:
            await _send_rejection(
                send, RequestRejectedError(HTTPStatus.REQUEST_TIMEOUT, "The body took too long.")
            )
            return
        if body is None:
            return
        scope[CLIENT_KEY], scope[LOCAL_KEY] = client, credential.local
        await self._forward(mount, credential.name, scope, _ReplayedBody(body, receive), send)

    def end_requests(self, name: str) -> None:
        """Cancel the running requests of the program `name`, whose token was revoked."""
        for task in tuple(self._running.get(name, ())):
            task.cancel(REVOKED_REASON)

    def end_closed_requests(self) -> None:
        """Cancel the requests to apps that have been turned off, except those with the local token."""
        for name, tasks in tuple(self._running.items()):
            for task, mount in tuple(tasks.items()):
                if name and mount.closed_reason():
                    task.cancel(SWITCHED_OFF_REASON)

    def end_all_requests(self) -> list[asyncio.Task[object]]:
        """Cancel all requests and return their tasks."""
        tasks = [task for tasks in self._running.values() for task in tasks]
        for task in tasks:
            task.cancel(CLOSED_REASON)
        return tasks

    async def _forward(self, mount: Mount, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        assert task is not None
        running = self._running.setdefault(name, {})
        running[task] = mount
        address = scope.get("client") or ("", 0)
        response = _ResponseSender(
            send, lambda: self._close_connection((address[0], address[1])), self._send_timeout
        )
        try:
            await mount.app(scope, receive, response)
        except Exception:
            # Libraries may wrap the error, so check the flag and not its type.
            if not response.timed_out:
                raise
            log.info("%s did not read its response; its connection was closed", name or "a local client")
        except asyncio.CancelledError as error:
            log.info("a request from %s was ended: %s", name or "a local client", error)
            await response.abort(str(error))
        finally:
            del running[task]
            if not running:
                self._running.pop(name, None)

    # Authentication

    def _authenticate(self, scope: Scope) -> tuple[Mount, Client, Credential]:
        """Authenticate a request and return its app, client and credential.

        Raises:
            RequestRejectedError: the request is rejected.
        """
        headers = _Headers(scope)
        self._check_host(headers)
        self._check_origin(headers)
        credential = self._check_token(headers)
        address = scope.get("client")
        if address:
            self._on_trusted((address[0], address[1]))
        mount = next((mount for mount in self._mounts if _is_under(scope["path"], mount.prefix)), None)
        if mount is None:
            raise RequestRejectedError(HTTPStatus.NOT_FOUND, "Not found.")
        if not credential.local and (reason := mount.closed_reason()):
            raise RequestRejectedError(HTTPStatus.FORBIDDEN, reason)
        client = _client(credential, mount, headers)
        limit = MAX_CONCURRENT_REQUESTS * (4 if credential.local else 1)
        if len(self._running.get(credential.name, ())) >= limit:
            raise RequestRejectedError(
                HTTPStatus.TOO_MANY_REQUESTS,
                "Too many of your requests are running. Try again when one has ended.",
                (b"retry-after", b"1"),
            )
        self._on_seen(client)
        return mount, client, credential

    def _check_host(self, headers: _Headers) -> None:
        hosts = headers.all_values(b"host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise RequestRejectedError(
                HTTPStatus.MISDIRECTED_REQUEST, "This server only accepts the host 127.0.0.1."
            )

    def _check_origin(self, headers: _Headers) -> None:
        if any(origin.lower() not in self._origins for origin in headers.all_values(b"origin")):
            raise RequestRejectedError(HTTPStatus.FORBIDDEN, "Web pages can't use this server.")

    def _check_token(self, headers: _Headers) -> Credential:
        values = headers.all_values(b"authorization")
        scheme, _, token = values[0].partition(" ") if len(values) == 1 else ("", "", "")
        token = token.strip()
        if scheme.lower() == "bearer" and token:
            if hmac.compare_digest(token.encode("utf-8", "surrogateescape"), self._local_token):
                return Credential(local=True)
            if (name := self._authenticate_token(token)) is not None:
                return Credential(local=False, name=name)
            self._on_refused(headers.single_value(b"user-agent", _MAX_USER_AGENT_CHARS))
        message = (
            "The token is unknown or was revoked. Create a new one in Scriptorium's settings."
            if token
            else "A token is required: Authorization: Bearer …"
        )
        raise RequestRejectedError(
            HTTPStatus.UNAUTHORIZED, message, (b"www-authenticate", b'Bearer realm="scriptorium"')
        )

    async def _read_body(self, scope: Scope, receive: Receive) -> bytes | None:
        """Read the whole body; return None if the client disconnects.

        Raises:
            RequestRejectedError: the body is too large or has too many values, or its length is invalid.
            TimeoutError: the body takes too long.
        """
        too_large_error = RequestRejectedError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The body is larger than {MAX_BODY_BYTES} bytes."
        )
        length_headers = _Headers(scope).all_values(b"content-length")
        if length_headers and (not length_headers[0].isdecimal() or int(length_headers[0]) > MAX_BODY_BYTES):
            raise too_large_error
        parts, size = [], 0
        async with asyncio.timeout(self._body_timeout):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                part: bytes = message.get("body", b"")
                size += len(part)
                if size > MAX_BODY_BYTES:
                    raise too_large_error
                parts.append(part)
                if not message.get("more_body"):
                    break
        body = b"".join(parts)
        try:
            await check_json_size(body)
        except LimitError as error:
            raise RequestRejectedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, error.message) from error
        return body


class _Headers:
    """The headers of a request, as text."""

    def __init__(self, scope: Scope) -> None:
        self._pairs: list[tuple[bytes, bytes]] = list(scope["headers"])

    def all_values(self, name: bytes) -> list[str]:
        """Return all values of a header."""
        return [value.decode("latin-1") for key, value in self._pairs if key == name]

    def single_value(self, name: bytes, max_chars: int) -> str:
        """Return the only value, truncated and printable; empty for none or several."""
        values = self.all_values(name)
        text = values[0] if len(values) == 1 else ""
        return "".join(char for char in text if char.isprintable())[:max_chars].strip()


class _ReplayedBody:
    """A `receive` that returns the body that was already read, then the client's later messages."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        """Return the next message."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        return await self._receive()


class ClientStalledError(OSError):
    """The client does not read its response; its connection is closed."""


class _ResponseSender:
    """Sends a response, and closes the connection if the client does not read it."""

    def __init__(self, send: Send, close_connection: Callable[[], None], timeout: float) -> None:
        self._send = send
        self._close_connection = close_connection
        self._timeout = timeout
        self._started = False
        self.timed_out = False

    async def __call__(self, message: Message) -> None:
        """Send the next part.

        Raises:
            ClientStalledError: the client does not read it.
        """
        self._started = True
        await self._send_within(message, self._timeout)

    async def _send_within(self, message: Message, timeout: float) -> None:
        try:
            async with asyncio.timeout(timeout) as limit:
                await self._send(message)
        except TimeoutError as error:
            if not limit.expired():
                raise
            self.timed_out = True
            self._close_connection()
            raise ClientStalledError("the client does not read") from error

    async def abort(self, reason: str) -> None:
        """End an incomplete response; if it has not started, send an error with the reason instead."""
        if not self._started:
            rejection = RequestRejectedError(
                HTTPStatus.SERVICE_UNAVAILABLE, f"The request was ended: {reason or CLOSED_REASON}."
            )
            await _send_rejection(self._send, rejection)
            return
        with suppress(ClientStalledError):
            await self._send_within(
                {"type": "http.response.body", "body": b"", "more_body": False}, _FINAL_SEND_TIMEOUT_S
            )


def _is_under(path: str, prefix: str) -> bool:
    return path == prefix or path.startswith(prefix + "/")


def _client(credential: Credential, mount: Mount, headers: _Headers) -> Client:
    """Return the client; the name and kind that it reports are trusted only with the local token."""
    user_agent = headers.single_value(b"user-agent", _MAX_USER_AGENT_CHARS)
    session = headers.single_value(b"scriptorium-session", 64)
    if not credential.local:
        return Client(mount.kind, credential.name, session, user_agent)
    kind = _KINDS.get(headers.single_value(b"scriptorium-kind", 10), mount.kind)
    name = _decode_header(headers, b"scriptorium-client", _MAX_NAME_CHARS)
    name = name or ("Terminal" if kind is CallerKind.CLI else "Local")
    return Client(
        kind, name, session, _decode_header(headers, b"scriptorium-says", _MAX_USER_AGENT_CHARS) or user_agent
    )


def _decode_header(headers: _Headers, name: bytes, max_chars: int) -> str:
    """Return the decoded value of a percent-encoded header, truncated and printable."""
    text = unquote(headers.single_value(name, 10 * max_chars))
    return "".join(char for char in text if char.isprintable())[:max_chars].strip()


async def _send_rejection(send: Send, rejection: RequestRejectedError) -> None:
    body = json.dumps(
        {"success": False, "error": {"type": _error_type(rejection.status), "message": rejection.message}}
    ).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *rejection.headers,
    ]
    await send({"type": "http.response.start", "status": int(rejection.status), "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _error_type(status: HTTPStatus) -> str:
    """Return the error type for a status."""
    error_types = {
        HTTPStatus.NOT_FOUND: "not_found",
        HTTPStatus.REQUEST_TIMEOUT: "timeout",
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "limit",
        HTTPStatus.TOO_MANY_REQUESTS: "limit",
    }
    return error_types.get(status, "permission_denied")
