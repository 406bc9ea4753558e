"""Tools over MCP in both eras: the descriptions are correct, and results are reported unchanged."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace

import jsonschema
import pytest
from mcp import MCPError

from app.permissions.approval import Denied
from app.servers.read_only_vault import ReadOnlyVaultService
from app.toolkit.pending import PendingChanged
from tests.support.mcp_clients import ERAS, ROBOT, inside, over_http

pytestmark = pytest.mark.parametrize("era", ERAS)


async def test_the_tools_are_listed_with_correct_annotations(workspace, era):
    async with inside(workspace.endpoints.local_vault, era) as client:
        tools = {one.name: one for one in (await client.list_tools()).tools}
    entries = await workspace.endpoints.local_vault.tools(ROBOT)
    assert list(tools) == [one.name for one in entries]
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]{1,128}", name) for name in tools)
    for entry in entries:
        annotations = tools[entry.name].annotations
        assert (annotations.read_only_hint, annotations.destructive_hint) == (
            entry.read_only,
            entry.destructive,
        )
        jsonschema.Draft202012Validator.check_schema(tools[entry.name].input_schema)
        jsonschema.Draft202012Validator.check_schema(tools[entry.name].output_schema)
    assert tools["read_note"].annotations.read_only_hint and not tools["edit_note"].annotations.read_only_hint
    assert "why" in tools["edit_note"].input_schema["properties"]
    assert "why" not in tools["read_note"].input_schema["properties"]
    assert "shell" not in tools


async def test_a_result_is_data_and_the_same_as_text(workspace, era):
    async with inside(workspace.endpoints.local_vault, era) as client:
        result = await client.call_tool("get_metadata", {"name": "Longitude"})
    assert not result.is_error and result.structured_content["path"].endswith("Longitude.md")
    assert result.structured_content["confidence"] is None
    assert json.loads(result.content[0].text) == result.structured_content


async def test_a_change_is_asked_about_with_the_clients_words(workspace, approver, era):
    async with inside(workspace.endpoints.local_vault, era) as client:
        arguments = {"name": "H4", "op": "append", "text": "New.", "why": "It is missing."}
        result = await client.call_tool("edit_note", arguments)
    assert result.structured_content["success"] and not result.is_error
    (request,) = approver.asked
    assert (request.caller.name, request.caller.claim) == ("Robot", "It is missing.")
    assert dict(request.arguments).keys() == {"name", "op", "text"}


async def test_a_denial_is_no_error(workspace, approver, era):
    approver.answers = [Denied("leave it")]
    async with inside(workspace.endpoints.local_vault, era) as client:
        result = await client.call_tool("edit_note", {"name": "H4", "op": "append", "text": "New."})
    assert not result.is_error
    assert result.structured_content["denied"] and result.structured_content["words"] == "leave it"


WRONG = (
    ("read_note", {"nam": "H4"}, "invalid_parameters"),
    ("read_note", {"name": "H44"}, "not_found"),
    ("read_note", {"name": "H4", "why": "?"}, "invalid_parameters"),
    ("edit_note", {"name": "H4", "op": "append", "text": "x", "why": 3}, "invalid_parameters"),
    ("edit_note", {"name": "H4", "op": "append", "text": "x", "wait_for_user": 1}, "invalid_parameters"),
    ("shell", {"command": "ls"}, "permission_denied"),
)


async def test_an_error_is_data_with_the_next_step(workspace, approver, era):
    async with inside(workspace.endpoints.local_vault, era) as client:
        for tool, given, kind in WRONG:
            result = await client.call_tool(tool, given)
            assert result.is_error and result.structured_content["error"]["type"] == kind
    assert not approver.asked


async def test_a_read_only_client_gets_only_read_tools(workspace, approver, era):
    async with inside(ReadOnlyVaultService(workspace.endpoints.local_vault), era) as client:
        names = {one.name for one in (await client.list_tools()).tools}
        assert (await client.call_tool("read_note", {"name": "H4"})).structured_content["success"]
        denied = await client.call_tool("edit_note", {"name": "H4", "op": "append", "text": "x"})
    assert "read_note" in names and "edit_note" not in names and not approver.asked
    assert denied.structured_content["error"]["type"] == "permission_denied"


async def test_an_unknown_tool_is_a_protocol_error_and_logged(workspace, era):
    async with inside(workspace.endpoints.local_vault, era) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("raed_note", {})
    assert caught.value.error.code == -32602 and "read_note" in caught.value.error.data["suggestions"]
    (entry,) = workspace.audit.entries(limit=1)
    assert (entry.caller, entry.tool) == ("Robot", "raed_note")


@pytest.mark.parametrize(
    "how", [{"wait_for_user": False}, {"_meta": {"scriptorium/wait": False, "scriptorium/why": "Because."}}]
)
async def test_a_client_may_choose_not_to_wait(workspace, approver, era, how):
    approver.answers = [Denied("no")]
    meta = how.get("_meta")
    arguments = {"name": "H4", "op": "append", "text": "New.", **({} if meta else how)}
    has_ended = asyncio.Event()
    workspace.events.subscribe(
        PendingChanged, lambda event: None if event.operation.state.is_open else has_ended.set()
    )
    async with inside(workspace.endpoints.local_vault, era) as client:
        result = await client.call_tool("edit_note", arguments, meta=meta)
        assert not result.is_error
        operation_id = result.structured_content["pending_operation_id"]
        await has_ended.wait()
        second_result = await client.call_tool(
            "pending", {"op": "status", "pending_operation_id": operation_id}
        )
    assert second_result.structured_content["operations"][0]["state"] == "denied"
    assert approver.asked[0].caller.claim == ("Because." if meta else "")


async def test_a_result_that_breaks_its_schema_is_left_out(workspace, era, monkeypatch, caplog, errors):
    errors.append("vault_info violates its output schema")
    entry = next(
        one for one in await workspace.endpoints.local_vault.tools(ROBOT) if one.name == "vault_info"
    )
    schema = {"type": "object", "properties": {"notes": {"type": "string"}}, "required": ["notes"]}
    broken = replace(entry, output_schema=schema)

    async def tools(client):
        return (broken,)

    monkeypatch.setattr(workspace.endpoints.local_vault, "tools", tools)
    async with inside(workspace.endpoints.local_vault, era) as client:
        result = await client.call_tool("vault_info", {})
    assert result.is_error and result.structured_content["error"]["type"] == "internal"
    assert "violates its output schema" in caplog.text


async def test_the_same_over_http_with_a_token(served, approver, era):
    async with over_http(served.endpoint.address, served.token, era) as client:
        result = await client.call_tool("read_note", {"name": "H4"})
        second_result = await client.call_tool("edit_note", {"name": "H4", "op": "append", "text": "New."})
    assert result.structured_content["name"] == "H4" and second_result.structured_content["success"]
    assert approver.asked[0].caller.name == "Robot"
