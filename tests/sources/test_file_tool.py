"""Files of a source folder: loaded, edited, saved, in conflict, reconciled, undone, by the rules."""

from __future__ import annotations

import asyncio

import pytest

from app.errors import InvalidParametersError
from app.memory.block import Permission
from app.permissions.approval import Denied
from app.permissions.caller import Caller, CallerKind
from app.sources import file_source
from app.sources.config import AgentRules, FileRule, FolderConfig
from app.sources.file_source import MAX_FILE_BYTES
from app.toolkit.call import Call
from app.toolkit.outcome import ToolOutcome
from app.vault.journal import Journal
from tests.sources.conftest import AGENT, SourcesBench

RW = ("**", Permission.READ_WRITE)
CLIENT = Caller(CallerKind.MCP, "Claude Desktop")


def kind(outcome: ToolOutcome) -> str:
    """Return the type of the error, "denied" for a denial, empty for success."""
    return "denied" if outcome.denied else str(outcome.error["type"]) if outcome.error else ""


async def test_the_tool_is_available_while_a_folder_is_open(desk: SourcesBench) -> None:
    def names() -> set[str]:
        return {tool.name for tool in desk.workspace.registry.tools(AGENT)}

    assert "source" in names() and "file" not in names()
    assert kind(await desk.file("list")) == "not_found"
    await desk.add(RW)
    assert "file" in names()
    await desk.workspace.sources.set_paused("desk", True)
    assert "file" not in names()
    await desk.workspace.sources.set_paused("desk", False)
    assert "file" in names() and (await desk.file("list")).success
    await desk.workspace.sources.remove("desk")
    assert "file" not in names()


async def test_load_edit_save_and_undo(desk: SourcesBench) -> None:
    await desk.add(RW)
    loaded = await desk.file("load", "Plan.txt")
    assert loaded.success and loaded.result["text"] == "one\ntwo\nthree\n"
    assert loaded.result["label"] == f"file:{desk.source.hash8}:Plan.txt"
    assert (await desk.file("replace", "Plan.txt", old="two", new="TWO")).success
    assert (await desk.file("append", str(loaded.result["label"]), content="four")).success
    assert not desk.approver.asked, "an agent's own memory is not asked about"
    assert desk.text("Plan.txt") == "one\ntwo\nthree\n"
    diff = await desk.file("diff", "Plan.txt")
    assert "-two" in str(diff.result["diff"]) and "+four" in str(diff.result["diff"])
    saved = await desk.file("save", "Plan.txt")
    assert saved.success and desk.text("Plan.txt") == "one\nTWO\nthree\nfour"
    (request,) = desk.approver.asked
    assert request.scope.store_name == "the folder Desk" and not request.offers
    assert await desk.state("Plan.txt") == "in sync"
    undone = await desk.workspace.runner.run(Call.of("undo", {"entry": saved.entry}, AGENT))
    assert undone.success and desk.text("Plan.txt") == "one\ntwo\nthree\n"
    assert await desk.state("Plan.txt") == "changed on disk"


async def test_an_edit_without_effect_says_nothing_about_the_disk(desk: SourcesBench) -> None:
    await desk.add(RW)
    await desk.file("load", "Plan.txt")
    assert (await desk.file("replace", "Plan.txt", old="two", new="TWO")).success
    outcome = await desk.file("replace", "Plan.txt", old="TWO", new="TWO")
    assert outcome.success and "the same on disk" not in outcome.message


async def test_reading_a_file_outside_taints_the_reader(desk: SourcesBench) -> None:
    await desk.add(RW)
    assert not (await desk.file("list")).untrusted
    assert (await desk.file("load", "Plan.txt")).untrusted and (await desk.file("load", "Plan.txt")).untrusted
    edited = await desk.file("append", "Plan.txt", content="four\n")
    assert edited.success and not edited.untrusted
    assert not (await desk.file("status", "Plan.txt")).untrusted
    assert (await desk.file("diff", "Plan.txt")).untrusted
    desk.write("Plan.txt", "other\n")
    assert (await desk.file("reload", "Plan.txt")).untrusted


async def test_a_second_save_continues_from_the_first(desk: SourcesBench) -> None:
    await desk.add(RW)
    await desk.file("load", "Plan.txt")
    for word in ("four", "five"):
        await desk.file("append", "Plan.txt", content=f"{word}\n")
        assert (await desk.file("save", "Plan.txt")).success
    assert desk.text("Plan.txt") == "one\ntwo\nthree\nfour\nfive\n"


