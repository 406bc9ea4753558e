"""The limits of a fetch (size, time, compression, content types), and the errors of servers."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from app.errors import LimitError, NotFoundError, TimeoutExpiredError
from app.web.http_fetcher import (
    Fetcher,
    FetchLimits,
    UnreadableResponseError,
    WebError,
    WebRequest,
    decompress,
    read_content_type,
)
from tests.support.page_server import Names, PageServer, PublicAndOne

KINDS = frozenset({"text/plain"})
SMALL = FetchLimits(wire_bytes=20_000, decompressed_bytes=50_000, seconds=20.0)


@pytest.fixture
def server() -> Iterator[PageServer]:
    with PageServer() as running:
        yield running


def fetcher(server: PageServer, bounds: FetchLimits = SMALL) -> Fetcher:
    return Fetcher(PublicAndOne(server), Names(), bounds)


def packed(body: bytes, encoding: str) -> Response:
    return Response(body, media_type="text/plain", headers={"content-encoding": encoding})


async def test_a_body_without_an_end_is_cut_off_at_the_bound(server: PageServer) -> None:
    async def endless(request: Request) -> Response:
        async def pour() -> AsyncIterator[bytes]:
            while not await request.is_disconnected():
                yield b"x" * 4096
                await asyncio.sleep(0)

        return StreamingResponse(pour(), media_type="text/plain")

    server.answers["/"] = endless
    with pytest.raises(LimitError, match=r"larger than .* MiB"):
        await fetcher(server).fetch(WebRequest(server.at("/")), KINDS)


async def test_a_body_that_trickles_ends_with_the_time(server: PageServer) -> None:
    async def trickling(request: Request) -> Response:
        async def drip() -> AsyncIterator[bytes]:
            while not await request.is_disconnected():
                yield b"x"
                await asyncio.sleep(0.02)

        return StreamingResponse(drip(), media_type="text/plain")

    server.answers["/"] = trickling
    with pytest.raises(TimeoutExpiredError, match=r"longer than 0\.3 s"):
        await fetcher(server, FetchLimits(seconds=0.3)).fetch(WebRequest(server.at("/")), KINDS)


async def test_a_server_that_never_answers_ends_with_the_time(server: PageServer) -> None:
    async def silent(request: Request) -> Response:
        while not await request.is_disconnected():
            await asyncio.sleep(0.02)
        return Response("late")

    server.answers["/"] = silent
    with pytest.raises(TimeoutExpiredError):
        await fetcher(server, FetchLimits(seconds=0.3)).fetch(WebRequest(server.at("/")), KINDS)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_small_body_that_unpacks_to_a_huge_one_is_cut_off(server: PageServer, encoding: str) -> None:
    huge = b"\0" * 10_000_000
    body = gzip.compress(huge) if encoding == "gzip" else zlib.compress(huge)
    assert len(body) < SMALL.wire_bytes
    server.answers["/"] = packed(body, encoding)
    with pytest.raises(LimitError, match="after decompression"):
        await fetcher(server).fetch(WebRequest(server.at("/")), KINDS)


async def test_packed_bodies_are_read_in_every_usual_form(server: PageServer) -> None:
    raw = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    forms = {
        "/gzip": packed(gzip.compress(b"words"), "gzip"),
        "/zlib": packed(zlib.compress(b"words"), "deflate"),
        "/raw": packed(raw.compress(b"words") + raw.flush(), "deflate"),
        "/plain": Response(b"words", media_type="text/plain"),
    }
    server.answers.update(forms)
    for path in forms:
        assert (await fetcher(server).fetch(WebRequest(server.at(path)), KINDS)).body == b"words"


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"not packed at all", "gzip"),
        (gzip.compress(b"words" * 99)[:-9], "gzip"),
        (b"words", "br"),
        (gzip.compress(gzip.compress(b"words")), "gzip, gzip"),
    ],
    ids=["plain", "cut", "unknown", "twice"],
)
async def test_damaged_and_strange_packing_is_an_error(
    server: PageServer, body: bytes, encoding: str
) -> None:
    server.answers["/"] = packed(body, encoding)
    with pytest.raises(WebError):
        await fetcher(server).fetch(WebRequest(server.at("/")), KINDS)


@given(st.binary(max_size=3000), st.integers(1, 700), st.sampled_from(["gzip", "deflate", ""]))
async def test_decompression_does_not_depend_on_the_chunks(body: bytes, step: int, encoding: str) -> None:
    sent = gzip.compress(body) if encoding == "gzip" else zlib.compress(body) if encoding else body

    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(sent), step):
            yield sent[at : at + step]

    assert await decompress(chunks(), encoding, FetchLimits()) == body


@pytest.mark.parametrize("kind", ["application/pdf", "image/png", "application/octet-stream", ""])
async def test_other_content_types_are_not_read(server: PageServer, kind: str) -> None:
    server.answers["/"] = Response(b"%PDF", headers={"content-type": kind})
    with pytest.raises(UnreadableResponseError) as caught:
        await fetcher(server).fetch(WebRequest(server.at("/")), KINDS)
    assert caught.value.data["content_type"] == kind


@pytest.mark.parametrize("status", [400, 401, 429, 500, 304])
async def test_errors_of_servers_are_reported_with_their_number(server: PageServer, status: int) -> None:
    server.answers["/"] = Response(b"" if status == 304 else b"no", status, media_type="text/plain")
    with pytest.raises(WebError, match=f"error {status}"):
        await fetcher(server).fetch(WebRequest(server.at("/")), KINDS)
    with pytest.raises(NotFoundError, match="no such page"):
        await fetcher(server).fetch(WebRequest(server.at("/nowhere")), KINDS)


async def test_a_server_that_does_not_speak_http_is_an_error() -> None:
    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        await writer.drain()
        writer.close()

    from app.web.address_policy import Origin, SingleOrigin

    listening = await asyncio.start_server(babble, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    async with listening:
        one = Fetcher(SingleOrigin(Origin("http", "127.0.0.1", port)))
        with pytest.raises(WebError, match="could not be reached"):
            await one.fetch(WebRequest(f"http://127.0.0.1:{port}/"), KINDS)


def test_content_types_are_read_as_servers_write_them() -> None:
    assert read_content_type('Text/HTML; Charset="UTF-8"') == ("text/html", "utf-8")
    assert read_content_type("text/plain") == ("text/plain", "")
    assert read_content_type("") == ("", "")
