"""The order of a call's stages and their results, on a real vault."""

from __future__ import annotations

import json

import pytest

from app.permissions.approval import Approved, Denied
from app.permissions.caller import Caller, CallerKind
from app.permissions.scope import Operation, ScopeKind
from app.settings import PermissionSettings, Rule, VaultRules
from app.toolkit.call import Call
from app.toolkit.outcome import ApprovalAnswered, ApprovalAsked, ToolFinished, ToolStarted
from app.toolkit.result import ToolResult
from app.vault.path import NotePath
from app.vault.store import NotesChanged
from tests.support.partial_changes import restrict_to

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent", turn="turn-1", conversation="talk-1")
CLIENT = Caller(CallerKind.MCP, "Claude Desktop")


async def test_an_approved_change_is_written_indexed_journaled_logged_and_reported(bench):
    outcome = await bench.call("make", {"name": "Coffee", "text": "See [[Tea]]\n", "folder": "Drinks"})
    assert outcome.success and outcome.result == {"path": "Drinks/Coffee.md"}
    assert outcome.message == "Made Drinks/Coffee.md."
    assert bench.text("Drinks/Coffee.md") == "See [[Tea]]\n"
    assert NotePath("Drinks/Coffee.md") in [link.source for link in bench.index.backlinks(NotePath("Tea.md"))]
    commit = bench.journal.commit(outcome.commit)
    assert (commit.author, commit.turn) == ("Agent", "turn-1")
    entry = bench.audit.entry(outcome.entry)
    assert (entry.decision, entry.commit, entry.operation) == ("user-approved", commit.id, "create")
    assert entry.scope == "write_create: 1 file, 12 bytes"
    assert entry.paths == ("Drinks/Coffee.md",) and entry.conversation == "talk-1"
    assert entry.call == commit.entry
    kinds = [type(e) for e in bench.published]
    wanted = [ToolStarted, ApprovalAsked, ApprovalAnswered, NotesChanged, ToolFinished]
    assert [kind for kind in kinds if kind in wanted] == wanted
    assert outcome.as_dict() == {
        "success": True,
        "path": "Drinks/Coffee.md",
        "message": "Made Drinks/Coffee.md.",
    }


async def test_the_request_shows_the_exact_change(bench):
    await bench.call("add_line", {"name": "Tea", "line": "Milk?"})
    (request,) = bench.approver.asked
    assert request.operation is Operation.UPDATE and request.scope.kind is ScopeKind.WRITE_UPDATE
    assert request.proposal.changes[0].after.endswith(b"leaves.\nMilk?\n")
    assert request.arguments == (("name", "Tea"), ("line", "Milk?"))
    assert request.timeout is None and request.caller == AGENT


async def test_reading_needs_no_approval_and_is_logged(bench):
    outcome = await bench.call("read", {"name": "Tea"})
    assert outcome.success and "Hot water" in outcome.result["text"]
    assert bench.approver.asked == []
    entry = bench.last()
    assert (entry.decision, entry.operation, entry.paths) == ("no-approval-needed", "read", ("Tea.md",))


async def test_a_denial_is_an_answer_with_the_users_words(bench):
    bench.approver.answers.append(Denied("not today"))
    outcome = await bench.call("make", {"name": "Coffee"})
    assert not outcome.success and outcome.denied and outcome.error is None
    assert outcome.words == "not today" and "not today" in outcome.message
    assert not (bench.root / "Coffee.md").exists()
    entry = bench.last()
    assert (entry.decision, entry.reason, entry.commit) == ("user-denied", "not today", None)


async def test_errors_are_data_with_hints_for_the_next_step(bench):
    outcome = await bench.call("red", {})
    assert outcome.error["type"] == "not_found" and "read" in outcome.error["suggestions"]
    outcome = await bench.call("read", {"name": "Tae"})
    assert outcome.error["type"] == "not_found" and outcome.error["suggestions"] == ["Tea.md"]
    outcome = await bench.call("read", {"nam": "Tea"})
    assert outcome.error["type"] == "invalid_parameters"
    assert {one["argument"] for one in outcome.error["problems"]} == {"nam", "name"}
    assert outcome.as_dict()["success"] is False
    json.dumps(outcome.as_dict())
    assert [entry.decision for entry in bench.audit.entries()] == ["failed"] * 3


async def test_a_bug_in_a_tool_is_an_internal_error_without_details(bench, caplog, errors):
    errors.append("crash failed")
    outcome = await bench.call("crash")
    assert outcome.error["type"] == "internal" and "secret detail" not in str(outcome.as_dict())
    assert "secret detail" in caplog.text
    assert bench.last().decision == "failed"


async def test_a_tool_that_takes_too_long_is_stopped(bench):
    outcome = await bench.call("dawdle")
    assert outcome.error["type"] == "timeout" and outcome.error["limit"] == 0.05
    assert outcome.error["tool"] == "dawdle"


async def test_a_category_that_is_off_is_off(bench):
    bench.registry.set_category("notes", False)
    outcome = await bench.call("make", {"name": "Coffee"})
    assert outcome.error["type"] == "permission_denied"
    assert bench.last().decision == "rule" and bench.approver.asked == []
    assert "make" not in [tool.name for tool in bench.registry.tools(AGENT)]


