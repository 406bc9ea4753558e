"""Search engines that the user can pick, each a small protocol of its own.

A provider says what it would ask for a query and reads the answer; it sends nothing itself. So the dialog
can show the request exactly as it goes out, and a test can read recorded answers.
"""

from collections.abc import Mapping

from app.web.providers.brave import Brave
from app.web.providers.duckduckgo import DuckDuckGo
from app.web.providers.provider import Hit, SearchProvider
from app.web.providers.searxng import SearXNG
from app.web.providers.tavily import Tavily

PROVIDERS: Mapping[str, SearchProvider] = {
    provider.id: provider for provider in (SearXNG(), Tavily(), Brave(), DuckDuckGo())
}

__all__ = ["PROVIDERS", "Hit", "SearchProvider"]
