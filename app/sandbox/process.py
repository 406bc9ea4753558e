"""Run a program without a shell, with limits on its output and run time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from app.processes.child import ChildProcess

MAX_OUTPUT_BYTES = 64 * 1024
_CHUNK_BYTES = 64 * 1024
_KILL_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """The result of a program.

    `exit_code` is negative if a signal ended the program, and -1 if it is unknown. `cut`: `output` or
    `errors` is truncated. `timed_out`: the program, or a child that held its output open, exceeded the time
    limit. `seconds` is the run time.
    """

    exit_code: int
    output: bytes
    errors: bytes
    cut: bool
    timed_out: bool
    seconds: float


@dataclass(slots=True)
class _CapturedStream:
    """The first bytes of a stream, up to a limit."""

    limit: int
    content: bytearray = field(default_factory=bytearray)
    cut: bool = False

    async def capture(self, stream: asyncio.StreamReader | None) -> None:
        while stream is not None and (part := await stream.read(_CHUNK_BYTES)):
            self.cut = self.cut or len(self.content) + len(part) > self.limit
            self.content += part[: self.limit - len(self.content)]


async def run_program(
    arguments: Sequence[str],
    *,
    cwd: str,
    environment: Mapping[str, str],
    timeout: float,
    max_output: int = MAX_OUTPUT_BYTES,
    input_data: bytes | None = None,
) -> ProcessResult:
    """Run a program; on return or cancellation, kill it and the child processes that can still be found.

    Args:
        arguments: The program (a name on the path, or a path) and its arguments, passed unchanged.
        cwd: The working folder.
        environment: The complete environment.
        timeout: The time limit in seconds.
        max_output: Maximum bytes of standard output and of standard error to keep; the rest is discarded.
        input_data: The standard input; None for no input.

    Raises:
        NotFoundError: There is no such program or working folder.
        StorageError: The program can't be started.
    """
    started = time.monotonic()
    process = await ChildProcess.start(
        arguments, cwd=cwd, environment=environment, has_input=input_data is not None
    )
    output, errors = _CapturedStream(max_output), _CapturedStream(max_output)
    read_task = asyncio.gather(
        output.capture(process.stdout),
        errors.capture(process.stderr),
        _write_input(process.stdin, input_data),
    )
    has_timed_out = False
    try:
        async with asyncio.timeout(timeout):
            await process.wait()
            # A background child may hold the outputs open; that counts toward the time limit.
            await asyncio.shield(read_task)
    except TimeoutError:
        has_timed_out = True
    finally:
        await asyncio.shield(asyncio.ensure_future(_end(process, read_task)))
    seconds = time.monotonic() - started
    code = -1 if process.exit_status is None else process.exit_status
    captured = bytes(output.content), bytes(errors.content)
    return ProcessResult(code, *captured, output.cut or errors.cut, has_timed_out, seconds)


async def _end(process: ChildProcess, read_task: asyncio.Future[tuple[None, None, None]]) -> None:
    """Kill the program and its children, and wait a limited time for the rest of its output."""
    await process.stop()
    done, _ = await asyncio.wait({read_task}, timeout=_KILL_TIMEOUT_S)
    if not done:
        # A surviving process still holds the output open; don't wait for it.
        read_task.cancel()
        await asyncio.wait({read_task})


async def _write_input(stream: asyncio.StreamWriter | None, input_data: bytes | None) -> None:
    if stream is None:
        return
    with suppress(ConnectionError):
        stream.write(input_data or b"")
        await stream.drain()
    stream.close()