async def test_a_vault_can_switch_a_category_off_but_not_on(bench):
    bench.policy.configure(PermissionSettings(), VaultRules(categories_off=("search",)))
    assert (await bench.call("read", {"name": "Tea"})).error["type"] == "permission_denied"
    assert "read" not in [tool.name for tool in bench.registry.tools(AGENT)]


async def test_a_reading_tool_that_proposes_is_refused_as_a_bug(bench):
    outcome = await bench.call("sly")
    assert outcome.error["type"] == "permission_denied" and not (bench.root / "sly.md").exists()
    assert bench.last().decision == "rule" and bench.approver.asked == []


async def test_other_programs_data_is_never_written(bench):
    outcome = await bench.call("meddle")
    assert outcome.error["type"] == "permission_denied" and bench.approver.asked == []
    assert not (bench.root / ".obsidian").exists()


async def test_a_deny_rule_stops_a_change_before_anyone_is_asked(bench):
    rule = Rule(effect="deny", operations=("create",), glob="Journal/**")
    bench.policy.configure(PermissionSettings(rules=(rule,)))
    outcome = await bench.call("make", {"name": "Tuesday", "folder": "Journal"})
    assert outcome.error == {
        "type": "permission_denied",
        "message": outcome.message,
        "reason": "rule",
    }
    assert bench.approver.asked == [] and not outcome.denied
    assert (await bench.call("make", {"name": "Tuesday"})).success


async def test_many_calls_are_too_many(bench):
    for _ in range(50):
        assert (await bench.call("find", {"query": "tea"})).success
    outcome = await bench.call("find", {"query": "tea"})
    assert outcome.error["type"] == "limit" and outcome.error["limit"] == 50
    assert (await bench.call("find", {"query": "tea"}, CLIENT)).success


async def test_an_empty_proposal_asks_nothing_and_writes_nothing(bench):
    outcome = await bench.call("take_back", {"entry": (await bench.call("read", {"name": "Tea"})).entry})
    assert outcome.success and outcome.commit is None and bench.approver.asked == []


async def test_undo_reverts_a_call_and_the_log_records_it(bench):
    outcome = await bench.call("make", {"name": "Coffee"})
    undone = await bench.call("take_back", {"entry": outcome.entry})
    assert undone.success and not (bench.root / "Coffee.md").exists()
    assert bench.audit.entry(outcome.entry).undone_by == undone.entry
    assert bench.audit.entry(undone.entry).undoes == (outcome.commit,)
    assert bench.approver.asked[1].operation is Operation.DELETE
    second_outcome = await bench.call("take_back", {"entry": undone.entry})
    assert second_outcome.success and (bench.root / "Coffee.md").exists()
    assert bench.audit.entry(outcome.entry).undone_by is None


async def test_a_turns_commits_are_known(bench):
    first = await bench.call("make", {"name": "A"})
    second = await bench.call("make", {"name": "B"})
    await bench.call("make", {"name": "C"}, CLIENT)
    made = bench.audit.commits_of_turn("turn-1", bench.journal)
    assert tuple(one.id for one in made) == (first.commit, second.commit)


async def test_a_move_is_published_as_a_move(bench):
    outcome = await bench.call("rename", {"name": "Tea", "to": "Green tea"})
    event = bench.of(NotesChanged)[-1]
    assert event.moved == ((NotePath("Tea.md"), NotePath("Green tea.md")),)
    assert event.paths == (NotePath("Green tea.md"),) and event.commit == outcome.commit
    assert bench.index.note(NotePath("Tea.md")) is None
    assert bench.index.note(NotePath("Green tea.md")) is not None


async def test_saving_in_the_editor_asks_nothing_and_is_logged(bench):
    before = (bench.root / "Tea.md").read_bytes()
    outcome = await bench.runner.run(Call.save(NotePath("Tea.md"), before, before + b"more\n"))
    assert outcome.success and bench.text("Tea.md").endswith("more\n")
    assert bench.approver.asked == []
    entry = bench.last()
    assert (entry.tool, entry.caller, entry.decision) == ("save", "You", "no-approval-needed")
    assert bench.of(NotesChanged)[-1].author == "You"
    outcome = await bench.runner.run(Call.save(NotePath("Tea.md"), before, b"over it"))
    assert outcome.error["type"] == "conflict" and bench.text("Tea.md").endswith("more\n")
    assert bench.last().decision == "failed"
    assert (await bench.runner.run(Call.save(NotePath("New.md"), None, b"new"))).success
    assert (await bench.runner.run(Call.save(NotePath("New.md"), b"new", b"new"))).entry == 0


async def test_the_user_sees_their_own_tool_calls_too(bench):
    bench.grants.set_session(Operation.UPDATE, True)
    await bench.call("add_line", {"name": "Tea", "line": "x"}, Caller.user())
    assert len(bench.approver.asked) == 1 and bench.approver.asked[0].offers == ()


