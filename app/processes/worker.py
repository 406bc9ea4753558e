"""A worker process of the app: it answers frames on its standard input and output, and ends with the app."""

from __future__ import annotations

import asyncio
import logging
from typing import Self

from app.launch import LaunchCommand
from app.processes.child import ChildProcess
from app.processes.frames import LENGTH, MAX_FRAME_BYTES, Frame, unpack

log = logging.getLogger(__name__)

# A larger body is written in parts, because asyncio copies whatever does not fit into the pipe.
_PART_BYTES = 1024 * 1024


class WorkerLostError(Exception):
    """The worker crashed or is out of sync; a new one may work."""


class Worker:
    """A running worker, for one request at a time. Create it with `spawn`, and end it with `kill`."""

    def __init__(self, process: ChildProcess) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout

    @classmethod
    async def spawn(cls, command: LaunchCommand, *arguments: str) -> Self:
        """Start the process without waiting for its first frame; on Windows, at low priority.

        Raises:
            NotFoundError: There is no such program or working folder.
            StorageError: The program can't be started.
        """
        process = await ChildProcess.start(
            (*command.words, *arguments),
            cwd=command.folder,
            environment=command.environment(),
            has_errors=False,
            low_priority=True,
        )
        return cls(process)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    async def send(self, frame: Frame) -> None:
        """Send a frame.

        Raises:
            WorkerLostError: The process ended.
        """
        body = memoryview(frame.body)
        try:
            self._stdin.write(frame.head())
            for start in range(0, len(body), _PART_BYTES):
                self._stdin.write(body[start : start + _PART_BYTES])
                await self._stdin.drain()
            await self._stdin.drain()
        except OSError as error:
            raise WorkerLostError(str(error)) from error

    async def receive(self, timeout: float | None = None) -> Frame:
        """Return the next frame.

        Args:
            timeout: Seconds to wait for it; None for as long as the process lives.

        Raises:
            WorkerLostError: The process ended, hangs or is out of sync.
        """
        try:
            async with asyncio.timeout(timeout):
                (length,) = LENGTH.unpack(await self._stdout.readexactly(LENGTH.size))
                if length > MAX_FRAME_BYTES:
                    raise WorkerLostError("a frame is too long")
                return unpack(await self._stdout.readexactly(length))
        except TimeoutError as error:
            raise WorkerLostError("no answer") from error
        except (asyncio.IncompleteReadError, OSError, ValueError) as error:
            raise WorkerLostError("the process ended") from error

    async def kill(self) -> None:
        """End the process immediately, and read to the end, so that asyncio closes its pipes."""
        self._stdin.close()
        self._process.kill()
        while await self._stdout.read(1 << 16):
            pass
        await self._process.wait()
        try:
            await self._stdin.wait_closed()
        except OSError:
            log.debug("the worker closed its input first")
