"""Functions of the app run in a process of their own, which can be killed at any time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import psutil
import pytest

from app.processes.function_process import ComputationError, FunctionProcess
from tests.processes.functions import doubled, fail, total, wait_for_ever


@pytest.fixture
async def process() -> AsyncIterator[FunctionProcess]:
    made = FunctionProcess()
    yield made
    await made.close()


def ignore(share: float, text: str) -> None:
    """Ignore the progress."""


async def waiting(process: FunctionProcess) -> asyncio.Task[int]:
    """Start a call that never returns."""
    reports: list[tuple[float, str]] = []
    began = asyncio.Event()

    def report(share: float, text: str) -> None:
        reports.append((share, text))
        began.set()

    task = asyncio.create_task(process.call(report, wait_for_ever))
    await began.wait()
    assert reports == [(0.5, "waiting")]
    return task


async def test_a_canceled_call_ends_at_once_and_the_next_is_answered(process):
    task = await waiting(process)
    first = process.worker_id
    assert first is not None
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert process.worker_id is None and not psutil.pid_exists(first)
    assert await process.call(ignore, total, np.ones(5)) == 5
    assert process.worker_id not in (None, first)


async def test_a_failed_call_explains_the_error_and_a_dead_process_is_replaced(process):
    with pytest.raises(ComputationError, match="an odd graph"):
        await process.call(ignore, fail)
    assert process.worker_id is not None
    psutil.Process(process.worker_id).kill()
    with pytest.raises(ComputationError, match="stopped unexpectedly"):
        await process.call(ignore, total, np.ones(5))
    assert await process.call(ignore, total, np.ones(5)) == 5


async def test_arrays_arrive_complete_and_writable_in_both_directions(process):
    arrays = {
        "large": np.arange(700_003, dtype=np.float64).reshape(-1, 1),
        "by columns": np.asfortranarray(np.arange(12).reshape(3, 4)),
        "a view": np.arange(20)[::3],
        "empty": np.zeros((0, 2), dtype=np.float32),
    }
    answer = await process.call(ignore, doubled, arrays)
    assert answer.keys() == arrays.keys()
    for name, array in arrays.items():
        assert np.array_equal(answer[name], array * 2) and answer[name].dtype == array.dtype
        answer[name] += 1


async def test_closing_fails_a_running_call_and_later_ones(process):
    task = await waiting(process)
    await process.close()
    with pytest.raises(ComputationError, match="being closed"):
        await task
    with pytest.raises(ComputationError, match="being closed"):
        await process.call(ignore, total, np.ones(5))


async def test_closing_during_a_cancellation_ends_both(process):
    task = await waiting(process)
    task.cancel()
    await asyncio.gather(process.close(), asyncio.wait([task]))
    assert task.cancelled() and process.worker_id is None
