"""A server at an address: one origin, nothing unpacked, no answer beyond a bound, the token to it alone."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpcore2
import httpx2

from app.errors import InvalidParametersError, LimitError
from app.external.stdio_transport import MAX_MESSAGE_BYTES, ServerLog
from app.web.address_policy import Origin, SingleOrigin, check_url, origin_of, system_resolve
from app.web.addresses import IPAddress, is_public
from app.web.network import GuardedNetwork

_EVENT_STREAM = "text/event-stream"
_CONNECT_TIMEOUT_S, _READ_TIMEOUT_S = 20.0, 900.0


class UserServerAddresses:
    """A server that the user has added, wherever it is; without encryption only on this network.

    So what is sent to the public Internet, the token with it, is always encrypted, and a name that leads to
    another place than it did before is found out by its certificate.
    """

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._one = SingleOrigin(origin)

    def allows_port(self, scheme: str, host: str, port: int) -> bool:
        """Exactly this origin."""
        return self._one.allows_port(scheme, host, port)

    def allows_address(self, host: str, port: int, address: IPAddress) -> bool:
        """Any address with https, only those that are not public without."""
        return self._one.allows_address(host, port, address) and (
            self._origin.scheme == "https" or not is_public(address)
        )


class _AnyServerAddress:
    """For reading an address; nothing is connected by it."""

    def allows_port(self, scheme: str, host: str, port: int) -> bool:
        return 0 < port < 65_536

    def allows_address(self, host: str, port: int, address: IPAddress) -> bool:
        return True


def origin_at(address: str) -> Origin:
    """Where the server at an address is.

    Raises:
        InvalidParametersError: it is no web address, or holds a name and password: tokens have a field.
    """
    return origin_of(check_url(address, _AnyServerAddress()))


def token_account(name: str, address: str) -> tuple[str, str]:
    """Under which service and account the key store keeps a server's token: by where it is sent to."""
    try:
        origin = origin_at(address)
    except InvalidParametersError:
        return f"external-{name}", ""
    return f"external-{name}", f"{origin.scheme}://{origin.host}:{origin.port}"


@asynccontextmanager
async def http_transport(address: str, token: str | None, log: ServerLog) -> AsyncIterator[Any]:
    """The streams of the server at `address`; redirects beyond its origin are not followed.

    Args:
        address: The user's.
        token: Sent as a bearer token; None for none.
        log: Told where it refuses the token.

    Raises:
        InvalidParametersError: the address is none.
    """
    from mcp.client.streamable_http import streamable_http_client

    trust = await asyncio.to_thread(httpx2.create_ssl_context, trust_env=False)
    transport = _GuardedTransport(UserServerAddresses(origin_at(address)), trust, log)
    headers = {"Accept-Encoding": "identity", **({"Authorization": f"Bearer {token}"} if token else {})}
    timeout = httpx2.Timeout(_CONNECT_TIMEOUT_S, read=_READ_TIMEOUT_S)
    async with (
        httpx2.AsyncClient(transport=transport, headers=headers, timeout=timeout, trust_env=False) as client,
        streamable_http_client(address, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES) as streams,
    ):
        yield streams


class _GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends requests over connections that the guard has judged, and bounds what comes back."""

    def __init__(self, reach: UserServerAddresses, trust: ssl.SSLContext, log: ServerLog) -> None:
        self._reach = reach
        self._log = log
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=trust, network_backend=GuardedNetwork(reach, system_resolve), max_connections=20
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """One exchange.

        Raises:
            PermissionDeniedError: it does not go to the server's origin.
        """
        check_url(str(request.url), self._reach)
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        answer = await self._pool.handle_async_request(
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
        headers = httpx2.Headers(answer.headers)
        refuses = answer.status in (401, 403)
        self._log.ended = f"it wants a token, or refuses the one it got ({answer.status})" if refuses else ""
        if headers.get("content-encoding", "identity").lower() != "identity":
            await answer.aclose()
            raise httpx2.DecodingError("The server packed its answer, which was not asked for.")
        is_open_end = headers.get("content-type", "").lower().startswith(_EVENT_STREAM)
        stream = _BoundedStream(answer, None if is_open_end else MAX_MESSAGE_BYTES)
        return httpx2.Response(
            answer.status, headers=headers, stream=stream, extensions=answer.extensions, request=request
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


class _TooLargeError(httpx2.StreamError, LimitError):
    """An answer beyond the bound, told in both languages: the SDK's and ours."""

    def __init__(self, most: int) -> None:
        LimitError.__init__(self, f"It answered with more than {most // 1024 // 1024} MiB.", limit=most)


class _BoundedStream(httpx2.AsyncByteStream):
    """The body of an answer, up to a bound."""

    def __init__(self, answer: httpcore2.Response, most: int | None) -> None:
        self._answer = answer
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._answer.aiter_stream():
            size += len(part)
            if self._most is not None and size > self._most:
                raise _TooLargeError(self._most)
            yield part

    async def aclose(self) -> None:
        await self._answer.aclose()
