"""Addresses of handbook pages.

A page is opened, visited and restored by its address, as a note is by its path. A note's path never contains
two slashes in a row, so it is never taken for an address.
"""

from __future__ import annotations

_SCHEME = "handbook://"


def page_address(page_id: str) -> str:
    """Return the address of the page with this id."""
    return f"{_SCHEME}{page_id}"


def is_page_address(address: str) -> bool:
    """Return whether the text is the address of a page, and not the path of a note."""
    return address.startswith(_SCHEME)


def addressed_page(address: str) -> str:
    """Return the id of the page at an address."""
    return address.removeprefix(_SCHEME)
