"""Policies for web addresses, checked where the connection is made.

A name is resolved once, each of its addresses is checked, and the connection goes to a checked address.
So a DNS server can't return a public address for the check and a private one for the connection (DNS
rebinding). TLS still verifies the certificate against the name.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from app.errors import InvalidParametersError, PermissionDeniedError
from app.web.addresses import IPAddress, is_public, parse_address

if TYPE_CHECKING:  # imported on the first URL, so that the window starts faster
    import httpx2

Resolve = Callable[[str, int], Awaitable[Sequence[IPAddress]]]
"""Resolves a host name and a port to addresses."""

_ALLOWED_PORTS = {"http": (80, 8080), "https": (443, 8443)}
_DEFAULT_PORTS = {"http": 80, "https": 443}
_MAX_URL_CHARS = 4000


class AddressPolicy(Protocol):
    """The origins and addresses that connections may use."""

    def allows_origin(self, scheme: str, host: str, port: int) -> bool:
        """Return whether connections to this origin are allowed."""
        ...

    def allows_address(self, host: str, port: int, address: IPAddress) -> bool:
        """Return whether connections to this address of the host are allowed."""
        ...


class PublicAddresses:
    """Allows the public Internet on the standard web ports."""

    def allows_origin(self, scheme: str, host: str, port: int) -> bool:
        """Allow the standard ports for the scheme."""
        return port in _ALLOWED_PORTS.get(scheme, ())

    def allows_address(self, host: str, port: int, address: IPAddress) -> bool:
        """Allow public addresses."""
        return is_public(address)


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port of a server."""

    scheme: str
    host: str
    port: int


class SingleOrigin:
    """Allows one server that the user has entered, including one on the local network."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin

    def allows_origin(self, scheme: str, host: str, port: int) -> bool:
        """Allow exactly this origin."""
        return Origin(scheme, host, port) == self._origin

    def allows_address(self, host: str, port: int, address: IPAddress) -> bool:
        """Allow any address of the origin's host."""
        return (host, port) == (self._origin.host, self._origin.port)


class AnyAddress:
    """Allows everything: for parsing an address that the user entered, never for a connection."""

    def allows_origin(self, scheme: str, host: str, port: int) -> bool:
        """Allow any valid port."""
        return 0 < port < 65_536

    def allows_address(self, host: str, port: int, address: IPAddress) -> bool:
        """Allow any address."""
        return True


def check_url(text: str, address_policy: AddressPolicy) -> httpx2.URL:
    """Validate a URL and return it without its fragment.

    Raises:
        InvalidParametersError: the text is not a web address, or contains a user name or password.
        PermissionDeniedError: `address_policy` does not allow the address, or the address is ambiguous.
    """
    url = _parse_url(text)
    if url.scheme not in _DEFAULT_PORTS:
        raise InvalidParametersError("Only http and https addresses can be fetched.", url=str(url)[:200])
    if url.userinfo:
        raise InvalidParametersError("Addresses that contain a user name or password can't be fetched.")
    host = host_of(url)
    if not host or "%" in host:
        raise InvalidParametersError("The address has no host name.", url=text[:200])
    port = port_of(url)
    if not address_policy.allows_origin(url.scheme, host, port):
        raise PermissionDeniedError(f"Connections to {host}:{port} are not allowed.", url=str(url))
    address = literal_address(host)
    if address is not None and not address_policy.allows_address(host, port, address):
        raise not_public_error(host)
    return url.copy_with(fragment=None)


def _parse_url(text: str) -> httpx2.URL:
    if len(text) > _MAX_URL_CHARS or any(ord(letter) <= 32 or letter == "\\" for letter in text.strip()):
        raise InvalidParametersError("This is not a web address.", url=text[:200])
    import httpx2

    try:
        return httpx2.URL(text.strip())
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        message = f"This is not a web address: {error}"
        raise InvalidParametersError(message, url=text[:200]) from error


def literal_address(host: str) -> IPAddress | None:
    """Parse the IP address in a host; return None for a name.

    `localhost` and its subdomains are 127.0.0.1.

    Raises:
        PermissionDeniedError: the address is ambiguous or invalid.
    """
    if host == "localhost" or host.endswith(".localhost"):
        # Per RFC 6761, these names mean this machine, whatever a DNS server answers.
        return ipaddress.IPv4Address("127.0.0.1")
    try:
        return parse_address(host)
    except ValueError as error:
        message = f"The address {host} is ambiguous, so it can't be fetched."
        raise PermissionDeniedError(message, host=host) from error


def host_of(url: httpx2.URL) -> str:
    """Return the host in ASCII, as it is sent, in lower case and without trailing dots."""
    return url.raw_host.decode("ascii").lower().rstrip(".")


def port_of(url: httpx2.URL) -> int:
    """Return the port, or the scheme's default port if the URL has none."""
    return url.port if url.port is not None else _DEFAULT_PORTS[url.scheme]


def origin_of(url: httpx2.URL) -> Origin:
    """Return the origin of a URL."""
    return Origin(url.scheme, host_of(url), port_of(url))


def not_public_error(host: str) -> PermissionDeniedError:
    """Return the error for a host with an address that is not allowed."""
    return PermissionDeniedError(
        f"{host} is not on the public Internet: addresses of this machine and its networks are not fetched.",
        host=host,
    )


async def system_resolve(host: str, port: int) -> list[IPAddress]:
    """Resolve a name with the system's resolver.

    Raises:
        OSError, UnicodeError: the name can't be resolved.
    """
    results = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ipaddress.ip_address(result[4][0]) for result in results]
