"""Pages are converted in their own process, within limits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from starlette.responses import Response

from app.errors import LimitError, TimeoutExpiredError
from app.web import page as page_module
from app.web.http_fetcher import Fetcher, UnreadableResponseError
from app.web.page import MAX_PAGE_CHARS, PageReader, readable_page
from tests.support.page_server import Names, PageServer, PublicAndOne

ARTICLE = """<html><head><title>On clocks</title>
<meta property="article:published_time" content="2024-03-02"><script>alert("menu")</script></head>
<body><nav><a href="/">Home menu</a></nav><article><h1>On clocks</h1>
<p>The chronometer <b>kept</b> time at sea for eighty days and lost five seconds in all, which nobody had
thought possible before it was shown.</p><h2>How</h2><ul><li>a first thing that is said here</li>
<li>a second thing that is said here</li></ul><p>Another paragraph with a good deal of text, so that it is
clear what the main text of the page is: clocks und Längengrade.</p></article>
<footer>footer words</footer></body></html>"""


@pytest.fixture
def server() -> Iterator[PageServer]:
    with PageServer() as running:
        yield running


@pytest.fixture
async def reader(server: PageServer) -> AsyncIterator[PageReader]:
    page_reader = PageReader(Fetcher(PublicAndOne(server), Names()))
    yield page_reader
    await page_reader.close()


async def test_a_page_becomes_markdown_with_title_and_date(server: PageServer, reader: PageReader) -> None:
    latin = {"content-type": "text/html; charset=iso-8859-1"}
    server.answers["/a"] = Response(ARTICLE.encode("latin-1"), headers=latin)
    page = await reader.read(server.at("/a"))
    assert (page.title, page.date, page.url) == ("On clocks", "2024-03-02", server.at("/a"))
    assert "**kept**" in page.text and "- a first thing" in page.text and "Längengrade" in page.text
    assert "## How" in page.text
    assert not any(word in page.text for word in ("menu", "footer words", "alert", "<"))
    assert not page.is_truncated


async def test_plain_text_is_returned_unchanged_and_truncated_with_a_count(
    server: PageServer, reader: PageReader
) -> None:
    server.answers["/long"] = Response("word " * MAX_PAGE_CHARS, media_type="text/plain")
    page = await reader.read(server.at("/long"))
    assert (
        page.is_truncated and len(page.text) == MAX_PAGE_CHARS and page.total_chars == 5 * MAX_PAGE_CHARS - 1
    )


async def test_a_page_without_text_says_so(server: PageServer, reader: PageReader) -> None:
    scripted = "<html><body><script>x()</script></body></html>"
    server.answers["/empty"] = Response(scripted, media_type="text/html")
    with pytest.raises(UnreadableResponseError, match="no readable text"):
        await reader.read(server.at("/empty"))


async def test_reading_that_takes_too_long_is_ended(server: PageServer) -> None:
    reader = PageReader(Fetcher(PublicAndOne(server), Names()), seconds=0.0)
    server.answers["/a"] = Response(ARTICLE, media_type="text/html")
    try:
        with pytest.raises(TimeoutExpiredError, match="Reading the page"):
            await reader.read(server.at("/a"))
    finally:
        await reader.close()


async def test_a_process_that_dies_on_a_page_is_reported(
    server: PageServer, reader: PageReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_module, "readable_page", _dies)
    server.answers["/a"] = Response(ARTICLE, media_type="text/html")
    with pytest.raises(LimitError, match="too large or too damaged"):
        await reader.read(server.at("/a"))


def _dies(*arguments: object, **more: object) -> None:
    import os

    os._exit(1)


@pytest.mark.parametrize(
    "body",
    [b"", b"\0\0\0", b"<div>" * 50_000 + b"x", b"<html><p>" + b"&#x0;\xff" * 100, b"\xff\xfe<\0p\0>\0"],
)
def test_broken_pages_are_read_as_far_as_they_go(body: bytes) -> None:
    page = readable_page("http://pages.example/", body, "")
    assert page.total_chars == len(page.text)


def test_an_unknown_character_set_counts_as_utf_8() -> None:
    assert "Längengrade" in readable_page("http://x.example/", ARTICLE.encode(), "x-nonsense").text
