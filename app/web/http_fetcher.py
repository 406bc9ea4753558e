"""HTTP requests within limits on redirects, time and size, without cookies or logins."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from app import __version__
from app.errors import (
    InvalidParametersError,
    LimitError,
    NotFoundError,
    ScriptoriumError,
    TimeoutExpiredError,
)
from app.web.address_policy import AddressPolicy, PublicAddresses, Resolve, check_url, system_resolve

if TYPE_CHECKING:  # loaded with the first fetch, so that the window starts faster
    import httpcore2
    import httpx2

USER_AGENT = f"Scriptorium/{__version__} (notes app; fetches single pages that its user asked for)"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class WebError(ScriptoriumError):
    """A server could not be reached, or sent an error or damaged data; `status` is the HTTP error, if any."""

    type = "not_found"


class UnreadableResponseError(ScriptoriumError):
    """A response does not have the expected format; `content_type` is its content type, if stated."""

    type = "invalid_parameters"


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits on a fetch: bytes on the wire, bytes after decompression, total seconds, redirects."""

    wire_bytes: int = 4 * 1024 * 1024
    decompressed_bytes: int = 8 * 1024 * 1024
    seconds: float = 20.0
    max_redirects: int = 5


@dataclass(frozen=True, slots=True)
class WebRequest:
    """One request without the key: the approval dialog shows exactly this."""

    url: str
    method: str = "GET"
    body: bytes = b""
    accept: str = "*/*"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WebResponse:
    """A response: the final URL, content type, character set, body and headers."""

    url: str
    content_type: str
    charset: str
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


class Fetcher:
    """Fetches from allowed addresses. Each fetch opens its own connections and keeps no state.

    Args:
        address_policy: The allowed addresses; the public Internet by default.
        resolve: Resolves host names.
        limits: Limits on each fetch.
    """

    def __init__(
        self,
        address_policy: AddressPolicy | None = None,
        resolve: Resolve = system_resolve,
        limits: FetchLimits | None = None,
    ) -> None:
        self._address_policy = address_policy or PublicAddresses()
        self._resolve = resolve
        self._limits = limits or FetchLimits()

    def check(self, url: str) -> str:
        """Return the URL that would be fetched for `url`; raises like `check_url`."""
        return str(check_url(url, self._address_policy))

    async def fetch(
        self,
        request: WebRequest,
        content_types: frozenset[str],
        *,
        secret_headers: Mapping[str, str] | None = None,
        follow_redirects: bool = True,
    ) -> WebResponse:
        """Send `request` and return the response.

        Args:
            request: The request to send.
            content_types: The accepted content types.
            secret_headers: Headers with a key, sent only with the first request, not after a redirect.
            follow_redirects: Whether to follow redirects; each target is checked like the first URL.

        Raises:
            InvalidParametersError: the URL or the target of a redirect is not a web address, or contains a
                user name or password.
            PermissionDeniedError: the address of the URL or of a redirect is not allowed.
            NotFoundError: the server or the page does not exist.
            WebError: the server could not be reached, or answered with an error, an unfollowed redirect or
                damaged data.
            UnreadableResponseError: the response has a content type that is not accepted.
            LimitError: the response is too large, or there are too many redirects.
            TimeoutExpiredError: the time limit was exceeded.
        """
        seconds = self._limits.seconds
        try:
            async with asyncio.timeout(seconds) as limit:
                return await self._follow_redirects(
                    request, content_types, dict(secret_headers or {}), follow_redirects
                )
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TimeoutExpiredError(f"The server took longer than {seconds:g} s.", limit=seconds) from error

    async def _follow_redirects(
        self,
        request: WebRequest,
        content_types: frozenset[str],
        secret_headers: dict[str, str],
        follow_redirects: bool,
    ) -> WebResponse:
        for _ in range(self._limits.max_redirects + 1):
            url = check_url(request.url, self._address_policy)
            result = await self._exchange(replace(request, url=str(url)), url, content_types, secret_headers)
            if isinstance(result, WebResponse):
                return result
            if not follow_redirects:
                raise WebError("The server answered with a redirect. This request does not follow redirects.")
            # A redirected request is sent without the key and the body.
            request = WebRequest(_join_url(url, result), accept=request.accept)
            secret_headers = {}
        raise LimitError(
            f"Redirected more than {self._limits.max_redirects} times.", limit=self._limits.max_redirects
        )

    async def _exchange(
        self,
        request: WebRequest,
        url: httpx2.URL,
        content_types: frozenset[str],
        secret_headers: Mapping[str, str],
    ) -> WebResponse | str:
        """Return the response, or the target of a redirect."""
        import httpcore2
        import httpx2

        from app.web.network import GuardedNetwork

        network = GuardedNetwork(self._address_policy, self._resolve)
        seconds = self._limits.seconds
        timeouts = {"connect": seconds, "read": seconds, "write": seconds, "pool": seconds}
        ssl_context = await asyncio.to_thread(httpx2.create_ssl_context, trust_env=False)
        try:
            async with (
                httpcore2.AsyncConnectionPool(ssl_context=ssl_context, network_backend=network) as pool,
                pool.stream(
                    request.method,
                    str(url),
                    headers=_headers(request, url, secret_headers),
                    content=request.body or None,
                    extensions={"timeout": timeouts},
                ) as response,
            ):
                return await self._read(response, url, content_types)
        except httpcore2.TimeoutException as error:
            raise TimeoutExpiredError(f"{url.host} did not answer in time.", limit=seconds) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise WebError(f"{url.host} could not be reached: {_error_text(error)}.", url=str(url)) from error

    async def _read(
        self, response: httpcore2.Response, url: httpx2.URL, content_types: frozenset[str]
    ) -> WebResponse | str:
        pairs = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers)
        headers = {name.lower(): value for name, value in pairs}
        if response.status in _REDIRECTS and headers.get("location"):
            return headers["location"]
        if response.status in (404, 410):
            raise NotFoundError(f"{url.host} has no such page.", url=str(url), status=response.status)
        if not 200 <= response.status < 300:
            message = f"{url.host} answered with error {response.status}."
            raise WebError(message, url=str(url), status=response.status)
        content_type, charset = read_content_type(headers.get("content-type", ""))
        if content_type not in content_types:
            raise UnreadableResponseError(
                f"{url.host} sent {content_type or 'content without a type'}, which can't be read here.",
                content_type=content_type,
                readable=sorted(content_types),
            )
        body = await decompress(response.aiter_stream(), headers.get("content-encoding", ""), self._limits)
        return WebResponse(str(url), content_type, charset, body, headers)


