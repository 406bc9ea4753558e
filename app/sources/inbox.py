"""Unread notifications: limited in number, at most one per subject."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from app.sources.source import Notification
from app.storage.files import write_atomic

_MAX_ITEMS = 200
_MAX_SOURCE_ITEMS = 50
_ITEMS_ADAPTER: TypeAdapter[list[Notification]] = TypeAdapter(list[Notification])


class Inbox:
    """Unread notifications in order of arrival; `save` keeps them for the next start.

    `dropped` counts the notifications that were dropped because of the limits.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._unread: OrderedDict[tuple[str, str], Notification] = OrderedDict()
        self.dropped = 0
        for notification in _read_items(file):
            self.add(notification)

    def __len__(self) -> int:
        return len(self._unread)

    def source_notifications(self, source: str) -> tuple[Notification, ...]:
        """Return the unread notifications of a source."""
        return tuple(notification for notification in self._unread.values() if notification.source == source)

    def add(self, notification: Notification) -> None:
        """Add a notification, replacing any unread one with its key; if over a limit, drop the oldest."""
        self._unread.pop((notification.source, notification.key), None)
        self._unread[notification.source, notification.key] = notification
        keys = [key for key in self._unread if key[0] == notification.source]
        extra = keys[: max(0, len(keys) - _MAX_SOURCE_ITEMS)]
        extra += list(self._unread)[: max(0, len(self._unread) - len(extra) - _MAX_ITEMS)]
        for key in dict.fromkeys(extra):
            del self._unread[key]
            self.dropped += 1

    def take(self, limit: int) -> tuple[Notification, ...]:
        """Remove and return the oldest notifications, at most `limit`."""
        return tuple(self._unread.pop(key) for key in list(self._unread)[:limit])

    def remove_source(self, source: str) -> None:
        """Drop the notifications of a source."""
        for key in [key for key in self._unread if key[0] == source]:
            del self._unread[key]

    def save(self) -> None:
        """Write the unread notifications to the file.

        Raises:
            OSError: the file can't be written; the old file is kept.
        """
        if self._file is not None:
            write_atomic(self._file, _ITEMS_ADAPTER.dump_json(list(self._unread.values())))


def _read_items(file: Path | None) -> list[Notification]:
    if file is None or not file.exists():
        return []
    try:
        return _ITEMS_ADAPTER.validate_json(file.read_bytes())
    except (OSError, ValidationError):
        # Unread notifications are not worth an error: start with an empty inbox.
        return []
