"""The event bus, which delivers events to their subscribers.

Event classes are defined next to their publisher. One thread publishes, and every subscriber runs in it, in
the order of subscription. An error in a subscriber is logged and the others still run: a broken view must not
stop a commit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Event:
    """The base class of events. Subclasses are frozen and may cross threads."""


E = TypeVar("E", bound=Event)


class EventBus:
    """Delivers each published event to the subscribers of its class and its base classes."""

    def __init__(self) -> None:
        self._subscribers: list[tuple[type[Event], Callable[[Any], None]]] = []
        # A cache per class: a call publishes six events, and a window has dozens of subscribers.
        self._receivers: dict[type[Event], tuple[Callable[[Any], None], ...]] = {}

    def subscribe(self, kind: type[E], receive: Callable[[E], None]) -> Callable[[], None]:
        """Call `receive` for each event of `kind` and its subclasses; return a function that unsubscribes."""
        entry = (kind, receive)
        self._subscribers.append(entry)
        self._receivers.clear()

        def unsubscribe() -> None:
            if entry in self._subscribers:
                self._subscribers.remove(entry)
                self._receivers.clear()

        return unsubscribe

    def publish(self, event: Event) -> None:
        """Deliver `event` to its subscribers before returning."""
        receivers = self._receivers.get(type(event))
        if receivers is None:
            receivers = tuple(receive for kind, receive in self._subscribers if isinstance(event, kind))
            self._receivers[type(event)] = receivers
        for receive in receivers:
            try:
                receive(event)
            except Exception:
                log.exception("a subscriber of %s failed", type(event).__name__)
