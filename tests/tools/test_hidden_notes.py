"""Hidden notes and blocks are not revealed by undo, versions, counts or errors."""

from __future__ import annotations

import shutil

import pytest

from app.permissions.approval import Approved
from app.permissions.caller import Caller, CallerKind
from app.settings import CallerProfile, PermissionSettings, Rule
from app.toolkit.argument_types import NoteName
from app.toolkit.call import Call
from app.toolkit.context import ToolContext
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool as make_tool
from app.vault.changes import ChangeSet
from app.vault.path import NotePath

MODEL = Caller(CallerKind.DESKTOP_AGENT, "Model", turn="m1")
BUILTIN = Caller(CallerKind.DESKTOP_AGENT, "Built-in agent", turn="b1", uses_model=False)
CLIENT = Caller(CallerKind.MCP, "Client")
DIARY = NotePath("Diary of Anna.md")


async def call(workspace, tool, /, caller=MODEL, **arguments):
    return await workspace.runner.run(Call.of(tool, arguments, caller))


async def keep_diary(workspace, text="alpha\nbeta\n"):
    outcome = await workspace.runner.run(Call.save(DIARY, None, f"---\nai: private\n---\n{text}".encode()))
    assert outcome.success


async def edit_diary(workspace):
    """Change the diary with the built-in agent, which sees private notes; return the number of its entry."""
    outcome = await call(workspace, "edit_note", BUILTIN, name="Diary of Anna", op="append", text="gamma")
    assert outcome.success
    return outcome.entry


async def make_topic(workspace):
    assert (await call(workspace, "create_note", BUILTIN, name="Topic", content="A topic.")).success


# Undo


async def test_undo_by_a_number_of_the_log_does_not_reach_a_private_note(workspace, approver):
    await keep_diary(workspace)
    entry, asked = await edit_diary(workspace), len(approver.asked)
    for arguments in ({"entry": entry}, {"turn": "b1"}):
        outcome = await call(workspace, "undo", CLIENT, **arguments)
        assert outcome.error["type"] == "not_found" and "Anna" not in str(outcome.as_dict())
    assert len(approver.asked) == asked
    assert (await call(workspace, "undo", BUILTIN, entry=entry)).result["paths"] == [str(DIARY)]


async def test_a_conflict_of_undo_does_not_name_a_private_note(workspace):
    await keep_diary(workspace, "see [[Topic]]\n")
    await make_topic(workspace)
    moved = await call(workspace, "move_note", BUILTIN, name="Topic", new_name="Theme")
    assert moved.success, moved
    before = workspace.store.read(DIARY)
    await workspace.runner.run(
        Call.save(DIARY, before, before.replace(b"see [[Theme]]", b"read [[Theme]] soon"))
    )
    outcome = await call(workspace, "undo", entry=moved.entry)
    assert outcome.error["type"] == "conflict" and "Anna" not in str(outcome.as_dict())


async def test_undo_of_a_move_that_rewrote_a_private_note_names_the_others_only(workspace):
    await keep_diary(workspace, "see [[Topic]]\n")
    await make_topic(workspace)
    moved = await call(workspace, "move_note", name="Topic", new_name="Theme")
    outcome = await call(workspace, "undo", entry=moved.entry)
    assert outcome.success and outcome.result["paths"] == ["Theme.md", "Topic.md"]
    assert "Anna" not in str(outcome.as_dict())
    assert b"[[Topic]]" in workspace.store.read(DIARY)


async def test_undo_does_not_reveal_notes_outside_the_folders_of_a_caller(workspace):
    second_outcome = await call(
        workspace, "create_note", BUILTIN, name="Plan X", content="x", folder="Elsewhere"
    )
    profile = CallerProfile(caller="Client", folders=("Work",))
    workspace.policy.configure(PermissionSettings(callers=(profile,)))
    outcome = await call(workspace, "undo", CLIENT, entry=second_outcome.entry)
    assert not outcome.success and "Plan X" not in str(outcome.as_dict())


async def test_a_refusal_names_the_folders_of_a_caller_and_not_the_note_that_links_there(workspace):
    await call(workspace, "create_note", BUILTIN, name="Topic", content="x", folder="Work")
    await call(workspace, "create_note", BUILTIN, name="Plan X", content="[[Topic]]", folder="Elsewhere")
    profile = CallerProfile(caller="Client", folders=("Work",))
    workspace.policy.configure(PermissionSettings(callers=(profile,)))
    outcome = await call(workspace, "move_note", CLIENT, name="Topic", new_name="Theme")
    assert outcome.error["type"] == "permission_denied" and "may only access Work" in outcome.message
    assert "Plan X" not in str(outcome.as_dict())


