"""Invalid UTF-8, NUL, a megabyte and deep JSON in every argument: over HTTP, MCP and directly."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from mcp import MCPError

from app.permissions.approval import Denied
from app.permissions.caller import Caller, CallerKind
from app.toolkit.call import Call
from app.tools import CATALOG, FILE_TOOL
from app.vault.path import NotePath
from tests.support.mcp_clients import ERAS, inside

API = "/api/v1"
DEEP = "[" * 5000 + "]" * 5000
_AWKWARD = (
    "\ud800",
    "a\udfffb.md",
    "\ud83c\udf75",
    "Gr\udcfc\udcdfe.md",
    "x\0y",
    "x" * 1_000_000,
    "\u202egnp.md",
    "\r\n\x85\u2028",
    "../" * 50,
    "[[" * 2000,
    "#" * 3000 + "\t",
)
_TEXTS = st.sampled_from(_AWKWARD) | st.text(st.characters(exclude_categories=()), max_size=40)


def nested(depth: int) -> object:
    """Return nested lists."""
    value: object = "\ud800"
    for _ in range(depth):
        value = [value]
    return value


_VALUES = _TEXTS | st.sampled_from(
    [nested(3), nested(150), nested(400), {"\ud800": ["\udc00"]}, 2**70, -1.5, None]
)


def arguments_of(tool, value_of) -> dict[str, object]:
    """Return a call of a tool with a value for each argument."""
    return {one.name: value_of(one.name) for one in tool.parameters}


async def is_well(workspace) -> None:
    """Check that later calls and the user's own saves work, and the log is intact."""
    path = NotePath("People/John Harrison.md")
    before = workspace.store.read(path)
    saved = await workspace.runner.run(Call.save(path, before, before + b"\nmine\n"))
    assert saved.success and saved.entry > 0
    assert (
        await workspace.runner.run(Call.of("read_note", {"name": "H4"}, Caller(CallerKind.MCP, "Other")))
    ).success


async def test_every_text_argument_accepts_any_text(workspace, approver):
    approver.answers = [Denied("no")]
    for category in workspace.registry.categories:
        workspace.registry.set_category(category.id, on=True)
    for number, tool in enumerate((*CATALOG, FILE_TOOL)):
        operations = list(tool.operations) or [None]
        for turn, text in enumerate((*_AWKWARD, nested(150), nested(400), {"\ud800": "\udc00"})):
            arguments = arguments_of(tool, lambda name, text=text: text)
            if tool.operations:
                op = operations[turn % len(operations)]
                takes = tool.operations[op].takes
                arguments = {"op": op, **{name: value for name, value in arguments.items() if name in takes}}
            else:
                required = {one.name for one in tool.parameters if one.required}
                arguments = {name: value for name, value in arguments.items() if name in required or turn % 2}
            caller = Caller(CallerKind.MCP, f"Caller {number}.{turn}")
            outcome = await workspace.runner.run(Call.of(tool.name, arguments, caller))
            json.dumps(outcome.as_dict(), ensure_ascii=False).encode()
            assert outcome.entry > 0 and "error in the app" not in outcome.message, (tool.name, outcome)
    await is_well(workspace)
    assert workspace.audit.verify().ok


@settings(
    max_examples=60,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
async def test_calls_at_random_end_as_data(workspace, data):
    tool = data.draw(st.sampled_from([*CATALOG, FILE_TOOL]))
    arguments = arguments_of(tool, lambda name: data.draw(_VALUES))
    if tool.operations:
        arguments["op"] = data.draw(st.sampled_from([*tool.operations, "\ud800"]))
    outcome = await workspace.runner.run(
        Call.of(tool.name, arguments, Caller(CallerKind.MCP, data.draw(_TEXTS)))
    )
    json.dumps(outcome.as_dict(), ensure_ascii=False).encode()
    assert outcome.entry > 0 and "error in the app" not in outcome.message, outcome


@pytest.mark.parametrize(
    "body",
    [
        b'{"name": "\\ud800"}',
        b'{"\\ud800": "\\udfff"}',
        b'{"name": ["\\ud800"]}',
        b'{"name": "\\ud83d\\ude00"}',
        b'{"name": "\\u0000"}',
        b'{"name": ' + DEEP.encode() + b"}",
        b'{"name": ' + b"[" * 300 + b"]" * 300 + b"}",
        b"\xff\xfe",
        b'{"name": "\xff"}',
        b'{"name": "' + b"x" * 1_000_000 + b'"}',
        b'{"name": 1e999, "x": NaN}',
    ],
    ids=range(11),
)
async def test_one_request_over_http_blocks_no_other(served, body):
    async with served.http() as http:
        for path in ("/tools/read_note", "/tools/create_note?wait=false", "/tools/%ED%A0%80"):
            for headers in ({}, {"accept": "text/event-stream"}, {"scriptorium-claim": "%ED%A0%80"}):
                answer = await http.post(f"{API}{path}", content=body, headers=headers)
                assert answer.status_code < 500, answer.text
        for path in (
            "/complete?kind=note&text=%ED%A0%80%00",
            "/notes?after=%ED%A0%80",
            "/tools/%FF",
            "/pending/%ED%A0%80",
        ):
            assert (await http.get(f"{API}{path}")).status_code < 500
        assert (await http.post(f"{API}/tools/read_note", json={"name": "H4"})).status_code == 200
    await is_well(served.workspace)


@pytest.mark.parametrize("era", ERAS)
async def test_one_request_over_mcp_blocks_no_other(workspace, era):
    async with inside(workspace.endpoints.local_vault, era) as client:
        for value in ("x\0y", "Gr\ufffd", "x" * 100_000, {"a": [["b"]]}, nested_text(150)):
            result = await client.call_tool("read_note", {"name": value})
            assert result.is_error
        for uri in ("note:///%ED%A0%80", "note:///%00", "note:///%FF.md", "note:///" + "x" * 5000):
            with pytest.raises(MCPError):
                await client.read_resource(uri)
        assert not (await client.call_tool("read_note", {"name": "H4"})).is_error
    await is_well(workspace)


def nested_text(depth: int) -> object:
    """Return nested lists of valid text."""
    value: object = "x"
    for _ in range(depth):
        value = [value]
    return value
