"""The tools of the category notes: each through the runner, on the sample vault, with a recorded approver."""

from __future__ import annotations

import pytest

from app.permissions.caller import Caller, CallerKind
from app.vault.changes import content_hash
from app.vault.path import NotePath
from tests.support.tool_calls import call

MODEL = Caller(CallerKind.DESKTOP_AGENT, "scripted", turn="t2")


def read(workspace, path):
    return workspace.store.read(NotePath(path)).decode()


async def test_create_note_writes_exactly_what_was_approved(workspace, approver):
    outcome = await call(workspace, "create_note", name="Ideas/Tea", content="# Tea\n\nGreen.")
    assert outcome.success and outcome.result["path"] == "Ideas/Tea.md"
    (change,) = approver.asked[0].proposal.changes
    assert change.after == b"# Tea\n\nGreen.\n" == workspace.store.read(NotePath("Ideas/Tea.md"))


@pytest.mark.parametrize("name", ["Longitude", "LONGITUDE", "[[longitude]]"])
async def test_create_note_never_overwrites_whatever_the_case(workspace, approver, name):
    outcome = await call(workspace, "create_note", name=name, folder="Concepts", content="x")
    assert outcome.error["type"] == "conflict" and outcome.error["path"] == "Concepts/Longitude.md"
    assert not approver.asked


async def test_create_note_never_overwrites_a_note_that_is_too_large_to_read(unwatched_workspace, approver):
    with (unwatched_workspace.root / "Huge.md").open("wb") as file:
        file.truncate(65 * 1024**2)
    outcome = await call(unwatched_workspace, "create_note", name="Huge")
    assert outcome.error["type"] == "conflict" and not approver.asked


@pytest.mark.parametrize("name", ["Longitude", "marine-chronometer", "JOHN  HARRISON"])
async def test_create_note_without_a_folder_names_a_similar_note_anywhere(workspace, approver, name):
    outcome = await call(workspace, "create_note", name=name)
    assert outcome.error["type"] == "conflict" and outcome.error["path"].endswith(".md")
    assert not approver.asked


async def test_create_note_in_a_folder_may_have_the_name_of_a_note_elsewhere(workspace):
    assert (await call(workspace, "create_note", name="Longitude", folder="Journal")).success
    assert (await call(workspace, "create_note", name="🧭")).success


@pytest.mark.parametrize(
    "name", ["../escape", "/etc/passwd", "a#b", "CON", "x\0y", ".obsidian/app", "a/../../b"]
)
async def test_create_note_stays_in_the_vault(workspace, sample_vault, name):
    before = sorted(p.name for p in sample_vault.parent.iterdir())
    outcome = await call(workspace, "create_note", name=name, content="x")
    assert not outcome.success and outcome.commit is None
    assert sorted(p.name for p in sample_vault.parent.iterdir()) == before


async def test_read_note_gives_lines_total_and_hash(workspace):
    outcome = await call(workspace, "read_note", name="Longitude", start_line=7, end_line=7)
    assert outcome.result["text"] == "# Longitude\n"
    assert outcome.result["total_lines"] > 10 and len(outcome.result["hash"]) == 64


async def test_read_note_by_alias_but_write_by_name_only(workspace):
    assert (await call(workspace, "read_note", name="Zheng He")).result["path"] == "People/鄭和.md"
    outcome = await call(workspace, "edit_note", name="Zheng He", op="append", text="x")
    assert outcome.error["type"] == "not_found"


async def test_an_ambiguous_name_lists_its_candidates(workspace):
    outcome = await call(workspace, "edit_note", name="Mercator", op="append", text="x")
    assert outcome.error["type"] == "ambiguous"
    assert sorted(outcome.error["candidates"]) == ["Concepts/Mercator.md", "People/Mercator.md"]


async def test_update_note_keeps_the_properties_and_checks_the_hash(workspace):
    before = read(workspace, "Concepts/Longitude.md")
    stale = await call(workspace, "update_note", name="Longitude", content="# New\n", expected_hash="0" * 64)
    assert stale.error["type"] == "conflict" and read(workspace, "Concepts/Longitude.md") == before
    assert (await call(workspace, "update_note", name="Longitude", content="# New\n")).success
    after = read(workspace, "Concepts/Longitude.md")
    head = before[: before.index("---", 4) + 4]
    assert after.startswith(head) and after.endswith("# New\n")


