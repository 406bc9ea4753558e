"""JSON API of SearXNG, a self-hosted search engine.

Source: https://docs.searxng.org/dev/search_api.html. The server must have the `json` format enabled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar
from urllib.parse import urlencode

from app.web.http_fetcher import WebRequest, WebResponse
from app.web.providers.provider import (
    JSON_CONTENT_TYPES,
    WebSearchHit,
    build_hits,
    parse_json,
    result_entries,
)


class SearXNG:
    """A self-hosted search engine; the user enters its address, and a key if it requires a login."""

    id: ClassVar[str] = "searxng"
    name: ClassVar[str] = "SearXNG"
    address: ClassVar[str] = ""
    needs_key: ClassVar[bool] = False
    content_types: ClassVar[frozenset[str]] = JSON_CONTENT_TYPES

    def build_request(self, address: str, query: str, limit: int) -> WebRequest:
        """Return a GET request for /search; the server decides how many results it lists."""
        fields = urlencode({"q": query, "format": "json"})
        return WebRequest(f"{address.rstrip('/')}/search?{fields}", accept="application/json")

    def key_headers(self, key: str) -> Mapping[str, str]:
        """Return a bearer token, as expected by a reverse proxy."""
        return {"Authorization": f"Bearer {key}"}

    def parse_hits(self, response: WebResponse) -> list[WebSearchHit]:
        """Parse the `results` list."""
        results = result_entries(parse_json(response, self.name).get("results"), self.name)
        return build_hits(
            (entry.get("url"), entry.get("title"), entry.get("content"), entry.get("publishedDate"))
            for entry in results
        )
