"""The stdio server answers an invalid message with an error and serves the next one."""

from __future__ import annotations

import asyncio
import json
import os

import anyio
import mcp_types as t

from app.servers import mcp_stdio

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
WRONG = (b"garbage", b"\xff\xfe", b"{}", b"[]", b'{"jsonrpc":"2.0","id":1}', b"[" * 3000, b"x" * 50_000)


async def test_every_wrong_line_is_answered_and_the_rest_is_read():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=10_000)
    for line in WRONG:
        reader.feed_data(line + b"\n" + PING + b"\n\n")
    reader.feed_data(PING)
    reader.feed_eof()
    source, target = os.pipe()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(target, "wb", 0)
    )
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    send, receive = anyio.create_memory_object_stream(100)
    await mcp_stdio._read_messages(reader, send, writer)
    transport.close()
    async with receive:
        messages = [message async for message in receive]
    with os.fdopen(source, "rb") as answered:
        errors = [json.loads(line) for line in await asyncio.to_thread(answered.readlines)]
    assert len(messages) == len(WRONG) + 1
    assert [error["id"] for error in errors] == [None] * len(WRONG)
    codes = [error["error"]["code"] for error in errors]
    assert codes[0] == t.PARSE_ERROR and codes[2] == codes[-1] == t.INVALID_REQUEST
