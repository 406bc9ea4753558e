"""A feed as a stream: polled with ETag and Last-Modified, at public addresses only."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path

from app.errors import ScriptoriumError
from app.events import EventBus
from app.sources.config import FeedConfig, read_json
from app.sources.feed import Feed, FeedEntry, read_feed
from app.sources.source import Notification, Notify, SourcesChanged
from app.storage.files import to_json, write_atomic
from app.task_supervisor import TaskSupervisor
from app.web.http_fetcher import Fetcher, FetchLimits, WebError, WebRequest, WebResponse

log = logging.getLogger(__name__)

FEED_LIMITS = FetchLimits(wire_bytes=2 * 1024 * 1024, decompressed_bytes=4 * 1024 * 1024, seconds=30.0)
CONTENT_TYPES = frozenset(
    {
        "application/rss+xml",
        "application/atom+xml",
        "application/rdf+xml",
        "application/xml",
        "text/xml",
        "text/plain",
        "text/html",
        "",
    }
)
_ACCEPT = "application/atom+xml, application/rss+xml, application/xml;q=0.9, text/xml;q=0.8, */*;q=0.1"
_MAX_SEEN_KEYS = 2000
_MAX_BACKOFF_S = 24 * 3600.0
_NOT_MODIFIED = 304


class FeedStream:
    """Sends the new entries of a feed.

    Entries in the first fetch do not count as new. The state (validators, seen entries) survives a restart.
    A failing feed is polled with exponential backoff, at least once a day (or at the configured interval, if
    longer).

    Args:
        config: The user's configuration of the feed.
        file: The file that stores its state.
        fetcher: Fetches the feed and refuses private addresses.
        events: Publishes changes to the state.
    """

    def __init__(
        self,
        config: FeedConfig,
        file: Path,
        fetcher: Fetcher,
        events: EventBus,
    ) -> None:
        self.config = config
        self.problem = ""
        self.title = ""
        self.checked: float | None = None
        self._file = file
        self._fetcher = fetcher
        self._events = events
        self._failures = 0
        self._supervisor = TaskSupervisor(events)
        self._notify: Notify | None = None
        self._etag = self._last_modified = ""
        self._has_baseline = False
        self._seen_keys: dict[str, None] = {}
        self._read_state()

    async def start(self, notify: Notify) -> None:
        """Poll the feed at its interval, starting now if it is due."""
        self._notify = notify
        self._supervisor = TaskSupervisor(self._events)
        self._supervisor.start(f"read the feed {self.config.name}", self._poll)

    async def stop(self) -> None:
        """Stop polling."""
        await self._supervisor.close()

    async def _poll(self) -> None:
        while True:
            due = (self.checked or 0.0) + self._delay()
            await asyncio.sleep(max(0.0, due - time.time()))
            await self.check()

    def _delay(self) -> float:
        if not self.checked:
            return 0.0
        interval = self.config.minutes * 60.0
        return min(interval * 2.0**self._failures, max(interval, _MAX_BACKOFF_S))

    async def check(self) -> int:
        """Fetch the feed now and return the number of notifications sent; `problem` describes a failure."""
        try:
            count = await self._check()
        except ScriptoriumError as error:
            self._failures, self.problem, count = min(self._failures + 1, 10), error.message, 0
        except Exception:
            log.exception("the feed %s could not be read", self.config.id)
            self._failures, self.problem, count = min(self._failures + 1, 10), "The feed can't be read.", 0
        else:
            self._failures, self.problem = 0, ""
        self.checked = time.time()
        await asyncio.to_thread(self._write_state)
        self._events.publish(SourcesChanged((self.config.id,)))
        return count

    async def _check(self) -> int:
        try:
            response = await self._fetcher.fetch(self._request(), CONTENT_TYPES)
        except WebError as error:
            if error.data.get("status") == _NOT_MODIFIED:
                return 0
            raise
        feed = await asyncio.to_thread(read_feed, response.body, response.content_type, response.charset)
        self._store_validators(response, feed)
        return self._publish_new(feed)

    def _request(self) -> WebRequest:
        conditions = {"If-None-Match": self._etag, "If-Modified-Since": self._last_modified}
        headers = {name: value for name, value in conditions.items() if value}
        return WebRequest(self.config.url, accept=_ACCEPT, headers=headers)

    def _store_validators(self, response: WebResponse, feed: Feed) -> None:
        self._etag = response.headers.get("etag", "")[:1000]
        self._last_modified = response.headers.get("last-modified", "")[:100]
        self.title = feed.title

    def _publish_new(self, feed: Feed) -> int:
        is_first, self._has_baseline = not self._has_baseline, True
        new_entries = [entry for entry in feed.entries if entry.key not in self._seen_keys]
        self._seen_keys.update(dict.fromkeys(entry.key for entry in reversed(new_entries)))
        while len(self._seen_keys) > _MAX_SEEN_KEYS:
            del self._seen_keys[next(iter(self._seen_keys))]
        if is_first or self._notify is None:
            return 0
        for entry in reversed(new_entries):
            self._notify(self._notification(entry))
        return len(new_entries)

    def _notification(self, entry: FeedEntry) -> Notification:
        return Notification(
            self.config.id,
            entry.key,
            entry.title,
            entry.time or time.time(),
            entry.text,
            entry.link,
            untrusted=True,
        )

    def _read_state(self) -> None:
        state = read_json(self._file)
        is_same_feed = state.get("url") == self.config.url
        seen = state.get("seen") if is_same_feed else None
        self._etag = str(state.get("etag") or "") if is_same_feed else ""
        self._last_modified = str(state.get("modified") or "") if is_same_feed else ""
        self._has_baseline = isinstance(seen, list)
        self._seen_keys = dict.fromkeys(str(key) for key in seen) if isinstance(seen, list) else {}
        checked = state.get("checked") if is_same_feed else None
        self.checked = float(checked) if isinstance(checked, int | float) else None
        self.title = str(state.get("title") or "") if is_same_feed else ""

    def _write_state(self) -> None:
        state = {
            "url": self.config.url,
            "etag": self._etag,
            "modified": self._last_modified,
            "title": self.title,
            "checked": self.checked,
            "seen": list(self._seen_keys) if self._has_baseline else None,
        }
        try:
            write_atomic(self._file, to_json(state, indent=None))
        except OSError as error:
            self.problem = f"The feed's state can't be saved: {error.strerror or error}."
