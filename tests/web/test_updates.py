"""The check for a new release: only data signed by the publisher counts."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import Route

from app.errors import LimitError, NotFoundError, ScriptoriumError
from app.settings import UpdateSettings
from app.web.updates import (
    Publisher,
    ReleaseError,
    UpdateSource,
    is_newer,
    latest_release,
    read_publisher,
    read_release,
    update_source,
)
from tests.support.web_server import WebServer

PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(32))
KEY = base64.b64encode(PRIVATE.public_key().public_bytes_raw()).decode()
RELEASE = {"version": "9.1", "date": "2027-01-02", "page": "https://example.org/get", "notes": "# New"}


def signed(release: object = RELEASE, by: Ed25519PrivateKey = PRIVATE) -> bytes:
    body = json.dumps(release).encode()
    return base64.b64encode(by.sign(body)) + b"\n" + body


def test_a_signed_release_is_read() -> None:
    release = read_release(signed(), KEY)
    assert (release.version, release.page, release.notes) == ("9.1", "https://example.org/get", "# New")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n{}",
        json.dumps(RELEASE).encode(),
        signed(by=OTHER),
        signed().replace(b"9.1", b"9.2"),
        signed() + b" ",
        signed([]),
        signed({**RELEASE, "version": "9.1-evil"}),
        signed({**RELEASE, "page": "file:///etc/passwd"}),
        signed({**RELEASE, "page": "javascript:alert(1)"}),
    ],
    ids=[
        "empty",
        "empty line",
        "unsigned",
        "other key",
        "changed",
        "longer",
        "list",
        "version",
        "file",
        "script",
    ],
)
def test_everything_else_is_refused(content: bytes) -> None:
    with pytest.raises(ReleaseError):
        read_release(content, KEY)


@pytest.mark.parametrize("key", ["", "no key", base64.b64encode(b"short").decode()])
def test_without_a_key_nothing_is_believed(key: str) -> None:
    with pytest.raises(ReleaseError, match="key"):
        read_release(signed(), key)


@pytest.mark.parametrize(
    ("version", "than", "newer"),
    [("0.2.0", "0.1.9", True), ("0.10", "0.9", True), ("1.0", "1.0.0", False), ("0.1.0", "0.2.0", False)],
)
def test_versions_are_compared_by_numbers(version: str, than: str, newer: bool) -> None:
    assert is_newer(version, than) is newer


def test_what_the_user_entered_comes_before_what_the_build_came_with(monkeypatch) -> None:
    assert read_publisher() == Publisher(), "a checkout names nobody"
    own = Publisher(update_address="https://example.org/release", release_key="k")
    monkeypatch.setattr("app.web.updates.read_publisher", lambda: own)
    assert update_source(UpdateSettings()) == UpdateSource("https://example.org/release", "k")
    mine = UpdateSettings(address=" https://example.com/r ", key="m")
    assert update_source(mine) == UpdateSource("https://example.com/r", "m")


@pytest.fixture
def server() -> Iterator[Callable[[bytes], str]]:
    release = {"content": b""}

    async def answer(_: Request) -> PlainTextResponse:
        return PlainTextResponse(release["content"])

    async def elsewhere(_: Request) -> RedirectResponse:
        return RedirectResponse("/release")

    with WebServer([Route("/release", answer), Route("/latest", elsewhere)]) as running:

        def serve(content: bytes) -> str:
            release["content"] = content
            return running.address

        yield serve


async def test_the_release_is_fetched_from_the_users_own_server(server) -> None:
    address = server(signed())
    for path in ("/release", "/latest"):
        assert (await latest_release(UpdateSource(address + path, KEY))).version == "9.1"


async def test_a_server_is_not_trusted(server) -> None:
    address = server(signed(by=OTHER))
    with pytest.raises(ReleaseError, match="signature"):
        await latest_release(UpdateSource(f"{address}/release", KEY))
    server(b"x" * 300_000)
    with pytest.raises(LimitError):
        await latest_release(UpdateSource(f"{address}/release", KEY))
    with pytest.raises(NotFoundError):
        await latest_release(UpdateSource(f"{address}/nothing", KEY))
    for source in (UpdateSource("", KEY), UpdateSource("ftp://x", KEY), UpdateSource(address, "")):
        with pytest.raises(ScriptoriumError):
            await latest_release(source)


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        (UpdateSource("", KEY), "update address"),
        (UpdateSource("https://example.org/release", ""), "release key"),
    ],
)
async def test_the_missing_part_of_the_source_is_named(source: UpdateSource, missing: str) -> None:
    with pytest.raises(ReleaseError, match=f"No {missing} is set"):
        await latest_release(source)
