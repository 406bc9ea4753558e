"""Protocol of search providers, and helpers that parse their responses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import unescape
from typing import ClassVar, Protocol

import nh3

from app.web.http_fetcher import UnreadableResponseError, WebRequest, WebResponse
from app.web.page import decode_text

JSON_CONTENT_TYPES = frozenset({"application/json", "text/json", "application/problem+json"})
HTML_CONTENT_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_MAX_TITLE_CHARS = 300
_MAX_SNIPPET_CHARS = 1000


@dataclass(frozen=True, slots=True)
class WebSearchHit:
    """A search result in plain text of limited length; `date` as YYYY-MM-DD, if known."""

    url: str
    title: str
    snippet: str
    date: str = ""


class SearchProvider(Protocol):
    """Builds the request for a query and parses the response.

    `id` is the name in the settings, `name` the name in the interface. If `address` is empty, the user enters
    it. `needs_key` says whether a key is required; `content_types` are those of the responses.
    """

    id: ClassVar[str]
    name: ClassVar[str]
    address: ClassVar[str]
    needs_key: ClassVar[bool]
    content_types: ClassVar[frozenset[str]]

    def build_request(self, address: str, query: str, limit: int) -> WebRequest:
        """Return the request for `query`, without the key."""
        ...

    def key_headers(self, key: str) -> Mapping[str, str]:
        """Return the headers that carry the key."""
        ...

    def parse_hits(self, response: WebResponse) -> list[WebSearchHit]:
        """Return the hits in a response, best first.

        Raises:
            UnreadableResponseError: the response is not in the provider's format.
        """
        ...


def parse_json(response: WebResponse, name: str) -> Mapping[str, object]:
    """Parse the JSON object in a response.

    Raises:
        UnreadableResponseError: the response is not a JSON object.
    """
    try:
        data = json.loads(decode_text(response.body, "utf-8"))
    except (ValueError, RecursionError) as error:
        raise UnreadableResponseError(f"{name} sent something that is not JSON.") from error
    if not isinstance(data, dict):
        raise UnreadableResponseError(f"{name} sent JSON without search results.")
    return data


def result_entries(value: object, name: str) -> list[Mapping[str, object]]:
    """Return the objects in a list of results; entries of other types are skipped.

    Raises:
        UnreadableResponseError: `value` is not a list.
    """
    if not isinstance(value, list):
        raise UnreadableResponseError(f"{name} sent no list of results.")
    return [entry for entry in value if isinstance(entry, dict)]


def build_hits(results: Iterable[tuple[object, object, object, object]]) -> list[WebSearchHit]:
    """Build hits from (url, title, snippet, date); duplicates and URLs other than http(s) are skipped."""
    hits: dict[str, WebSearchHit] = {}
    for url, title, snippet, date in results:
        if isinstance(url, str) and url.startswith(("http://", "https://")) and url not in hits:
            day = str(date or "")[:10]
            hits[url] = WebSearchHit(
                url,
                strip_html(title)[:_MAX_TITLE_CHARS] or url,
                strip_html(snippet)[:_MAX_SNIPPET_CHARS],
                day if len(day) == 10 and day[4] == day[7] == "-" else "",
            )
    return list(hits.values())


def strip_html(text: object) -> str:
    """Return `text` on one line, without tags and with entities decoded; "" if it is not a string."""
    if not isinstance(text, str):
        return ""
    return " ".join(unescape(nh3.clean(text, tags=set())).split())
