"""The local server listens on a port of its own."""

from __future__ import annotations

from app.servers.local_server import _listen


def test_two_servers_that_start_at_once_listen_on_different_ports() -> None:
    with _listen(0) as first:
        port = first.getsockname()[1]
        with _listen(port) as second:
            assert second.getsockname()[1] != port