@pytest.mark.parametrize("other", [CLIENT, Caller(CallerKind.MCP, MODEL.name)])
async def test_undo_does_not_reveal_a_block_of_another_agent(workspace, other):
    second_outcome = await call(workspace, "block", op="create", label="salary plan", content="x")
    for arguments in ({"entry": second_outcome.entry}, {"turn": "m1"}, {}):
        outcome = await call(workspace, "undo", other, **arguments)
        assert not outcome.success and "salary" not in str(outcome.as_dict())
    assert workspace.memory.store.find("salary plan", "scriptorium") is not None


# Versions


async def test_a_private_note_that_was_deleted_has_no_history_for_a_model(workspace):
    await keep_diary(workspace)
    assert (await call(workspace, "delete_note", BUILTIN, name="Diary of Anna")).success
    outcome = await call(workspace, "note_history", name=str(DIARY))
    assert outcome.error["type"] == "not_found"
    assert len((await call(workspace, "note_history", BUILTIN, name=str(DIARY))).result["versions"]) == 2


async def test_of_a_note_that_is_open_now_the_private_versions_are_left_out(workspace):
    await keep_diary(workspace)
    await workspace.runner.run(Call.save(DIARY, workspace.store.read(DIARY), b"open\n"))
    assert len((await call(workspace, "note_history", name=str(DIARY))).result["versions"]) == 1


# Counts, and the user's edits of a proposal


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("move_note", {"name": "Topic", "new_name": "Theme"}),
        ("merge_nodes", {"primary_node_id": "Home of topics", "secondary_node_id": "Topic"}),
        ("delete_node", {"node_id": "Topic", "cascade": True}),
    ],
)
async def test_what_is_rewritten_in_a_private_note_is_not_counted_for_a_model(workspace, tool, arguments):
    await make_topic(workspace)
    await call(workspace, "create_note", BUILTIN, name="Home of topics", content="All of them.")
    await keep_diary(workspace, "## Relations\n\n- supports [[Topic]]\n")
    before = workspace.store.read(DIARY)
    outcome = await call(workspace, tool, **arguments)
    assert outcome.success and workspace.store.read(DIARY) != before
    assert "rewritten." not in outcome.message and "removed" not in outcome.message
    assert not outcome.result.get("relationships_removed")


async def test_a_partial_approval_does_not_reveal_a_private_note(workspace, approver):
    await keep_diary(workspace, "see [[Topic]]\n")
    await make_topic(workspace)
    await call(workspace, "create_note", BUILTIN, name="Other", content="see [[Topic]]")

    def without_other(request):
        kept = [one for one in request.proposal.changes if one.path != NotePath("Other.md")]
        return Approved(ChangeSet.of(*kept, summary=request.proposal.summary))

    approver.answers[:] = [without_other]
    outcome = await call(workspace, "move_note", name="Topic", new_name="Theme")
    assert outcome.result["left_out_by_user"] == ["Other.md"] and "Anna" not in str(outcome.as_dict())
    assert b"[[Theme]]" in workspace.store.read(DIARY)


# Commands


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="there is no sandbox on this system")
async def test_a_note_that_becomes_private_during_the_approval_is_hidden_from_the_command(
    workspace, approver
):
    workspace.registry.set_category("development", True)
    await make_topic(workspace)
    topic = NotePath("Topic.md")

    async def late(request):
        await workspace.runner.run(
            Call.save(topic, workspace.store.read(topic), b"---\nai: private\n---\nhidden\n")
        )
        return Approved(request.proposal)

    approver.answers[:] = [late]
    outcome = await call(workspace, "shell", command="cat", args=["Topic.md"])
    assert approver.asked[-1].tool == "shell" and "hidden" not in str(outcome.as_dict())


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="there is no sandbox on this system")
async def test_a_command_does_not_learn_the_name_of_a_private_note(workspace):
    workspace.registry.set_category("development", True)
    await keep_diary(workspace, "beta\n")
    for command, args in (("ls", ["-R"]), ("grep", ["-r", "beta", "."])):
        outcome = await call(workspace, "shell", command=command, args=args)
        assert outcome.success and "Anna" not in str(outcome.as_dict())
    assert "Journal" in (await call(workspace, "shell", command="ls")).result["output"]


# All reads


READS = (
    ("get_node", {"node_id": "Topic"}),
    ("find_related_nodes", {"node_id": "Topic", "min_similarity": 0.0}),
    ("find_related", {"name": "Topic"}),
    ("summarize_node", {"node_id": "Topic", "include_relationships": True}),
    ("summarize_node_with_context", {"node_id": "Topic", "depth": 3}),
    ("suggest_relationships", {"op": "list", "node_id": "Topic"}),
    ("search", {"query": "walnut"}),
    ("search_notes", {"query": "walnut"}),
    ("search_by_tags", {"tags": ["walnut"]}),
    ("unlinked_mentions", {"name": "Topic"}),
    ("get_metadata", {"name": "Topic"}),
    ("list_notes", {}),
    ("list_tags", {}),
    ("grep", {"pattern": "walnut"}),
    ("find", {"pattern": "*"}),
    ("directory_list", {"path": ""}),
    ("source", {"op": "list"}),
)


