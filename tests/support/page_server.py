"""A scripted web server on loopback: pages, redirects, compressed and broken answers, slow ones.

It runs in its own thread with its own loop, and records the requests.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.web.addresses import IPAddress, is_public

Answer = Response | Callable[[Request], Awaitable[Response]]
NAME = "pages.example"


@dataclass(frozen=True)
class Asked:
    """A request: its path with the query, its headers and its body."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class WebServer:
    """Answers each path as scripted, and others with not found. Use as a context manager."""

    def __init__(self, answers: Mapping[str, Answer] | None = None) -> None:
        self.answers: dict[str, Answer] = dict(answers or {})
        self.asked: list[Asked] = []
        routes = [Route("/{path:path}", self._answer, methods=["GET", "POST"])]
        config = uvicorn.Config(
            Starlette(routes=routes), host="127.0.0.1", port=0, log_level="critical", lifespan="off"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="web server")

    @property
    def port(self) -> int:
        """The port."""
        return int(self._server.servers[0].sockets[0].getsockname()[1])

    @property
    def address(self) -> str:
        """The address on this machine."""
        return f"http://127.0.0.1:{self.port}"

    def at(self, path: str) -> str:
        """Return the address of a path by the server's public name, which `NameCompleter` knows."""
        return f"http://{NAME}:{self.port}{path}"

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(10)

    def _serve(self) -> None:
        with asyncio.Runner() as runner:
            runner.run(self._server._serve())

    async def _answer(self, request: Request) -> Response:
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        self.asked.append(Asked(request.method, path, dict(request.headers), await request.body()))
        answer = self.answers.get(request.url.path)
        if answer is None:
            return Response("no such page", 404)
        return answer if isinstance(answer, Response) else await answer(request)


class Names:
    """A resolver that knows the server's name and those that a test adds; it records the lookups."""

    def __init__(self) -> None:
        self.answers: dict[str, list[list[str]]] = {NAME: [["127.0.0.1"]]}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[IPAddress]:
        self.asked.append(host)
        turns = self.answers.get(host)
        if turns is None:
            raise OSError(f"no address for {host}")
        found = turns.pop(0) if len(turns) > 1 else turns[0]
        return [ip_address(one) for one in found]


class PublicAndOne:
    """Allows public addresses, and the test server under its public name."""

    def __init__(self, server: WebServer) -> None:
        self._server = server

    def allows_port(self, scheme: str, host: str, port: int) -> bool:
        return port in (80, 443) or port == self._server.port

    def allows_address(self, host: str, port: int, address: IPAddress) -> bool:
        return is_public(address) or (host, port) == (NAME, self._server.port)
