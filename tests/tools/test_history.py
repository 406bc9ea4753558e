"""Undo, versions and restoring: through the runner, on the sample vault, with a recorded approver."""

from __future__ import annotations

import pytest

from app.errors import NotFoundError
from app.permissions.approval import Approved, Denied
from app.permissions.caller import Caller
from app.toolkit.call import Call
from app.vault.changes import ChangeSet, Create, Delete, Move, Update
from app.vault.path import NotePath
from tests.support.partial_changes import restrict_to
from tests.support.tool_calls import call

P = NotePath.parse


def here(workspace):
    def read(path):
        try:
            return workspace.store.read(path)
        except NotFoundError:
            return None

    return read


async def conflicting_turn(workspace):
    """Run a turn that creates, changes, deletes and moves; then the user changes the same files."""
    await call(workspace, "create_note", name="New", content="one\n")
    await call(workspace, "create_note", name="Old", content="alpha\nbeta\n", caller=Caller.user())
    await call(workspace, "create_note", name="Gone", content="gone\n", caller=Caller.user())
    await call(workspace, "edit_note", name="Old", op="replace", text="BETA", old="beta")
    await call(workspace, "move_note", name="Old", new_name="Older")
    await call(workspace, "delete_note", name="Gone")
    await workspace.runner.run(Call.save(P("Older.md"), b"alpha\nBETA\n", b"alpha\nmine\n"))
    return tuple(one.id for one in workspace.audit.commits_of_turn("t1", workspace.journal))


async def test_an_undo_says_which_files_it_removed_moved_and_restored(workspace):
    await call(workspace, "create_note", name="Gone", content="gone\n", caller=Caller.user())
    await call(workspace, "create_note", name="Old", content="old\n", caller=Caller.user())
    await call(workspace, "create_note", name="New", content="one\n")
    await call(workspace, "add_tag", name="H4", tag="reviewed")
    await call(workspace, "move_note", name="Old", new_name="Older")
    await call(workspace, "delete_note", name="Gone")
    result = (await call(workspace, "undo", turn="t1")).result
    assert result["removed"] == ["New.md"] and result["moved_back"] == ["Old.md"]
    assert sorted(result["restored"]) == ["Gone.md", "Instruments/H4.md"]
    assert set(result["paths"]) == {"New.md", "Old.md", "Older.md", "Gone.md", "Instruments/H4.md"}


async def test_a_conflict_is_reported_to_the_agent_and_nothing_is_written(workspace):
    commits = await conflicting_turn(workspace)
    outcome = await call(workspace, "undo", turn="t1")
    assert outcome.error["type"] == "conflict" and set(outcome.error["commits"]) == set(commits)
    assert outcome.error["paths"] == ["Older.md"] and outcome.commit is None


async def test_a_resolved_undo_is_one_approved_journaled_change_set(workspace, approver):
    commits = await conflicting_turn(workspace)
    plan = workspace.journal.plan_undo(commits, here(workspace))
    (conflict,) = plan.conflicts
    approvals_before = len(approver.asked)
    outcome = await workspace.runner.run(Call.undo(plan, {conflict.path: conflict.theirs}, {"turn": "t1"}))
    assert outcome.success and outcome.message.startswith("Undone: ")
    (request,) = approver.asked[approvals_before:]
    assert (request.tool, request.caller, request.arguments) == ("undo", Caller.user(), (("turn", "t1"),))
    kinds = {type(change) for change in request.proposal.changes}
    assert kinds == {Create, Delete, Move}
    read = here(workspace)
    assert read(P("Old.md")) == b"alpha\nbeta\n" and read(P("Older.md")) is None
    assert read(P("Gone.md")) == b"gone\n" and read(P("New.md")) is None
    entry = workspace.audit.entry(outcome.entry)
    assert (entry.tool, entry.decision, set(entry.undoes)) == ("undo", "user-approved", set(commits))
    commit = workspace.journal.commit(outcome.commit)
    assert set(commit.undoes) == set(commits)
    assert all(workspace.journal.commit(number).undone_by == commit.id for number in commits)


async def test_a_resolved_undo_that_the_user_denies_writes_nothing(workspace, approver):
    commits = await conflicting_turn(workspace)
    plan = workspace.journal.plan_undo(commits, here(workspace))
    approver.answers[:] = [Denied()]
    outcome = await workspace.runner.run(Call.undo(plan, {P("Older.md"): b"both\n"}, {"turn": "t1"}))
    assert outcome.denied and here(workspace)(P("Older.md")) == b"alpha\nmine\n"
    assert workspace.audit.entry(outcome.entry).decision == "user-denied"


async def test_a_resolved_undo_conflicts_with_a_file_changed_meanwhile(workspace):
    commits = await conflicting_turn(workspace)
    plan = workspace.journal.plan_undo(commits, here(workspace))
    await workspace.runner.run(Call.save(P("Older.md"), b"alpha\nmine\n", b"alpha\nnewer\n"))
    outcome = await workspace.runner.run(Call.undo(plan, {P("Older.md"): b"both\n"}, {"turn": "t1"}))
    assert outcome.error["type"] == "conflict" and here(workspace)(P("Older.md")) == b"alpha\nnewer\n"
    assert all(workspace.journal.commit(number).undone_by is None for number in commits)


async def test_a_resolved_undo_can_be_undone(workspace):
    commits = await conflicting_turn(workspace)
    plan = workspace.journal.plan_undo(commits, here(workspace))
    outcome = await workspace.runner.run(Call.undo(plan, {}, {"turn": "t1"}))
    assert here(workspace)(P("Old.md")) == b"alpha\nmine\n"
    undone = await call(workspace, "undo", entry=outcome.entry, caller=Caller.user())
    read = here(workspace)
    assert undone.success and read(P("Older.md")) == b"alpha\nmine\n" and read(P("New.md")) == b"one\n"


async def test_a_part_of_an_undo_leaves_the_rest_to_be_undone(workspace, approver):
    await call(workspace, "create_note", name="One", content="1\n")
    await call(workspace, "create_note", name="Two", content="2\n")

    def part(request):
        return Approved(restrict_to(request.proposal, [P("One.md")]))

    approver.answers[:] = [part]
    assert (await call(workspace, "undo", turn="t1", caller=Caller.user())).success
    assert here(workspace)(P("One.md")) is None and here(workspace)(P("Two.md")) == b"2\n"
    commits = tuple(one.id for one in workspace.audit.commits_of_turn("t1", workspace.journal))
    assert [workspace.journal.commit(number).undone_by for number in commits] == [None, None]
    plan = workspace.journal.plan_undo(commits, here(workspace))
    assert plan.change_set == ChangeSet((Delete(P("Two.md"), b"2\n"),), plan.change_set.summary)


@pytest.mark.parametrize(("edits", "words"), [(0, "1 version of"), (1, "2 versions of")])
async def test_note_history_counts_its_versions(workspace, edits, words):
    await call(workspace, "create_note", name="One", content="1\n")
    for _ in range(edits):
        await call(workspace, "edit_note", name="One", op="append", text="more")
    assert (await call(workspace, "note_history", name="One")).message.startswith(words)


async def test_restore_note_proposes_the_bytes_of_the_version(workspace, approver):
    await call(workspace, "create_note", name="One", content="1\n")
    await call(workspace, "edit_note", name="One", op="append", text="more")
    history = await call(workspace, "note_history", name="One")
    first = history.result["versions"][-1]["version"]
    assert (await call(workspace, "restore_note", name="One", version=first)).success
    (change,) = approver.asked[-1].proposal.changes
    assert isinstance(change, Update) and change.after == b"1\n" == here(workspace)(P("One.md"))
