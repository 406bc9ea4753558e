"""Results of tools if the user approved a part of the proposal or edited the text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.permissions.approval import Approved
from app.permissions.caller import Caller, CallerKind
from app.toolkit.call import Call
from app.vault.changes import Delete, touched_paths
from app.vault.path import NotePath
from tests.support.partial_changes import restrict_to

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent", turn="t", uses_model=True)
HUB, SPOKES = NotePath("Hub.md"), tuple(NotePath(f"Spoke {n}.md") for n in range(3))
TEXT = "Sees [[Hub]]. #old\n\n## Relations\n\n- supports [[Hub]]\n"
PATCH = "--- a/{0}\n+++ b/{0}\n@@ -1,1 +1,1 @@\n-Sees [[Hub]]. #old\n+Saw [[Hub]]. #old\n"


async def call(workspace, tool, /, **arguments):
    return await workspace.runner.run(Call.of(tool, arguments, AGENT))


async def make_wheel(workspace):
    workspace.registry.set_category("development", True)
    for path, text in ((HUB, "The hub. #old\n"), *((spoke, TEXT) for spoke in SPOKES)):
        assert (await workspace.runner.run(Call.save(path, None, text.encode()))).success


def strings(value):
    """Return every string in a result at any depth, without what the user left out."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from () if key == "left_out_by_user" else strings(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from strings(one)
    elif isinstance(value, str):
        yield value


CASES = {
    "move_note": {"name": "Hub", "new_name": "Nave"},
    "rename_tag": {"tag": "old", "new_tag": "new"},
    "delete_node": {"node_id": "Hub", "cascade": True},
    "merge_nodes": {"primary_node_id": "Spoke 0", "secondary_node_id": "Hub"},
    "patch": {
        "patch": "".join(PATCH.format(spoke) for spoke in SPOKES),
        "files": [str(spoke) for spoke in SPOKES],
    },
}


@pytest.mark.parametrize("tool", [*CASES, "undo"])
async def test_a_file_that_was_left_out_is_reported_as_left_out_only(workspace, approver, tool):
    await make_wheel(workspace)
    if tool == "undo":
        assert (await call(workspace, "rename_tag", **CASES["rename_tag"])).success
    remaining = SPOKES[1]
    before = workspace.store.read(remaining)
    proposed = []

    def without(request):
        proposed.append(request.proposal)
        return Approved(restrict_to(request.proposal, [p for p in request.proposal.paths if p != remaining]))

    approver.answers = [without]
    outcome = await call(workspace, tool, **CASES.get(tool, {}))
    assert outcome.success, outcome
    assert remaining in proposed[0].paths and workspace.store.read(remaining) == before
    assert outcome.result["left_out_by_user"] == [str(remaining)]
    assert outcome.message.endswith(f"Left out by the user: {remaining}.")
    text = [*strings(outcome.result), outcome.message.removesuffix(f"Left out by the user: {remaining}.")]
    if tool == "delete_node":
        # It still links to the deleted note, and the result reports that.
        assert outcome.result["links_left"] == [str(path) for path in SPOKES]
        assert outcome.result["relationships_removed"] == 2
        del outcome.result["links_left"]
        text = list(strings(outcome.result))
    assert not any(str(remaining) in one or remaining.name in one for one in text), text
    entry = workspace.audit.entries()[0]
    committed = [str(path) for change in proposed[0].changes for path in touched_paths(change)]
    assert set(entry.paths) == set(committed) - {str(remaining)} and entry.result == outcome.message
    if tool == "undo":
        assert outcome.result["commits"] == []


async def test_a_count_is_of_what_was_committed(workspace, approver):
    await make_wheel(workspace)
    approver.answers = [lambda request: Approved(restrict_to(request.proposal, [SPOKES[0]]))]
    renamed = await call(workspace, "rename_tag", tag="old", new_tag="new")
    assert renamed.message.startswith("Renamed #old to #new in 1 note.")
    approver.answers = [lambda request: Approved(restrict_to(request.proposal, [SPOKES[0]]))]
    moved = await call(workspace, "move_note", name="Hub", new_name="Nave")
    assert moved.message.startswith("Hub.md was not moved. Updated links in 1 note.")
    assert moved.result["new_path"] == "Hub.md" and moved.result["rewritten"] == [str(SPOKES[0])]


