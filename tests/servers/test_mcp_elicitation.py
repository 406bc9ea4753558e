"""Without a window, the client asks its user: the exact change is shown, and only a plain yes approves it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import mcp_types as t
import pytest
from mcp import MCPError

from app.errors import LimitError, PermissionDeniedError
from app.permissions.approval import ApprovalRequest, Denied, Effect
from app.permissions.caller import Caller, CallerKind
from app.permissions.scope import Operation, Scope, ScopeKind
from app.servers import mcp_approval_form
from app.servers.mcp_elicitation import ClientApprover, Elicitation, _PendingElicitation
from app.settings import Settings
from app.translatable_text import TranslatableText
from app.vault.changes import ChangeSet, ChangeWarning, Create, Delete, Update
from app.vault.path import NotePath
from app.workspace import VaultService
from app.workspace.opening import open_workspace
from tests.support.mcp_clients import ERAS, NO, YES, inside, says

EDIT = {"name": "H4", "op": "append", "text": "New\u202ereversed."}


@pytest.fixture
async def headless(sample_vault):
    """The vault open without a window."""
    settings = Settings()
    settings.embeddings.enabled = False
    approver = ClientApprover()
    opened = await open_workspace(sample_vault, settings, approver, ask_pending=False)
    try:
        approver.is_pending = VaultService(opened).is_pending
        await opened.start_scan(lambda progress: None)
        yield opened
    finally:
        await opened.close()


@pytest.mark.parametrize("era", ERAS)
async def test_an_approval_writes_what_was_shown(headless, era):
    asked: list[str] = []
    async with inside(headless.endpoints.local_vault, era, elicitation_callback=says(YES, asked)) as client:
        result = await client.call_tool("edit_note", {**EDIT, "why": "To see."})
    assert result.structured_content["success"]
    assert "New\u202ereversed." in (headless.root / "Instruments" / "H4.md").read_text("utf-8")
    (question,) = asked
    assert (
        "Robot wants to change “Instruments/H4.md”" in question
        and "Reason given by the agent (unverified): “To see.”" in question
    )
    assert "+NewRLOreversed." in question and "\u202e" not in question
    (entry,) = headless.audit.entries(limit=1)
    assert (entry.caller, entry.decision) == ("Robot", "user-approved")


NOT_YES = (
    NO,
    t.ElicitResult(action="decline"),
    t.ElicitResult(action="cancel"),
    t.ElicitResult(action="accept", content={"approve": "yes"}),
    t.ElicitResult(action="accept", content={}),
    t.ElicitResult(action="decline", content={"approve": True}),
)


@pytest.mark.parametrize("era", ERAS)
async def test_anything_but_a_plain_yes_is_a_denial(headless, era):
    before = (headless.root / "Instruments" / "H4.md").read_bytes()
    remaining = list(NOT_YES)

    async def answers(context, params):
        return remaining.pop(0)

    async with inside(headless.endpoints.local_vault, era, elicitation_callback=answers) as client:
        for answer in NOT_YES:
            result = await client.call_tool("edit_note", EDIT)
            assert not result.is_error and result.structured_content["denied"]
            assert result.structured_content["words"] == ("not now" if answer is NO else "")
    assert (headless.root / "Instruments" / "H4.md").read_bytes() == before


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_without_elicitation_gets_the_reason_and_may_leave_the_call_pending(headless, era):
    async with inside(headless.endpoints.local_vault, era) as client:
        refused = await client.call_tool("edit_note", EDIT)
        pending = await client.call_tool("edit_note", {**EDIT, "wait_for_user": False})
        operation_id = pending.structured_content["pending_operation_id"]
        result = await client.call_tool("pending", {"op": "status", "pending_operation_id": operation_id})
    assert (
        refused.is_error
        and "This client can't ask the user" in refused.structured_content["error"]["message"]
    )
    assert result.structured_content["operations"][0]["state"] == "waiting"


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_that_is_canceled_withdraws_its_question_and_is_in_the_log(headless, era):
    question_asked, never = asyncio.Event(), asyncio.get_running_loop().create_future()

    async def waits(context, params):
        question_asked.set()
        return await never

    async with inside(headless.endpoints.local_vault, era, elicitation_callback=waits) as client:
        call = asyncio.create_task(client.call_tool("edit_note", EDIT))
        await question_asked.wait()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
    (entry,) = headless.audit.entries(limit=1)
    assert (entry.tool, entry.decision) == ("edit_note", "cancelled")


async def test_a_waiting_call_accepts_only_its_own_answer(headless):
    async with inside(headless.endpoints.local_vault, "auto", elicitation_callback=says(YES, [])) as client:
        ask = client.session.call_tool
        parked = await ask("edit_note", EDIT, allow_input_required=True)
        assert isinstance(parked, t.InputRequiredResult)
        yes = {"approval": YES}
        for arguments, state in (
            ({**EDIT, "text": "Something else."}, parked.request_state),
            (EDIT, str(parked.request_state)[:-1]),
            (EDIT, "made up"),
        ):
            with pytest.raises(MCPError):
                await ask(
                    "edit_note",
                    arguments,
                    input_responses=yes,
                    request_state=state,
                    allow_input_required=True,
                )
        again = await ask(
            "edit_note",
            EDIT,
            input_responses={},
            request_state=parked.request_state,
            allow_input_required=True,
        )
        assert isinstance(again, t.InputRequiredResult)
        done = await ask(
            "edit_note",
            EDIT,
            input_responses=yes,
            request_state=parked.request_state,
            allow_input_required=True,
        )
        assert done.structured_content["success"]
        with pytest.raises(MCPError):
            await ask(
                "edit_note",
                EDIT,
                input_responses=yes,
                request_state=parked.request_state,
                allow_input_required=True,
            )
    text = (headless.root / "Instruments" / "H4.md").read_text("utf-8")
    assert text.count("New\u202ereversed.") == 1 and "Something else." not in text


async def test_a_request_that_waits_for_a_canceled_call_gets_an_error():
    elicitation = Elicitation()
    pending = _PendingElicitation(("mcp", "Robot"), ("edit_note", {}))
    pending.task = asyncio.create_task(asyncio.Event().wait())
    waiting = asyncio.create_task(elicitation._next_question("state", pending))
    await asyncio.sleep(0)
    pending.task.cancel()
    with pytest.raises(MCPError, match="canceled"):
        await waiting


async def test_a_client_gets_heartbeats_while_its_user_is_asked(workspace, approver):
    events: list[str] = []
    several = asyncio.Event()

    async def record_progress(progress, total, message):
        events.append(message)
        if events.count("Waiting for your answer in Scriptorium.") >= 3:
            several.set()

    async def after_a_while(request):
        await several.wait()
        return Denied("no")

    approver.answers = [after_a_while]
    async with inside(workspace.endpoints.local_vault, "legacy", heartbeat=0.01) as client:
        result = await client.call_tool("edit_note", EDIT, progress_callback=record_progress)
    assert result.structured_content["denied"] and events[0] == "Running."


def request(proposal) -> ApprovalRequest:
    caller = Caller(CallerKind.MCP, "Ro\u200bbot", claim="Trust\u202e me")
    scope = Scope(ScopeKind.WRITE_UPDATE, paths=(NotePath("A.md"),), description="run a program")
    return ApprovalRequest("1", caller, "tool", (), Operation.UPDATE, scope, proposal, "nothing allows it")


def test_a_question_shows_each_file_and_names_hidden_characters():
    update = Update(NotePath("A.md"), b"one\ntwo\n", b"one\nt\xffwo\n")
    text = mcp_approval_form.question_text(request(ChangeSet.of(update, Create(NotePath("B.md"), b"new\n"))))
    assert "\u200b" not in text and "\u202e" not in text
    assert "-two" in text and "+new" in text and "=== Create: B.md" in text and "Trust⟨RLO⟩ me" in text


def test_a_question_shows_the_whole_of_an_effect():
    text = mcp_approval_form.question_text(request(Effect("command", "rm -rf x", (("folder", "a\nb"),))))
    assert "rm -rf x" in text and "folder:\n  a\n  b" in text


def test_a_question_counts_the_backlinks_that_it_does_not_name():
    asked = request(ChangeSet.of(Delete(NotePath("A.md"), b"text")))
    backlinks = tuple(NotePath(f"Note {number:02}.md") for number in range(25))
    text = mcp_approval_form.question_text(replace(asked, scope=replace(asked.scope, backlinks=backlinks)))
    assert "Backlinks: Note 00.md, " in text and "Note 19.md, and 5 more\n" in text


def warned(concerns_access: bool) -> ApprovalRequest:
    warning = ChangeWarning(TranslatableText.verbatim("1 file stays."), concerns_access)
    return request(ChangeSet.of(Delete(NotePath("A.md"), b"text"), warnings=(warning,)))


def test_a_question_leaves_out_the_warnings_since_the_client_sees_it():
    text = mcp_approval_form.question_text(warned(concerns_access=False))
    assert text == mcp_approval_form.question_text(request(ChangeSet.of(Delete(NotePath("A.md"), b"text"))))


@pytest.mark.parametrize("asked", [warned(True), replace(warned(False), has_hidden_parts=True)])
def test_a_change_of_which_the_client_may_not_see_all_is_not_asked(asked):
    with pytest.raises(PermissionDeniedError, match="can't show the whole change"):
        mcp_approval_form.question_text(asked)


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_does_not_learn_of_hidden_files_from_a_question(headless, era):
    files = {
        "Old/One.md": "x\n",
        "Old/.hidden.md": "x\n",
        "Linked.md": "x\n",
        "Diary.md": "---\nai: private\n---\n[[Linked]]\n",
    }
    for name, content in files.items():
        (headless.root / name).parent.mkdir(exist_ok=True)
        (headless.root / name).write_text(content)
    await headless.index.scan()
    asked: list[str] = []
    async with inside(headless.endpoints.local_vault, era, elicitation_callback=says(YES, asked)) as client:
        moved = await client.call_tool("move_folder", {"folder": "Old", "new_folder": "New"})
        refused = [
            await client.call_tool("move_note", {"name": "Linked", "new_name": "Other"}),
            await client.call_tool("delete_note", {"name": "Linked"}),
        ]
        pending = await client.call_tool("delete_note", {"name": "Linked", "wait_for_user": False})
    assert moved.structured_content["success"]
    (question,) = asked
    assert "wants to move" in question and "stay" not in question and "hidden" not in question
    for result in refused:
        assert "can't show the whole change" in result.structured_content["error"]["message"]
    assert "Diary" not in str((refused, pending)) and "1 note" not in str(pending)
    assert (headless.root / "Linked.md").exists()


def test_a_change_that_is_too_long_to_read_is_not_asked():
    with pytest.raises(LimitError):
        mcp_approval_form.question_text(
            request(ChangeSet.of(Create(NotePath("B.md"), b"long line\n" * 7000)))
        )