async def test_edit_note_replace_needs_one_place_or_says_which(workspace):
    several = await call(workspace, "edit_note", name="H4", op="replace", old="voyage", text="trip")
    assert several.error["type"] == "invalid_parameters"
    wanted = {"name": "H4", "op": "replace", "old": "voyage", "text": "trip", "occurrence": 2}
    second = await call(workspace, "edit_note", **wanted)
    assert second.success and "voyage to Jamaica" in read(workspace, "Instruments/H4.md")


@pytest.mark.parametrize("occurrence", [None, 1, 2])
async def test_edit_note_never_changes_the_properties(workspace, occurrence):
    said = "---\ntitle: Tea and tea\ntags: [tea]\n---\nA tea.\n"
    await call(workspace, "create_note", name="Drink", content=said)
    replace = {"name": "Drink", "op": "replace", "old": "tea", "text": "coffee", "occurrence": occurrence}
    outcome = await call(workspace, "edit_note", **replace)
    assert outcome.success == (occurrence != 2)
    after = read(workspace, "Drink.md")
    assert after == (said.replace("A tea", "A coffee") if occurrence != 2 else said)
    for wrong in (
        {"op": "replace", "old": "Tea and", "text": "x"},
        {"op": "patch", "patch": "@@\n-title: Tea and tea\n+title: x\n"},
    ):
        refused = await call(workspace, "edit_note", name="Drink", **wrong)
        assert refused.error["type"] == "invalid_parameters" and "set_properties" in refused.error["message"]
    assert read(workspace, "Drink.md") == after


async def test_reading_from_after_the_end_is_an_error_that_says_how_long_the_note_is(workspace):
    whole = await call(workspace, "read_note", name="H4")
    beyond = await call(workspace, "read_note", name="H4", start_line=whole.result["total_lines"] + 1)
    assert beyond.error["type"] == "invalid_parameters"
    assert beyond.error["total_lines"] == whole.result["total_lines"]


async def test_edit_note_says_what_an_operation_lacks(workspace):
    outcome = await call(workspace, "edit_note", name="H4", op="replace", text="x")
    assert outcome.error["type"] == "invalid_parameters" and outcome.error["missing"] == ["old"]


async def test_edit_note_patch_with_wrong_context_is_a_conflict(workspace):
    patch = "@@ -1,2 +1,2 @@\n not there\n-nor this\n+x\n"
    outcome = await call(workspace, "edit_note", name="H4", op="patch", patch=patch)
    assert outcome.error["type"] == "conflict"


async def test_edits_of_a_note_with_crlf_keep_its_line_ends(workspace):
    before = workspace.store.read(NotePath("Journal/2026-03-09.md"))
    assert (await call(workspace, "edit_note", name="2026-03-09", op="append", text="Later.")).success
    after = workspace.store.read(NotePath("Journal/2026-03-09.md"))
    assert after.startswith(before) and b"\n" not in after.replace(b"\r\n", b"")


async def test_the_result_of_setting_a_property_says_its_value(workspace):
    async def said(**arguments: object) -> str:
        return (await call(workspace, "set_properties", name="Longitude", **arguments)).message

    assert await said(properties={"status": ["draft", True]}) == "Set status of [[Longitude]] to draft, true."
    assert await said(properties={" Status ": "final"}) == "Set status of [[Longitude]] to final."
    for empty in (None, "", []):
        assert await said(properties={"status": empty}) == "Cleared status of [[Longitude]]."
    assert await said(remove=["status"]) == "Removed status from [[Longitude]]."
    assert await said(properties={"rating": 4}, remove=["status"]) == "Changed [[Longitude]]."
    assert await said(remove=["status"]) == "[[Longitude]] already has this text; nothing to do."


async def test_set_properties_touches_only_their_lines(workspace):
    before = read(workspace, "Concepts/Longitude.md").splitlines()
    outcome = await call(workspace, "set_properties", name="Longitude", properties={"created": "2026-03-03"})
    assert outcome.success
    after = read(workspace, "Concepts/Longitude.md").splitlines()
    assert [a for a, b in zip(after, before, strict=True) if a != b] == ["created: 2026-03-03"]


