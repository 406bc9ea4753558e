"""Brave Search API. Source: https://api-dashboard.search.brave.com/app/documentation/web-search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar
from urllib.parse import urlencode

from app.web.http_fetcher import UnreadableResponseError, WebRequest, WebResponse
from app.web.providers.provider import (
    JSON_CONTENT_TYPES,
    WebSearchHit,
    build_hits,
    parse_json,
    result_entries,
)

_MAX_RESULTS = 20


class Brave:
    """A search service with its own index; needs a key."""

    id: ClassVar[str] = "brave"
    name: ClassVar[str] = "Brave Search"
    address: ClassVar[str] = "https://api.search.brave.com"
    needs_key: ClassVar[bool] = True
    content_types: ClassVar[frozenset[str]] = JSON_CONTENT_TYPES

    def build_request(self, address: str, query: str, limit: int) -> WebRequest:
        """Return a GET request for /res/v1/web/search."""
        fields = urlencode({"q": query, "count": min(limit, _MAX_RESULTS), "text_decorations": "false"})
        return WebRequest(f"{address.rstrip('/')}/res/v1/web/search?{fields}", accept="application/json")

    def key_headers(self, key: str) -> Mapping[str, str]:
        """Return Brave's own header."""
        return {"X-Subscription-Token": key}

    def parse_hits(self, response: WebResponse) -> list[WebSearchHit]:
        """Parse the list `web.results`; a response without `web` has no hits."""
        web = parse_json(response, self.name).get("web", {"results": []})
        if not isinstance(web, dict):
            raise UnreadableResponseError(f"{self.name} sent no list of results.")
        return build_hits(
            (entry.get("url"), entry.get("title"), entry.get("description"), entry.get("page_age"))
            for entry in result_entries(web.get("results"), self.name)
        )