async def test_commands_run_only_when_approved(bench):
    bench.approver.answers.append(Denied())
    assert (await bench.call("run_program", {"command": "ls"})).denied
    outcome = await bench.call("run_program", {"command": "ls"})
    assert outcome.result["text"] == "ran ls"
    assert bench.last().operation == "execute" and bench.last().scope == "admin: ls"


async def test_a_new_folder_outside_asks_and_then_the_toggle_holds(bench):
    bench.grants.set_session(Operation.READ, True)
    for _ in range(2):
        assert (await bench.call("look_outside", {"folder": "/home/me/papers"})).success
    assert len(bench.approver.asked) == 1
    await bench.call("look_outside", {"folder": "/etc"})
    assert len(bench.approver.asked) == 2


async def test_without_an_approver_changes_are_rejected(bench):
    bench.runner._gate._approver = None
    outcome = await bench.call("make", {"name": "Coffee"})
    assert outcome.denied and outcome.error["type"] == "permission_denied"
    assert bench.last().decision == "failed" and not (bench.root / "Coffee.md").exists()


async def test_a_lost_commit_is_logged_on_opening(bench):
    await bench.call("make", {"name": "A"})
    commit = bench.store.commit(restrict_to(bench.approver.asked[0].proposal, []), author="Agent")
    assert bench.runner.log_lost_commits() == 1
    assert bench.last().commit == commit.id and bench.runner.log_lost_commits() == 0


@pytest.mark.parametrize("tainted", [False, True])
async def test_grants_do_not_apply_to_tainted_callers(bench, tainted):
    bench.grants.set_session(Operation.CREATE, True)
    caller = Caller(CallerKind.MCP, "Claude", tainted=tainted)
    assert (await bench.call("make", {"name": "Coffee"}, caller)).success
    assert len(bench.approver.asked) == int(tainted)
    if not tainted:
        assert bench.last().decision == "auto-approved" and bench.last().grant == "session:create"
        assert bench.grants.active_grants()[0].used == 1


async def test_calls_that_always_ask_ignore_grants(bench):
    bench.grants.set_session(Operation.UPDATE, True)
    await bench.call("merge", {"name": "Tea"})
    await bench.call("remove", {"names": ["Tea"]})
    assert [request.offers for request in bench.approver.asked] == [(), ()]


async def test_secrets_do_not_get_into_log_or_events(bench):
    await bench.call("make", {"name": "Keys", "text": "sk-abcdefghijklmnopqrstuvwxyz", "api_key": "x123y"})
    logged = bench.last().arguments + "".join(map(repr, bench.of(ToolStarted)))
    assert "abcdefghij" not in logged and "x123y" not in logged


async def test_an_approval_can_include_a_grant(bench):
    bench.approver.answers.append(lambda request: Approved(request.proposal, grant=request.offers[1]))
    await bench.call("make", {"name": "A", "folder": "Drafts"})
    assert bench.approver.asked[0].offers[1].label == (
        "Approve, and allow new notes in Drafts/ for 30 minutes"
    )
    await bench.call("make", {"name": "B", "folder": "Drafts/deep"})
    assert len(bench.approver.asked) == 1
    await bench.call("make", {"name": "B", "folder": "Drafts-old"})
    await bench.call("add_line", {"name": "Drafts/A", "line": "x"})
    assert len(bench.approver.asked) == 3


async def test_text_from_outside_is_marked_for_every_reader(bench):
    outcome = await bench.call("fetch")
    assert outcome.untrusted and "data" in str(outcome.as_dict()["untrusted"])
    trusted = await bench.call("read", {"name": "Tea"})
    assert not trusted.untrusted and "untrusted" not in trusted.as_dict()


def test_a_result_can_be_marked_by_itself():
    plain = ToolResult(message="x")
    marked = plain.from_outside()
    assert marked.is_untrusted and not plain.is_untrusted
    assert marked.model_dump() == plain.model_dump() == {"message": "x"}


async def test_a_secret_in_a_command_is_in_no_column_of_the_log(bench):
    secret = "sk-" + "a1b2c3d4e5f6g7h8i9j0"
    outcome = await bench.call("run_program", {"command": f"curl -H 'X: {secret}'"})
    assert outcome.success and secret not in str(bench.last())
    assert "curl" in bench.last().scope


async def test_a_category_that_is_switched_off_while_the_user_is_asked_is_off(bench):
    def off(request):
        bench.registry.set_category("development", False)
        return Approved(request.proposal)

    bench.approver.answers.append(off)
    outcome = await bench.call("run_program", {"command": "ls"})
    assert outcome.error["type"] == "permission_denied" and bench.last().decision == "rule"


async def test_a_deny_rule_added_during_the_question_applies(bench):
    def deny(request):
        rule = Rule(effect="deny", operations=("create",), glob="**")
        bench.policy.configure(PermissionSettings(rules=(rule,)))
        return Approved(request.proposal)

    bench.approver.answers.append(deny)
    outcome = await bench.call("make", {"name": "Coffee"})
    assert outcome.error["type"] == "permission_denied" and bench.last().decision == "rule"
    assert not (bench.root / "Coffee.md").exists()
