"""Public addresses are recognized in every spelling."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.addresses import is_public, parse_address

PUBLIC = ["1.1.1.1", "93.184.216.34", "172.15.0.1", "172.32.0.1", "2606:4700::1111", "2a00:1450:4001::8a"]
NOT_PUBLIC = [
    "127.0.0.1",
    "127.255.0.3",
    "0.0.0.0",
    "0.1.2.3",
    "10.1.2.3",
    "100.64.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd12:3456::1",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "2001::1",
    "100::1",
    "5f00::1",
    "::127.0.0.1",
    # IPv4 carried in IPv6: mapped, NAT64, 6to4, ISATAP.
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2002:c0a8:101::1",
    "2606:4700::5efe:127.0.0.1",
    "2606:4700::200:5efe:192.168.0.1",
]


@pytest.mark.parametrize("text", PUBLIC)
def test_public_addresses_are_public(text: str) -> None:
    assert is_public(ip_address(text))


@pytest.mark.parametrize("text", NOT_PUBLIC)
def test_all_other_addresses_are_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@given(st.integers(0, 2**32 - 1))
def test_an_address_carried_in_another_is_never_more_public_than_itself(number: int) -> None:
    plain = is_public(IPv4Address(number))
    mapped = IPv6Address((0xFFFF << 32) | number)
    nat64 = IPv6Address((0x64FF9B << 96) | number)
    six_to_four = IPv6Address((0x2002 << 112) | (number << 80))
    assert [is_public(mapped), is_public(nat64), is_public(six_to_four)] == [plain] * 3
    assert not (plain and not IPv4Address(number).is_global)


@pytest.mark.parametrize(
    "host", ["127.1", "2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1", "1.2.3", "127.0.0.1.5"]
)
def test_spellings_that_only_some_programs_read_are_no_addresses(host: str) -> None:
    with pytest.raises(ValueError):
        parse_address(host)


def test_names_are_no_addresses() -> None:
    assert parse_address("example.org") is None
    assert parse_address("1.example") is None
    assert parse_address("[::1]") == IPv6Address("::1")
