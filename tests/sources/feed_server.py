"""A real HTTP server with a feed on this machine: ETags, redirects, broken and huge answers."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

from app.web.address_policy import Origin, SingleOrigin
from app.web.http_fetcher import Fetcher, FetchLimits


def rss(*titles: str) -> bytes:
    """Return a feed with these entries, newest first."""
    items = "".join(
        f"<item><title>{title}</title><guid>{title}</guid><link>https://example.org/{title}</link>"
        f"<description>&lt;p&gt;About &lt;b&gt;{title}&lt;/b&gt;&lt;script&gt;x()&lt;/script&gt;"
        "</description>"
        "<pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate></item>"
        for title in titles
    )
    said = f'<rss version="2.0"><channel><title>T</title>{items}</channel></rss>'
    return f'<?xml version="1.0"?>{said}'.encode()


class FeedServer:
    """Serves `body` at /feed; `asked` has the headers of each request."""

    def __init__(self) -> None:
        self.body = rss("one")
        self.etag = '"1"'
        self.status = 200
        self.asked: list[dict[str, str]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server._answer(self)

            def log_message(self, *_: object) -> None:
                """Suppress the log."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/feed"

    def fetcher(self, wire: int = 200_000) -> Fetcher:
        """Return a fetcher that can reach this server only."""
        reach = SingleOrigin(Origin("http", "127.0.0.1", self._http.server_port))
        return Fetcher(reach, limits=FetchLimits(wire_bytes=wire, decompressed_bytes=wire, seconds=10.0))

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.asked.append({name.lower(): value for name, value in handler.headers.items()})
        if handler.path == "/moved":
            handler.send_response(301)
            handler.send_header("Location", "/feed")
            handler.end_headers()
            return
        if handler.path == "/loop":
            handler.send_response(302)
            handler.send_header("Location", "/loop")
            handler.end_headers()
            return
        if self.status == 200 and self.etag and handler.headers.get("If-None-Match") == self.etag:
            handler.send_response(304)
            handler.end_headers()
            return
        handler.send_response(self.status)
        handler.send_header("Content-Type", "application/rss+xml")
        handler.send_header("ETag", self.etag)
        handler.send_header("Last-Modified", "Mon, 02 Nov 2026 10:00:00 GMT")
        handler.send_header("Content-Length", str(len(self.body)))
        handler.end_headers()
        try:
            handler.wfile.write(self.body)
        except OSError:
            # The reader has stopped reading, which the test of a huge feed expects.
            handler.close_connection = True

    def __enter__(self) -> FeedServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
