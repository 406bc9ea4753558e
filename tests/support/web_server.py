"""A small server on loopback, in its own thread and loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import Self

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route


class WebServer:
    """Serves `routes` until it is closed. Use as a context manager."""

    def __init__(self, routes: Sequence[Route]) -> None:
        config = uvicorn.Config(
            Starlette(routes=list(routes)), host="127.0.0.1", port=0, log_level="critical", lifespan="off"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="web server")

    @property
    def port(self) -> int:
        """The port."""
        return int(self._server.servers[0].sockets[0].getsockname()[1])

    @property
    def address(self) -> str:
        """Its address, without a trailing slash."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(10)

    def _serve(self) -> None:
        with asyncio.Runner() as runner:
            runner.run(self._server._serve())
