"""DuckDuckGo's results page for browsers without JavaScript.

DuckDuckGo has no API for web results, so this module parses `html.duckduckgo.com`. When that page changes
or shows a CAPTCHA, the search fails with an error instead of returning no hits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

from app.web.http_fetcher import UnreadableResponseError, WebRequest, WebResponse
from app.web.page import decode_text
from app.web.providers.provider import HTML_CONTENT_TYPES, WebSearchHit, build_hits

if TYPE_CHECKING:
    from lxml.html import HtmlElement


class DuckDuckGo:
    """A search engine that needs no key."""

    id: ClassVar[str] = "duckduckgo"
    name: ClassVar[str] = "DuckDuckGo"
    address: ClassVar[str] = "https://html.duckduckgo.com"
    needs_key: ClassVar[bool] = False
    content_types: ClassVar[frozenset[str]] = HTML_CONTENT_TYPES

    def build_request(self, address: str, query: str, limit: int) -> WebRequest:
        """Return a GET request for /html/, which lists about thirty results."""
        return WebRequest(f"{address.rstrip('/')}/html/?{urlencode({'q': query})}", accept="text/html")

    def key_headers(self, key: str) -> Mapping[str, str]:
        """Return no headers: there is no key."""
        return {}

    def parse_hits(self, response: WebResponse) -> list[WebSearchHit]:
        """Parse the results of the page, without advertisements."""
        from lxml.etree import ParserError
        from lxml.html import HTMLParser, document_fromstring

        try:
            page = document_fromstring(
                decode_text(response.body, response.charset).encode("utf-8"),
                parser=HTMLParser(encoding="utf-8"),
            )
        except ParserError as error:
            raise UnreadableResponseError("DuckDuckGo sent an empty page.") from error
        results = page.xpath(f"//div[{_class_condition('result')}][not({_class_condition('result--ad')})]")
        if not results and not page.xpath(f"//*[{_class_condition('no-results')}]"):
            raise UnreadableResponseError(
                "DuckDuckGo sent a page without results; it may require a CAPTCHA. "
                "Try again later, or choose another provider in the settings."
            )
        return build_hits(_iter_results(results))


def _class_condition(name: str) -> str:
    return f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')"


def _iter_results(results: list[HtmlElement]) -> Iterator[tuple[object, object, object, object]]:
    for result in results:
        links = result.xpath(f".//a[{_class_condition('result__a')}]")
        texts = result.xpath(f".//*[{_class_condition('result__snippet')}]")
        if links:
            snippet = texts[0].text_content() if texts else ""
            yield _result_target(links[0].get("href", "")), links[0].text_content(), snippet, ""


def _result_target(href: str) -> str:
    """Return the target of a result link, which goes through a redirect; "" if it is malformed."""
    try:
        parts = urlsplit(f"https:{href}" if href.startswith("//") else href)
    except ValueError:
        return ""
    if parts.path.startswith("/l/"):
        return parse_qs(parts.query).get("uddg", [""])[0]
    return parts.geturl()
