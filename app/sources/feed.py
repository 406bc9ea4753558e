"""Parse RSS and Atom feeds into entries, with feedparser."""

from __future__ import annotations

import calendar
import hashlib
import html
from collections.abc import Mapping
from dataclasses import dataclass

import nh3

from app.errors import InvalidParametersError

_MAX_ENTRIES = 200
_MAX_TITLE_CHARS = 300
_MAX_TEXT_CHARS = 600
_MAX_LINK_CHARS = 2000


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """An entry: its title, plain text and web address; text and address may be empty.

    `key` is the same across fetches. `time` is in Unix seconds, None if unknown.
    """

    key: str
    title: str
    text: str
    link: str
    time: float | None


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed: its title, and its first entries in their original order."""

    title: str
    entries: tuple[FeedEntry, ...]


def read_feed(content: bytes, content_type: str, charset: str) -> Feed:
    """Parse a feed and return its first entries, but only the complete ones if the feed is truncated.

    Raises:
        InvalidParametersError: the content is not a feed.
    """
    import feedparser

    response_type = f"{content_type or 'application/xml'}; charset={charset}" if charset else content_type
    parsed = feedparser.parse(content, response_headers={"content-type": response_type or "application/xml"})
    if not parsed.get("version"):
        raise InvalidParametersError("This is not a feed: the content is neither RSS nor Atom.")
    entries = tuple(_parse_entry(entry) for entry in parsed.get("entries", ())[:_MAX_ENTRIES])
    title = _strip_markup(parsed.get("feed", {}).get("title"), _MAX_TITLE_CHARS)
    return Feed(title, tuple({entry.key: entry for entry in entries}.values()))


def _parse_entry(entry: Mapping[str, object]) -> FeedEntry:
    title = _strip_markup(entry.get("title"), _MAX_TITLE_CHARS)
    text = _strip_markup(entry.get("summary"), _MAX_TEXT_CHARS)
    link = str(entry.get("link") or "").strip()
    if not link.lower().startswith(("http://", "https://")) or len(link) > _MAX_LINK_CHARS:
        link = ""
    identity = str(entry.get("id") or link) or f"{title}\0{text}"
    key = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    published = entry.get("published_parsed") or entry.get("updated_parsed")
    try:
        time = float(calendar.timegm(published)) if isinstance(published, tuple) else None
    except (OverflowError, ValueError):
        time = None
    return FeedEntry(key, title or text[:80] or "Untitled", text, link, time)


def _strip_markup(markup: object, max_chars: int) -> str:
    """Return text without markup, on one line and truncated."""
    plain = html.unescape(nh3.clean(str(markup or "")[: max_chars * 20], tags=set()))
    line = " ".join("".join(char if char.isprintable() else " " for char in plain).split())
    return line if len(line) <= max_chars else f"{line[: max_chars - 1]}…"
