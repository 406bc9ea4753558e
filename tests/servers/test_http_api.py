"""The HTTP API: the same rules as everywhere, in JSON, with meaningful statuses."""

from __future__ import annotations

import asyncio
import json

from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from app.permissions.approval import ApprovalRequest, Approved, Decision, Denied
from app.settings import CallerProfile
from app.workspace.opening import open_workspace
from app.workspace.workspace import Workspace
from tests.servers.conftest import ServedEndpoint
from tests.support.approver import ScriptedApprover, unanswered

API = "/api/v1"


async def test_the_document_is_openapi_and_says_what_the_server_does(served: ServedEndpoint) -> None:
    async with served.http() as http:
        document = (await http.get(f"{API}/openapi.json")).json()
        OpenAPIV31SpecValidator(document).validate()
        named = {entry["name"] for entry in (await http.get(f"{API}/tools")).json()["tools"]}
        described = {path.rpartition("/")[2] for path, one in document["paths"].items() if "post" in one}
        assert described == named
        search = document["paths"][f"{API}/tools/search_notes"]["post"]
        assert search["requestBody"]["content"]["application/json"]["schema"]["required"] == ["query"]
        answer = await http.post(f"{API}/tools/search_notes", json={"query": "tea"})
        schema = search["responses"]["200"]["content"]["application/json"]["schema"]
        Draft202012Validator(schema).validate(answer.json())


async def test_the_document_lists_the_errors_of_reading(served: ServedEndpoint) -> None:
    async with served.http() as http:
        paths = (await http.get(f"{API}/openapi.json")).json()["paths"]
        missing = await http.get(f"{API}/pending/made-up")
        invalid = await http.get(f"{API}/notes", params={"limit": "many"})
    assert str(missing.status_code) in paths[f"{API}/pending/{{id}}"]["get"]["responses"]
    assert str(invalid.status_code) in paths[f"{API}/notes"]["get"]["responses"]


async def test_the_document_leaves_out_what_the_client_may_not_call(served: ServedEndpoint) -> None:
    served.workspace.change_settings(
        "permissions", callers=(CallerProfile(caller="Robot", tools=("read_*",)),)
    )
    async with served.http() as http:
        document = (await http.get(f"{API}/openapi.json")).json()
        assert [path for path in document["paths"] if "/tools/" in path] == [
            f"{API}/tools/{{name}}",
            f"{API}/tools/read_note",
        ]
        assert (await http.get(f"{API}/tools/create_note")).status_code == 404
        assert (await http.post(f"{API}/tools/create_note", json={"name": "X"})).status_code == 403


async def test_failures_have_a_status(served: ServedEndpoint) -> None:
    failures: list[tuple[str, dict[str, object], int, str]] = [
        ("no_such_tool", {}, 404, "not_found"),
        ("read_note", {"name": "No such note"}, 404, "not_found"),
        ("read_note", {}, 422, "invalid_parameters"),
        ("read_note", {"name": "x", "extra": 1}, 422, "invalid_parameters"),
        ("shell", {"command": "ls"}, 403, "permission_denied"),
    ]
    async with served.http() as http:
        for tool, arguments, status, problem_type in failures:
            answer = await http.post(f"{API}/tools/{tool}", json=arguments)
            assert (answer.status_code, answer.json()["error"]["type"]) == (status, problem_type)
        for method, path, status, problem_type in (
            ("GET", "nowhere", 404, "not_found"),
            ("DELETE", "tools/read_note", 405, "invalid_parameters"),
        ):
            answer = await http.request(method, f"{API}/{path}")
            assert (answer.status_code, answer.json()["error"]["type"]) == (status, problem_type)


async def test_a_pending_outcome_can_be_fetched_later(
    served: ServedEndpoint, approver: ScriptedApprover
) -> None:
    said: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
    requests: list[ApprovalRequest] = []

    async def later(request: ApprovalRequest) -> Decision:
        requests.append(request)
        return await said

    approver.answers = [later]
    async with served.http() as http:
        wish = {"Prefer": "respond-async"}
        arguments = {"name": "Later", "content": "x"}
        answer = await http.post(f"{API}/tools/create_note", json=arguments, headers=wish)
        assert answer.status_code == 202
        location = answer.headers["location"]
        assert location == f"{API}/pending/{answer.json()['pending_operation_id']}"
        assert (await http.get(location)).json()["operations"][0]["state"] == "waiting"
        async with http.stream("GET", f"{API}/activity") as activity:
            lines = activity.aiter_lines()
            await anext(lines)
            said.set_result(Approved(requests[0].proposal))
            states = []
            async for line in lines:
                if "pending_operation_id" in line:
                    states.append(json.loads(line.removeprefix("data: "))["state"])
                if states[-1:] == ["done"]:
                    break
        done = (await http.get(location)).json()["operations"][0]
        assert done["state"] == "done" and done["outcome"]["path"] == "Later.md"
    assert (served.workspace.root / "Later.md").read_text() == "x\n"


