"""Time-sliced work runs in order and completely, and yields to the loop in between."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer

from app.desktop.runtime.time_sliced_queue import TimeSlicedQueue


def test_a_burst_runs_in_order_and_the_window_stays_responsive(qtbot) -> None:
    done: list[object] = []
    owner = QObject()

    def slow(thing: object) -> None:
        done.append(thing)
        until = time.perf_counter() + 0.005
        while time.perf_counter() < until:
            pass

    slices = TimeSlicedQueue(slow, owner)
    QTimer.singleShot(0, lambda: done.append("the window"))
    slices.add(range(4))
    slices.add("a")
    assert not slices.done
    qtbot.waitUntil(lambda: slices.done)
    assert [one for one in done if one != "the window"] == [0, 1, 2, 3, "a"]
    assert done.index("the window") < 5, "it waited for the whole burst"
    slices.add(range(3))
    slices.finish()
    assert slices.done and done[-3:] == [0, 1, 2]


def test_deferrable_work_yields_to_the_window(qtbot) -> None:
    done: list[object] = []
    owner = QObject()
    slices = TimeSlicedQueue(done.append, owner)
    slices.add_later("ab")
    assert done == [] and not slices.done
    qtbot.waitUntil(lambda: slices.done)
    assert done == ["a", "b"]
