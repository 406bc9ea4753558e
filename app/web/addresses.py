"""Public IP addresses: the ones that the app may connect to."""

from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv6Address

IPAddress = IPv4Address | IPv6Address

# IANA's special-purpose registries (RFC 6890 and its updates). Python's own `is_global` differs between
# Python releases, so this module has its own list.
_NOT_PUBLIC_4 = tuple(
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
_PUBLIC_6 = ipaddress.IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    ipaddress.IPv6Network(text)
    # In this order: Teredo, ORCHID and benchmarks; documentation (twice); AS112.
    for text in ("2001::/23", "2001:db8::/32", "3fff::/20", "2620:4f:8000::/48")
)
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR = ipaddress.IPv6Network("2002::/16")
_ISATAP = (0x00005EFE, 0x02005EFE)


def is_public(address: IPAddress) -> bool:
    """Return whether `address` is on the public Internet.

    An address with a zone is not. An IPv6 address that embeds an IPv4 address (mapped, NAT64, 6to4, ISATAP)
    is public only if that one is. A 6to4 or ISATAP address must also be public itself.
    """
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    if address.scope_id is not None:
        return False
    embedded = embedded_ipv4(address)
    if embedded is not None and not is_public(embedded):
        return False
    if address in _MAPPED or address in _NAT64:
        return True
    return address in _PUBLIC_6 and not any(address in network for network in _NOT_PUBLIC_6)


def embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address embeds, or None."""
    number = int(address)
    if address in _MAPPED or address in _NAT64 or (number >> 32) & 0xFFFFFFFF in _ISATAP:
        return IPv4Address(number & 0xFFFFFFFF)
    if address in _SIX_TO_FOUR:
        return IPv4Address((number >> 80) & 0xFFFFFFFF)
    return None


def parse_address(host: str) -> IPAddress | None:
    """Parse the IP address in a URL's host; return None for a name.

    Raises:
        ValueError: the notation is one that only some programs read (octal, hexadecimal, fewer than four
            numbers), so the same text could be public for one program and private for another; or the address
            is invalid.
    """
    hostname = host.removeprefix("[").removesuffix("]")
    if ":" in hostname:
        return ipaddress.IPv6Address(hostname)
    last = hostname.rstrip(".").rpartition(".")[2]
    if not (last.isdigit() or last[:2].lower() == "0x"):
        return None
    return ipaddress.IPv4Address(hostname)
