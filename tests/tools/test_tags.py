"""The tools of the category tags, on the sample vault."""

from __future__ import annotations

from app.vault.path import NotePath
from tests.support.tool_calls import call


async def test_add_then_remove_leaves_the_note_as_it_was(workspace):
    before = workspace.store.read(NotePath("Concepts/Longitude.md"))
    assert (await call(workspace, "add_tag", name="Longitude", tag="#to-check")).success
    assert b"to-check" in workspace.store.read(NotePath("Concepts/Longitude.md"))
    assert (await call(workspace, "remove_tag", name="Longitude", tag="to-check")).success
    assert workspace.store.read(NotePath("Concepts/Longitude.md")) == before


async def test_adding_a_tag_that_is_there_asks_nothing(workspace, approver):
    outcome = await call(workspace, "add_tag", name="Longitude", tag="CORE")
    assert outcome.success and not approver.asked and "already" in outcome.message


async def test_removing_a_tag_that_is_not_there_names_those_that_are(workspace):
    outcome = await call(workspace, "remove_tag", name="Longitude", tag="nope")
    assert outcome.error["type"] == "not_found" and "core" in outcome.error["tags"]


async def test_rename_tag_is_one_change_set_with_nested_tags_and_no_false_friends(workspace, approver):
    notes = {str(path) for path in workspace.index.notes_with_tag("claim")}
    outcome = await call(workspace, "rename_tag", tag="claim", new_tag="thesis")
    assert outcome.success and set(outcome.result["notes"]) == notes
    assert len(approver.asked) == 1
    assert not workspace.index.notes_with_tag("claim")
    assert workspace.index.notes_with_tag("thesis/economy")


async def test_an_invalid_tag_is_refused(workspace):
    outcome = await call(workspace, "add_tag", name="Longitude", tag="two words")
    assert outcome.error["type"] == "invalid_parameters"


async def test_rename_tag_leaves_out_a_note_deleted_meanwhile(unwatched_workspace):
    deleted, *others = unwatched_workspace.index.notes_with_tag("claim")
    assert others
    (unwatched_workspace.root / str(deleted)).unlink()
    outcome = await call(unwatched_workspace, "rename_tag", tag="claim", new_tag="thesis")
    assert outcome.success and set(outcome.result["notes"]) == {str(path) for path in others}
    assert [text.partition(":")[0] for text in outcome.result["left_out"]] == [str(deleted)]
