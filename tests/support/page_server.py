"""A scripted web server on loopback: pages, redirects, and compressed, broken and slow answers.

It runs in its own thread with its own loop, and records the requests.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.web.addresses import IPAddress, is_public
from tests.support.web_server import WebServer

Answer = Response | Callable[[Request], Awaitable[Response]]
NAME = "pages.example"


@dataclass(frozen=True)
class PageRequest:
    """A request: its method, path with query, headers and body."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class PageServer(WebServer):
    """Answers the scripted paths, and all others with status 404. Use as a context manager."""

    def __init__(self, answers: Mapping[str, Answer] | None = None) -> None:
        self.answers: dict[str, Answer] = dict(answers or {})
        self.asked: list[PageRequest] = []
        routes = [Route("/{path:path}", self._answer, methods=["GET", "POST"])]
        super().__init__(routes)

    def at(self, path: str) -> str:
        """Return the address of a path by the server's public name, which `Names` resolves."""
        return f"http://{NAME}:{self.port}{path}"

    def __exit__(self, *_: object) -> None:
        self._server.force_exit = True
        super().__exit__()

    async def _answer(self, request: Request) -> Response:
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        self.asked.append(PageRequest(request.method, path, dict(request.headers), await request.body()))
        answer = self.answers.get(request.url.path)
        if answer is None:
            return Response("no such page", 404)
        return answer if isinstance(answer, Response) else await answer(request)


class Names:
    """A resolver that knows the server's name and those that a test adds; it records the lookups.

    Each lookup of a name takes its next list of addresses, and repeats the last one.
    """

    def __init__(self) -> None:
        self.answers: dict[str, list[list[str]]] = {NAME: [["127.0.0.1"]]}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[IPAddress]:
        self.asked.append(host)
        turns = self.answers.get(host)
        if turns is None:
            raise OSError(f"no address for {host}")
        addresses = turns.pop(0) if len(turns) > 1 else turns[0]
        return [ip_address(address) for address in addresses]


class PublicAndOne:
    """Allows public addresses, and the test server under its public name."""

    def __init__(self, server: PageServer) -> None:
        self._server = server

    def allows_origin(self, scheme: str, host: str, port: int) -> bool:
        return port in (80, 443) or port == self._server.port

    def allows_address(self, host: str, port: int, address: IPAddress) -> bool:
        return is_public(address) or (host, port) == (NAME, self._server.port)
