"""A worker starts with the first request, and ends when nobody needs it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from app.processes.on_demand import OnDemandWorker, WorkerClosedError
from app.processes.worker import Worker, WorkerLostError


class FakeWorker(Worker):
    """A worker without a process."""

    def __init__(self) -> None:
        self.killed = asyncio.Event()

    async def kill(self) -> None:
        self.killed.set()


class Started:
    """Starts fake workers, and keeps them."""

    def __init__(self) -> None:
        self.workers: list[FakeWorker] = []
        self.may_start = asyncio.Event()
        self.may_start.set()

    async def __call__(self) -> FakeWorker:
        await self.may_start.wait()
        self.workers.append(FakeWorker())
        return self.workers[-1]


@pytest.fixture
def started() -> Started:
    return Started()


@pytest.fixture
async def demand(started: Started) -> AsyncIterator[OnDemandWorker[FakeWorker]]:
    made = OnDemandWorker("a test", started, idle_timeout=None, tries=2)
    yield made
    await made.close()


async def answer(worker: FakeWorker) -> FakeWorker:
    return worker


async def test_requests_share_a_worker_until_it_is_idle(demand, started):
    assert demand.running is None
    assert await demand.run(answer) is await demand.run(answer) is demand.running
    demand.idle_timeout = 0
    await demand.run(answer)
    await started.workers[0].killed.wait()
    assert await demand.run(answer) is started.workers[1]


async def test_a_request_that_loses_its_worker_runs_once_more(demand, started):
    async def lose_the_first(worker: FakeWorker) -> str:
        if worker is started.workers[0]:
            raise WorkerLostError("crashed")
        return "done"

    async def lose(worker: FakeWorker) -> str:
        raise WorkerLostError("crashed")

    assert await demand.run(lose_the_first) == "done"
    assert started.workers[0].killed.is_set() and not started.workers[1].killed.is_set()
    with pytest.raises(WorkerLostError):
        await demand.run(lose)
    assert all(worker.killed.is_set() for worker in started.workers) and demand.running is None


async def test_a_slow_start_continues_after_the_caller_gave_up(demand, started):
    started.may_start.clear()
    with pytest.raises(TimeoutError):
        await demand.run(answer, timeout=0)
    demand.idle_timeout = 0
    with pytest.raises(TimeoutError):
        await demand.run(answer, timeout=0)
    await asyncio.sleep(0)
    demand.idle_timeout = None
    started.may_start.set()
    assert await demand.run(answer) is started.workers[0] and len(started.workers) == 1


async def test_a_failed_start_is_tried_again_by_the_next_request(started):
    failures = [OSError("no memory")]

    async def start() -> FakeWorker:
        if failures:
            raise failures.pop()
        return await started()

    demand = OnDemandWorker("a test", start, idle_timeout=None, tries=2)
    with pytest.raises(OSError, match="no memory"):
        await demand.run(answer)
    assert await demand.run(answer) is started.workers[0]
    await demand.close()


async def test_closing_ends_the_worker_and_every_request(demand, started):
    async def wait_for_ever(worker: FakeWorker) -> None:
        await asyncio.Event().wait()

    running, waiting = (asyncio.create_task(demand.run(wait_for_ever)) for _ in range(2))
    while not started.workers:
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    await demand.close()
    for task in (running, waiting):
        with pytest.raises(WorkerClosedError):
            await task
    assert started.workers[0].killed.is_set() and len(started.workers) == 1
