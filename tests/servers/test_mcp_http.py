"""MCP over HTTP with hostile, careless and unlucky clients, through the real server."""

from __future__ import annotations

import asyncio
import json

import httpx2
import mcp_types as t
import pytest

from app.permissions.approval import Approved
from app.servers import mcp_http
from app.servers.mcp_http import McpHttpApp
from app.toolkit.outcome import ApprovalAnswered, ApprovalAsked
from tests.support.mcp_clients import over_http

ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}


def call(request_id: object, tool: str, **arguments: object) -> dict[str, object]:
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }


async def session_of(http: httpx2.AsyncClient) -> dict[str, str]:
    """Return the headers of a new session."""
    hello = await http.post("/mcp", json=HELLO, headers=ACCEPT)
    headers = {**ACCEPT, "mcp-session-id": hello.headers["mcp-session-id"]}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await http.post("/mcp", json=ready, headers=headers)).status_code == 202
    return headers


def answers(text: str) -> list[dict[str, object]]:
    lines = (line.removeprefix("data: ") for line in text.splitlines())
    return [json.loads(line) for line in lines if line.startswith("{")]


async def test_a_session_serves_only_its_own_client(served):
    assert served.workspace.endpoints.tokens is not None
    other = served.workspace.endpoints.tokens.create("Other")
    async with served.http() as robot, served.http(other) as stranger:
        headers = await session_of(robot)
        mine = await robot.post("/mcp", json=call(2, "vault_info"), headers=headers)
        theirs = await stranger.post("/mcp", json=call(2, "vault_info"), headers=headers)
        stolen = await stranger.get("/mcp", headers={**headers, "last-event-id": "1"})
        ended = await stranger.delete("/mcp", headers=headers)
        assert answers(mine.text)[0]["result"]["isError"] is False
        assert [one.status_code for one in (theirs, stolen, ended)] == [404, 404, 404]
        assert (await robot.delete("/mcp", headers=headers)).status_code == 200
        assert (await robot.post("/mcp", json=call(3, "vault_info"), headers=headers)).status_code == 404


async def test_without_a_token_nothing_is_revealed(served):
    async with served.http("wrong") as http:
        assert (await http.post("/mcp", json=HELLO, headers=ACCEPT)).status_code == 401


async def test_each_client_has_a_bounded_number_of_sessions(served, monkeypatch):
    monkeypatch.setattr(mcp_http, "_MAX_CLIENT_SESSIONS", 3)
    async with served.http() as http:
        opened = [await session_of(http) for _ in range(3)]
        assert (await http.post("/mcp", json=HELLO, headers=ACCEPT)).status_code == 503
        await http.delete("/mcp", headers=opened[0])
        # The session ends with a short delay.
        while (await http.post("/mcp", json=HELLO, headers=ACCEPT)).status_code == 503:
            await asyncio.sleep(0)


async def test_an_idle_session_ends_also_with_its_stream_open(workspace):
    async with unguarded_server(workspace, 20.0, listening_timeout=0.3) as http:
        headers = {**await session_of(http), "mcp-protocol-version": "2025-11-25"}
        async with http.stream("GET", "/mcp", headers={**headers, "accept": "text/event-stream"}) as news:
            assert news.status_code == 200
            assert (await http.post("/mcp", json=call(2, "vault_info"), headers=headers)).status_code == 200
            # The stream ends with the session.
            async for _ in news.aiter_lines():
                pass
        assert (await http.post("/mcp", json=call(3, "vault_info"), headers=headers)).status_code == 404


async def test_a_new_session_replaces_an_idle_one(served, monkeypatch):
    monkeypatch.setattr(mcp_http, "_MAX_CLIENT_SESSIONS", 2)
    monkeypatch.setattr(mcp_http, "_MIN_EVICTION_IDLE_S", 0.0)
    async with served.http() as http:
        first, second = await session_of(http), await session_of(http)
        for number, headers in ((2, first), (3, second)):
            call_message = call(number, "vault_info")
            assert (await http.post("/mcp", json=call_message, headers=headers)).status_code == 200
        third = await session_of(http)
        codes = []
        for headers in (first, second, third):
            answer = await http.post("/mcp", json=call(4, "vault_info"), headers=headers)
            codes.append(answer.status_code)
        assert codes == [404, 200, 200]


async def test_a_body_with_too_many_values_is_refused_before_it_is_parsed(served):
    too_many = b"{" + b",".join(b'"k%d":1' % n for n in range(60_000)) + b"}"
    text = {"name": "Long", "content": "a, b: c, " * 60_000}
    async with served.http() as http:
        for path in ("/mcp", "/api/v1/tools/create_note"):
            answer = await http.post(path, content=too_many, headers=ACCEPT)
            assert answer.status_code == 413 and "20,000 values" in answer.text
        assert (await http.post("/api/v1/tools/create_note", json=text)).status_code == 200


MALFORMED = (
    b"",
    b"{",
    b"[]",
    b"null",
    b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
    b"[" * 100_000,
    b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
)


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
async def test_a_malformed_body_is_rejected_and_the_server_continues(served, version):
    async with served.http() as http:
        headers = {**ACCEPT, "mcp-protocol-version": version}
        if version == "2025-11-25":
            headers |= await session_of(http)
        for body in MALFORMED:
            assert (await http.post("/mcp", content=body, headers=headers)).status_code == 400
        await session_of(http)


