"""Stdio transport of an external server: a local program that exchanges lines of JSON.

Unlike the SDK's own transport, it limits the length of lines, keeps the error output for the user, passes
only the necessary variables and those that the user named, and stops child processes with the program.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.external.orphan_processes import track_process
from app.processes.child import ChildProcess

MAX_MESSAGE_BYTES = 8 * 1024 * 1024
_MAX_ERROR_LINES = 30
_MAX_ERROR_LINE_BYTES = 400
_REQUIRED_VARIABLES = (
    ("APPDATA", "LOCALAPPDATA", "PATH", "PATHEXT", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERPROFILE")
    if sys.platform == "win32"
    else ("HOME", "LANG", "PATH", "TMPDIR")
)


@dataclass(slots=True)
class ServerLog:
    """The last lines of a server's error output, and how it ended.

    `closed` is set once the server has stopped sending; `end_reason` is empty if the reason is unknown.
    """

    lines: deque[str] = field(default_factory=lambda: deque(maxlen=_MAX_ERROR_LINES))
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    end_reason: str = ""


@dataclass(frozen=True, slots=True)
class StdioServerSpec:
    """A program to start, with its whole environment and its working folder."""

    command: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path


def environment_of(variables: tuple[str, ...]) -> dict[str, str]:
    """Return the variables that every program needs, and those that the user named, if set."""
    return {name: os.environ[name] for name in (*_REQUIRED_VARIABLES, *variables) if name in os.environ}


@asynccontextmanager
async def stdio_transport(program: StdioServerSpec, log: ServerLog, grace: float) -> AsyncIterator[Any]:
    """Start a program and open its streams; leaving the context ends it and its child processes.

    Args:
        program: The program to start.
        log: Receives its error output and the reason why it exited.
        grace: Seconds to wait for it to exit after its input is closed, and again after SIGTERM.

    Raises:
        NotFoundError: there is no such program or working folder.
        StorageError: the program can't be started.
    """
    import anyio
    from mcp.shared.message import SessionMessage

    process = await ChildProcess.start(
        (program.command, *program.arguments),
        cwd=program.folder,
        environment=program.environment,
        line_limit=MAX_MESSAGE_BYTES,
    )
    read_stream_writer, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](16)
    write_stream, write_stream_reader = anyio.create_memory_object_stream[SessionMessage](16)
    tasks = [
        asyncio.create_task(
            _read_lines(process, read_stream_writer, log), name="read from an external server"
        ),
        asyncio.create_task(_write_lines(process, write_stream_reader), name="write to an external server"),
        asyncio.create_task(
            _collect_errors(process, log), name="collect the error output of an external server"
        ),
    ]
    try:
        with track_process(program.folder, process.pid):
            try:
                yield read_stream, write_stream
            finally:
                await asyncio.shield(asyncio.ensure_future(_stop_process(process, tasks, grace, log)))
    finally:
        for stream in (read_stream_writer, read_stream, write_stream, write_stream_reader):
            stream.close()


async def _read_lines(process: ChildProcess, read_stream_writer: Any, log: ServerLog) -> None:  # noqa: ANN401
    """Forward the messages; the end of the stream or a line over the limit ends the connection."""
    from anyio import BrokenResourceError, ClosedResourceError
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    assert process.stdout is not None
    with suppress(BrokenResourceError, ClosedResourceError):
        async with _closing(log), read_stream_writer:
            while True:
                try:
                    line = await process.stdout.readuntil(b"\n")
                except asyncio.LimitOverrunError:
                    log.end_reason = f"it sent a message of more than {MAX_MESSAGE_BYTES // 1024 // 1024} MiB"
                    return
                except (asyncio.IncompleteReadError, ConnectionError):
                    return
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    continue  # not a message: a call that waits for it times out
                await read_stream_writer.send(SessionMessage(message))


@asynccontextmanager
async def _closing(log: ServerLog) -> AsyncIterator[None]:
    try:
        yield
    finally:
        log.closed.set()


async def _write_lines(process: ChildProcess, write_stream_reader: Any) -> None:  # noqa: ANN401 (a stream)
    assert process.stdin is not None
    with suppress(OSError):
        async for message in write_stream_reader:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(text.encode("utf-8", "replace") + b"\n")
            await process.stdin.drain()


async def _collect_errors(process: ChildProcess, log: ServerLog) -> None:
    assert process.stderr is not None
    buffer = b""
    while part := await process.stderr.read(16 * 1024):
        *lines, buffer = (buffer + part).split(b"\n")
        log.lines.extend(
            line[:_MAX_ERROR_LINE_BYTES].decode("utf-8", "replace") for line in lines if line.strip()
        )
        buffer = buffer[:_MAX_ERROR_LINE_BYTES]
    if buffer.strip():
        log.lines.append(buffer.decode("utf-8", "replace"))


async def _stop_process(
    process: ChildProcess, tasks: list[asyncio.Task[None]], grace: float, log: ServerLog
) -> None:
    """Close the program's input, then terminate it, then kill it and its child processes; always reap it."""
    tasks[1].cancel()
    await process.stop(grace, terminate=True)
    log.end_reason = log.end_reason or _exit_text(process.exit_status)
    _, unfinished = await asyncio.wait(tasks, timeout=grace)
    for task in unfinished:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _exit_text(code: int | None) -> str:
    if code is None:
        return "it exited"
    return f"it exited with status {code}" if code >= 0 else f"it was terminated by signal {-code}"