async def test_save_writes_the_whole_block_whatever_its_viewport_shows(desk: SourcesBench) -> None:
    desk.write("Long.txt", "".join(f"line {n}\n" for n in range(500)))
    await desk.add(RW)
    label = (await desk.file("load", "Long.txt")).result["label"]
    view = {"op": "viewport", "label": label, "start_line": 10, "display_lines": 2}
    if "block" in {tool.name for tool in desk.workspace.registry.all_tools()}:
        assert (await desk.workspace.runner.run(Call.of("block", view, AGENT))).success
    await desk.file("append", "Long.txt", content="the end\n")
    assert (await desk.file("save", "Long.txt")).success
    assert desk.text("Long.txt").count("\n") == 501


async def test_save_refuses_when_the_disk_changed_and_says_what_to_do(desk: SourcesBench) -> None:
    await desk.add(RW)
    await desk.file("load", "Plan.txt")
    await desk.file("replace", "Plan.txt", old="one", new="ONE")
    desk.write("Plan.txt", "one\ntwo\nthree\nfour\n")
    refused = await desk.file("save", "Plan.txt")
    assert kind(refused) == "conflict" and "reconcile" in refused.message
    assert refused.error is not None and refused.error["state"] == "changed in memory and on disk"
    assert desk.text("Plan.txt") == "one\ntwo\nthree\nfour\n" and not desk.approver.asked
    assert kind(await desk.file("load", "Plan.txt")) == "conflict"


@pytest.mark.parametrize(
    ("keep", "block", "disk", "state"),
    [
        ("disk", "one\ntwo\nthree\nfour\n", "one\ntwo\nthree\nfour\n", "in sync"),
        ("memory", "ONE\ntwo\nthree\n", "ONE\ntwo\nthree\n", "in sync"),
        ("merge", "ONE\ntwo\nthree\nfour\n", "one\ntwo\nthree\nfour\n", "changed in memory"),
    ],
)
async def test_reconcile(desk: SourcesBench, keep: str, block: str, disk: str, state: str) -> None:
    await desk.add(RW)
    await desk.file("load", "Plan.txt")
    await desk.file("replace", "Plan.txt", old="one", new="ONE")
    desk.write("Plan.txt", "one\ntwo\nthree\nfour\n")
    assert (await desk.file("reconcile", "Plan.txt", keep=keep)).success
    assert (desk.block("Plan.txt"), desk.text("Plan.txt")) == (block, disk)
    assert await desk.state("Plan.txt") == state
    assert (await desk.file("save", "Plan.txt")).success
    assert desk.text("Plan.txt") == block


async def test_a_merge_that_collides_shows_both_sides_and_changes_nothing(desk: SourcesBench) -> None:
    await desk.add(RW)
    await desk.file("load", "Plan.txt")
    await desk.file("replace", "Plan.txt", old="two", new="mine")
    desk.write("Plan.txt", "one\ntheirs\nthree\n")
    refused = await desk.file("reconcile", "Plan.txt", keep="merge")
    assert kind(refused) == "conflict" and refused.error is not None
    assert refused.error["conflicts"] == [{"base": "two\n", "disk": "theirs\n", "memory": "mine\n"}]
    assert desk.block("Plan.txt") == "one\nmine\nthree\n" and desk.text("Plan.txt") == "one\ntheirs\nthree\n"


async def test_undoing_a_reload_restores_the_earlier_state(desk: SourcesBench) -> None:
    await desk.add(RW)
    await desk.file("load", "Plan.txt")
    await desk.file("append", "Plan.txt", content="mine\n")
    desk.write("Plan.txt", "theirs\n")
    reloaded = await desk.file("reload", "Plan.txt")
    assert desk.block("Plan.txt") == "theirs\n"
    assert (await desk.workspace.runner.run(Call.of("undo", {"entry": reloaded.entry}, AGENT))).success
    assert desk.block("Plan.txt") == "one\ntwo\nthree\nmine\n"
    assert await desk.state("Plan.txt") == "changed in memory and on disk"
    assert kind(await desk.file("save", "Plan.txt")) == "conflict"


async def test_a_save_does_not_recreate_a_removed_file(desk: SourcesBench) -> None:
    await desk.add(RW)
    await desk.file("load", "Plan.txt")
    await desk.file("append", "Plan.txt", content="more\n")
    (desk.folder / "Plan.txt").unlink()
    assert await desk.state("Plan.txt") == "gone from disk"
    assert kind(await desk.file("save", "Plan.txt")) == "conflict"
    assert not (desk.folder / "Plan.txt").exists()
    assert (await desk.file("reconcile", "Plan.txt", keep="memory")).success
    assert desk.text("Plan.txt") == "one\ntwo\nthree\nmore\n"


