"""Run the app's functions in a worker process, which starts on demand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import TypeVar, cast

from app.errors import ScriptoriumError
from app.launch import function_worker
from app.processes.function_worker import BUFFER, CALL, FAILED, PROGRESS, pickle_frames, unpickle
from app.processes.on_demand import OnDemandWorker, WorkerClosedError
from app.processes.worker import Worker, WorkerLostError

Report = Callable[[float, str], None]
T = TypeVar("T")
IDLE_TIMEOUT_S = 90.0


class ComputationError(ScriptoriumError):
    """A computation could not be finished; it has changed nothing."""

    type = "internal"


class FunctionProcess:
    """Runs one function at a time in a separate process. Belongs to one event loop.

    Canceling `call` kills the process, so that no unwanted work continues; the next call starts another.
    """

    def __init__(self) -> None:
        self._worker = OnDemandWorker("the computation process", _start, idle_timeout=IDLE_TIMEOUT_S, tries=1)

    @property
    def worker_id(self) -> int | None:
        """The id of the worker process, or None."""
        worker = self._worker.running
        return None if worker is None else worker.pid

    async def call(self, report: Report, function: Callable[..., T], *arguments: object) -> T:
        """Return the result of `function(*arguments, report=…)`; `report` is called in this loop.

        Raises:
            ComputationError: The function raised an error, the process died, or `close` was called.
            ScriptoriumError: The process can't be started.
        """
        try:
            return cast(
                "T", await self._worker.run(lambda worker: _call(worker, report, function, arguments))
            )
        except WorkerClosedError as error:
            raise ComputationError("The vault is being closed.") from error
        except WorkerLostError as error:
            raise ComputationError("The process stopped unexpectedly. Try again.") from error

    async def close(self) -> None:
        """End the process; pending calls fail."""
        await self._worker.close()


async def _start() -> Worker:
    return await Worker.spawn(function_worker())


async def _call(
    worker: Worker, report: Report, function: Callable[..., object], arguments: tuple[object, ...]
) -> object:
    for frame in await asyncio.to_thread(list, pickle_frames(CALL, (function, arguments))):
        await worker.send(frame)
    buffers: list[bytearray] = []
    while True:
        answer = await worker.receive()
        if answer.kind == BUFFER:
            buffers.append(bytearray(answer.body))
        elif answer.kind == PROGRESS:
            share, text = json.loads(bytes(answer.body))
            report(share, text)
        elif answer.kind == FAILED:
            text = bytes(answer.body).decode("utf-8", "replace")
            raise ComputationError(f"The computation failed: {text}")
        else:
            return await asyncio.to_thread(unpickle, bytes(answer.body), buffers)