async def test_move_note_rewrites_every_link_at_once_and_undo_restores(workspace, approver, sample_vault):
    before = {p: p.read_bytes() for p in sample_vault.rglob("*.md")}
    linked = {str(link.source) for link in workspace.index.backlinks(NotePath("Concepts/Longitude.md"))}
    outcome = await call(workspace, "move_note", name="Longitude", new_name="The longitude problem")
    assert outcome.success and set(outcome.result["rewritten"]) == linked
    assert len(approver.asked) == 1 and len(approver.asked[0].proposal.changes) == len(linked) + 1
    assert not [one for one in workspace.index.unresolved() if one.name.lower().startswith("longitude")]
    rewritten = read(workspace, "Concepts/Clock error and distance.md")
    assert "[[The longitude problem#^fifteen-degrees]]" in rewritten
    assert (await call(workspace, "undo")).success
    assert {p: p.read_bytes() for p in sample_vault.rglob("*.md") if ".trash" not in p.parts} == before


async def test_delete_note_goes_to_the_trash_and_always_asks(workspace, approver, sample_vault):
    outcome = await call(workspace, "delete_note", name="Gimbal")
    assert outcome.result["backlinks"] == ["Concepts/Marine chronometer.md"]
    assert not approver.asked[0].offers
    assert not (sample_vault / "Concepts/Gimbal.md").exists()
    assert list((sample_vault / ".trash").rglob("Gimbal*.md"))
    assert (await call(workspace, "undo")).success and (sample_vault / "Concepts/Gimbal.md").exists()


async def test_get_metadata_and_list_notes(workspace):
    outcome = await call(workspace, "get_metadata", name="Marine chronometer")
    assert "Concepts/Bimetallic strip.md" in outcome.result["forward_links"]
    assert outcome.result["tags"] == ["instrument", "time"] and outcome.result["type"] == "concept"
    backlinks = len(outcome.result["backlinks"])
    assert outcome.message == f"[[Marine chronometer]] has 3 properties, 2 tags and {backlinks} backlinks."
    second_outcome = await call(workspace, "list_notes", folder="Claims", limit=3)
    assert second_outcome.result["total"] == 12 and len(second_outcome.result["notes"]) == 3


async def test_history_lists_versions_and_restore_goes_back_to_one(workspace):
    first = read(workspace, "Instruments/H1.md")
    for word in ("one", "two"):
        await call(workspace, "edit_note", name="H1", op="append", text=word)
    versions = (await call(workspace, "note_history", name="H1")).result["versions"]
    assert len(versions) >= 2
    oldest = content_hash(first.encode())
    assert oldest in {version["version"] for version in versions}
    assert (await call(workspace, "restore_note", name="H1", version=oldest)).success
    assert read(workspace, "Instruments/H1.md") == first


async def test_undo_keeps_later_edits_of_the_user(workspace, sample_vault):
    await call(workspace, "add_tag", name="H1", tag="checked")
    file = sample_vault / "Instruments/H1.md"
    file.write_text(file.read_text() + "\nMy own line.\n")
    outcome = await call(workspace, "undo")
    assert outcome.success
    assert "checked" not in file.read_text() and "My own line." in file.read_text()


async def test_undo_of_a_turn_reverts_all_its_calls(workspace, sample_vault):
    before = {p: p.read_bytes() for p in sample_vault.rglob("*.md")}
    await call(workspace, "add_tag", name="H1", tag="x1")
    await call(workspace, "add_tag", name="H2", tag="x1")
    assert (await call(workspace, "undo", turn="t1", caller=Caller.user())).success
    assert {p: p.read_bytes() for p in sample_vault.rglob("*.md")} == before


async def test_a_private_note_does_not_exist_for_a_model(workspace):
    name = "Letters (private)"
    assert (await call(workspace, "read_note", name=name)).success
    assert (await call(workspace, "read_note", name=name, caller=MODEL)).error["type"] == "not_found"
    outcome = await call(workspace, "list_notes", folder="Journal", caller=MODEL)
    assert not [n for n in outcome.result["notes"] if "private" in n["path"]]
    second_outcome = await call(workspace, "search_notes", query="Drafts editor", caller=MODEL)
    assert second_outcome.result["total"] == 0
