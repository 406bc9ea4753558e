"""Time-sliced work runs in order and completely, and yields to the loop in between."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import QObject, QTimer

from app.desktop.runtime.time_sliced_queue import TimeSlicedQueue


def test_a_burst_runs_in_order_and_the_window_stays_responsive(qtbot) -> None:
    done: list[object] = []
    owner = QObject()

    def slow(item: object) -> None:
        done.append(item)
        until = time.perf_counter() + 0.005
        while time.perf_counter() < until:
            pass

    queue = TimeSlicedQueue(slow, owner)
    QTimer.singleShot(0, lambda: done.append("the window"))
    queue.add(range(4))
    queue.add("a")
    assert not queue.is_empty
    qtbot.waitUntil(lambda: queue.is_empty)
    assert [entry for entry in done if entry != "the window"] == [0, 1, 2, 3, "a"]
    assert done.index("the window") < 5, "it waited for the whole burst"
    queue.add(range(3))
    queue.finish()
    assert queue.is_empty and done[-3:] == [0, 1, 2]


def test_deferrable_work_yields_to_the_window(qtbot) -> None:
    done: list[object] = []
    owner = QObject()
    queue = TimeSlicedQueue(done.append, owner)
    queue.add_later("ab")
    assert done == [] and not queue.is_empty
    qtbot.waitUntil(lambda: queue.is_empty)
    assert done == ["a", "b"]


def test_an_item_that_fails_does_not_hold_up_the_others(qtbot) -> None:
    done: list[object] = []
    owner = QObject()

    def work(item: object) -> None:
        if item == "bad":
            raise ValueError(item)
        done.append(item)

    queue = TimeSlicedQueue(work, owner)
    with pytest.raises(ValueError, match="bad"):
        queue.add(["a", "bad", "b"])
    qtbot.waitUntil(lambda: queue.is_empty)
    assert done == ["a", "b"]