async def test_unknown_methods_are_protocol_errors(served):
    async with served.http() as http:
        headers = await session_of(http)
        for method, code in (("nothing/here", -32601), ("sampling/createMessage", -32601)):
            asked = {"jsonrpc": "2.0", "id": 5, "method": method, "params": {}}
            answer = await http.post("/mcp", json=asked, headers=headers)
            assert answers(answer.text)[0]["error"]["code"] == code


async def test_a_flood_of_calls_is_answered_each_with_a_result_or_a_reason(served):
    async with over_http(served.endpoint.address, served.token, "legacy") as client:
        results = await asyncio.gather(*(client.call_tool("read_note", {"name": "H4"}) for _ in range(24)))
        assert (await client.call_tool("vault_info", {})).structured_content["success"]
    kinds = {(one.structured_content.get("error") or {}).get("type", "success") for one in results}
    assert "success" in kinds and kinds <= {"success", "limit"}


async def test_a_client_that_does_not_reconnect_has_its_question_withdrawn(workspace, approver):
    question_asked, answered = asyncio.Event(), asyncio.Event()
    never = asyncio.get_running_loop().create_future()
    approver.answers = [lambda request: never]
    workspace.events.subscribe(ApprovalAsked, lambda event: question_asked.set())
    workspace.events.subscribe(ApprovalAnswered, lambda event: answered.set())
    async with unguarded_server(workspace, reconnect_timeout=0.0) as http:
        headers = await session_of(http)
        call_message = call(2, "edit_note", name="H4", op="append", text="x")
        async with http.stream("POST", "/mcp", json=call_message, headers=headers):
            await question_asked.wait()
        await answered.wait()
    (entry,) = workspace.audit.entries(limit=1)
    assert (entry.tool, entry.decision) == ("edit_note", "cancelled")


async def test_an_expired_reconnect_timer_is_forgotten(workspace):
    app = McpHttpApp(workspace.endpoints.local_vault, reconnect_timeout=0.0)
    app._schedule_withdrawal("session", set())
    app._schedule_withdrawal("session", set())
    async with asyncio.timeout(10):
        while app._reconnect_timers:
            await asyncio.sleep(0)


async def test_a_session_that_its_client_ends_as_it_expires_is_not_ended_twice(workspace):
    app = McpHttpApp(workspace.endpoints.local_vault)
    session_key = (("mcp", "Robot"), "session")
    app._track_session(session_key, {"type": "http"})
    app._expire(session_key)
    app._forget(session_key)
    await asyncio.gather(*app._end_tasks)


async def test_a_client_that_reconnects_gets_missed_events(workspace, approver):
    question_asked, go = asyncio.Event(), asyncio.Event()

    async def when_told(request):
        question_asked.set()
        await go.wait()
        return Approved(request.proposal)

    approver.answers = [when_told]
    async with unguarded_server(workspace, reconnect_timeout=30.0) as http:
        headers = {**await session_of(http), "mcp-protocol-version": "2025-11-25"}
        call_message = call(2, "edit_note", name="H4", op="append", text="x")
        async with http.stream("POST", "/mcp", json=call_message, headers=headers) as broken:
            lines = broken.aiter_lines()
            first = [await anext(lines) for _ in range(1)]
            await question_asked.wait()
        last = first[0].removeprefix("id: ")
        async with http.stream("GET", "/mcp", headers={**headers, "last-event-id": last}) as again:
            go.set()
            async for line in again.aiter_lines():
                if line.startswith("data: {"):
                    break
    assert json.loads(line[6:])["result"]["structuredContent"]["success"]


def unguarded_server(workspace, reconnect_timeout: float, **more: float):
    """The server without the guard, with configurable timeouts, over real connections."""
    from contextlib import asynccontextmanager

    from app.servers.security import CLIENT_KEY
    from tests.support.mcp_clients import ROBOT
    from tests.support.uvicorn_here import served

    @asynccontextmanager
    async def running():
        app = McpHttpApp(workspace.endpoints.local_vault, reconnect_timeout=reconnect_timeout, **more)

        async def let_in(scope, receive, send):
            await app({**scope, CLIENT_KEY: ROBOT}, receive, send)

        async with (
            app.lifespan(),
            served(let_in) as address,
            httpx2.AsyncClient(base_url=address, trust_env=False, timeout=30) as http,
        ):
            yield http

    return running()


async def test_calls_of_a_revoked_client_end(served, approver):
    question_asked = asyncio.Event()
    never = asyncio.get_running_loop().create_future()
    served.workspace.events.subscribe(ApprovalAsked, lambda event: question_asked.set())
    approver.answers = [lambda request: never]
    ended = asyncio.Event()
    served.workspace.events.subscribe(ApprovalAnswered, lambda event: ended.set())
    async with served.http() as http:
        headers = {**ACCEPT, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call"}
        headers["mcp-name"] = "edit_note"
        call_message = call(2, "edit_note", name="H4", op="append", text="x")
        call_message["params"]["_meta"] = {
            t.PROTOCOL_VERSION_META_KEY: "2026-07-28",
            t.CLIENT_CAPABILITIES_META_KEY: {},
        }
        posted = asyncio.create_task(http.post("/mcp", json=call_message, headers=headers))
        await question_asked.wait()
        served.workspace.endpoints.tokens.revoke("Robot")
        answer = await posted
        await ended.wait()
    assert answer.status_code == 503
