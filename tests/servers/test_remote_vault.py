"""A remote vault behaves like the local one that it is connected to."""

from __future__ import annotations

import asyncio

import httpx2
import pytest

from app.errors import NetworkError, PermissionDeniedError
from app.permissions.approval import ApprovalRequest, Approved, Decision, Denied
from app.permissions.caller import CallerKind
from app.servers.endpoint_file import find_endpoint
from app.servers.remote_vault import HolderGoneError, RemoteVaultAccess
from app.servers.vault_access import CallProgress, Client
from app.settings import CallerProfile
from app.workspace.workspace import Workspace
from tests.servers.conftest import TERMINAL, ServedEndpoint
from tests.support.approver import ScriptedApprover


async def test_a_remote_vault_answers_like_the_local_one(
    served: ServedEndpoint, link: RemoteVaultAccess
) -> None:
    local_vault = served.workspace.endpoints.local_vault
    assert link.name == served.workspace.name
    assert await link.tools(TERMINAL) == await local_vault.tools(TERMINAL)
    assert await link.notes(TERMINAL, "", 5) == await local_vault.notes(TERMINAL, "", 5)
    assert await link.complete(TERMINAL, "note", "re") == await local_vault.complete(TERMINAL, "note", "re")
    outcome = await link.call(TERMINAL, "list_tags", {})
    second_outcome = await local_vault.call(TERMINAL, "list_tags", {})
    assert outcome.success and outcome.result == second_outcome.result


async def test_a_remote_change_is_approved_and_logged_with_its_caller(
    served: ServedEndpoint, link: RemoteVaultAccess, approver: ScriptedApprover
) -> None:
    stages: list[str] = []

    def took(progress: CallProgress) -> None:
        stages.append(progress.stage)

    outcome = await link.call(
        TERMINAL, "create_note", {"name": "Ünï", "content": "x"}, claim="für später", progress=took
    )
    assert outcome.success and outcome.commit is not None
    assert stages == ["queued", "running", "asking", "writing"]
    request = approver.asked[0].caller
    assert (request.kind, request.name, request.claim) == (CallerKind.CLI, "Terminal", "für später")
    assert request.uses_model
    entry = served.workspace.audit.entries(limit=1)[0]
    assert (entry.caller_kind, entry.caller, entry.tool) == ("cli", "Terminal", "create_note")


async def test_disconnecting_withdraws_an_open_question(
    served: ServedEndpoint, link: RemoteVaultAccess, approver: ScriptedApprover
) -> None:
    question_asked, withdrawn = asyncio.Event(), asyncio.Event()

    async def never(request: ApprovalRequest) -> Decision:
        question_asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            withdrawn.set()
            raise
        return Approved(request.proposal)

    approver.answers = [never]
    call = asyncio.create_task(link.call(TERMINAL, "create_note", {"name": "Late", "content": "x"}))
    await question_asked.wait()
    call.cancel()
    await asyncio.wait({call})
    await withdrawn.wait()
    await served.workspace.endpoints.local_vault.wait_idle()
    entry = served.workspace.audit.entries(limit=1)[0]
    assert (entry.decision, entry.reason) == ("cancelled", "the client has gone")
    assert not (served.workspace.root / "Late.md").exists()


async def test_a_denial_is_an_answer(link: RemoteVaultAccess, approver: ScriptedApprover) -> None:
    approver.answers = [Denied("not today")]
    outcome = await link.call(TERMINAL, "create_note", {"name": "No", "content": ""})
    assert (outcome.success, outcome.denied, outcome.words, outcome.error) == (False, True, "not today", None)


async def test_a_profile_applies_to_a_remote_vault(served: ServedEndpoint, link: RemoteVaultAccess) -> None:
    profile = CallerProfile(caller="Reader", categories=("search",))
    served.workspace.change_settings("permissions", callers=(profile,))
    reader = Client(CallerKind.MCP, "Reader")
    assert {one.category for one in await link.tools(reader)} == {"search"}
    with pytest.raises(PermissionDeniedError):
        await link.notes(reader)
    assert await link.complete(reader, "note", "a") == []
    refused = await link.call(reader, "read_note", {"name": "Welcome"})
    assert (refused.error or {})["type"] == "permission_denied"


async def test_notifications_of_the_vault_reach_a_remote_client(link: RemoteVaultAccess) -> None:
    news = link.changes(TERMINAL)
    first = asyncio.ensure_future(anext(news))
    while not first.done():
        await link.call(TERMINAL, "create_note", {"name": f"News {id(object())}", "content": ""})
        await asyncio.wait({first}, timeout=0.05)
    came = first.result()
    assert came.kind == "notes" and came.listed and came.paths[0].startswith("News")
    await news.aclose()  # type: ignore[attr-defined]


async def test_a_closed_vault_disconnects_its_clients(served: ServedEndpoint, workspace: Workspace) -> None:
    link = await RemoteVaultAccess.join(served.endpoint)
    await workspace.endpoints.close()
    assert find_endpoint(workspace.root) is None
    with pytest.raises(NetworkError):
        await link.tools(TERMINAL)
    await link.close()


async def test_a_closing_server_is_gone_for_every_request(served: ServedEndpoint) -> None:
    link = await RemoteVaultAccess.join(served.endpoint)
    await link._http.aclose()
    link._http = httpx2.AsyncClient(
        base_url="http://closing", transport=httpx2.MockTransport(lambda _: httpx2.Response(503, json={}))
    )
    with pytest.raises(HolderGoneError):
        await link.tools(TERMINAL)
    with pytest.raises(HolderGoneError) as gone:
        await link.call(TERMINAL, "list_tags", {}, progress=lambda _: None)
    assert gone.value.sent
    with pytest.raises(HolderGoneError):
        await anext(link.changes(TERMINAL))
    await link.close()
