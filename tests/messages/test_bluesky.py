"""Posts to Bluesky, over HTTP to a server that speaks its protocol."""

from __future__ import annotations

import logging
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidParametersError, LimitError, NetworkError, PermissionDeniedError
from app.messages.bluesky import BlueskyAccount, count_graphemes, link_spans
from tests.support.message_servers import HANDLE, PASSWORD, BlueskyServer, ErrorResponse

FAMILY = "👩‍👩‍👧‍👦"


def account(server: BlueskyServer, password: str = PASSWORD) -> BlueskyAccount:
    return BlueskyAccount(HANDLE, password, server.address)


async def test_a_post_is_a_record_with_its_links_marked_in_bytes(caplog):
    caplog.set_level(logging.DEBUG)
    text = "Größe: see https://example.com/größe and www.example.org ⛵"
    with BlueskyServer() as server:
        receipt = await account(server).send(text)
    assert receipt.link == f"https://bsky.app/profile/{HANDLE}/post/3k1"
    (made,) = server.records
    assert made["collection"] == "app.bsky.feed.post" and made["repo"] == HANDLE
    record = made["record"]
    assert record["text"] == text and record["createdAt"] and "langs" not in record
    spans = [(f["index"]["byteStart"], f["index"]["byteEnd"]) for f in record["facets"]]
    marked = [text.encode()[start:end].decode() for start, end in spans]
    assert marked == ["https://example.com/größe", "www.example.org"]
    assert record["facets"][1]["features"][0]["uri"] == "http://www.example.org"
    assert PASSWORD not in caplog.text


async def test_an_expired_session_is_renewed_once():
    with BlueskyServer(record=[ErrorResponse(400, "ExpiredToken", "Token has expired")]) as server:
        await account(server).send("Hello")
        assert server.sessions == 2 and len(server.records) == 1
    twice = [ErrorResponse(400, "ExpiredToken", "Token has expired")] * 2
    with BlueskyServer(record=twice) as server, pytest.raises(PermissionDeniedError):
        await account(server).send("Hello")
    assert server.records == []


async def test_a_wrong_password_is_reported_without_its_text(caplog):
    caplog.set_level(logging.DEBUG)
    with BlueskyServer() as server, pytest.raises(PermissionDeniedError) as caught:
        await account(server, "wrong-pass-word-here").send("Hello")
    assert "wrong-pass" not in str(caught.value) and "wrong-pass" not in caplog.text


@pytest.mark.parametrize(
    ("refusal", "error", "words"),
    [
        (
            ErrorResponse(429, "RateLimitExceeded", "Rate Limit Exceeded", {"retry-after": "30"}),
            LimitError,
            "30 s",
        ),
        (
            ErrorResponse(400, "InvalidRequest", "Record too large"),
            InvalidParametersError,
            "Record too large",
        ),
        (ErrorResponse(401, "AuthMissing", "no"), PermissionDeniedError, "app password"),
        (ErrorResponse(502, "UpstreamFailure", "no"), NetworkError, "502"),
        (ErrorResponse(500, "InternalServerError", "no"), NetworkError, "500"),
        (ErrorResponse(307, "", "http://127.0.0.1:9/xrpc/elsewhere"), NetworkError, "another address"),
    ],
)
@pytest.mark.parametrize("method", ["session", "record"])
async def test_each_refusal_is_an_error_in_words(refusal, error, words, method):
    with BlueskyServer(**{method: [refusal]}) as server, pytest.raises(error, match=words):
        await account(server).send("Hello")
    assert server.records == []


async def test_an_unreachable_server_is_an_error():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(NetworkError):
        await BlueskyAccount(HANDLE, PASSWORD, f"http://127.0.0.1:{port}").send("Hello")


async def test_three_hundred_characters_fit_and_one_more_is_refused():
    with BlueskyServer() as server:
        await account(server).send("é" * 300)
        with pytest.raises(LimitError) as caught:
            await account(server).send("e" * 301)
        assert caught.value.data == {"limit": 300, "length": 301}
        with pytest.raises(LimitError, match="bytes"):
            await account(server).send(FAMILY * 150)
        assert len(server.records) == 1
    assert count_graphemes(FAMILY) == 1 and count_graphemes("e\u0301") == 1


@pytest.mark.parametrize(
    ("handle", "service"),
    [
        ("writer", "https://bsky.social"),
        ("@writer.example.com", "https://bsky.social"),
        ("writer.example.com", "http://bsky.social"),
        ("writer.example.com", "bsky.social"),
    ],
)
def test_an_invalid_account_is_refused(handle, service):
    with pytest.raises(InvalidParametersError):
        BlueskyAccount(handle, PASSWORD, service)


def test_the_password_is_in_no_message():
    made = BlueskyAccount(HANDLE, PASSWORD)
    assert PASSWORD not in repr(made) and PASSWORD not in made.destination


@given(st.text(max_size=80), st.text(max_size=80))
def test_links_are_located_by_byte_offsets(before, after):
    text = f"{before} https://example.com/a {after}"
    spans = link_spans(text)
    data = text.encode("utf-8", "surrogatepass")
    assert any(data[s.start : s.end] == b"https://example.com/a" for s in spans)
    assert all(0 <= s.start < s.end <= len(data) for s in spans)
