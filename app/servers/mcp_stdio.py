"""The MCP server over standard input and output, one message per line.

Other output would break the protocol, so the descriptors are duplicated first, and standard output is
redirected to standard error.
"""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import mcp_types as t
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from app.encoding import check_json_size
from app.errors import LimitError
from app.servers.mcp_server import mcp_server
from app.servers.vault_access import Client, VaultAccess

log = logging.getLogger(__name__)

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
_Received = SessionMessage | Exception
Streams = tuple[MemoryObjectReceiveStream[_Received], MemoryObjectSendStream[SessionMessage]]


async def serve_stdio(service: VaultAccess, client: Client) -> None:
    """Serve one client until it closes the pipe."""
    server = mcp_server(service, lambda ctx: client)
    if _are_pipes():
        async with _open_pipes() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    else:
        async with stdio_server() as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())


def _are_pipes() -> bool:
    """Return whether standard input and output are pipes that the event loop can wait on."""
    if sys.platform == "win32":
        return False
    modes = (os.fstat(0).st_mode, os.fstat(1).st_mode)
    return all(stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) for mode in modes)


@asynccontextmanager
async def _open_pipes() -> AsyncIterator[Streams]:
    """Open the client's pipes as streams of messages, without threads."""
    loop = asyncio.get_running_loop()
    source, target = _take_over_streams()
    reader = asyncio.StreamReader(limit=MAX_MESSAGE_BYTES, loop=loop)
    read_transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader, loop=loop), os.fdopen(source, "rb", 0)
    )
    write_transport, write_protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader(loop=loop), loop=loop),
        os.fdopen(target, "wb", 0),
    )
    writer = asyncio.StreamWriter(write_transport, write_protocol, None, loop)
    send_in, incoming = anyio.create_memory_object_stream[_Received](0)
    outgoing, receive_out = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read_messages, reader, send_in, writer)
        tasks.start_soon(_write_messages, receive_out, writer)
        try:
            yield incoming, outgoing
        finally:
            tasks.cancel_scope.cancel()
            read_transport.close()
            write_transport.close()


def _take_over_streams() -> tuple[int, int]:
    """Take over the client's pipes: standard input becomes empty, and output goes to standard error."""
    source, target = os.dup(0), os.dup(1)
    devnull = os.open(os.devnull, os.O_RDONLY)
    os.dup2(devnull, 0)
    os.close(devnull)
    sys.stdout.flush()
    os.dup2(2, 1)
    return source, target


async def _read_messages(
    reader: asyncio.StreamReader,
    send: MemoryObjectSendStream[_Received],
    writer: asyncio.StreamWriter,
) -> None:
    async with send:
        while (line := await _read_line(reader)) is None or line:
            if line is None:
                await _send_error(
                    writer, t.INVALID_REQUEST, f"The message is larger than {MAX_MESSAGE_BYTES} bytes."
                )
            elif line.strip():
                try:
                    await check_json_size(line)
                    message = t.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except LimitError as error:
                    await _send_error(writer, t.INVALID_REQUEST, error.message)
                except ValidationError as error:
                    await _send_error(writer, *_parse_error(error))
                else:
                    await send.send(SessionMessage(message))


async def _read_line(reader: asyncio.StreamReader) -> bytes | None:
    """Return the next line, empty at the end; None for a line that was too long and was skipped."""
    is_complete = True
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            return error.partial
        except asyncio.LimitOverrunError as error:
            is_complete = False
            await reader.readexactly(max(1, error.consumed))
            continue
        return line if is_complete else None


def _parse_error(error: ValidationError) -> tuple[int, str]:
    if any(detail["type"] == "json_invalid" for detail in error.errors()):
        return t.PARSE_ERROR, "The message is not JSON."
    return t.INVALID_REQUEST, "The message is not a JSON-RPC message."


async def _send_error(writer: asyncio.StreamWriter, code: int, message: str) -> None:
    """Send an error for an invalid message, whose request id is unknown."""
    error = t.JSONRPCError(jsonrpc="2.0", id=None, error=t.ErrorData(code=code, message=message))
    await _write_message(writer, error)


async def _write_messages(
    receive: MemoryObjectReceiveStream[SessionMessage], writer: asyncio.StreamWriter
) -> None:
    async with receive:
        async for message in receive:
            try:
                await _write_message(writer, message.message)
            except (BrokenPipeError, ConnectionResetError):
                log.info("the client has stopped reading")
                return


async def _write_message(writer: asyncio.StreamWriter, message: t.JSONRPCMessage) -> None:
    writer.write(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
    await writer.drain()
