"""Who is connected from outside, what each does now, and who has read text that nobody vouches for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from app.events import Event, EventBus
from app.servers.vault_service import Client

_CLIENT_TIMEOUT_S = 120.0
_MAX_CLIENTS = 1000

CallStage = Literal["queued", "running", "asking", "writing", "ended"]
_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class ClientSeen(Event):
    """A client is there that was not before."""

    client: Client


@dataclass(frozen=True, slots=True)
class ClientGone(Event):
    """A client has left, or was not heard of for a while."""

    client: Client


@dataclass(frozen=True, slots=True)
class CallStageChanged(Event):
    """A client's call has come to another stage; `call` is its id in the audit log and in `ToolStarted`."""

    client: Client
    call: str
    tool: str
    stage: CallStage


@dataclass(frozen=True, slots=True)
class ConnectedClient:
    """A client that is there. `since` and `last` in Unix seconds; `calls` so far, `open` ones now.

    `tainted`: it has read text from outside, so each change that it proposes is asked about.
    """

    client: Client
    since: float
    last: float
    calls: int = 0
    open: int = 0
    tainted: bool = False


@dataclass(slots=True)
class _Known:
    """What is known of a client that is there; each call touches it twice, so it is changed in place."""

    client: Client
    since: float
    last: float
    calls: int = 0
    open: int = 0


class ClientRegistry:
    """Keeps the clients of one open vault in sight.

    A client has read untrusted text for as long as the vault is open, in each of its sessions: what it read
    goes on in its context, wherever it connects anew.

    Args:
        clock: Unix time in seconds.
        gone_after: After how many seconds without a call or an open connection a client counts as gone.
    """

    def __init__(
        self, events: EventBus, clock: Callable[[], float] = time.time, gone_after: float = _CLIENT_TIMEOUT_S
    ) -> None:
        self._events = events
        self._clock = clock
        self._gone_after = gone_after
        self._clients: dict[_Key, _Known] = {}
        self._held: dict[_Key, int] = {}
        self._tainted: set[tuple[str, str]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def close(self) -> None:
        """Look after nobody any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def clients(self) -> tuple[ConnectedClient, ...]:
        """Those that are there, the first to come first."""
        return tuple(
            ConnectedClient(one.client, one.since, one.last, one.calls, one.open, self.is_tainted(one.client))
            for one in self._clients.values()
        )

    def mark_seen(self, client: Client, *, call: bool = False, began: int = 0) -> None:
        """A client gave a sign of life; `call`: it calls a tool; `began` is added to its open calls."""
        key, now = _client_key(client), self._clock()
        known = self._clients.get(key)
        if known is None:
            self._make_room()
            known = self._clients[key] = _Known(client, now, now)
            self._events.publish(ClientSeen(client))
            self._watch()
        if client.says and client.says != known.client.says:
            known.client = client
        known.last = now
        known.calls += call
        known.open = max(0, known.open + began)

    def hold_connection(self, client: Client) -> Callable[[], None]:
        """A client holds a connection open; the returned function says that it is closed."""
        self.mark_seen(client)
        key = _client_key(client)
        self._held[key] = self._held.get(key, 0) + 1
        over = False

        def release() -> None:
            nonlocal over
            if over:
                return
            over = True
            left = self._held.get(key, 1) - 1
            if left:
                self._held[key] = left
            else:
                self._held.pop(key, None)
            if key in self._clients:
                self._clients[key].last = self._clock()

        return release

    def mark_left(self, client: Client) -> None:
        """A client said that it goes."""
        known = self._clients.pop(_client_key(client), None)
        self._held.pop(_client_key(client), None)
        if known is not None:
            self._events.publish(ClientGone(known.client))

    def mark_tainted(self, client: Client) -> None:
        """A client was given text from outside."""
        self._tainted.add((client.kind.value, client.name))

    def is_tainted(self, client: Client) -> bool:
        """Whether a client was given text from outside since the vault was opened."""
        return (client.kind.value, client.name) in self._tainted

    def _make_room(self) -> None:
        if len(self._clients) < _MAX_CLIENTS:
            return
        idle = [one for key, one in self._clients.items() if not one.open and not self._held.get(key)]
        if idle:
            self.mark_left(min(idle, key=lambda one: one.last).client)

    def _watch(self) -> None:
        if self._timer is None and self._clients:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._gone_after / 2, self._drop_expired)

    def _drop_expired(self) -> None:
        """Let go of those that were not heard of."""
        self._timer = None
        late = self._clock() - self._gone_after
        for key, one in tuple(self._clients.items()):
            if one.last <= late and not one.open and not self._held.get(key):
                self.mark_left(one.client)
        self._watch()


def _client_key(client: Client) -> _Key:
    return (client.kind.value, client.name, client.session)
