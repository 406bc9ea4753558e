"""The HTTP client's network backend, which connects only to checked addresses."""

from __future__ import annotations

from collections.abc import Iterable

import httpcore2

from app.errors import NotFoundError, PermissionDeniedError
from app.web.address_policy import AddressPolicy, Resolve, literal_address, not_public_error, system_resolve
from app.web.addresses import IPAddress

_MAX_ADDRESSES = 6


class GuardedNetwork(httpcore2.AsyncNetworkBackend):
    """Network backend that connects only to addresses that `address_policy` allows."""

    def __init__(self, address_policy: AddressPolicy, resolve: Resolve = system_resolve) -> None:
        self._address_policy = address_policy
        self._resolve = resolve
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first of the host's addresses that answers, after checking all of them.

        Raises:
            NotFoundError: the name has no address.
            PermissionDeniedError: one of its addresses is not allowed, or the host is an ambiguous address.
            httpcore2.ConnectError, httpcore2.ConnectTimeout: none of the first six addresses answered.
        """
        last_error: Exception | None = None
        for address in (await self._checked_addresses(host, port))[:_MAX_ADDRESSES]:
            try:
                return await self._network.connect_tcp(
                    str(address), port, timeout, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                last_error = error
        raise last_error or httpcore2.ConnectError("no address answered")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Refuse the connection: web pages are never served over a local socket."""
        raise PermissionDeniedError("Connections to local sockets are not allowed.", path=path)

    async def sleep(self, seconds: float) -> None:
        """Wait `seconds`; the connection pool calls this between attempts."""
        await self._network.sleep(seconds)

    async def _checked_addresses(self, host: str, port: int) -> list[IPAddress]:
        hostname = host.lower().rstrip(".")
        literal = literal_address(hostname)
        if literal is not None and not hostname.endswith("localhost"):
            addresses = [literal]
        else:
            # This machine's own names are resolved, too: they can have an IPv4 and an IPv6 address.
            try:
                addresses = list(await self._resolve(hostname, port))
            except (OSError, UnicodeError) as error:
                raise _not_found_error(hostname) from error
        if not addresses:
            raise _not_found_error(hostname)
        # One forbidden address is enough: a name with both kinds is meant to bypass the check.
        if not all(self._address_policy.allows_address(hostname, port, address) for address in addresses):
            raise not_public_error(hostname)
        return list(dict.fromkeys(addresses))


def _not_found_error(host: str) -> NotFoundError:
    message = f"The server {host} was not found. Check the address and the network connection."
    return NotFoundError(message, host=host)
