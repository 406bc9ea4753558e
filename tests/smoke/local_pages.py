"""A small web server on this machine for the check of the web tools: a page, and search results.

The check must work without a network. The requests are real ones, through the guard, which lets this one
server through.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

import httpx2

from app.web.address_policy import AddressPolicy, SingleOrigin, origin_of

_PAGE = """\
<!doctype html>
<html lang="en">
<head><title>Chronometers at sea</title><meta property="article:published_time" content="2021-05-04"></head>
<body>
<nav><a href="/">Home</a> <a href="/about">About</a></nav>
<article>
<h1>Chronometers at sea</h1>
<p>A marine chronometer keeps the time of a known meridian through storms, heat and cold. The navigator
compares it with local noon, and the difference gives the longitude of the ship.</p>
<p>Early ones were rare and dear: a captain who had one still took lunar distances to check it, since a clock
alone can't be checked at sea.</p>
</article>
<footer>A page of the check.</footer>
</body>
</html>
"""
_RESULTS = {
    "results": [
        {
            "url": "https://example.org/longitude-trials",
            "title": "The trials of the marine timekeepers",
            "content": "The trials confirmed that the marine chronometer solved longitude at sea.",
        },
        {
            "url": "https://example.org/lunars",
            "title": "Were timekeepers really first?",
            "content": "It is a myth that the chronometer solved longitude at sea: ships had lunars.",
        },
    ]
}


class LocalPages:
    """The server; runs until it is closed. Use as a context manager."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
        self._thread = threading.Thread(target=self._server.serve_forever, name="local pages", daemon=True)

    @property
    def address(self) -> str:
        """The address of the pages."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def facts(self) -> dict[str, object]:
        """The facts for the calls."""
        return {"address": self.address}

    @property
    def reach(self) -> AddressPolicy:
        """Access to this server only."""
        return SingleOrigin(origin_of(httpx2.URL(self.address)))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Respond with the page or with results."""
        if self.path.startswith("/search?"):
            self._answer("application/json", json.dumps(_RESULTS))
        elif self.path == "/chronometers":
            self._answer("text/html; charset=utf-8", _PAGE)
        else:
            self.send_error(404)

    def _answer(self, kind: str, text: str) -> None:
        body = text.encode("utf-8")
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing: the check prints its own results."""
