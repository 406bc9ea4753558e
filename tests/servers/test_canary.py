"""No text of a private note reaches an external program by HTTP or MCP."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from urllib.parse import quote

import mcp_types as t
import pytest
from mcp import MCPError

from app.permissions.caller import CallerKind
from app.servers.vault_access import Client
from app.settings import Settings
from app.vault.path import NotePath
from app.workspace.opening import open_workspace
from app.workspace.workspace import Workspace
from tests.support.mcp_clients import ERAS, inside
from tests.support.private_notes import CANARY, PLAIN, VARIANTS, write_private_vault, written

API = "/api/v1"
ROBOT = Client(CallerKind.MCP, "Robot")


@pytest.fixture
async def workspace(tmp_path, approver) -> AsyncIterator[Workspace]:
    """A vault of private notes of every kind, instead of the sample vault."""
    settings = Settings()
    settings.embeddings.enabled = False
    opened = await open_workspace(write_private_vault(tmp_path / "vault"), settings, approver)
    try:
        await opened.start_scan(lambda progress: None)
        yield opened
    finally:
        await opened.close()


async def test_http_reveals_no_private_note(served):
    kinds = ("note", "tag", "block")
    texts = ("", "x", CANARY[:4], CANARY[:-1], "Notes/", "t")
    gets = [f"/complete?kind={kind}&text={quote(text)}" for kind in kinds for text in texts]
    gets += ["/notes?limit=1000", "/notes?after=Notes", "/tools", "/openapi.json", "/vault", "/pending"]
    async with served.http() as http:
        for path in gets:
            assert CANARY not in (await http.get(API + path)).text, path
        calls = {
            "read_note": {"name": CANARY[:-1]},
            "list_notes": {},
            "search_notes": {"query": "drink"},
            "vault_info": {},
            "get_metadata": {"name": "Tea"},
            "move_note": {"name": "Tea", "new_name": "Green tea"},
        }
        for tool, arguments in calls.items():
            for accept in ("application/json", "text/event-stream"):
                answer = await http.post(f"{API}/tools/{tool}", json=arguments, headers={"accept": accept})
                assert CANARY not in answer.text, tool
        absent = (await http.post(f"{API}/tools/read_note", json={"name": "Notes/No.md"})).text
        hidden = (await http.post(f"{API}/tools/read_note", json={"name": PLAIN})).text
        assert hidden == absent.replace("Notes/No.md", PLAIN)


@pytest.mark.parametrize("era", ERAS)
async def test_mcp_reveals_no_private_note(workspace, era):
    async with inside(workspace.endpoints.local_vault, era) as client:
        responses: list[object] = [await client.list_tools(), await client.list_resource_templates()]
        page = await client.list_resources()
        responses.append(page)
        while page.next_cursor:
            page = await client.list_resources(cursor=page.next_cursor)
            responses.append(page)
        for template in (await client.list_resource_templates()).resource_templates:
            responses += [
                await _completed(
                    client, t.ResourceTemplateReference(uri=template.uri_template), "name", template
                )
            ]
        prompts = (await client.list_prompts()).prompts
        for prompt in prompts:
            for argument in prompt.arguments or ():
                responses.append(
                    await _completed(client, t.PromptReference(name=prompt.name), argument.name, prompt)
                )
            for value in ("Tea", "drink", CANARY[:-1]):
                arguments = {one.name: value for one in prompt.arguments or ()}
                with contextlib.suppress(MCPError):
                    responses.append(await client.get_prompt(prompt.name, arguments))
        assert "Tea" in str(responses) and "'drink'" in str(responses) and CANARY not in str(responses)
        for name in (PLAIN, f"{CANARY} title", "Links/link.md", "Links/link.txt"):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(f"note:///{quote(name)}")
            text = f"{caught.value.error.message} {caught.value.error.data}".replace(quote(name), "")
            assert CANARY not in text.replace(name, "")


async def _completed(client, reference, argument: str, of) -> object:
    """Return the completions of an argument, from several prefixes."""
    leaks = []
    for text in ("", "x", CANARY[:4], "Notes/", "T"):
        with contextlib.suppress(MCPError):
            leaks.append(await client.complete(reference, {"name": argument, "value": text}))
    return leaks


async def test_notifications_and_activity_reveal_no_private_note(workspace):
    news, activity = (
        workspace.endpoints.local_vault.changes(ROBOT),
        workspace.endpoints.local_vault.activity(ROBOT),
    )
    for name, note in VARIANTS.items():
        if "MiB" in name:
            continue
        path = NotePath.on_disk(f"Notes/{CANARY} new {name}.md")
        (workspace.root / path.text).write_bytes(written(note))
        await workspace.index.refresh((path,), ())
        (workspace.root / path.text).write_bytes(written(note) + b"\nmore\n")
        await workspace.index.refresh((path,), ())
        (workspace.root / path.text).unlink()
        await workspace.index.refresh((), (path,))
    await workspace.endpoints.local_vault.call(ROBOT, "move_note", {"name": "Tea", "new_name": "Green tea"})
    await workspace.endpoints.local_vault.call(ROBOT, "delete_node", {"node_id": "Home", "cascade": True})
    await asyncio.sleep(0)
    news.end()
    activity.end()
    assert CANARY not in str([one async for one in news]) + str([one async for one in activity])
