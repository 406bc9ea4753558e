"""Types that sources share: their states, notifications and events, and the protocol of streams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from app.events import Event
from app.sources.config import SourceConfig


class SourceState(StrEnum):
    """State of a source: active, paused by the user or an agent, or failed."""

    ACTIVE = "active"
    PAUSED = "paused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification from a stream.

    `key` names its subject: a newer notification replaces an unread one with the same key. `path` is the note
    or file that it is about, if any. `at` is in Unix seconds. `untrusted`: the text comes from outside the
    app.
    """

    source: str
    key: str
    title: str
    at: float
    text: str = ""
    link: str = ""
    path: str = ""
    untrusted: bool = False


Notify = Callable[[Notification], None]
"""Receives notifications; called in the sources' event loop."""


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """The current state of a source, for panels and tools.

    `items` are a stream's latest notifications, newest first, and `waiting` counts the unread ones. `loaded`
    lists the labels of the files that agents work on. `detail` is the folder or address; empty for the vault.
    `checked` is the time of a feed's last check, in Unix seconds.
    """

    config: SourceConfig
    state: SourceState
    detail: str
    is_stream: bool
    problem: str = ""
    items: tuple[Notification, ...] = ()
    waiting: int = 0
    loaded: tuple[str, ...] = ()
    checked: float | None = None

    @property
    def id(self) -> str:
        """The id of the source."""
        return self.config.id

    @property
    def name(self) -> str:
        """The name that the user gave it."""
        return self.config.name


class Stream(Protocol):
    """Sends notifications while it runs."""

    @property
    def config(self) -> SourceConfig:
        """The user's configuration."""
        ...

    @property
    def problem(self) -> str:
        """The reason why the source does not work; empty if it works."""
        ...

    @property
    def checked(self) -> float | None:
        """The time of the last check in Unix seconds, for streams that poll; otherwise None."""
        ...

    async def start(self, notify: Notify) -> None:
        """Start sending notifications; return once changes are being detected, or after a short wait."""
        ...

    async def stop(self) -> None:
        """Stop sending; the stream can be started again."""
        ...


@dataclass(frozen=True, slots=True)
class SourcesChanged(Event):
    """Sources were added, removed, paused or configured, or their state changed."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Notified(Event):
    """A stream sent a notification."""

    notification: Notification
