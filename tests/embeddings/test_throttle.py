"""The throttle chooses the slowest required speed and its reason."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.embeddings.throttle import FULL_SPEED, LoadSample, Speed, SystemLoad, Throttle, ThrottleState

speeds = st.sampled_from(["full", "slow", "paused"])
readings = st.builds(LoadSample, st.booleans(), st.floats(0, 1), st.floats(0, 1))
ORDER = ("full", "slow", "paused")


@pytest.mark.parametrize(
    ("reading", "pace"),
    [
        (LoadSample(), FULL_SPEED),
        (LoadSample(on_battery=True, charge=0.9), ThrottleState("slow", "battery")),
        (LoadSample(on_battery=True, charge=0.1), ThrottleState("paused", "battery")),
        (LoadSample(load=0.95), ThrottleState("slow", "busy")),
        (LoadSample(load=0.6), FULL_SPEED),
    ],
)
def test_battery_and_load_slow_it_down(reading: LoadSample, pace: ThrottleState) -> None:
    assert Throttle(lambda: reading).state() == pace


@given(readings, speeds, speeds)
def test_full_speed_everywhere_is_never_slowed(reading: LoadSample, battery: Speed, busy: Speed) -> None:
    assert Throttle(lambda: reading, "full", "full").state() == FULL_SPEED
    pace = Throttle(lambda: reading, battery, busy).state()
    assert (pace.reason == "") == (pace.speed == "full")
    slowest = max(
        (battery if reading.on_battery else "full", busy if reading.load >= 0.75 else "full"), key=ORDER.index
    )
    assert ORDER.index(pace.speed) >= ORDER.index(slowest)


def test_a_pause_by_the_user_has_priority() -> None:
    pacer = Throttle(lambda: LoadSample())
    pacer.stopped_by_user = True
    assert pacer.state() == ThrottleState("paused", "user")
    pacer.stopped_by_user = False
    assert pacer.state() == FULL_SPEED


def test_a_load_at_the_limit_does_not_make_it_flicker() -> None:
    load = 0.8
    pacer = Throttle(lambda: LoadSample(load=load))

    def sample_state() -> ThrottleState:
        pacer._sampled_at = float("-inf")
        return pacer.state()

    assert sample_state().reason == "busy"
    load = 0.6
    assert sample_state().reason == "busy"
    load = 0.4
    assert sample_state() == FULL_SPEED
    load = 0.6
    assert sample_state() == FULL_SPEED


def test_pauses_are_proportional_to_the_work() -> None:
    assert FULL_SPEED.pause_after(1.0) == 0
    assert ThrottleState("slow", "busy").pause_after(0.5) == 2.0


def test_the_load_of_this_machine_can_be_read() -> None:
    machine = SystemLoad(lambda: os.getpid())
    for _ in range(2):
        reading = machine()
        assert 0 <= reading.load <= 1 and 0 <= reading.charge <= 1
    assert 0 <= SystemLoad(lambda: None)().load <= 1
    assert 0 <= SystemLoad(lambda: 2**22 + 1)().load <= 1