async def test_what_the_user_denies_is_not_written(desk: SourcesBench) -> None:
    await desk.add(RW)
    await desk.file("load", "Plan.txt")
    await desk.file("append", "Plan.txt", content="more\n")
    desk.approver.answers[:] = [Denied("not now")]
    assert kind(await desk.file("save", "Plan.txt")) == "denied"
    assert desk.text("Plan.txt") == "one\ntwo\nthree\n"
    assert await desk.state("Plan.txt") == "changed in memory"


ODD = ["\ufeffBOM\n", "a\r\nb\r\n", "no newline", "", "e\u0301 \U0001f600\n", "---\nx: 1\n---\n"]


@pytest.mark.parametrize("text", ODD)
async def test_every_byte_survives_load_and_save(desk: SourcesBench, text: str) -> None:
    desk.write("Odd.txt", text)
    await desk.add(RW)
    assert (await desk.file("load", "Odd.txt")).success
    assert await desk.state("Odd.txt") == "in sync" and desk.block("Odd.txt") == text
    await desk.file("append", "Odd.txt", content="x")
    assert (await desk.file("save", "Odd.txt")).success
    assert desk.text("Odd.txt").startswith(text)


# Rules

OPS = ("append", "replace", "save", "create", "delete")
READ_ONLY, APPEND, HUMAN, READ_WRITE, ADMIN = (
    Permission.READ_ONLY,
    Permission.APPEND,
    Permission.HUMAN,
    Permission.READ_WRITE,
    Permission.ADMIN,
)


@pytest.mark.parametrize(
    ("permission", "refused"),
    [
        (READ_ONLY, {"append", "replace", "save", "create", "delete"}),
        (APPEND, {"replace", "save", "delete"}),
        (HUMAN, {"delete"}),
        (READ_WRITE, {"delete"}),
        (ADMIN, set()),
    ],
)
@pytest.mark.parametrize("op", OPS)
async def test_every_operation_by_every_permission(
    desk: SourcesBench, op: str, permission: Permission, refused: set[str]
) -> None:
    """`save` writes a text that overwrites; the text bypasses the tool's own check of the rules."""
    await desk.add(("**", READ_WRITE))
    await desk.file("load", "Plan.txt")
    if op == "save":
        await desk.file("replace", "Plan.txt", old="two", new="TWO")
    await desk.workspace.sources.remove("desk")
    await desk.add(("**", permission))
    outcome = await {
        "append": lambda: desk.file("append", "Plan.txt", content="x\n"),
        "replace": lambda: desk.file("replace", "Plan.txt", old="two", new="TWO"),
        "save": lambda: desk.file("save", "Plan.txt"),
        "create": lambda: desk.file("create", "New/One.txt", content="new\n"),
        "delete": lambda: desk.file("delete", "Plan.txt"),
    }[op]()
    assert kind(outcome) == ("permission_denied" if op in refused else ""), outcome.message
    wrote = op in {"save", "create", "delete"} and op not in refused
    assert len(desk.approver.asked) == wrote, "whatever is written outside the vault is asked about"


@pytest.mark.parametrize("permission", list(Permission))
async def test_loading_and_reloading_need_no_approval_with_any_permission(
    desk: SourcesBench, permission: Permission
) -> None:
    await desk.add(("**", permission))
    assert (await desk.file("load", "Plan.txt")).success
    desk.write("Plan.txt", "other\n")
    assert (await desk.file("load", "Plan.txt")).success and desk.block("Plan.txt") == "other\n"
    assert not desk.approver.asked
    block = desk.workspace.memory.store.block(f"file:{desk.source.hash8}:Plan.txt", "scriptorium")
    assert block.permission is permission


async def test_the_first_rule_that_means_a_file_decides_and_the_default_is_read_only(
    desk: SourcesBench,
) -> None:
    await desk.add(("drafts/old/**", READ_ONLY), ("drafts/**", ADMIN), ("*.log", APPEND))
    arguments = {
        path: desk.source.permission(desk.source.resolve_path(path), "scriptorium")
        for path in ("drafts/old/a.txt", "drafts/a.txt", "deep/down/x.log", "Plan.txt")
    }
    assert list(arguments.values()) == [READ_ONLY, ADMIN, APPEND, READ_ONLY]


