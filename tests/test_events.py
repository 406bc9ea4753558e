"""The bus delivers events to the current subscribers."""

from __future__ import annotations

from dataclasses import dataclass

from app.events import Event, EventBus


@dataclass(frozen=True, slots=True)
class Rang(Event):
    """A bell."""


def test_subscriptions_during_an_event_apply_to_the_next_one() -> None:
    bus, heard = EventBus(), []
    bus.publish(Rang())
    leave = bus.subscribe(Event, lambda event: heard.append("any"))
    bus.subscribe(Rang, lambda event: heard.append("rang"))
    bus.publish(Rang())
    assert heard == ["any", "rang"]
    leave()
    bus.publish(Rang())
    bus.publish(Event())
    assert heard == ["any", "rang", "rang"]
