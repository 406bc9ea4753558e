"""State of a vault's local server, importable without loading the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from app.events import Event

Holder = Literal["desktop", "headless"]
"""The kind of process that has the vault open: one with a window, or a headless one, which yields to it."""
OnYield = Callable[[], Awaitable[None]]
"""Closes the vault, so that another process can open it."""


@dataclass(frozen=True, slots=True)
class RejectedTokens:
    """Requests with an unknown token: their number, and the client and time of the last one.

    `claimed_name` is the name that the client reported, unverified; `time` is in Unix seconds.
    """

    count: int
    claimed_name: str
    time: float


@dataclass(frozen=True, slots=True)
class LocalServerState:
    """The local server's address and problems; `address` is empty and `port` is 0 while it is stopped.

    `wanted_port` is the port in the settings. `problem` explains to the user why the server is not running.
    `refused` counts requests with an unknown token since the server was started; None if there were none.
    """

    address: str = ""
    port: int = 0
    wanted_port: int = 0
    problem: str = ""
    refused: RejectedTokens | None = None


@dataclass(frozen=True, slots=True)
class LocalServerStateChanged(Event):
    """The local server was started or stopped, or failed to start."""

    state: LocalServerState


@dataclass(frozen=True, slots=True)
class TokenRefused(Event):
    """Requests used an unknown or revoked token; `refused` counts those since the last event.

    Published at most once a minute.
    """

    refused: RejectedTokens
