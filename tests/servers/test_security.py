"""Rejected clients, and a flood of unauthenticated connections, over real sockets."""

from __future__ import annotations

import asyncio
import json
import shutil
import stat
import sys

import pytest

from app.events import EventBus
from app.servers.auth_failures import AuthFailures
from app.servers.connection_limits import MAX_CONNECTIONS
from app.servers.security import MAX_BODY_BYTES, MAX_CONCURRENT_REQUESTS
from app.servers.server_state import TokenRefused
from tests.servers.conftest import ServedEndpoint
from tests.support.approver import ScriptedApprover, unanswered

TOOLS = "/api/v1/tools"


async def raw(served: ServedEndpoint, request: bytes, *, wait: float = 10.0) -> bytes:
    """Return the server's whole answer to these bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.endpoint.port)
    try:
        writer.write(request)
        async with asyncio.timeout(wait):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


def request(served: ServedEndpoint, *headers: str, method: str = "GET", path: str = TOOLS) -> bytes:
    """Send a request with just these headers and close the connection."""
    lines = [f"{method} {path} HTTP/1.1", *headers, "connection: close"]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 0


def host(served: ServedEndpoint) -> str:
    return f"host: 127.0.0.1:{served.endpoint.port}"


def bearer(token: str) -> str:
    return f"authorization: Bearer {token}"


async def test_a_valid_token_is_accepted(served: ServedEndpoint) -> None:
    async with served.http() as http:
        answer = await http.get(TOOLS)
        assert answer.status_code == 200 and len(answer.json()["tools"]) > 30
        assert (await http.get("/api/v1/vault")).json() == {"name": "Sample vault", "client": "Robot"}


async def test_a_request_without_the_token_is_rejected(served: ServedEndpoint) -> None:
    for given in ("", "Bearer ", "Bearer wrong", "Basic Um9ib3Q6", "Bearer {0} {0}", "{0}"):
        header = "authorization: " + given.format(served.token)
        answer = await raw(served, request(served, host(served), header))
        assert status(answer) == 401 and b"www-authenticate: Bearer" in answer
    assert status(await raw(served, request(served, host(served)))) == 401
    two = request(served, host(served), bearer(served.token), bearer(served.token))
    assert status(await raw(served, two)) == 401


async def test_a_rebound_host_name_is_rejected(served: ServedEndpoint) -> None:
    port = served.endpoint.port
    foreign = ("evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", f"[::1]:{port}")
    for said in (*foreign, "127.0.0.1", "127.0.0.1:1", ""):
        assert status(await raw(served, request(served, f"host: {said}", bearer(served.token)))) == 421


async def test_a_request_with_several_hosts_is_rejected(served: ServedEndpoint) -> None:
    two = request(served, host(served), "host: evil.example", bearer(served.token))
    assert status(await raw(served, two)) in (400, 421)
    none = f"GET {TOOLS} HTTP/1.0\r\n{bearer(served.token)}\r\n\r\n".encode()
    assert status(await raw(served, none)) == 421


async def test_web_pages_are_rejected(served: ServedEndpoint) -> None:
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1", "file://", ""):
        answer = await raw(served, request(served, host(served), bearer(served.token), f"origin: {origin}"))
        assert status(answer) == 403
        assert b"access-control-allow" not in answer.lower()
        asked_before = request(served, host(served), f"origin: {origin}", method="OPTIONS")
        assert b"access-control-allow" not in (await raw(served, asked_before)).lower()


async def test_a_revoked_token_is_void_at_once_and_ends_what_runs(
    served: ServedEndpoint, approver: ScriptedApprover
) -> None:
    question_asked = asyncio.Event()
    approver.answers = [unanswered(question_asked)]
    tokens = served.workspace.endpoints.tokens
    assert tokens is not None
    async with served.http() as http:
        call = asyncio.ensure_future(http.post(f"{TOOLS}/create_note", json={"name": "Late"}))
        await question_asked.wait()
        tokens.revoke("Robot")
        assert (await call).status_code == 503
        assert (await http.get(TOOLS)).status_code == 401
    entry = served.workspace.audit.entries(limit=1)[0]
    assert (entry.decision, entry.reason) == ("cancelled", "its token was revoked")


async def test_a_refused_token_is_reported_once_and_counted(served: ServedEndpoint) -> None:
    events: list[TokenRefused] = []
    served.workspace.events.subscribe(TokenRefused, events.append)
    for _ in range(5):
        answer = await raw(
            served, request(served, host(served), bearer("scriptorium_wrong"), "user-agent: Old 1")
        )
        assert status(answer) == 401
    await raw(served, request(served, host(served)))
    (event,) = events
    assert (event.refused.count, event.refused.claimed_name) == (1, "Old 1")
    refused = served.workspace.endpoints.state().refused
    assert refused is not None and refused.count == 5


async def test_further_refused_tokens_are_reported_as_one() -> None:
    events, published = EventBus(), []
    refusals = AuthFailures(events, report_interval=0.001)
    both = asyncio.Event()
    events.subscribe(
        TokenRefused, lambda event: (published.append(event), len(published) == 2 and both.set())
    )
    for _ in range(3):
        refusals.add("x")
    await both.wait()
    refusals.close()
    assert [event.refused.count for event in published] == [1, 2]


async def test_a_disabled_api_reports_it_and_local_processes_still_connect(served: ServedEndpoint) -> None:
    served.workspace.change_settings("servers", http_api=False)
    async with served.http() as http:
        refused = await http.get(TOOLS)
        assert refused.status_code == 403 and "turned off" in refused.json()["error"]["message"]
    async with served.http(served.endpoint.token) as local:
        assert (await local.get(TOOLS)).status_code == 200


async def test_the_local_name_and_kind_count_with_the_local_token_only(served: ServedEndpoint) -> None:
    posing = {"scriptorium-client": "Terminal", "scriptorium-kind": "cli"}
    async with served.http(**posing) as http:
        await http.post(f"{TOOLS}/list_tags", json={})
    entry = served.workspace.audit.entries(limit=1)[0]
    assert (entry.caller_kind, entry.caller) == ("http", "Robot")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes of files")
async def test_only_the_user_may_read_the_tokens(served: ServedEndpoint) -> None:
    from app import paths

    folder = paths.vault_data_folder(served.workspace.root)
    for name in ("door.json", "clients.json"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
        assert served.token not in (folder / name).read_text()


NO_REQUESTS = {
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "version": b"GET / HTTP/9.9\r\n\r\n",
    "zeros": b"\x00" * 64 + b"\r\n\r\n",
    "long target": b"GET " + b"/" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
    "many headers": b"GET / HTTP/1.1\r\nhost: x\r\n" + b"a: b\r\n" * 20_000 + b"\r\n",
    "bad chunk": b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    "negative": b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -4\r\n\r\nabcd",
}


async def test_malformed_requests_are_rejected_and_the_server_continues(served: ServedEndpoint) -> None:
    for name, sent in NO_REQUESTS.items():
        assert status(await raw(served, sent)) in (0, 400, 421), name
    async with served.http() as http:
        assert (await http.get(TOOLS)).status_code == 200


async def test_a_body_is_bounded_whether_it_says_its_size_or_not(served: ServedEndpoint) -> None:
    headers = (host(served), bearer(served.token), f"content-length: {MAX_BODY_BYTES + 1}")
    assert status(await raw(served, request(served, *headers, method="POST", path=f"{TOOLS}/search"))) == 413

    async def endless():
        for _ in range(MAX_BODY_BYTES // 65536 + 2):
            yield b" " * 65536

    async with served.http() as http:
        answer = await http.post(f"{TOOLS}/search", content=endless())
        assert answer.status_code == 413 and answer.json()["error"]["type"] == "limit"


async def test_a_body_that_is_no_object_is_an_error(served: ServedEndpoint) -> None:
    async with served.http() as http:
        for body in (b"{", b"[]", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"a":' * 10_000, b"NaN"):
            answer = await http.post(f"{TOOLS}/list_tags", content=body)
            assert answer.status_code == 422
            assert answer.json()["error"]["type"] == "invalid_parameters"


async def test_silent_connections_are_dropped_and_block_no_client(served: ServedEndpoint) -> None:
    way_in = served.workspace.endpoints.server
    assert way_in is not None
    strangers = [
        await asyncio.open_connection("127.0.0.1", served.endpoint.port) for _ in range(MAX_CONNECTIONS + 60)
    ]
    async with served.http() as http:
        assert (await http.get(TOOLS)).status_code == 200
        assert len(way_in.connections) <= MAX_CONNECTIONS
        assert (await http.get(TOOLS)).status_code == 200
    for _, writer in strangers:
        writer.transport.abort()


async def test_concurrent_requests_are_limited_per_client(
    served: ServedEndpoint, approver: ScriptedApprover
) -> None:
    tokens = served.workspace.endpoints.tokens
    assert tokens is not None
    other = tokens.create("Other")
    async with served.http() as http, served.http(other) as polite:
        streams = []
        for _ in range(MAX_CONCURRENT_REQUESTS):
            context = http.stream("GET", "/api/v1/news")
            streams.append((context, await context.__aenter__()))
        refused = await http.get(TOOLS)
        assert refused.status_code == 429 and refused.headers["retry-after"]
        assert (await polite.get(TOOLS)).status_code == 200
        for context, _ in streams:
            await context.__aexit__(None, None, None)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not on this machine")
async def test_curl_calls_a_tool(served: ServedEndpoint) -> None:
    command = [
        "curl",
        "--silent",
        "--show-error",
        "--max-time",
        "20",
        "-H",
        f"Authorization: Bearer {served.token}",
        "-d",
        '{"query": "tea"}',
        f"{served.endpoint.address}{TOOLS}/search_notes",
    ]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    assert process.returncode == 0 and json.loads(out)["success"] is True
