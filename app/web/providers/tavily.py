"""Tavily's search API. Source: https://docs.tavily.com/documentation/api-reference/endpoint/search."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import ClassVar

from app.web.http_fetcher import WebRequest, WebResponse
from app.web.providers.provider import (
    JSON_CONTENT_TYPES,
    WebSearchHit,
    build_hits,
    parse_json,
    result_entries,
)

_MAX_RESULTS = 20


class Tavily:
    """A search service for programs; needs a key."""

    id: ClassVar[str] = "tavily"
    name: ClassVar[str] = "Tavily"
    address: ClassVar[str] = "https://api.tavily.com"
    needs_key: ClassVar[bool] = True
    content_types: ClassVar[frozenset[str]] = JSON_CONTENT_TYPES

    def build_request(self, address: str, query: str, limit: int) -> WebRequest:
        """Return a POST request to /search with the query as JSON."""
        body = json.dumps({"query": query, "max_results": min(limit, _MAX_RESULTS)}, ensure_ascii=False)
        return WebRequest(
            f"{address.rstrip('/')}/search",
            "POST",
            body.encode("utf-8"),
            accept="application/json",
            headers={"Content-Type": "application/json"},
        )

    def key_headers(self, key: str) -> Mapping[str, str]:
        """Return a bearer token."""
        return {"Authorization": f"Bearer {key}"}

    def parse_hits(self, response: WebResponse) -> list[WebSearchHit]:
        """Parse the `results` list."""
        results = result_entries(parse_json(response, self.name).get("results"), self.name)
        return build_hits(
            (entry.get("url"), entry.get("title"), entry.get("content"), entry.get("published_date"))
            for entry in results
        )
