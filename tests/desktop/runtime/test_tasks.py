from __future__ import annotations

import asyncio
import gc

import pytest
from PySide6.QtWidgets import QPushButton, QWidget

from app.desktop.runtime import tasks
from tests.support.running_tasks import running_tasks


def test_a_task_is_kept_until_it_ends(gui) -> None:
    done: list[int] = []

    async def work() -> None:
        await asyncio.sleep(0.01)
        done.append(1)

    async def main() -> None:
        tasks.start(work())
        gc.collect()
        while not done:
            await asyncio.sleep(0.005)

    gui(main())
    assert done and not running_tasks()


def test_a_failure_is_reported_with_the_operation(
    gui, caplog: pytest.LogCaptureFixture, errors: list[str]
) -> None:
    errors.append("failed to open the vault")
    failures: list[tasks.TaskFailure] = []
    disconnect = tasks.failed.connect(failures.append)

    async def work() -> None:
        raise OSError("the disk said no")

    async def main() -> None:
        with pytest.raises(OSError, match="disk"):
            await tasks.start(work(), action="open the vault")
        await asyncio.sleep(0)

    gui(main())
    disconnect()
    assert [(failure.action, str(failure.error)) for failure in failures] == [
        ("open the vault", "the disk said no")
    ]
    assert "open the vault" in caplog.text


def test_the_end_of_its_widget_cancels_a_task_and_is_no_failure(gui) -> None:
    failures: list[tasks.TaskFailure] = []
    disconnect = tasks.failed.connect(failures.append)

    async def main() -> None:
        owner = QWidget()
        task = tasks.start(asyncio.sleep(60), owner=owner)
        await asyncio.sleep(0)
        owner.deleteLater()
        with pytest.raises(asyncio.CancelledError):
            await task

    gui(main())
    disconnect()
    assert not failures and not running_tasks()


def test_a_task_that_restores_a_destroyed_widget_is_not_reported(gui) -> None:
    failures: list[tasks.TaskFailure] = []
    disconnect = tasks.failed.connect(failures.append)
    ended: list[bool] = []

    async def main() -> None:
        owner = QWidget()
        button = QPushButton(owner)

        async def work() -> None:
            button.setEnabled(False)
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(True)
                button.setEnabled(True)

        task = tasks.start(work(), owner=owner, action="test the model")
        await asyncio.sleep(0)
        owner.deleteLater()
        await asyncio.wait([task])

    gui(main())
    disconnect()
    assert ended and not failures and not running_tasks()


def test_outside_a_loop_it_raises_and_leaves_no_coroutine_behind() -> None:
    async def work() -> None: ...

    with pytest.raises(RuntimeError):
        tasks.start(work())


def test_ending_all_waits_for_what_was_canceled(gui) -> None:
    ended: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            ended.append(True)

    async def main() -> None:
        tasks.start(work())
        await asyncio.sleep(0)
        await tasks.cancel_all()

    gui(main())
    assert ended == [True]


def test_a_task_that_starts_while_all_are_canceled_ends_too(gui) -> None:
    ended: list[str] = []

    async def wait(name: str, successor: str = "") -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)
            if successor:
                tasks.start(wait(successor))

    async def main() -> None:
        tasks.start(wait("first", successor="second"))
        await asyncio.sleep(0)
        await tasks.cancel_all()
        assert not running_tasks()

    gui(main())
    assert ended[0] == "first"


def test_a_task_of_a_closed_loop_does_not_hold_up_the_next_one(gui, errors: list[str]) -> None:
    errors.append("Task was destroyed")
    loop = asyncio.new_event_loop()

    async def leave_behind() -> None:
        tasks.start(asyncio.sleep(0))

    loop.run_until_complete(leave_behind())
    remaining = running_tasks()
    loop.close()
    assert remaining

    async def main() -> None:
        await tasks.cancel_all()

    gui(main())
    assert not running_tasks() & remaining
