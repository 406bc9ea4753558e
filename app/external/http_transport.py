"""HTTP transport of an external server: one origin, no compression, bounded responses."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpcore2
import httpx2

from app.errors import InvalidParametersError, LimitError, PermissionDeniedError
from app.external.stdio_transport import MAX_MESSAGE_BYTES, ServerLog
from app.web.address_policy import AnyAddress, Origin, SingleOrigin, check_url, origin_of, system_resolve
from app.web.addresses import IPAddress, is_public
from app.web.network import GuardedNetwork

_EVENT_STREAM = "text/event-stream"
_CONNECT_TIMEOUT_S = 20.0
_READ_TIMEOUT_S = 900.0


class UserServerAddresses:
    """Allows the server that the user has added, wherever it is; TLS is optional only on private networks.

    This ensures that the token and all data sent over the public Internet are encrypted, and that a host name
    that resolves to another server fails certificate verification.
    """

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._origin_policy = SingleOrigin(origin)

    def allows_origin(self, scheme: str, host: str, port: int) -> bool:
        """Allow exactly this origin."""
        return self._origin_policy.allows_origin(scheme, host, port)

    def allows_address(self, host: str, port: int, address: IPAddress) -> bool:
        """Allow any address over https, and private addresses over http."""
        return self._origin_policy.allows_address(host, port, address) and (
            self._origin.scheme == "https" or not is_public(address)
        )


def origin_at(address: str) -> Origin:
    """Return the origin of a server's address.

    Raises:
        InvalidParametersError: it is not an unambiguous web address, or contains a user name or password.
    """
    try:
        return origin_of(check_url(address, AnyAddress()))
    except PermissionDeniedError as error:
        raise InvalidParametersError(error.message) from error


def token_account(name: str, address: str) -> tuple[str, str]:
    """Return the service and account of a server's token in the credential store.

    The account is the server's origin, or "" if the address is not valid.
    """
    try:
        origin = origin_at(address)
    except InvalidParametersError:
        return f"external-{name}", ""
    return f"external-{name}", f"{origin.scheme}://{origin.host}:{origin.port}"


@asynccontextmanager
async def http_transport(address: str, token: str | None, log: ServerLog) -> AsyncIterator[Any]:
    """Open the streams of the server at `address`; redirects to other origins are not followed.

    Args:
        address: The address that the user entered.
        token: The bearer token, or None.
        log: Records a rejected token.

    Raises:
        InvalidParametersError: the address is not valid.
    """
    from mcp.client.streamable_http import streamable_http_client

    ssl_context = await asyncio.to_thread(httpx2.create_ssl_context, trust_env=False)
    transport = _GuardedTransport(UserServerAddresses(origin_at(address)), ssl_context, log)
    headers = {"Accept-Encoding": "identity", **({"Authorization": f"Bearer {token}"} if token else {})}
    timeout = httpx2.Timeout(_CONNECT_TIMEOUT_S, read=_READ_TIMEOUT_S)
    async with (
        httpx2.AsyncClient(transport=transport, headers=headers, timeout=timeout, trust_env=False) as client,
        streamable_http_client(address, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES) as streams,
    ):
        yield streams


class _GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends requests to checked addresses only, and limits the size of responses other than event streams."""

    def __init__(
        self, address_policy: UserServerAddresses, ssl_context: ssl.SSLContext, log: ServerLog
    ) -> None:
        self._address_policy = address_policy
        self._log = log
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=ssl_context,
            network_backend=GuardedNetwork(address_policy, system_resolve),
            max_connections=20,
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request and return the response.

        Raises:
            PermissionDeniedError: the request goes to another origin.
            httpx2.DecodingError: the response is compressed.
        """
        check_url(str(request.url), self._address_policy)
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        response = await self._pool.handle_async_request(
            httpcore2.Request(
                method=request.method,
                url=httpcore2.URL(
                    scheme=request.url.raw_scheme,
                    host=request.url.raw_host,
                    port=request.url.port,
                    target=request.url.raw_path,
                ),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        headers = httpx2.Headers(response.headers)
        is_rejected = response.status in (401, 403)
        self._log.end_reason = (
            f"it requires a token, or rejected the one that was sent ({response.status})"
            if is_rejected
            else ""
        )
        if headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            raise httpx2.DecodingError("The server compressed its response, which was not requested.")
        is_event_stream = headers.get("content-type", "").lower().startswith(_EVENT_STREAM)
        stream = _BoundedStream(response, None if is_event_stream else MAX_MESSAGE_BYTES)
        return httpx2.Response(
            response.status, headers=headers, stream=stream, extensions=response.extensions, request=request
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


class _TooLargeError(httpx2.StreamError, LimitError):
    """A response over the size limit, as both an httpx2 error and an app error."""

    def __init__(self, max_bytes: int) -> None:
        LimitError.__init__(
            self, f"It sent a response larger than {max_bytes // 1024 // 1024} MiB.", limit=max_bytes
        )


class _BoundedStream(httpx2.AsyncByteStream):
    """A response body with an optional size limit."""

    def __init__(self, response: httpcore2.Response, max_bytes: int | None) -> None:
        self._response = response
        self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._response.aiter_stream():
            size += len(part)
            if self._max_bytes is not None and size > self._max_bytes:
                raise _TooLargeError(self._max_bytes)
            yield part

    async def aclose(self) -> None:
        await self._response.aclose()
