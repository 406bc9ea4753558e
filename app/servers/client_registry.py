"""Registry of connected clients: their activity, and which of them have read untrusted text."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from app.events import Event, EventBus
from app.servers.vault_access import Client

_CLIENT_TIMEOUT_S = 120.0
_MAX_CLIENTS = 1000

CallStage = Literal["queued", "running", "asking", "writing", "ended"]
_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class ClientSeen(Event):
    """A client connected."""

    client: Client


@dataclass(frozen=True, slots=True)
class ClientGone(Event):
    """A client disconnected, or was dropped because it was inactive."""

    client: Client


@dataclass(frozen=True, slots=True)
class CallStageChanged(Event):
    """A client's call reached another stage; `call` is its id in the audit log and in `ToolStarted`."""

    client: Client
    call: str
    tool: str
    stage: CallStage


@dataclass(frozen=True, slots=True)
class ConnectedClient:
    """A connected client: `calls` counts all calls, `open` those that have not ended.

    `since` and `last` are the times of its first and last activity in Unix seconds. `tainted`:
    it has read text from outside, so each change that it proposes needs approval.
    """

    client: Client
    since: float
    last: float
    calls: int = 0
    open: int = 0
    tainted: bool = False


@dataclass(slots=True)
class _ClientRecord:
    """The mutable record of a connected client; each call updates it twice."""

    client: Client
    since: float
    last: float
    calls: int = 0
    open: int = 0


class ClientRegistry:
    """Tracks the clients of one open vault.

    A client that has read untrusted text stays tainted in all its sessions until the vault is closed: the
    text stays in its context when it reconnects.

    Args:
        clock: Returns the time in Unix seconds.
        timeout: Seconds without a call or an open connection after which a client counts as disconnected.
    """

    def __init__(
        self, events: EventBus, clock: Callable[[], float] = time.time, timeout: float = _CLIENT_TIMEOUT_S
    ) -> None:
        self._events = events
        self._clock = clock
        self._timeout = timeout
        self._clients: dict[_Key, _ClientRecord] = {}
        self._open_connections: dict[_Key, int] = {}
        self._tainted: set[tuple[str, str]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def close(self) -> None:
        """Stop tracking."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def clients(self) -> tuple[ConnectedClient, ...]:
        """The connected clients in order of arrival."""
        return tuple(
            ConnectedClient(
                client.client,
                client.since,
                client.last,
                client.calls,
                client.open,
                self.is_tainted(client.client),
            )
            for client in self._clients.values()
        )

    def mark_seen(self, client: Client, *, call: bool = False, open_change: int = 0) -> None:
        """Record a client's activity, a tool call if `call` is true; add `open_change` to its open calls."""
        key, now = _client_key(client), self._clock()
        record = self._clients.get(key)
        if record is None:
            self._make_room()
            record = self._clients[key] = _ClientRecord(client, now, now)
            self._events.publish(ClientSeen(client))
            self._schedule_expiry()
        if client.says and client.says != record.client.says:
            record.client = client
        record.last = now
        record.calls += call
        record.open = max(0, record.open + open_change)

    def hold_connection(self, client: Client) -> Callable[[], None]:
        """Record a client's open connection; the returned function records that it is closed."""
        self.mark_seen(client)
        key = _client_key(client)
        self._open_connections[key] = self._open_connections.get(key, 0) + 1
        is_released = False

        def release() -> None:
            nonlocal is_released
            if is_released:
                return
            is_released = True
            remaining = self._open_connections.get(key, 1) - 1
            if remaining:
                self._open_connections[key] = remaining
            else:
                self._open_connections.pop(key, None)
            if key in self._clients:
                self._clients[key].last = self._clock()

        return release

    def mark_disconnected(self, client: Client) -> None:
        """Record that a client disconnected."""
        record = self._clients.pop(_client_key(client), None)
        self._open_connections.pop(_client_key(client), None)
        if record is not None:
            self._events.publish(ClientGone(record.client))

    def mark_tainted(self, client: Client) -> None:
        """Mark a client as tainted: it has read text from outside."""
        self._tainted.add((client.kind.value, client.name))

    def is_tainted(self, client: Client) -> bool:
        """Return whether a client has read text from outside since the vault was opened."""
        return (client.kind.value, client.name) in self._tainted

    def _make_room(self) -> None:
        if len(self._clients) < _MAX_CLIENTS:
            return
        idle = [
            client
            for key, client in self._clients.items()
            if not client.open and not self._open_connections.get(key)
        ]
        if idle:
            self.mark_disconnected(min(idle, key=lambda record: record.last).client)

    def _schedule_expiry(self) -> None:
        if self._timer is None and self._clients:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._timeout / 2, self._drop_expired)

    def _drop_expired(self) -> None:
        """Remove inactive clients."""
        self._timer = None
        deadline = self._clock() - self._timeout
        for key, record in tuple(self._clients.items()):
            if record.last <= deadline and not record.open and not self._open_connections.get(key):
                self.mark_disconnected(record.client)
        self._schedule_expiry()


def _client_key(client: Client) -> _Key:
    return (client.kind.value, client.name, client.session)
