"""Conversion of web pages to Markdown: the main text without menus, advertisements and scripts.

A page is untrusted and can be malformed or huge, so a separate process parses it and is terminated if it
takes too long.
"""

from __future__ import annotations

import asyncio
import codecs
import copy
from dataclasses import dataclass, replace

from app.errors import LimitError, TimeoutExpiredError
from app.graph.static_layout import Report, no_progress
from app.processes.function_process import ComputationError, FunctionProcess
from app.web.http_fetcher import Fetcher, UnreadableResponseError, WebRequest, WebResponse

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_PLAIN = frozenset({"text/plain", "text/markdown", "text/x-markdown"})
READABLE = _HTML | _PLAIN
MAX_PAGE_CHARS = 60_000
"""Maximum number of characters of a page that are returned."""
_PARSE_TIMEOUT_S = 20.0
_MAX_TITLE_CHARS = 300
_ACCEPT = "text/html, application/xhtml+xml, text/plain;q=0.8, text/markdown;q=0.8"


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page as Markdown; `date` is its publication date (YYYY-MM-DD) if it states one.

    `total_chars` counts the characters of the whole text; `text` may hold only the first of them.
    """

    url: str
    title: str
    date: str
    text: str
    total_chars: int

    @property
    def is_truncated(self) -> bool:
        """True if `text` is truncated."""
        return self.total_chars > len(self.text)


def page_request(url: str) -> WebRequest:
    """Return the request for a page."""
    return WebRequest(url, accept=_ACCEPT)


class PageReader:
    """Fetches pages and converts them to Markdown. Belongs to one event loop; `close` ends its process."""

    def __init__(self, fetcher: Fetcher, seconds: float = _PARSE_TIMEOUT_S) -> None:
        self._fetcher = fetcher
        self._seconds = seconds
        self._worker = FunctionProcess()

    async def read(self, url: str) -> WebPage:
        """Return the page at `url`.

        Raises:
            ScriptoriumError: see `Fetcher.fetch`.
            UnreadableResponseError: the page has no readable text.
            TimeoutExpiredError: parsing took too long.
            LimitError: the page is too large or too damaged to be parsed.
        """
        response = await self._fetcher.fetch(page_request(url), READABLE)
        if response.content_type in _PLAIN:
            return _truncate_page(plain_page(response))
        page = await self._parse_html(response)
        if not page.text:
            raise UnreadableResponseError(
                "The page has no readable text; it may require JavaScript.",
                content_type=response.content_type,
                url=response.url,
            )
        return page

    async def close(self) -> None:
        """End the worker process."""
        await self._worker.close()

    async def _parse_html(self, response: WebResponse) -> WebPage:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._worker.call(
                    no_progress, readable_page, response.url, response.body, response.charset
                )
        except TimeoutError as error:
            message = f"Reading the page took longer than {self._seconds:g} s."
            raise TimeoutExpiredError(message, limit=self._seconds) from error
        except ComputationError as error:
            raise LimitError("The page is too large or too damaged to be read.", url=response.url) from error


def plain_page(response: WebResponse) -> WebPage:
    """Return a plain-text response as a page."""
    text = decode_text(response.body, response.charset).strip()
    return WebPage(response.url, "", "", text, len(text))


def readable_page(url: str, body: bytes, charset: str, report: Report = no_progress) -> WebPage:
    """Extract the main text of an HTML page as Markdown, up to `MAX_PAGE_CHARS`, with its title and date."""
    # Imported here, so that only the worker process loads it.
    from trafilatura import extract, extract_metadata, load_html

    tree = load_html(decode_text(body, charset) if charset else body)
    if tree is None:
        return WebPage(url, "", "", "", 0)
    metadata = extract_metadata(copy.deepcopy(tree), default_url=url)
    text = extract(
        tree,
        url=url,
        output_format="markdown",
        include_comments=False,
        include_images=False,
        include_links=False,
        include_tables=True,
        include_formatting=True,
        favor_recall=True,
    )
    title = " ".join((metadata.title or "").split())[:_MAX_TITLE_CHARS] if metadata else ""
    date = (metadata.date or "") if metadata else ""
    complete_text = (text or "").strip()
    return _truncate_page(WebPage(url, title, date, complete_text, len(complete_text)))


def _truncate_page(page: WebPage) -> WebPage:
    return replace(page, text=page.text[:MAX_PAGE_CHARS])


def decode_text(body: bytes, charset: str) -> str:
    """Decode a body; an unknown character set is treated as UTF-8, and invalid bytes are replaced."""
    try:
        return body.decode(codecs.lookup(charset or "utf-8").name, "replace")
    except (LookupError, UnicodeError, ValueError):
        return body.decode("utf-8", "replace")
