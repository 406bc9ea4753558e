"""An immediate answer is JSON, a late one a stream; no part is lost or out of order."""

from __future__ import annotations

import asyncio

import pytest
from starlette.types import Message

from app.servers.mcp_json_response import JsonResponseUpgrade

START: Message = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"text/event-stream; charset=utf-8"), (b"mcp-session-id", b"s")],
}
NUMBER = b"id: 1\r\nretry: 1000\r\ndata: \r\n\r\n"
ANSWER = b'{"jsonrpc":"2.0","id":"a\\"7","result":{"x":1}}'
TOLD = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{}}'
END: Message = {"type": "http.response.body", "body": b"", "more_body": False}


def event(data: bytes) -> bytes:
    return b"id: 2\r\nevent: message\r\ndata: " + data + b"\r\n\r\n"


def part(body: bytes) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": True}


async def upgraded(*messages: Message, within: float = 60.0) -> list[Message]:
    out: list[Message] = []

    async def send(message: Message) -> None:
        out.append(message)

    async with JsonResponseUpgrade(send, within) as quick:
        for message in messages:
            await quick(message)
    return out


async def test_an_immediate_answer_is_sent_as_json() -> None:
    start, body = await upgraded(START, part(NUMBER), part(event(ANSWER)), END)
    assert body == {"type": "http.response.body", "body": ANSWER, "more_body": False}
    assert dict(start["headers"]) == {
        b"mcp-session-id": b"s",
        b"content-type": b"application/json",
        b"content-length": str(len(ANSWER)).encode(),
    }


@pytest.mark.parametrize(
    "messages",
    [
        (START, part(NUMBER), part(event(TOLD)), part(event(ANSWER)), END),
        (START, part(NUMBER), END),
        ({**START, "headers": [(b"content-type", b"application/json")]}, part(ANSWER), END),
        ({**START, "status": 202, "headers": []}, END),
    ],
    ids=["something is told first", "it ends without an answer", "it is no stream", "it has no body"],
)
async def test_other_responses_are_passed_through(messages: tuple[Message, ...]) -> None:
    assert await upgraded(*messages) == list(messages)


async def test_a_stream_starts_if_no_answer_arrives_in_time() -> None:
    out: list[Message] = []
    begun = asyncio.Event()

    async def send(message: Message) -> None:
        out.append(message)
        begun.set()

    async with JsonResponseUpgrade(send, 0.001) as quick:
        await quick(START)
        await begun.wait()
        await quick(part(event(ANSWER)))
        await quick(END)
    assert out == [START, part(event(ANSWER)), END]
