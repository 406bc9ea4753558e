"""How fast bulk work may go: the slowest of what speaks against full speed, with its reason."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.embeddings.pace import FULL, Machine, Pace, Pacer, Reading, Speed

speeds = st.sampled_from(["full", "slow", "paused"])
readings = st.builds(Reading, st.booleans(), st.floats(0, 1), st.floats(0, 1))
ORDER = ("full", "slow", "paused")


@pytest.mark.parametrize(
    ("reading", "pace"),
    [
        (Reading(), FULL),
        (Reading(on_battery=True, charge=0.9), Pace("slow", "battery")),
        (Reading(on_battery=True, charge=0.1), Pace("paused", "battery")),
        (Reading(load=0.95), Pace("slow", "busy")),
        (Reading(load=0.6), FULL),
    ],
)
def test_battery_and_load_slow_it_down(reading: Reading, pace: Pace) -> None:
    assert Pacer(lambda: reading).pace() == pace


@given(readings, speeds, speeds)
def test_full_speed_everywhere_is_never_slowed(reading: Reading, battery: Speed, busy: Speed) -> None:
    assert Pacer(lambda: reading, "full", "full").pace() == FULL
    pace = Pacer(lambda: reading, battery, busy).pace()
    assert (pace.reason == "") == (pace.speed == "full")
    slowest = max(
        (battery if reading.on_battery else "full", busy if reading.load >= 0.75 else "full"), key=ORDER.index
    )
    assert ORDER.index(pace.speed) >= ORDER.index(slowest)


def test_the_users_pause_beats_everything() -> None:
    pacer = Pacer(lambda: Reading())
    pacer.stopped_by_user = True
    assert pacer.pace() == Pace("paused", "user")
    pacer.stopped_by_user = False
    assert pacer.pace() == FULL


def test_a_load_at_the_limit_does_not_make_it_flicker() -> None:
    load = 0.8
    pacer = Pacer(lambda: Reading(load=load))

    def look() -> Pace:
        pacer._looked = float("-inf")
        return pacer.pace()

    assert look().reason == "busy"
    load = 0.6
    assert look().reason == "busy"
    load = 0.4
    assert look() == FULL
    load = 0.6
    assert look() == FULL


def test_rests_follow_the_work() -> None:
    assert FULL.rest(1.0) == 0
    assert Pace("slow", "busy").rest(0.5) == 2.0


def test_this_machine_can_be_read() -> None:
    machine = Machine(lambda: os.getpid())
    for _ in range(2):
        reading = machine()
        assert 0 <= reading.load <= 1 and 0 <= reading.charge <= 1
    assert 0 <= Machine(lambda: None)().load <= 1
    assert 0 <= Machine(lambda: 2**22 + 1)().load <= 1
