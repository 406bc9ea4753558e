"""Failures of background tasks are reported, and the tasks restart with increasing delays."""

from __future__ import annotations

import asyncio

import pytest

from app import task_supervisor as module
from app.errors import StorageError
from app.events import Event, EventBus
from app.task_supervisor import TaskFailed, TaskRecovered, TaskSupervisor


@pytest.fixture
def received(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    monkeypatch.setattr(module, "MIN_RESTART_DELAY_S", 0.001)
    monkeypatch.setattr(module, "MAX_RESTART_DELAY_S", 0.004)
    monkeypatch.setattr(module, "STEADY_AFTER_S", 0.01)
    return []


def supervisor(received: list[Event]) -> TaskSupervisor:
    events = EventBus()
    events.subscribe(Event, received.append)
    return TaskSupervisor(events)


async def test_a_failing_task_is_reported_and_restarted(received: list[Event], errors: list[str]) -> None:
    errors.append("could not watch")
    failures = [StorageError("no room"), ValueError(), OSError("one\ntwo"), KeyError("x")]
    steady = asyncio.Event()

    async def work() -> None:
        if failures:
            raise failures.pop(0)
        await steady.wait()

    watched = supervisor(received)
    task = watched.start("watch", work)
    while not any(isinstance(event, TaskRecovered) for event in received):
        await asyncio.sleep(0.001)
    assert received == [
        TaskFailed("watch", "no room", 0.001),
        TaskFailed("watch", "ValueError", 0.002),
        TaskFailed("watch", "one", 0.004),
        TaskFailed("watch", "'x'", 0.004),
        TaskRecovered("watch"),
    ]
    steady.set()
    await task
    assert len(received) == 5


async def test_a_task_that_ends_normally_reports_nothing(received: list[Event]) -> None:
    async def work() -> None:
        await asyncio.sleep(0)

    await supervisor(received).start("scan", work)
    assert received == []


async def test_canceling_ends_the_work_too(received: list[Event]) -> None:
    ended: list[str] = []
    started = asyncio.Event()

    async def work() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    watched = supervisor(received)
    watched.start("watch", work)
    with pytest.raises(ValueError, match="is already running"):
        watched.start("watch", work)
    await started.wait()
    await watched.close()
    assert ended == ["ended"]
    assert received == []


async def test_a_task_can_be_ended_while_it_waits_to_start_again(
    received: list[Event], errors: list[str]
) -> None:
    errors.append("could not watch")

    async def work() -> None:
        raise OSError("no")

    watched = supervisor(received)
    task = watched.start("watch", work)
    while not received:
        await asyncio.sleep(0)
    await watched.close(grace=60)
    assert task.done()