def _join_url(url: httpx2.URL, location: str) -> str:
    try:
        return urljoin(str(url), location)
    except ValueError as error:
        message = f"{url.host} redirected to something that is not a web address."
        raise InvalidParametersError(message, url=location[:200]) from error


def _headers(
    request: WebRequest, url: httpx2.URL, secret_headers: Mapping[str, str]
) -> list[tuple[bytes | str, bytes | str]]:
    headers = {
        "Host": url.netloc.decode("ascii"),
        "User-Agent": USER_AGENT,
        "Accept": request.accept,
        "Accept-Encoding": "gzip, deflate",
        "Connection": "close",
        **request.headers,
        **secret_headers,
    }
    if request.body:
        headers["Content-Length"] = str(len(request.body))
    return list(headers.items())


def read_content_type(header: str) -> tuple[str, str]:
    """Parse a `Content-Type` into the media type and the character set (empty if missing)."""
    content_type, *parameters = header.split(";")
    charset = ""
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip("\"'").lower()
    return content_type.strip().lower(), charset


async def decompress(chunks: AsyncIterable[bytes], encoding: str, limits: FetchLimits) -> bytes:
    """Decompress a body as it arrives, so that a decompression bomb is stopped early.

    Raises:
        LimitError: the body exceeds `limits`, on the wire or decompressed.
        WebError: the encoding was not requested, or the body is damaged or incomplete.
    """
    decompressor = _decompressor_for(encoding.strip().lower())
    wire_bytes, size = 0, 0
    parts: list[bytes] = []
    try:
        async for chunk in chunks:
            wire_bytes += len(chunk)
            if wire_bytes > limits.wire_bytes:
                message = f"The response is larger than {_in_mib(limits.wire_bytes)} MiB."
                raise LimitError(message, limit=limits.wire_bytes)
            part = (
                chunk
                if decompressor is None
                else decompressor.decompress(chunk, limits.decompressed_bytes - size + 1)
            )
            size += len(part)
            if size > limits.decompressed_bytes:
                size_limit = _in_mib(limits.decompressed_bytes)
                message = f"The response is larger than {size_limit} MiB after decompression."
                raise LimitError(message, limit=limits.decompressed_bytes)
            parts.append(part)
    except zlib.error as error:
        raise WebError("The response is damaged and can't be decompressed.") from error
    if decompressor is not None and wire_bytes and not decompressor.eof:
        raise WebError("The response is incomplete.")
    return b"".join(parts)


class _Decompressor:
    """Decompressor for gzip and deflate; servers send "deflate" with and without a zlib header."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._has_started = False
        self._stream = zlib.decompressobj(window)

    @property
    def eof(self) -> bool:
        """True if the end of the compressed data was reached."""
        return self._stream.eof

    def decompress(self, chunk: bytes, max_bytes: int) -> bytes:
        """Decompress `chunk` and return at most `max_bytes` bytes.

        Raises:
            zlib.error: the data is damaged.
        """
        try:
            part = self._stream.decompress(chunk, max_bytes)
        except zlib.error:
            if self._has_started or self._window != zlib.MAX_WBITS:
                raise
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
            part = self._stream.decompress(chunk, max_bytes)
        self._has_started = True
        return part


def _decompressor_for(encoding: str) -> _Decompressor | None:
    if encoding in ("", "identity"):
        return None
    if encoding in ("gzip", "x-gzip"):
        return _Decompressor(16 + zlib.MAX_WBITS)
    if encoding == "deflate":
        return _Decompressor(zlib.MAX_WBITS)
    raise WebError("The response uses a compression that was not requested.", encoding=encoding[:40])


def _in_mib(count: int) -> str:
    return f"{count / 2**20:g}"


def _error_text(error: Exception) -> str:
    return str(error).strip().rstrip(".") or type(error).__name__
