"""What is known of the local server of an open vault, without loading it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from app.events import Event

Holder = Literal["desktop", "headless"]
"""What has the vault open: a window, or a process without one, which makes way for a window."""
OnYield = Callable[[], Awaitable[None]]
"""Closes the vault, so that another process can have it."""


@dataclass(frozen=True, slots=True)
class RejectedTokens:
    """Requests with a token that is not known: how many, and of the last what it called itself, and when.

    `at` is in Unix seconds.
    """

    count: int
    says: str
    at: float


@dataclass(frozen=True, slots=True)
class LocalServerState:
    """Where the server listens; `address` is empty and `port` 0 while it does not.

    `wanted_port` is the one of the settings. `problem` says why it does not listen, for the user. `refused`:
    those that came with a wrong token since it was opened.
    """

    address: str = ""
    port: int = 0
    wanted_port: int = 0
    problem: str = ""
    refused: RejectedTokens | None = None


@dataclass(frozen=True, slots=True)
class LocalServerStateChanged(Event):
    """The local server was opened or closed, or it could not be."""

    state: LocalServerState


@dataclass(frozen=True, slots=True)
class TokenRefused(Event):
    """Somebody came with a wrong token, or one that was taken back; `refused` are those since the last event.

    It is published once a minute at most.
    """

    refused: RejectedTokens