async def test_an_operation_of_another_client_is_not_found(
    served: ServedEndpoint, approver: ScriptedApprover
) -> None:
    question_asked = asyncio.Event()
    approver.answers = [unanswered(question_asked)]
    tokens = served.workspace.endpoints.tokens
    assert tokens is not None
    async with served.http() as http, served.http(tokens.create("Other")) as other:
        answer = await http.post(f"{API}/tools/create_note?wait=false", json={"name": "Mine"})
        location = answer.headers["location"]
        assert (await other.get(location)).status_code == 404
        assert (await other.delete(location)).status_code == 404
        assert (await other.get(f"{API}/pending")).json()["operations"] == []
        taken_back = await http.delete(location)
        assert taken_back.json()["operations"][0]["state"] == "cancelled"
        assert (await http.delete(location)).status_code == 422


async def test_a_pending_operation_survives_a_restart(
    served: ServedEndpoint, workspace: Workspace, approver: ScriptedApprover
) -> None:
    question_asked = asyncio.Event()
    approver.answers = [unanswered(question_asked)]
    async with served.http() as http:
        arguments = {"name": "Restart", "content": "x"}
        answer = await http.post(f"{API}/tools/create_note?wait=false", json=arguments)
        location = answer.headers["location"]
    await workspace.close()
    headless = await open_workspace(workspace.root, workspace.settings, None, ask_pending=False)
    await headless.start_scan(lambda progress: None)
    await headless.close()
    assert not (workspace.root / "Restart.md").exists()
    reopened = await open_workspace(workspace.root, workspace.settings, ScriptedApprover())
    try:
        await reopened.start_scan(lambda progress: None)
        await reopened.endpoints.open()
        assert reopened.endpoints.server is not None and reopened.endpoints.server.endpoint is not None
        later = ServedEndpoint(reopened, reopened.endpoints.server.endpoint, served.token)
        async with later.http() as http:
            one = (await http.get(location)).json()["operations"][0]
            while one["state"] in ("waiting", "running"):
                one = (await http.get(location)).json()["operations"][0]
        assert one["state"] == "done"
        assert (workspace.root / "Restart.md").read_text() == "x\n"
    finally:
        await reopened.close()


async def test_denials_and_disconnects_end_a_call(served: ServedEndpoint, approver: ScriptedApprover) -> None:
    approver.answers = [Denied("no thanks")]
    async with served.http() as http:
        answer = await http.post(f"{API}/tools/create_note", json={"name": "No"})
        assert answer.status_code == 200
        assert answer.json() == {
            "success": False,
            "denied": True,
            "message": "Denied by the user: no thanks",
            "words": "no thanks",
        }
        question_asked = asyncio.Event()
        approver.answers = [unanswered(question_asked)]
        call = asyncio.ensure_future(http.post(f"{API}/tools/create_note", json={"name": "Gone"}))
        await question_asked.wait()
        call.cancel()
        await asyncio.wait({call})
    await served.workspace.endpoints.local_vault.wait_idle()
    entry = served.workspace.audit.entries(limit=1)[0]
    assert (entry.decision, entry.reason, entry.caller) == ("cancelled", "the client has gone", "Robot")


async def test_private_notes_do_not_exist_for_clients(served: ServedEndpoint) -> None:
    secret = served.workspace.root / "Secret plan.md"
    secret.write_text("---\nai: private\n---\nNobody shall see this xyzzy.\n")
    await served.workspace.index.scan()
    async with served.http() as http:
        notes = (await http.get(f"{API}/notes", params={"limit": "1000"})).json()["paths"]
        assert notes and "Secret plan.md" not in notes
        names = (await http.get(f"{API}/complete", params={"kind": "note", "text": "Secret"})).json()["names"]
        assert not any("Secret plan" in name for name in names)
        assert (await http.post(f"{API}/tools/read_note", json={"name": "Secret plan"})).status_code == 404
        search_result = (await http.post(f"{API}/tools/search_notes", json={"query": "xyzzy"})).json()
        assert search_result["hits"] == []
        created = await http.post(f"{API}/tools/create_note", json={"name": "Secret plan"})
        assert created.status_code == 422
        assert created.json()["error"]["message"] == "That path can't be used."


async def test_notes_come_a_page_at_a_time(served: ServedEndpoint) -> None:
    async with served.http() as http:
        paths, after = [], ""
        while True:
            page = (await http.get(f"{API}/notes", params={"after": after, "limit": "7"})).json()
            paths += page["paths"]
            if not (after := page["next"]):
                break
        visible_paths = [str(one.path) for one in served.workspace.index.notes() if not one.private]
        assert paths == sorted(visible_paths)
        for limit in ("many", "9" * 5000):
            assert (await http.get(f"{API}/notes", params={"limit": limit})).status_code == 422
        assert (await http.get(f"{API}/complete", params={"kind": "secret"})).status_code == 422


async def test_only_the_local_user_may_request_the_vault(served: ServedEndpoint) -> None:
    async with served.http() as http:
        assert (await http.post(f"{API}/yield")).status_code == 403
    async with served.http(served.endpoint.token) as local:
        assert (await local.post(f"{API}/yield")).status_code == 409
