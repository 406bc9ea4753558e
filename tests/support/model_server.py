"""A scripted model server: speaks the streaming OpenAI chat protocol over HTTP on loopback.

A test gives it the answers in order; each accepted request takes the next one, and later ones get a fixed
text. It records these requests, so that a test can check what was sent. It runs in its own thread with its
own loop.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.support.web_server import WebServer


@dataclass(frozen=True)
class TextAnswer:
    """Stream this text word by word, with `pause` seconds between the words."""

    text: str
    pause: float = 0.0


@dataclass(frozen=True)
class CallTool:
    """Call a tool, with its arguments streamed in pieces, after the message `text`."""

    tool: str
    arguments: dict[str, object]
    text: str = ""


@dataclass(frozen=True)
class RawCalls:
    """Call tools in one response, with the arguments verbatim."""

    calls: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Fail:
    """Answer with a status and an error body."""

    status: int
    message: str
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BreakOff:
    """Stream some words, then drop the connection without an end."""

    text: str


Answer = TextAnswer | CallTool | RawCalls | Fail | BreakOff


class _DroppedStreamError(Exception):
    """Ends a response in the middle."""


class ModelServer(WebServer):
    """Serves the script until it is closed. Use as a context manager."""

    def __init__(self, *answers: Answer, key: str | None = None) -> None:
        self.answers = list(answers)
        self.requests: list[dict[str, object]] = []
        self.key = key
        routes = [
            Route("/v1/chat/completions", self._chat, methods=["POST"]),
            Route("/v1/models", self._models),
        ]
        super().__init__(routes)

    @property
    def address(self) -> str:
        """The address for the settings."""
        return f"{super().address}/v1"

    def _refused(self, request: Request) -> Response | None:
        if self.key is None or request.headers.get("authorization") == f"Bearer {self.key}":
            return None
        error = {"message": "Incorrect API key provided.", "code": "invalid_api_key"}
        return JSONResponse({"error": error}, 401)

    async def _models(self, request: Request) -> Response:
        model = {"id": "scripted", "object": "model", "created": 1, "owned_by": "tests"}
        return self._refused(request) or JSONResponse({"object": "list", "data": [model]})

    async def _chat(self, request: Request) -> Response:
        if refused := self._refused(request):
            return refused
        body = await request.json()
        self.requests.append(body)
        answer = self.answers.pop(0) if self.answers else TextAnswer("I have nothing more to say.")
        if isinstance(answer, Fail):
            return JSONResponse({"error": {"message": answer.message}}, answer.status, headers=answer.headers)
        if not body.get("stream"):
            return JSONResponse(_whole(answer))
        return StreamingResponse(_stream(answer), media_type="text/event-stream")


def _chunk(delta: dict[str, object] | None, finish: str | None = None, usage: bool = False) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    chunk: dict[str, object] = {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "scripted",
        "choices": choices,
    }
    if usage:
        chunk["usage"] = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return f"data: {json.dumps(chunk)}\n\n".encode()


async def _stream(answer: Answer) -> AsyncIterator[bytes]:
    text = answer.text if isinstance(answer, TextAnswer | CallTool | BreakOff) else ""
    pause = answer.pause if isinstance(answer, TextAnswer) else 0.0
    yield _chunk({"role": "assistant", "content": ""})
    for word in text.split(" ") if text else []:
        await asyncio.sleep(pause)
        yield _chunk({"content": word + " "})
    if isinstance(answer, BreakOff):
        raise _DroppedStreamError
    if isinstance(answer, CallTool):
        head = {"index": 0, "id": f"call_{time.monotonic_ns()}", "type": "function"}
        yield _chunk({"tool_calls": [{**head, "function": {"name": answer.tool, "arguments": ""}}]})
        whole = json.dumps(answer.arguments)
        for at in range(0, len(whole), 7):
            yield _chunk({"tool_calls": [{"index": 0, "function": {"arguments": whole[at : at + 7]}}]})
        yield _chunk({}, "tool_calls")
    elif isinstance(answer, RawCalls):
        for index, (name, arguments) in enumerate(answer.calls):
            head = {"index": index, "id": f"call_{index}_{time.monotonic_ns()}", "type": "function"}
            yield _chunk({"tool_calls": [{**head, "function": {"name": name, "arguments": arguments}}]})
        yield _chunk({}, "tool_calls")
    else:
        yield _chunk({}, "stop")
    yield _chunk(None, usage=True)
    yield b"data: [DONE]\n\n"


def _whole(answer: Answer) -> dict[str, object]:
    message: dict[str, object] = {"role": "assistant", "content": getattr(answer, "text", "")}
    finish = "stop"
    if isinstance(answer, CallTool):
        function = {"name": answer.tool, "arguments": json.dumps(answer.arguments)}
        head = {"id": f"call_{time.monotonic_ns()}", "type": "function"}
        message["tool_calls"] = [{**head, "function": function}]
        finish = "tool_calls"
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "usage": usage,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
