"""What a search provider is: a request for a query, and hits read from the answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import unescape
from typing import ClassVar, Protocol

import nh3

from app.web.fetching import UnreadableAnswerError, WebAnswer, WebRequest
from app.web.page import decoded

JSON_KINDS = frozenset({"application/json", "text/json", "application/problem+json"})
HTML_KINDS = frozenset({"text/html", "application/xhtml+xml"})
_LONGEST_TITLE = 300
_LONGEST_SNIPPET = 1000


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that a search found: plain text, cut to a sensible length; `date` as YYYY-MM-DD, if known."""

    url: str
    title: str
    snippet: str
    date: str = ""


class SearchProvider(Protocol):
    """A search engine's protocol.

    `id` names it in the settings, `name` for people; `needs_key` and `needs_address` say what it takes from
    the user; `kinds` are the content types of its answers.
    """

    id: ClassVar[str]
    name: ClassVar[str]
    address: ClassVar[str]
    needs_key: ClassVar[bool]
    kinds: ClassVar[frozenset[str]]

    def request(self, address: str, query: str, limit: int) -> WebRequest:
        """What is asked for `query`, without the key."""
        ...

    def secret(self, key: str) -> Mapping[str, str]:
        """The headers that carry the key."""
        ...

    def hits(self, answer: WebAnswer) -> list[Hit]:
        """What the answer lists, best first.

        Raises:
            UnreadableAnswerError: it is not what this provider answers.
        """
        ...


def json_of(answer: WebAnswer, name: str) -> Mapping[str, object]:
    """The object that an answer holds.

    Raises:
        UnreadableAnswerError: it holds none.
    """
    try:
        found = json.loads(decoded(answer.body, "utf-8"))
    except (ValueError, RecursionError) as error:
        raise UnreadableAnswerError(f"{name} sent something that is not JSON.") from error
    if not isinstance(found, dict):
        raise UnreadableAnswerError(f"{name} sent JSON of another kind than search results.")
    return found


def listed(value: object, name: str) -> list[Mapping[str, object]]:
    """The entries of a list of results; entries of another kind are passed over.

    Raises:
        UnreadableAnswerError: it is no list.
    """
    if not isinstance(value, list):
        raise UnreadableAnswerError(f"{name} sent no list of results.")
    return [one for one in value if isinstance(one, dict)]


def made_hits(found: Iterable[tuple[object, object, object, object]]) -> list[Hit]:
    """Hits of (url, title, snippet, date); those without a web address are left out, each page comes once."""
    hits: dict[str, Hit] = {}
    for url, title, snippet, date in found:
        if isinstance(url, str) and url.startswith(("http://", "https://")) and url not in hits:
            day = str(date or "")[:10]
            hits[url] = Hit(
                url,
                plain(title)[:_LONGEST_TITLE] or url,
                plain(snippet)[:_LONGEST_SNIPPET],
                day if len(day) == 10 and day[4] == day[7] == "-" else "",
            )
    return list(hits.values())


def plain(text: object) -> str:
    """A text without tags and entities, on one line."""
    if not isinstance(text, str):
        return ""
    return " ".join(unescape(nh3.clean(text, tags=set())).split())