async def test_no_read_reveals_a_private_note_to_a_model(workspace):
    await call(workspace, "create_note", BUILTIN, name="Topic", content="A topic of beech.")
    await keep_diary(workspace, "The Topic: walnut #walnut\n\n## Relations\n\n- supports [[Topic]]\n")
    for tool, arguments in READS:
        outcome = await call(workspace, tool, **arguments)
        assert outcome.success, (tool, outcome)
        text = str(outcome.result) + outcome.message.replace("walnut.", "")
        assert "Anna" not in text and "walnut" not in text, (tool, text)


# Paths


async def test_a_path_that_may_not_be_used_is_refused_alike_whatever_is_there(workspace, approver):
    await keep_diary(workspace)
    await make_topic(workspace)
    rules = (Rule(effect="deny", glob="Locked/**", caller="desktop-agent"),)
    workspace.change_settings("permissions", rules=rules)
    workspace.registry.set_category("development", True)
    await workspace.runner.run(Call.save(NotePath.on_disk("Locked/There.md"), None, b"x\n"))
    asked = len(approver.asked)
    diary = str(DIARY).removesuffix(".md")
    for path in (diary, diary.upper(), "Locked/There", "Locked/Not there"):
        folder, _, name = path.rpartition("/")
        for tool, arguments in (
            ("create_note", {"name": path}),
            ("create_node", {"type": "concept", "content": {"title": name, "text": "x", "folder": folder}}),
            ("move_note", {"name": "Topic", "new_name": name, "folder": folder}),
            ("file_write", {"path": f"{path}.md", "content": "x"}),
        ):
            outcome = await call(workspace, tool, **arguments)
            assert outcome.message == "That path can't be used.", (tool, path, outcome)
    assert len(approver.asked) == asked


async def test_a_creates_only_tool_cannot_change_files(workspace, approver):
    @make_tool(category="notes", creates_only=True)
    async def pretend(context: ToolContext, name: NoteName) -> Proposal[ToolResult]:
        """Change a note, contrary to its declaration.

        Args:
            name: The note.
        """
        note = await context.vault.resolve_strictly(name)
        return context.propose(ChangeSet.of(note.with_text("gone\n")), ToolResult())

    await make_topic(workspace)
    workspace.registry.register(pretend)
    asked = len(approver.asked)
    outcome = await call(workspace, "pretend", BUILTIN, name="Topic")
    assert outcome.error["type"] == "permission_denied" and len(approver.asked) == asked


# Counts


async def test_the_counts_of_the_vault_are_those_of_a_vault_without_the_hidden_notes(workspace):
    (workspace.root / "Open.md").write_text("[[Diary of Anna]] and [[H4]]. #open\n", "utf-8")
    diary = "---\nai: private\n---\n[[H4]], [[Nowhere at all]], ![[Open]]. #secret/anna #open\n"
    hidden = {
        "Diary of Anna.md": diary,
        "Alone.md": diary,
        "Unjudged.md": "---\nai: [private\n---\n[[H4]] #odd\n",
    }
    everything = (await call(workspace, "vault_info", BUILTIN)).result
    for name, text in hidden.items():
        (workspace.root / name).write_text(text, "utf-8")
    (workspace.root / "Broken.md").write_bytes(b"---\nai: private\nx: \xff\xfe\n---\n#broken")
    await workspace.index.scan()
    shown = [(await call(workspace, "vault_info", caller)).result for caller in (MODEL, CLIENT)]
    assert (await call(workspace, "vault_info", BUILTIN)).result["notes"] == everything["notes"] + 5
    private = workspace.runner.private_notes
    for name in (*hidden, "Broken.md"):
        (workspace.root / name).unlink()
    assert NotePath("Alone.md") in private
    for path in private:
        workspace.root.joinpath(str(path)).unlink(missing_ok=True)
    await workspace.index.scan()
    without = (await call(workspace, "vault_info", BUILTIN)).result
    assert shown == [without, without]


async def test_the_counts_leave_out_what_a_rule_denies(workspace):
    before = (await call(workspace, "vault_info", CLIENT)).result
    deny = Rule(effect="deny", glob="Instruments/**", operations=("read",))
    workspace.policy.configure(PermissionSettings(rules=(deny,)))
    after = (await call(workspace, "vault_info", CLIENT)).result
    assert after["notes"] < before["notes"] and after["links"] < before["links"]
    notes = (await call(workspace, "list_notes", CLIENT, limit=1)).result["total"]
    assert after["notes"] == notes
