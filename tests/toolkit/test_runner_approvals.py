"""Approvals: who decides, what happens without an answer, and which answers are valid."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace

import pytest

from app.errors import StorageError
from app.permissions.approval import Approved, Effect, GrantOffer
from app.permissions.caller import Caller, CallerKind
from app.permissions.scope import Operation
from app.toolkit.outcome import ApprovalAnswered, ToolFinished
from app.vault.changes import ChangeSet, Create, Delete, Update
from app.vault.path import NotePath
from tests.support.partial_changes import restrict_to
from tests.toolkit.conftest import AGENT, CLIENT


async def forever(request):
    await asyncio.Event().wait()


async def test_a_timeout_is_a_denial(bench):
    bench.policy.approval_timeout = 0.05
    bench.approver.answers.append(forever)
    outcome = await bench.call("make", {"name": "Coffee"}, CLIENT)
    assert outcome.denied and outcome.error["type"] == "timeout"
    assert bench.last().decision == "timed-out" and not (bench.root / "Coffee.md").exists()
    assert bench.of(ApprovalAnswered)[-1].decision is None


async def test_in_a_read_only_vault_no_approval_is_requested(bench):
    bench.store.writable = False
    outcome = await bench.call("make", {"name": "Coffee"})
    assert not outcome.success and "read-only" in outcome.message
    assert not bench.approver.asked and not (bench.root / "Coffee.md").exists()
    bench.grants.add(GrantOffer("Allow", Operation.CREATE))
    assert not (await bench.call("make", {"name": "Coffee"})).success


async def test_an_approver_that_still_works_on_the_answer_moves_the_time_limit(bench):
    bench.policy.approval_timeout = 0.05

    async def work(request):
        request.postponed.add(math.inf)
        await asyncio.sleep(4 * request.timeout)
        return Approved(request.proposal)

    bench.approver.answers.append(work)
    outcome = await bench.call("make", {"name": "Coffee"}, CLIENT)
    assert outcome.success and (bench.root / "Coffee.md").exists()


async def test_the_user_and_the_agent_of_the_window_have_no_time_limit(bench):
    for name, caller in (("A", AGENT), ("B", CLIENT), ("C", replace(AGENT, acting_for="claude"))):
        assert (await bench.call("make", {"name": name}, caller)).success
    assert [request.timeout for request in bench.approver.asked] == [None, 300.0, 300.0]


@pytest.mark.parametrize("error", [RuntimeError("broken"), TimeoutError(), asyncio.CancelledError(), None])
async def test_a_failing_approver_is_a_denial_and_is_logged(bench, error, errors):
    errors.append("the approver failed")

    def fail(request):
        if error is not None:
            raise error

    bench.approver.answers.append(fail)
    outcome = await bench.call("make", {"name": "Coffee"})
    assert outcome.denied and outcome.error["type"] == "permission_denied"
    assert bench.last().decision == "failed" and not (bench.root / "Coffee.md").exists()


async def test_a_withdrawn_call_withdraws_the_question_and_is_logged(bench):
    withdrawn = asyncio.Event()

    async def wait(request):
        try:
            await forever(request)
        finally:
            withdrawn.set()

    bench.approver.answers.append(wait)
    task = asyncio.create_task(bench.call("make", {"name": "Coffee"}))
    while not bench.approver.asked:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert withdrawn.is_set() and bench.last().decision == "cancelled"
    assert bench.of(ToolFinished)[-1].outcome.entry == bench.last().id


async def test_a_call_withdrawn_while_it_writes_completes_and_is_logged(bench, monkeypatch):
    task: asyncio.Task[object] | None = None
    loop = asyncio.get_running_loop()
    commit = bench.store.commit

    def withdraw_meanwhile(*args, **kwargs):
        loop.call_soon_threadsafe(task.cancel)
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result()
        return commit(*args, **kwargs)

    monkeypatch.setattr(bench.store, "commit", withdraw_meanwhile)
    task = asyncio.create_task(bench.call("make", {"name": "Coffee"}))
    with pytest.raises(asyncio.CancelledError):
        await task
    entry = bench.last()
    assert (bench.root / "Coffee.md").exists() and bench.index.note(NotePath("Coffee.md")) is not None
    assert entry.commit is not None and entry.decision == "user-approved" and "withdrawn" in entry.result


async def test_a_programs_change_withdrawn_while_it_is_recorded_is_logged(bench, monkeypatch):
    task: asyncio.Task[object] | None = None
    loop = asyncio.get_running_loop()
    record_external = bench.store.record_external

    def withdraw_meanwhile(*args, **kwargs):
        loop.call_soon_threadsafe(task.cancel)
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result()
        return record_external(*args, **kwargs)

    monkeypatch.setattr(bench.store, "record_external", withdraw_meanwhile)
    (bench.root / "Coffee.md").write_text("Black.\n", "utf-8")
    change_set = ChangeSet.of(Create(NotePath("Coffee.md"), b"Black.\n"), summary="Created Coffee.md")
    recording = bench.runner.external_changes.record(change_set, CLIENT, "reported by the program")
    task = asyncio.create_task(recording)
    with pytest.raises(asyncio.CancelledError):
        await task
    entry = bench.last()
    assert entry.tool == "direct_edit" and entry.decision == "not-asked" and entry.caller == CLIENT.name
    assert entry.commit == bench.journal.commits(1)[0].id
    assert bench.of(ToolFinished)[-1].outcome.commit == entry.commit
    assert bench.index.note(NotePath("Coffee.md")) is not None
    assert bench.runner.log_lost_commits() == 0


async def test_several_calls_wait_at_once_and_are_answered_in_any_order(bench):
    answers = [asyncio.get_running_loop().create_future() for _ in range(3)]
    for answer in answers:
        bench.approver.answers.append(lambda request, answer=answer: answer)
    calls = [asyncio.create_task(bench.call("make", {"name": f"N{i}"})) for i in range(3)]
    while len(bench.approver.asked) < 3:
        await asyncio.sleep(0)
    assert not any(call.done() for call in calls)
    for place in (2, 0, 1):
        answers[place].set_result(Approved(bench.approver.asked[place].proposal))
    assert all(outcome.success for outcome in await asyncio.gather(*calls))
    assert len({entry.commit for entry in bench.audit.entries()}) == 3


async def test_the_user_may_edit_and_the_caller_is_informed(bench):
    def edit(request):
        (change,) = request.proposal.changes
        return Approved(ChangeSet((Create(change.path, b"my words"),)), edited=True)

    bench.approver.answers.append(edit)
    outcome = await bench.call("make", {"name": "Coffee", "text": "its words"})
    assert bench.text("Coffee.md") == "my words"
    assert outcome.result["changed_by_user"] is True
    (edited,) = outcome.result["edited_by_user"]
    assert edited["path"] == "Coffee.md" and outcome.result["left_out_by_user"] == []
    assert "-its words" in edited["diff"] and "+my words" in edited["diff"]
    assert outcome.message == "Created Coffee.md. Edited by the user: Coffee.md."
    assert bench.last().result == outcome.message
    assert bench.last().reason == "approved by the user after editing the text"


async def test_the_user_may_leave_files_out(bench):
    bench.approver.answers.append(lambda r: Approved(restrict_to(r.proposal, [NotePath("Tea.md")])))
    outcome = await bench.call("remove", {"names": ["Tea", "Home"]})
    assert outcome.success and outcome.result["left_out_by_user"] == ["Home.md"]
    assert outcome.message == "Moved Tea.md to the trash. Left out by the user: Home.md."
    assert bench.last().paths == ("Tea.md",) and bench.last().result == outcome.message
    assert not (bench.root / "Tea.md").exists() and (bench.root / "Home.md").exists()


async def test_calls_that_a_limit_refuses_are_one_row_with_a_count(bench):
    for _ in range(50):
        assert (await bench.call("find", {"query": "tea"})).success
    outcomes = [await bench.call("find", {"query": "tea"}) for _ in range(300)]
    assert {outcome.error["type"] for outcome in outcomes} == {"limit"}
    assert len(bench.audit.entries(limit=1000)) == 51
    assert {outcome.entry for outcome in outcomes} == {51}
    assert [event.repeats for event in bench.of(ToolFinished)[-3:]] == [297, 298, 299]
    bench.runner.close()
    last, first = bench.audit.entries(limit=2)
    assert first.result.startswith("limit: At most 50 calls")
    assert last.result.startswith("299 more calls were refused by the limit after entry 51")


async def test_leaving_everything_out_is_a_denial(bench):
    bench.approver.answers.append(lambda r: Approved(ChangeSet(())))
    outcome = await bench.call("make", {"name": "Coffee"})
    assert outcome.denied and outcome.error is None and bench.last().decision == "user-denied"


def other_path(request):
    return Approved(ChangeSet((Update(NotePath("Home.md"), b"", b"x"),)))


def other_kind(request):
    (change,) = request.proposal.changes
    return Approved(ChangeSet((Delete(change.path, change.before),)))


def other_before(request):
    (change,) = request.proposal.changes
    return Approved(ChangeSet((replace(change, before=b"something else"),)))


def one_more(request):
    return Approved(ChangeSet((*request.proposal.changes, Create(NotePath("x.md"), b""))))


def another_thing(request):
    return Approved(Effect("command", "rm"))


def foreign_grant(request):
    return Approved(request.proposal, grant=GrantOffer("", Operation.DELETE))


@pytest.mark.parametrize(
    "answer", [other_path, other_kind, other_before, one_more, another_thing, foreign_grant]
)
async def test_an_approval_of_something_else_is_a_denial(bench, answer, errors):
    errors.append("the approver failed")
    before = bench.text("Tea.md")
    bench.approver.answers.append(answer)
    outcome = await bench.call("add_line", {"name": "Tea", "line": "x"})
    assert outcome.denied and bench.last().decision == "failed"
    assert bench.text("Tea.md") == before and not (bench.root / "x.md").exists()
    assert bench.grants.active_grants() == ()


async def test_a_file_that_changed_meanwhile_is_asked_about_again(bench):
    def change_it_first(request):
        (bench.root / "Tea.md").write_text("Theirs.\n", "utf-8")
        return Approved(request.proposal)

    bench.approver.answers.append(change_it_first)
    outcome = await bench.call("add_line", {"name": "Tea", "line": "mine"})
    assert outcome.success and bench.text("Tea.md") == "Theirs.\nmine\n"
    assert [r.proposal.changes[0].after for r in bench.approver.asked][1] == b"Theirs.\nmine\n"
    assert len(bench.audit.entries()) == 1


async def test_a_file_that_keeps_changing_is_a_conflict(bench):
    def change_it_first(request):
        file = bench.root / "Tea.md"
        file.write_text(file.read_text("utf-8") + "Theirs.\n", "utf-8")
        return Approved(request.proposal)

    bench.approver.answers.extend([change_it_first] * 3)
    outcome = await bench.call("add_line", {"name": "Tea", "line": "mine"})
    assert outcome.error["type"] == "conflict" and len(bench.approver.asked) == 2
    assert "mine" not in bench.text("Tea.md")
    entry = bench.last()
    assert entry.decision == "failed" and entry.reason.startswith("user-approved, then conflict")
    assert entry.failed_after_approval and not entry.is_denied


async def test_nothing_is_written_while_the_log_is_unwritable(bench, monkeypatch, caplog, errors):
    errors += [f"{count} audit entries are waiting to be written: disk full" for count in (1, 2)]

    def refuse(entry):
        raise StorageError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(bench.audit, "append", refuse)
        assert (await bench.call("read", {"name": "Tea"})).entry == 0
        outcome = await bench.call("make", {"name": "Coffee"})
        assert outcome.error["type"] == "storage" and not (bench.root / "Coffee.md").exists()
    assert (await bench.call("make", {"name": "Coffee"})).success
    assert [entry.tool for entry in bench.audit.entries()] == ["make", "make", "read"]


async def test_a_failing_index_does_not_undo_what_is_written(bench, monkeypatch, caplog, errors):
    errors.append("the index could not be updated after commit 1")

    async def fail(changed, removed=()):
        raise RuntimeError("index")

    monkeypatch.setattr(bench.index, "refresh", fail)
    outcome = await bench.call("make", {"name": "Coffee"})
    assert outcome.success and outcome.commit is not None


async def two_wait(bench, first, second, **call):
    """Start two calls that wait for an answer; `settle(place, answer)` gives one."""
    answers = [asyncio.get_running_loop().create_future() for _ in range(2)]
    bench.approver.answers += [lambda request, answer=answer: answer for answer in answers]
    tasks = [
        asyncio.create_task(bench.call("make", {"name": name, **more}, **call))
        for name, more in (first, second)
    ]
    while len(bench.approver.asked) < 2:
        await asyncio.sleep(0)
    return tasks, answers


async def test_a_new_grant_answers_the_questions_that_it_covers(bench):
    tasks, answers = await two_wait(bench, ("One", {}), ("Two", {}))
    request = bench.approver.asked[0]
    offer = next(one for one in request.offers if one.tool is None and one.minutes is None)
    answers[0].set_result(Approved(request.proposal, grant=offer))
    first, second = await asyncio.gather(*tasks)
    assert first.success and second.success and (bench.root / "Two.md").exists()
    assert answers[1].cancelled()
    entries = {entry.id: entry for entry in bench.audit.entries()}
    assert entries[first.entry].decision == "user-approved"
    assert entries[second.entry].decision == "auto-approved"
    assert entries[second.entry].grant == entries[first.entry].grant != ""
    assert [grant.used for grant in bench.grants.active_grants()] == [1]
    assert [event.decision is None for event in bench.of(ApprovalAnswered)] == [False, True]


async def test_a_question_that_a_grant_does_not_cover_keeps_waiting(bench):
    tasks, answers = await two_wait(bench, ("One", {"folder": "in"}), ("Two", {"folder": "out"}))
    bench.grants.add(GrantOffer("", Operation.CREATE, folder="in"))
    assert (await tasks[0]).success and not answers[1].done()
    answers[1].set_result(Approved(bench.approver.asked[1].proposal))
    assert (await tasks[1]).success
    assert [entry.decision for entry in bench.audit.entries()][:2] == ["user-approved", "auto-approved"]


async def test_a_session_toggle_answers_open_questions(bench):
    tasks, _ = await two_wait(bench, ("One", {}), ("Two", {}))
    bench.grants.set_session(Operation.CREATE, True)
    assert all(outcome.success for outcome in await asyncio.gather(*tasks))
    assert {entry.decision for entry in bench.audit.entries()[:2]} == {"auto-approved"}


async def test_no_grant_answers_calls_that_always_ask(bench):
    tainted = Caller(CallerKind.DESKTOP_AGENT, "Agent", tainted=True)
    tasks, answers = await two_wait(bench, ("One", {}), ("Two", {}), caller=tainted)
    bench.approver.answers.append(forever)
    mine = asyncio.create_task(bench.call("merge", {"name": "Tea"}))
    while len(bench.approver.asked) < 3:
        await asyncio.sleep(0)
    for operation in (Operation.CREATE, Operation.UPDATE, Operation.READ):
        bench.grants.set_session(operation, True)
        bench.grants.add(GrantOffer("", operation, always=True))
    assert (await bench.call("make", {"name": "Three"})).success, "the grants answer a call that they cover"
    assert not any(task.done() for task in (*tasks, mine)) and not any(one.done() for one in answers)
    for task in (*tasks, mine):
        task.cancel()
    await asyncio.gather(*tasks, mine, return_exceptions=True)
    assert {entry.decision for entry in bench.audit.entries()[:3]} == {"cancelled"}


async def test_unknown_and_too_many_arguments_are_refused_without_a_report_of_each(bench):
    outcome = await bench.call("find", {f"key {n}": n for n in range(100_000)})
    assert outcome.error["type"] == "invalid_parameters" and len(outcome.error["problems"]) == 11
    outcome = await bench.call("remove", {"names": [{"a": 1}] * 30_000})
    assert outcome.error["type"] == "limit"
