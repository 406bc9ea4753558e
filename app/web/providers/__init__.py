"""Search engines that the user can choose.

A provider builds the request for a query and parses the response; it sends nothing. So the approval dialog
can show the exact request, and tests can parse recorded responses.
"""

from collections.abc import Mapping

from app.web.providers.brave import Brave
from app.web.providers.duckduckgo import DuckDuckGo
from app.web.providers.provider import SearchProvider, WebSearchHit
from app.web.providers.searxng import SearXNG
from app.web.providers.tavily import Tavily

PROVIDERS: Mapping[str, SearchProvider] = {
    provider.id: provider for provider in (SearXNG(), Tavily(), Brave(), DuckDuckGo())
}

__all__ = ["PROVIDERS", "SearchProvider", "WebSearchHit"]
