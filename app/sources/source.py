"""What a source is: one that lends documents (a block source), or one that tells of news (a stream)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from app.events import Event
from app.sources.config import SourceConfig


class SourceState(StrEnum):
    """How a source is: at work, paused by somebody, or kept from its work by a problem."""

    ACTIVE = "active"
    PAUSED = "paused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Notification:
    """A piece of news from a stream.

    `key` says what it is about: a newer one with the same key takes the place of one that nobody has read.
    `path` is the note or file that it is about, where it is about one; `untrusted` that its words were
    written by somebody outside.
    """

    source: str
    key: str
    title: str
    at: float
    text: str = ""
    link: str = ""
    path: str = ""
    untrusted: bool = False


Tell = Callable[[Notification], None]
"""Takes news; called in the event loop of the sources."""


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """A source as it is now: what panels and tools show.

    `streams` tells a stream from a block source. `items` are the last news, newest first; `loaded` the
    labels of the files that agents work on; `detail` is where it comes from: a folder or an address.
    `checked` is when a feed was last asked, in Unix seconds.
    """

    kept: SourceConfig
    state: SourceState
    detail: str
    streams: bool
    problem: str = ""
    items: tuple[Notification, ...] = ()
    waiting: int = 0
    loaded: tuple[str, ...] = ()
    checked: float | None = None

    @property
    def id(self) -> str:
        """The id of the source."""
        return self.kept.id

    @property
    def name(self) -> str:
        """What people call it."""
        return self.kept.name


class BlockSource(Protocol):
    """Lends documents that an agent loads into its memory, works on and saves."""

    @property
    def kept(self) -> SourceConfig:
        """What the user has set of it."""
        ...

    @property
    def problem(self) -> str:
        """What keeps it from its work now; empty if nothing does."""
        ...

    async def start(self) -> None:
        """Begin to watch; returns once nothing that happens from now on is missed."""
        ...

    async def stop(self) -> None:
        """End what it does; it may be started again."""
        ...


class Stream(Protocol):
    """Tells of news while it runs."""

    @property
    def kept(self) -> SourceConfig:
        """What the user has set of it."""
        ...

    @property
    def problem(self) -> str:
        """What keeps it from its work now; empty if nothing does."""
        ...

    @property
    def checked(self) -> float | None:
        """When it last looked, where it looks now and then; Unix seconds."""
        ...

    async def start(self, tell: Tell) -> None:
        """Begin to tell of news; returns once nothing that happens from now on is missed."""
        ...

    async def stop(self) -> None:
        """Tell no more; it may be started again."""
        ...


@dataclass(frozen=True, slots=True)
class SourcesChanged(Event):
    """Sources were added, removed, paused or set otherwise, or their state is another."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Notified(Event):
    """A stream told something new."""

    notification: Notification