async def test_rules_of_an_agent_narrow_and_never_widen(desk: SourcesBench) -> None:
    narrow = AgentRules(agent="mcp:*", rules=(FileRule(glob="**", permission=READ_ONLY),))
    wide = AgentRules(agent="scriptorium", rules=(FileRule(glob="**", permission=ADMIN),))
    await desk.add(("**", READ_WRITE), agents=(narrow, wide))
    path = desk.source.resolve_path("Plan.txt")
    assert desk.source.permission(path, "scriptorium") is READ_WRITE
    assert desk.source.permission(path, "mcp:Claude Desktop") is READ_ONLY
    assert kind(await desk.file("create", "x.txt", CLIENT)) == "permission_denied"
    assert kind(await desk.file("delete", "Plan.txt")) == "permission_denied"


async def test_a_save_of_one_agent_is_a_conflict_for_the_other(desk: SourcesBench) -> None:
    await desk.add(RW)
    await desk.file("load", "Plan.txt")
    await desk.file("load", "Plan.txt", CLIENT)
    await desk.file("append", "Plan.txt", CLIENT, content="client\n")
    await desk.file("append", "Plan.txt", content="agent\n")
    assert (await desk.file("save", "Plan.txt", CLIENT)).success
    assert kind(await desk.file("save", "Plan.txt")) == "conflict"
    assert desk.text("Plan.txt") == "one\ntwo\nthree\nclient\n"


# Refused operations


@pytest.mark.parametrize(
    "path", ["../vault/Tea.md", "/etc/passwd", ".env", "sub/.git/config", "a\0b", "C:\\x", "", "nul"]
)
async def test_paths_that_leave_the_folder_or_are_hidden(desk: SourcesBench, path: str) -> None:
    desk.write(".env", "SECRET=1\n")
    await desk.add(("**", ADMIN))
    for op, more in (("load", {}), ("create", {"content": "x"}), ("delete", {})):
        outcome = await desk.file(op, path, **more)
        assert kind(outcome) in {"invalid_parameters", "not_found"}, outcome
    assert not desk.approver.asked


async def test_a_link_that_leads_out_is_not_followed(desk: SourcesBench) -> None:
    (desk.folder / "out.txt").symlink_to(desk.workspace.root / "Tea.md")
    await desk.add(("**", ADMIN))
    assert kind(await desk.file("load", "out.txt")) == "invalid_parameters"
    assert [one["path"] for one in (await desk.file("list")).result["files"]] == ["Plan.txt"]  # type: ignore[attr-defined, union-attr]


@pytest.mark.parametrize(
    ("content", "error"),
    [(b"\xff\xfe\x00", "storage"), (b"a\0b", "storage"), (b"x" * (MAX_FILE_BYTES + 1), "limit")],
)
async def test_binary_and_too_large_files_are_not_loaded(
    desk: SourcesBench, content: bytes, error: str
) -> None:
    (desk.folder / "odd.bin").write_bytes(content)
    await desk.add(RW)
    assert kind(await desk.file("load", "odd.bin")) == error


async def test_private_notes_of_a_folder_stay_private(desk: SourcesBench) -> None:
    desk.write("Diary.md", "---\nai: private\n---\nMy secret.\n")
    await desk.add(RW)
    outcome = await desk.file("load", "Diary.md")
    assert kind(outcome) == "not_found" and "secret" not in str(outcome)


async def test_folders_that_cannot_be_a_source(desk: SourcesBench, own_folders) -> None:
    sources = desk.workspace.sources
    inside = desk.workspace.root / "Sub"
    inside.mkdir()
    for number, folder in enumerate(
        (
            desk.workspace.root,
            inside,
            desk.workspace.root.parent,
            own_folders,
            own_folders / "data",
            desk.folder / "missing",
        )
    ):
        with pytest.raises(InvalidParametersError):
            await sources.add(FolderConfig(id=f"s{number}", name="x", folder=str(folder)))
    await desk.add(RW)
    (desk.folder.parent / "same").symlink_to(desk.folder)
    with pytest.raises(InvalidParametersError, match="already"):
        await sources.add(FolderConfig(id="again", name="x", folder=str(desk.folder.parent / "same")))
    assert len(sources.list_sources()) == 1


async def test_a_grant_for_the_vault_does_not_reach_the_folder(desk: SourcesBench) -> None:
    from app.permissions.scope import Operation

    desk.workspace.grants.set_session(Operation.UPDATE, True)
    await desk.add(RW)
    await desk.file("load", "Plan.txt")
    await desk.file("append", "Plan.txt", content="x")
    assert (await desk.file("save", "Plan.txt")).success
    assert len(desk.approver.asked) == 1


