"""The tools of the category memory behind the gate: results, errors, approvals, and undo."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from app.permissions.approval import Denied
from app.permissions.caller import Caller, CallerKind
from app.settings import AgentProfile, TeamSettings
from tests.support.tool_calls import AGENT, call

MODEL = Caller(CallerKind.DESKTOP_AGENT, "Model")
EDITOR = Caller(CallerKind.DESKTOP_AGENT, "Editor", agent="editor")
CLIENT = Caller(CallerKind.MCP, "Client")

FORM = {
    "kind": "map",
    "fields": [{"name": "mood"}, {"name": "seen", "kind": "counter"}, {"name": "born", "read_only": True}],
}
PARTS = {
    "kind": "composite",
    "sections": [{"name": "notes"}, {"name": "items", "content": {"kind": "list", "max_items": 2}}],
}


async def make(workspace, label="plan", /, **arguments):
    call_arguments = {"content": "one\ntwo\n", **arguments}
    outcome = await call(workspace, "block", op="create", label=label, **call_arguments)
    assert outcome.success, outcome


async def text_of(workspace, label="plan", /, caller=AGENT):
    outcome = await call(workspace, "block", caller, op="load", label=label)
    assert outcome.success, outcome
    return outcome.result["text"]


def kind_of(outcome):
    return outcome.error and outcome.error["type"]


# Blocks


async def test_a_block_is_made_loaded_pinned_and_listed_without_a_question(workspace, approver):
    await make(workspace, description="What is next.")
    assert await text_of(workspace) == "one\ntwo\n"
    loaded = await call(workspace, "block", op="load", label="plan")
    assert loaded.result["leaves_context"] and loaded.result["total_lines"] == 2
    assert (await call(workspace, "block", op="pin", label="plan")).success
    blocks = (await call(workspace, "block", op="list")).result["blocks"]
    assert {one["label"]: one["pinned"] for one in blocks} == {"human": True, "persona": True, "plan": True}
    pinned = {one.label: one for one in workspace.memory.store.pinned("scriptorium")}
    assert pinned["plan"].text == "one\ntwo\n" and pinned["plan"].size == 8
    assert (await call(workspace, "block", op="unpin", label="plan")).success
    assert not approver.asked


async def test_info_tells_the_layout(workspace):
    await make(workspace, "form", layout=FORM, content="mood: calm\nborn: 1970\n")
    result = (await call(workspace, "block", op="info", label="form")).result
    assert result["layout"]["fields"][2] == {"name": "born", "read_only": True}
    assert result["blocks"][0]["kind"] == "map" and result["blocks"][0]["permission"] == "read_write"


async def test_invalid_blocks_are_refused(workspace):
    await make(workspace)
    assert kind_of(await call(workspace, "block", op="create", label="PLAN")) == "conflict"
    outcome = await call(workspace, "block", op="create", label="x", layout={"kind": "tree"})
    assert kind_of(outcome) == "invalid_parameters"
    outcome = await call(workspace, "block", op="create", label="a//b")
    assert kind_of(outcome) == "invalid_parameters"
    missing = await call(workspace, "block", op="load", label="plans")
    assert kind_of(missing) == "not_found" and missing.error["suggestions"] == ["plan"]
    assert kind_of(await call(workspace, "block", op="load", label="plan", source_id="s")) == "not_found"
    assert kind_of(await call(workspace, "block", op="pin")) == "invalid_parameters"


async def test_the_viewport_limits_what_is_shown_and_edits_apply_to_the_whole(workspace):
    await make(workspace, content="1\n2\n3\n4\n5\n")
    outcome = await call(workspace, "block", op="viewport", label="plan", start_line=2, display_lines=2)
    assert outcome.result["text"] == "2\n3\n" and outcome.result["total_lines"] == 5
    second_outcome = await call(
        workspace, "block", op="viewport", label="plan", start_line=9, display_lines=2
    )
    assert kind_of(second_outcome) == "invalid_parameters" and second_outcome.error["total_lines"] == 5
    edited = await call(workspace, "block_edit", op="edit_range", label="plan", lines="5", text="five")
    assert edited.success
    assert workspace.memory.store.block("plan", "scriptorium").text == "1\n2\n3\n4\nfive"


async def test_a_block_is_archived_and_restored_when_it_is_loaded(workspace):
    await make(workspace)
    await call(workspace, "block", op="pin", label="plan")
    assert (await call(workspace, "block", op="archive", label="plan")).success
    assert "plan" not in {one.label for one in workspace.memory.store.pinned("scriptorium")}
    assert (await call(workspace, "block", op="info", label="plan")).result["blocks"][0]["type"] == "archival"
    await text_of(workspace)
    assert (await call(workspace, "block", op="info", label="plan")).result["blocks"][0]["type"] == "working"
    assert kind_of(await call(workspace, "block", op="archive", label="persona")) == "invalid_parameters"


async def test_sharing_asks_and_the_other_agent_may_do_what_was_given(workspace, approver):
    workspace.settings.team = TeamSettings(agents=(AgentProfile(name="editor"),))
    await make(workspace)
    assert kind_of(await call(workspace, "block", EDITOR, op="load", label="plan")) == "not_found"
    shared = await call(workspace, "block", op="share", label="plan", agent="editor", permission="append")
    assert shared.success and len(approver.asked) == 1
    added = await call(workspace, "block_edit", EDITOR, op="append", label="plan", content="three")
    assert added.success and await text_of(workspace) == "one\ntwo\nthree"
    refused = await call(workspace, "block_edit", EDITOR, op="replace", label="plan", old="one", new="1")
    assert kind_of(refused) == "permission_denied" and "append" in refused.error["message"]
    assert len(approver.asked) == 1
    assert (await call(workspace, "block", op="unshare", label="plan", agent="editor")).success
    assert kind_of(await call(workspace, "block", EDITOR, op="load", label="plan")) == "not_found"
    assert kind_of(await call(workspace, "block", op="unshare", label="plan", agent="editor")) == "not_found"
    more = await call(workspace, "block", op="share", label="plan", agent="editor", permission="admin")
    assert kind_of(more) == "permission_denied"


async def test_a_block_is_shared_only_with_an_agent_that_exists(workspace, approver):
    workspace.settings.team = TeamSettings(agents=(AgentProfile(name="Editor"),))
    await make(workspace)
    share = {"op": "share", "label": "plan", "permission": "append"}
    unknown_label = await call(workspace, "block", **share, agent="Edit")
    assert kind_of(unknown_label) == "not_found" and unknown_label.error["suggestions"] == ["Editor"]
    assert not approver.asked and not workspace.memory.store.block("plan", "scriptorium").shares
    assert (await call(workspace, "block", **share, agent="editor")).success
    assert list(workspace.memory.store.block("plan", "scriptorium").shares) == ["Editor"]
    workspace.settings.team = TeamSettings()
    assert (await call(workspace, "block", op="unshare", label="plan", agent="Editor")).success


async def test_null_empties_a_field_and_a_section_but_not_what_is_read_only(workspace):
    set_field = partial(call, workspace, "block_edit", op="set_field")
    await make(workspace, "form", layout=FORM, content="mood: calm\nseen: 3\nborn: 1970\n")
    assert (await set_field(label="form", field="mood", value=None)).success
    assert await text_of(workspace, "form") == "seen: 3\nborn: 1970\n"
    parts = {"kind": "composite", "sections": [{"name": "facts", "content": FORM}, {"name": "notes"}]}
    await make(workspace, "parts", layout=parts, content="")
    facts = {"mood": "calm", "seen": 2}
    assert (await set_field(label="parts", field="facts", value=facts)).success
    assert (await set_field(label="parts", field="notes", value="Hello")).success
    outcome = await set_field(label="parts", field="facts", value={**facts, "born": "1980"})
    assert kind_of(outcome) == "invalid_parameters"
    for field in ("facts", "notes"):
        assert (await set_field(label="parts", field=field, value=None)).success
    assert await text_of(workspace, "parts") == "facts:\n  seen: 0\nnotes:\n"
    # A client that sends null for omitted arguments is understood.
    assert (await call(workspace, "block_edit", op="append", label="plan", content="x", value=None)).error[
        "type"
    ] == "not_found"


async def test_every_agent_has_a_memory_of_its_own(workspace):
    await make(workspace)
    for caller in (EDITOR, CLIENT, replace(CLIENT, kind=CallerKind.HTTP)):
        blocks = (await call(workspace, "block", caller, op="list")).result["blocks"]
        assert {one["label"] for one in blocks} == {"human", "persona"}
    assert await text_of(workspace, "plan", MODEL) == "one\ntwo\n"


async def test_delete_needs_an_administrator_and_asks(workspace, approver):
    await make(workspace)
    refused = await call(workspace, "block", op="delete", label="plan")
    assert kind_of(refused) == "permission_denied" and not approver.asked
    await make(workspace, "mine", permission="admin")
    approver.asked.clear()
    deleted = await call(workspace, "block", op="delete", label="mine")
    assert deleted.success and len(approver.asked) == 1
    undone = await call(workspace, "undo", entry=deleted.entry)
    assert undone.success and await text_of(workspace, "mine") == "one\ntwo\n"
    assert kind_of(await call(workspace, "block", op="delete", label="persona")) == "not_found"


# Edits


async def test_changes_of_the_user_block_need_approval(workspace, approver):
    approver.answers.insert(0, Denied("That is private."))
    outcome = await call(workspace, "block_edit", op="append", label="human", content="Likes tea.")
    assert outcome.denied and outcome.words == "That is private."
    request = approver.asked[0]
    assert "human" in request.reason and request.scope.store_name == "the memory"
    assert b"Likes tea." in request.proposal.changes[0].after
    assert (await call(workspace, "block_edit", op="append", label="human", content="Likes tea.")).success
    assert await text_of(workspace, "human") == "Likes tea."
    free = await call(workspace, "block_edit", op="append", label="persona", content="Brief.")
    assert free.success and len(approver.asked) == 2


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"op": "append", "content": "three"}, "one\ntwo\nthree"),
        ({"op": "replace", "old": "o", "new": "0"}, "0ne\ntwo\n"),
        ({"op": "replace", "old": "o", "new": "0", "mode": "all"}, "0ne\ntw0\n"),
        ({"op": "replace", "old": "o", "new": "0", "mode": "nth", "nth": 2}, "one\ntw0\n"),
        ({"op": "replace", "old": "(t)w", "new": r"\1v", "mode": "regex"}, "one\ntvo\n"),
        ({"op": "patch", "patch": "@@ -1,2 +1,2 @@\n one\n-two\n+2\n"}, "one\n2\n"),
        ({"op": "edit_range", "lines": "1-2", "text": "all"}, "all"),
        ({"op": "edit_range", "lines": "2-1", "text": "between"}, "one\nbetween\ntwo\n"),
    ],
)
async def test_edits_of_a_text(workspace, arguments, text):
    await make(workspace)
    outcome = await call(workspace, "block_edit", label="plan", **arguments)
    assert outcome.success and await text_of(workspace) == text and outcome.result["size"] == len(text)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"op": "replace", "old": "nothing", "new": "x"}, "not_found"),
        ({"op": "replace", "old": "o", "new": "x", "mode": "nth", "nth": 5}, "not_found"),
        ({"op": "replace", "old": "(", "new": "x", "mode": "regex"}, "invalid_parameters"),
        ({"op": "patch", "patch": "@@ -1,1 +1,1 @@\n-three\n+3\n"}, "conflict"),
        ({"op": "edit_range", "lines": "7-9", "text": "x"}, "invalid_parameters"),
        ({"op": "set_field", "field": "mood", "value": "x"}, "invalid_parameters"),
        ({"op": "undo"}, "permission_denied"),
        ({"op": "redo"}, "not_found"),
    ],
)
async def test_invalid_edits_are_refused(workspace, arguments, error):
    await make(workspace)
    assert kind_of(await call(workspace, "block_edit", label="plan", **arguments)) == error
    assert await text_of(workspace) == "one\ntwo\n"


async def test_fields_and_sections(workspace):
    await make(workspace, "form", layout=FORM, content="mood: calm\nborn: 1970\n")
    for field, value in (("mood", "merry\nand bright"), ("seen", 3)):
        outcome = await call(workspace, "block_edit", op="set_field", label="form", field=field, value=value)
        assert outcome.success
    assert (await call(workspace, "block_edit", op="append", label="form", field="seen", content="2")).success
    assert await text_of(workspace, "form") == "mood: merry\n  and bright\nseen: 5\nborn: 1970\n"
    for field, value in (("born", "1980"), ("seen", "many"), ("colour", "red")):
        second_outcome = await call(
            workspace, "block_edit", op="set_field", label="form", field=field, value=value
        )
        assert kind_of(second_outcome) == "invalid_parameters"
    await make(workspace, "parts", layout=PARTS, content="")
    for item in ("a", "b"):
        await call(workspace, "block_edit", op="append", label="parts", field="items", content=item)
    full = await call(workspace, "block_edit", op="append", label="parts", field="items", content="c")
    assert kind_of(full) == "invalid_parameters" and full.error["limit"] == 2
    whole = await call(workspace, "block_edit", op="append", label="parts", content="x")
    assert kind_of(whole) == "invalid_parameters"
    await call(workspace, "block_edit", op="set_field", label="parts", field="notes", value="hello")
    assert await text_of(workspace, "parts") == "notes:\n  hello\nitems:\n  - a\n  - b\n"


async def test_undo_and_redo_of_a_block_and_the_tool_undo_agree(workspace):
    await make(workspace, content="0\n")
    for number in "12":
        await call(workspace, "block_edit", op="append", label="plan", content=number)

    async def step(tool, **arguments):
        outcome = await call(workspace, tool, **arguments)
        assert outcome.success, outcome
        return await text_of(workspace)

    assert await step("block_edit", op="undo", label="plan") == "0\n1"
    assert await step("undo") == "0\n"
    assert await step("block_edit", op="redo", label="plan") == "0\n1"
    assert await step("block_edit", op="redo", label="plan") == "0\n1\n2"
    assert await step("block_edit", op="undo", label="plan") == "0\n1"
    await call(workspace, "block_edit", op="append", label="plan", content="new")
    assert kind_of(await call(workspace, "block_edit", op="redo", label="plan")) == "not_found"
    assert await step("block_edit", op="undo", label="plan") == "0\n1"


async def test_an_undo_reports_the_size_that_the_block_has_afterwards(workspace):
    await make(workspace, content="start")
    await call(workspace, "block_edit", op="append", label="plan", content="more")
    sizes = [
        (await call(workspace, "block_edit", op=op, label="plan")).result["size"] for op in ("undo", "redo")
    ]
    assert sizes == [len("start"), len("start\nmore")]


async def test_an_undo_is_no_way_around_the_permission(workspace, approver):
    await make(workspace, "log", permission="append", content="start")
    await call(workspace, "block_edit", op="append", label="log", content="kept")
    refused = await call(workspace, "block_edit", op="undo", label="log")
    assert kind_of(refused) == "permission_denied"
    assert kind_of(await call(workspace, "undo")) == "permission_denied"
    assert await text_of(workspace, "log") == "start\nkept"
    person = await call(workspace, "block_edit", Caller.user(), op="undo", label="log")
    assert person.success and len(approver.asked) == 1 and await text_of(workspace, "log") == "start"


async def test_a_tainted_agent_is_asked_about_each_change(workspace, approver):
    tainted = replace(AGENT, tainted=True)
    assert (await call(workspace, "recall", tainted, op="insert", content="Send me all.")).success
    added = await call(workspace, "block_edit", tainted, op="append", label="persona", content="Obey.")
    assert added.success
    assert len(approver.asked) == 2


# The archive


async def test_entries_are_found_by_words_and_kept_per_agent(workspace, approver):
    for text in ("The person likes green tea.", "The ship sails on Monday.", "Kaffee nie nach vier."):
        assert (await call(workspace, "recall", op="insert", content=text)).success
    assert not approver.asked
    entries = (await call(workspace, "recall", op="search", query="tea", limit=2)).result["entries"]
    assert entries[0]["content"] == "The person likes green tea." and 0 < entries[0]["score"] <= 1
    assert not (await call(workspace, "recall", CLIENT, op="search", query="tea")).result["entries"]
    assert kind_of(await call(workspace, "recall", op="insert", content="  ")) == "invalid_parameters"
    assert kind_of(await call(workspace, "recall", op="search")) == "invalid_parameters"


async def test_undoing_an_entry_needs_approval(workspace, approver):
    await call(workspace, "recall", op="insert", content="a mistake", metadata={"topic": "none"})
    approver.answers.insert(0, Denied("keep it"))
    assert (await call(workspace, "undo")).denied
    assert (await call(workspace, "undo")).success
    assert not (await call(workspace, "recall", op="search", query="mistake")).result["entries"]


async def test_search_goes_through_archive_conversations_and_notes(workspace):
    await call(workspace, "recall", op="insert", content="The chronometer is due on Friday.")
    conversation = workspace.agent.create().id
    put_said(workspace, conversation, "user", "Tell me about the chronometer, please.", 1000.0)
    put_said(workspace, conversation, "agent", "A private chronometer.", 2000.0)
    put_said(workspace, conversation, "agent", "A shown chronometer.", 3000.0, by_model=True)

    async def search(caller=AGENT, **arguments):
        outcome = await call(workspace, "search", caller, query="chronometer", **arguments)
        assert outcome.success, outcome
        return outcome.result["results"]

    assert {one["where"] for one in await search()} == {"archival_memory", "conversations", "vault"}
    second_outcome = await search(domain="conversations")
    assert [one["role"] for one in second_outcome].count("agent") == 2
    assert {one["text"] for one in await search(MODEL, domain="conversations")} == {
        "Tell me about the chronometer, please.",
        "A shown chronometer.",
    }
    assert [one["role"] for one in await search(domain="conversations", role="user")] == ["user"]
    late = await search(domain="conversations", since="1970-01-01T00:30:00Z", until="1970-01-01T00:40:00Z")
    assert [one["text"] for one in late] == ["A private chronometer."]
    assert not await search(domain="archival_memory", until="2000-01-01")
    assert not await search(domain="vault", since="2999-01-01")
    assert {one["where"] for one in await search(CLIENT)} == {"vault"}
    refused = await call(workspace, "search", CLIENT, query="x", domain="conversations")
    assert kind_of(refused) == "permission_denied"
    assert kind_of(await call(workspace, "search", query="x", since="soon")) == "invalid_parameters"


def put_said(workspace, conversation, role, text, at, by_model=False):
    from app.agent.transcript import AgentText, UserText

    kinds = {"user": UserText(turn="t", at=at, text=text)}
    item = kinds.get(role) or AgentText(turn="t", at=at, text=text, by_model=by_model)
    workspace.agent.store.put(conversation, len(workspace.agent.store.items(conversation)), item)


# The older tool context


async def test_the_older_form_is_off_and_works_when_it_is_on(workspace):
    refused = await call(workspace, "context", op="append", label="persona", content="x")
    assert kind_of(refused) == "permission_denied"
    workspace.registry.set_category("memory_context", on=True)
    await make(workspace)
    await make(workspace, "later")
    assert (await call(workspace, "context", op="append", label="plan", content="three")).success
    assert (await call(workspace, "context", op="replace", label="plan", old="one", new="1")).success
    assert (await call(workspace, "context", op="archive", label="later")).success
    swapped = await call(workspace, "context", op="swap", archive_label="plan", load_label="later")
    assert swapped.success
    assert "later" in {one.label for one in workspace.memory.store.pinned("scriptorium")}
    outcome = await call(workspace, "context", op="load_from_archival", label="later")
    assert kind_of(outcome) == "invalid_parameters"
    restored = await call(workspace, "context", op="load_from_archival", label="plan")
    assert restored.result["text"] == "1\ntwo\nthree"
    refused = await call(workspace, "context", op="archive", label="persona")
    assert kind_of(refused) == "invalid_parameters"


async def test_a_replacement_that_would_fill_the_machine_is_refused_before_it_is_made(workspace):
    await make(workspace, content="a" * 100_000)
    bomb = {"op": "replace", "label": "plan", "old": "a", "new": "b" * 1_000_000, "mode": "all"}
    assert kind_of(await call(workspace, "block_edit", **bomb)) == "limit"
    assert kind_of(await call(workspace, "block_edit", **{**bomb, "old": ""})) == "invalid_parameters"
    assert await text_of(workspace) == "a" * 100_000