@pytest.mark.parametrize(
    ("tool", "arguments", "old", "new", "expected"),
    [
        ("create_node", {"type": "concept", "content": {"title": "Rim"}}, b"concept", b"source", "source"),
        ("update_node", {"node_id": "Hub", "updates": {"type": "concept"}}, b"concept", b"source", "source"),
        ("reclassify_node", {"node_id": "Hub", "new_type": "concept"}, b"concept", b"source", "source"),
    ],
)
async def test_fields_come_from_the_text_that_the_user_wrote(
    workspace, approver, tool, arguments, old, new, expected
):
    await make_wheel(workspace)

    def edited(request):
        (change,) = request.proposal.changes
        after = replace(change, after=change.after.replace(old, new))
        return Approved(replace(request.proposal, changes=(after,)), edited=True)

    approver.answers = [edited]
    outcome = await call(workspace, tool, **arguments)
    assert outcome.result.get("new_type", outcome.result.get("type")) == expected
    assert "concept" not in outcome.message
    (edit,) = outcome.result["edited_by_user"]
    assert "-type: concept" in edit["diff"] and "+type: source" in edit["diff"]


async def test_a_model_is_shown_a_diff_and_no_hash_of_an_edited_text(workspace, approver):
    await make_wheel(workspace)

    def edited(request):
        (change,) = request.proposal.changes
        after = replace(change, after=change.after + b"By the user.\n")
        return Approved(replace(request.proposal, changes=(after,)), edited=True)

    approver.answers = [edited]
    outcome = await call(workspace, "edit_note", name="Hub", op="append", text="By the agent.")
    (edit,) = outcome.result["edited_by_user"]
    assert edit["path"] == "Hub.md" and "+By the user." in edit["diff"]
    assert not any(len(word) == 64 for word in str(outcome.as_dict()).split("'"))
    assert outcome.message == "Changed Hub.md. Edited by the user: Hub.md."


# delete_node


async def test_cascade_reports_links_that_are_left_and_removes_an_empty_section(workspace):
    await make_wheel(workspace)
    only = NotePath("Only a relation.md")
    await workspace.runner.run(Call.save(only, None, b"Text.\n\n## Relations\n\n- supports [[Hub]]\n"))
    outcome = await call(workspace, "delete_node", node_id="Hub", cascade=True)
    assert outcome.result["links_left"] == [str(path) for path in SPOKES]
    assert outcome.result["relationships_removed"] == 4
    assert workspace.store.read(only) == b"Text.\n"


async def test_a_note_that_was_kept_is_not_reported_as_deleted(workspace, approver):
    await make_wheel(workspace)

    def keep(request):
        return Approved(
            restrict_to(
                request.proposal,
                [change.path for change in request.proposal.changes if not isinstance(change, Delete)],
            )
        )

    approver.answers = [keep]
    outcome = await call(workspace, "delete_node", node_id="Hub", cascade=True)
    assert outcome.message.startswith("Hub.md was not deleted. Removed 3 relations to it.")
    assert outcome.result["links_left"] == [], "the links to a note that was kept lead somewhere"


# undo


async def test_undoing_a_create_whose_note_is_gone_says_so(workspace, sample_vault):
    second_outcome = await call(workspace, "create_note", name="Rim", content="Text")
    (sample_vault / "Rim.md").unlink()
    outcome = await call(workspace, "undo", entry=second_outcome.entry)
    assert outcome.message == "Nothing to undo: Rim.md no longer exists. Nothing was changed."
    assert outcome.result["paths"] == [] and outcome.commit is None


async def test_undoing_twice_says_that_it_was_undone(workspace):
    outcome = await call(workspace, "create_note", name="Rim", content="Text")
    assert (await call(workspace, "undo", entry=outcome.entry)).success
    assert (await call(workspace, "undo", entry=outcome.entry)).message.startswith("Already undone")


async def test_a_note_with_a_link_that_cannot_be_edited_does_not_prevent_a_move(workspace):
    await make_wheel(workspace)
    escaped = NotePath("Escaped.md")
    text = b'---\nup: "[[H\\x75b]]"\n---\n'
    assert (await workspace.runner.run(Call.save(escaped, None, text))).success
    moved = await call(workspace, "move_note", name="Hub", new_name="Nave")
    assert moved.success and moved.result["rewritten"] == [str(spoke) for spoke in SPOKES]
    assert [reason.partition(":")[0] for reason in moved.result["left_out"]] == [str(escaped)]
    assert workspace.store.read(escaped) == text