async def test_several_folders_are_distinguished(desk: SourcesBench, tmp_path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "Plan.txt").write_text("another\n", "utf-8")
    await desk.add(RW)
    await desk.workspace.sources.add(FolderConfig(id="other", name="Other", folder=str(other)))
    unsure = await desk.file("load", "Plan.txt")
    assert kind(unsure) == "ambiguous" and unsure.error is not None
    assert unsure.error["candidates"] == ["desk", "other"]
    assert (await desk.file("load", "Plan.txt", source_id="Other")).result["text"] == "another\n"


async def test_block_loads_a_file_of_a_source_by_its_path(desk: SourcesBench) -> None:
    await desk.add(RW)
    load = {"op": "load", "label": "Plan.txt", "source_id": "Desk"}
    loaded = await desk.workspace.runner.run(Call.of("block", load, AGENT))
    assert loaded.success and loaded.untrusted and loaded.result["text"] == "one\ntwo\nthree\n"
    label = f"file:{desk.source.hash8}:Plan.txt"
    assert loaded.result["blocks"][0]["label"] == label and await desk.state("Plan.txt") == "in sync"
    outcome = await desk.workspace.runner.run(Call.of("block", {**load, "label": label}, AGENT))
    assert outcome.success and outcome.result["text"] == "one\ntwo\nthree\n"
    edit = {"op": "append", "label": label, "content": "four"}
    assert (await desk.workspace.runner.run(Call.of("block_edit", edit, AGENT))).success
    assert (await desk.file("save", "Plan.txt")).success and desk.text("Plan.txt").endswith("four")
    for wrong in ({"label": "Nothing.txt"}, {"source_id": "nowhere"}):
        assert (
            kind(await desk.workspace.runner.run(Call.of("block", {**load, **wrong}, AGENT))) == "not_found"
        )


# Watching


async def test_an_outside_edit_of_a_loaded_file_is_noticed(desk: SourcesBench) -> None:
    from app.sources.source import SourcesChanged

    await desk.add(RW)
    await desk.file("load", "Plan.txt")
    seen = asyncio.Event()
    desk.workspace.events.subscribe(SourcesChanged, lambda event: seen.set())
    desk.write("Plan.txt", "other\n")
    await asyncio.wait_for(seen.wait(), 20)
    assert [str(path) for path in desk.source.changed] == ["Plan.txt"]
    assert await desk.state("Plan.txt") == "changed on disk"


async def test_what_is_saved_is_in_the_journal_of_its_folder(desk: SourcesBench) -> None:
    await desk.add(RW)
    await desk.file("load", "Plan.txt")
    await desk.file("append", "Plan.txt", content="x\n")
    saved = await desk.file("save", "Plan.txt")
    journal: Journal = desk.workspace.journal
    assert saved.commit is not None and journal.commit(saved.commit).place == desk.source.place


async def test_a_private_file_is_not_listed(desk: SourcesBench) -> None:
    await desk.add(RW)
    for name in ("Secret.md", "secret.txt", "Unjudged.md"):
        desk.write(name, "---\nai: private\n---\nhidden\n")
    desk.write("Unjudged.md", "---\nai: [private\n---\nhidden\n")
    desk.write("Public.md", "---\nai: public\n---\nopen\n")
    (desk.folder / "Picture.png").write_bytes(b"\x89PNG\0\xff")
    outcome = await desk.file("list")
    assert {"Plan.txt", "Public.md", "Picture.png"} <= {one["path"] for one in outcome.result["files"]}
    assert "ecret" not in str(outcome.as_dict()) and "Unjudged" not in str(outcome.as_dict())
    assert kind(await desk.file("load", "secret.txt")) == "not_found"
    second_outcome = await desk.file("list", pattern="*ecret*")
    assert second_outcome.result["files"] == [] and second_outcome.message == "0 files."


async def test_a_listing_that_stops_at_the_scan_limit_is_truncated(
    desk: SourcesBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.add(RW)
    for number in range(3):
        desk.write(f"{number}.md", "text\n")
    assert not desk.source.list_files("*.md", 100).is_truncated
    monkeypatch.setattr(file_source, "_MAX_SCANNED_FILES", 2)
    listing = desk.source.list_files("*.md", 100)
    assert listing.is_truncated and len(listing.files) == 2


async def test_a_loaded_file_that_became_private_has_no_status(desk: SourcesBench) -> None:
    await desk.add(RW)
    await desk.file("load", "Plan.txt")
    assert "Plan.txt" in str((await desk.file("status")).result)
    desk.write("Plan.txt", "---\nai: private\n---\nhidden\n")
    assert (await desk.file("status")).result["files"] == []
