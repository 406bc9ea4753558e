"""DuckDuckGo's page for browsers without scripts, read as a person's browser would show it.

It has no interface for programs that lists web results, so this reads `html.duckduckgo.com`; when that page
changes, or asks whether a person is there, this says so instead of finding nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

from app.web.fetching import UnreadableAnswerError, WebAnswer, WebRequest
from app.web.page import decoded
from app.web.providers.provider import HTML_KINDS, Hit, made_hits

if TYPE_CHECKING:
    from lxml.html import HtmlElement


class DuckDuckGo:
    """A search engine that takes no key."""

    id: ClassVar[str] = "duckduckgo"
    name: ClassVar[str] = "DuckDuckGo"
    address: ClassVar[str] = "https://html.duckduckgo.com"
    needs_key: ClassVar[bool] = False
    kinds: ClassVar[frozenset[str]] = HTML_KINDS

    def request(self, address: str, query: str, limit: int) -> WebRequest:
        """A GET of /html/; it lists about thirty."""
        return WebRequest(f"{address.rstrip('/')}/html/?{urlencode({'q': query})}", accept="text/html")

    def secret(self, key: str) -> Mapping[str, str]:
        """It takes none."""
        return {}

    def hits(self, answer: WebAnswer) -> list[Hit]:
        """The results of the page, without its advertisements."""
        from lxml.etree import ParserError
        from lxml.html import HTMLParser, document_fromstring

        try:
            page = document_fromstring(
                decoded(answer.body, answer.charset).encode("utf-8"), parser=HTMLParser(encoding="utf-8")
            )
        except ParserError as error:
            raise UnreadableAnswerError("DuckDuckGo sent an empty page.") from error
        found = page.xpath(f"//div[{_has('result')}][not({_has('result--ad')})]")
        if not found and not page.xpath(f"//*[{_has('no-results')}]"):
            raise UnreadableAnswerError(
                "DuckDuckGo sent a page without results: it may want to see whether a person asks. "
                "Try again later, or pick another provider in the settings."
            )
        return made_hits(_read(found))


def _has(name: str) -> str:
    return f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')"


def _read(found: list[HtmlElement]) -> Iterator[tuple[object, object, object, object]]:
    for one in found:
        links = one.xpath(f".//a[{_has('result__a')}]")
        texts = one.xpath(f".//*[{_has('result__snippet')}]")
        if links:
            snippet = texts[0].text_content() if texts else ""
            yield _target(links[0].get("href", "")), links[0].text_content(), snippet, ""


def _target(href: str) -> str:
    """Where a result leads: its links go through a page that counts the click and names the target."""
    parts = urlsplit(f"https:{href}" if href.startswith("//") else href)
    if parts.path.startswith("/l/"):
        return parse_qs(parts.query).get("uddg", [""])[0]
    return parts.geturl()
