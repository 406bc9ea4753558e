"""What the app may speak to on the web: public addresses only, checked where the connection is made.

A name is looked up once, each of its addresses is judged, and the connection goes to a judged address
itself. So nothing can answer with a public address for the check and with a private one for the connection
(DNS rebinding). TLS still checks the certificate against the name.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from app.errors import InvalidParametersError, PermissionDeniedError
from app.web.addresses import IPAddress, is_public, read_address

if TYPE_CHECKING:  # loaded by what reads the first address: the window need not wait for it
    import httpx2

Resolve = Callable[[str, int], Awaitable[Sequence[IPAddress]]]
"""The addresses of a name, for a port."""

_PORTS = {"http": (80, 8080), "https": (443, 8443)}
_USUAL = {"http": 80, "https": 443}
_LONGEST_URL = 4000


class Reach(Protocol):
    """Where connections may go to."""

    def port(self, scheme: str, host: str, port: int) -> bool:
        """Whether this port of the host may be asked at all."""
        ...

    def address(self, host: str, port: int, address: IPAddress) -> bool:
        """Whether the host may be spoken to at this address of it."""
        ...


class PublicOnly:
    """The public Internet, on the ports of the web."""

    def port(self, scheme: str, host: str, port: int) -> bool:
        """The usual ports of the scheme."""
        return port in _PORTS.get(scheme, ())

    def address(self, host: str, port: int, address: IPAddress) -> bool:
        """Public ones."""
        return is_public(address)


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port of a server."""

    scheme: str
    host: str
    port: int


class OneOrigin:
    """One server that the user has entered as such, wherever it is: their own search engine at home."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin

    def port(self, scheme: str, host: str, port: int) -> bool:
        """Exactly this origin."""
        return Origin(scheme, host, port) == self._origin

    def address(self, host: str, port: int, address: IPAddress) -> bool:
        """Any address of the origin's host."""
        return (host, port) == (self._origin.host, self._origin.port)


class AnyAddress:
    """Everything: for reading an address that the user entered, never for a connection."""

    def port(self, scheme: str, host: str, port: int) -> bool:
        """Any port."""
        return 0 < port < 65_536

    def address(self, host: str, port: int, address: IPAddress) -> bool:
        """Any address."""
        return True


def checked_url(text: str, reach: Reach) -> httpx2.URL:
    """The address to fetch, without its fragment.

    Raises:
        InvalidParametersError: it is no web address, or carries a name and password.
        PermissionDeniedError: the guard does not let the app go there; `url` says where.
    """
    url = _parsed(text)
    if url.scheme not in _USUAL:
        raise InvalidParametersError("Only http and https addresses can be fetched.", url=str(url)[:200])
    if url.userinfo:
        raise InvalidParametersError("An address with a name or password in it is not fetched.")
    host = host_of(url)
    if not host or "%" in host:
        raise InvalidParametersError("The address names no server.", url=text[:200])
    port = port_of(url)
    if not reach.port(url.scheme, host, port):
        raise PermissionDeniedError(f"Port {port} of {host} is not asked over {url.scheme}.", url=str(url))
    address = spelled_address(host)
    if address is not None and not reach.address(host, port, address):
        raise refused(host)
    return url.copy_with(fragment=None)


def _parsed(text: str) -> httpx2.URL:
    if len(text) > _LONGEST_URL or any(ord(one) <= 32 or one == "\\" for one in text.strip()):
        raise InvalidParametersError("That is not an address of a web page.", url=text[:200])
    import httpx2

    try:
        return httpx2.URL(text.strip())
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        message = f"That is not an address of a web page: {error}"
        raise InvalidParametersError(message, url=text[:200]) from error


def spelled_address(host: str) -> IPAddress | None:
    """The address that a host is written as, None for a name.

    Raises:
        PermissionDeniedError: it is written in a way that is not fetched.
    """
    if host == "localhost" or host.endswith(".localhost"):
        # By RFC 6761 these are this machine, whatever a server of names says.
        return ipaddress.IPv4Address("127.0.0.1")
    try:
        return read_address(host)
    except ValueError as error:
        message = f"{host} spells an address in a way that is not fetched."
        raise PermissionDeniedError(message, host=host) from error


def host_of(url: httpx2.URL) -> str:
    """The host as it goes over the wire, in small letters and without a closing dot."""
    return url.raw_host.decode("ascii").lower().rstrip(".")


def port_of(url: httpx2.URL) -> int:
    """The port, the scheme's usual one where none is given."""
    return url.port if url.port is not None else _USUAL[url.scheme]


def origin_of(url: httpx2.URL) -> Origin:
    """Where the URL's server is."""
    return Origin(url.scheme, host_of(url), port_of(url))


def refused(host: str) -> PermissionDeniedError:
    """What is said of a host that leads to an address that is not allowed."""
    return PermissionDeniedError(
        f"{host} is not on the public Internet: addresses of this machine and its networks are not fetched.",
        host=host,
    )


async def system_resolve(host: str, port: int) -> list[IPAddress]:
    """The addresses of a name as the system knows them."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ipaddress.ip_address(one[4][0]) for one in found]
