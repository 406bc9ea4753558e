"""SearXNG, a search engine that people run themselves: its JSON interface.

Source: https://docs.searxng.org/dev/search_api.html. The server must have `json` among its formats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar
from urllib.parse import urlencode

from app.web.fetching import WebAnswer, WebRequest
from app.web.providers.provider import JSON_KINDS, Hit, json_of, listed, made_hits


class SearXNG:
    """One's own search engine; its address is the user's to give, a key is for servers behind a login."""

    id: ClassVar[str] = "searxng"
    name: ClassVar[str] = "SearXNG"
    address: ClassVar[str] = ""
    needs_key: ClassVar[bool] = False
    kinds: ClassVar[frozenset[str]] = JSON_KINDS

    def request(self, address: str, query: str, limit: int) -> WebRequest:
        """A GET of /search; how many it lists is the server's choice."""
        fields = urlencode({"q": query, "format": "json"})
        return WebRequest(f"{address.rstrip('/')}/search?{fields}", accept="application/json")

    def secret(self, key: str) -> Mapping[str, str]:
        """A bearer token, as reverse proxies take it."""
        return {"Authorization": f"Bearer {key}"}

    def hits(self, answer: WebAnswer) -> list[Hit]:
        """The list `results`."""
        found = listed(json_of(answer, self.name).get("results"), self.name)
        return made_hits(
            (one.get("url"), one.get("title"), one.get("content"), one.get("publishedDate")) for one in found
        )
