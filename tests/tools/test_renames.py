"""Renames of properties, headings and folders: one change set, which undo takes back byte for byte."""

from __future__ import annotations

import os
import re
import shutil

import pytest

from app.agent.answered_call import AnsweredCall
from app.agent.language.words.answers import localize
from app.agent.language.words.lexicon import languages
from app.agent.result_formatting import format_outcome
from app.permissions.approval import Approved
from app.permissions.caller import Caller, CallerKind
from app.settings import CallerProfile, PermissionSettings, Rule
from app.toolkit.call import Call
from app.toolkit.vault_view import VaultView
from app.toolkit.visibility import Visibility
from app.tools import move_delete
from app.vault.path import NotePath
from tests.support.partial_changes import restrict_to
from tests.support.tool_calls import AGENT, call, warnings_of

MODEL = Caller(CallerKind.MCP, "Client")


async def fill(workspace, **notes: str) -> None:
    for name, text in notes.items():
        path = NotePath(f"{name.replace('__', '/')}.md")
        assert (await workspace.runner.run(Call.save(path, None, text.encode()))).success


def text(workspace, path: str) -> str:
    return workspace.store.read(NotePath(path)).decode()


# Properties


async def test_a_property_is_renamed_in_every_note_that_has_it_in_one_change(workspace, approver):
    await fill(workspace, One="---\nlast: 1 # x\n---\n", Two="---\nLast:\n---\nlast: 1\n", Three="last: 1\n")
    approver.asked.clear()
    outcome = await call(workspace, "rename_property", key="last", new_key="last_seen")
    assert outcome.success and outcome.result["notes"] == ["One.md", "Two.md"] and len(approver.asked) == 1
    assert text(workspace, "One.md") == "---\nlast_seen: 1 # x\n---\n"
    assert text(workspace, "Two.md") == "---\nlast_seen:\n---\nlast: 1\n"
    assert (await call(workspace, "undo")).success
    assert text(workspace, "One.md") == "---\nlast: 1 # x\n---\n"


async def test_a_note_with_both_properties_is_named_and_left_alone(workspace, approver):
    both = "---\nlast: 1\nseen: 2\n---\n"
    await fill(workspace, One="---\nlast: 1\n---\n", Both=both)
    outcome = await call(workspace, "rename_property", key="last", new_key="seen")
    assert outcome.success and outcome.result["notes"] == ["One.md"] and text(workspace, "Both.md") == both
    assert outcome.result["left_out"] == ["Both.md: The note has both “last” and “seen”."]
    approver.asked.clear()
    outcome = await call(workspace, "rename_property", key="last", new_key="seen")
    assert outcome.error["type"] == "conflict" and not approver.asked
    assert outcome.error["message"] == (
        "“last” can't be renamed.\n\nUnchanged:\n\n- Both.md: The note has both “last” and “seen”."
    )


async def test_a_reason_next_to_a_success_does_not_say_that_nothing_was_changed(workspace):
    await fill(workspace, One="---\nlast: 1\n---\n", Twice="---\nlast: 1\nlast: 2\n---\n")
    outcome = await call(workspace, "rename_property", key="last", new_key="seen")
    assert outcome.result["notes"] == ["One.md"] and len(outcome.result["left_out"]) == 1
    assert outcome.result["left_out"][0].startswith("Twice.md: ")
    assert "Nothing was changed" not in outcome.result["left_out"][0]


async def test_the_approval_says_which_notes_become_private_or_public(workspace, approver):
    await fill(workspace, One="---\nstate: private\n---\n", Two="---\nai: private\n---\n")
    approver.asked.clear()
    outcome = await call(workspace, "rename_property", MODEL, key="state", new_key="ai")
    assert outcome.result["notes"] == [] and outcome.message == "Renamed the property state to ai."
    assert warnings_of(approver.asked[0]) == ("1 note becomes private.",)
    outcome = await call(workspace, "rename_property", key="ai", new_key="x", names=["One", "Two"])
    assert outcome.result["notes"] == ["One.md", "Two.md"]
    assert warnings_of(approver.asked[1]) == (
        "Scriptorium reads “ai”, but not “x”.",
        "2 notes are no longer private.",
    )


_ALLOW_ALL = Rule(effect="allow", operations=("create", "update", "delete"))


async def test_a_change_of_privacy_asks_although_a_rule_allows_it_and_the_log_says_why(workspace, approver):
    await fill(workspace, One="---\nstate: private\n---\n", Two="---\nlast: 1\n---\n")
    workspace.policy.configure(PermissionSettings(rules=(_ALLOW_ALL,)))
    approver.asked.clear()
    assert (await call(workspace, "rename_property", key="last", new_key="aliases")).success
    assert not approver.asked
    assert (await call(workspace, "rename_property", key="state", new_key="ai")).success
    assert (await call(workspace, "rename_property", key="ai", new_key="access", names=["One"])).success
    entries = workspace.audit.entries(limit=3)
    assert [(entry.decision, entry.scope.partition(" (")[2]) for entry in entries] == [
        ("user-approved", "Scriptorium reads “ai”, but not “access”.) (1 note is no longer private.)"),
        ("user-approved", "1 note becomes private.)"),
        ("rule", ""),
    ]
    approver.asked.clear()
    assert (await call(workspace, "rename_property", key="aliases", new_key="names", names=["Two"])).success
    (entry,) = workspace.audit.entries(limit=1)
    assert not approver.asked and entry.scope.endswith("(Scriptorium reads “aliases”, but not “names”.)")


async def test_a_move_out_of_a_rule_asks_although_another_rule_allows_it(workspace, approver):
    await fill(workspace, Secret__A="classified\n", Free__B="x\n")
    workspace.policy.configure(PermissionSettings(rules=(_ALLOW_ALL, _HIDE)))
    approver.asked.clear()
    assert (await call(workspace, "move_folder", folder="Free", new_folder="Open")).success
    assert not approver.asked
    assert (await call(workspace, "move_note", name="Secret/A", folder="Open")).success
    (entry,) = workspace.audit.entries(limit=1)
    assert len(approver.asked) == 1
    assert entry.scope.endswith("(1 file is no longer hidden by a permission rule.)")


async def test_only_the_given_notes_are_changed(workspace):
    await fill(workspace, One="---\nlast: 1\n---\n", Two="---\nlast: 1\n---\n")
    outcome = await call(workspace, "rename_property", key="last", new_key="seen", names=["Two", "H4"])
    assert outcome.result["notes"] == ["Two.md"] and text(workspace, "One.md") == "---\nlast: 1\n---\n"
    outcome = await call(workspace, "rename_property", key="last", new_key="seen", names=["H4"])
    assert outcome.error["message"] == "None of these notes has the property “last”."


async def test_an_unknown_property_is_not_found_and_a_similar_one_is_named(workspace):
    await fill(workspace, One="---\nlast-cooked: 1\n---\n")
    outcome = await call(workspace, "rename_property", key="lastcooked", new_key="x")
    assert outcome.error["message"].endswith("Did you mean “last-cooked”?")


async def test_a_base_that_names_the_property_is_reported(workspace):
    await fill(workspace, One="---\nlast: 1\n---\n")
    (workspace.root / "All.base").write_text("filters: last > 1\n")
    (workspace.root / "Other.base").write_text("filters: last_seen\n")
    await workspace.index.scan()
    outcome = await call(workspace, "rename_property", key="last", new_key="seen")
    assert outcome.result["left_out"] == ["All.base: This base may use the property. Rename it there, too."]


# Headings


async def test_links_to_a_renamed_heading_follow_in_the_same_change(workspace, approver):
    note = "# Kettle\n## Notes\nSee [[#Notes]].\n"
    await fill(workspace, Kettle=note, Linking="[[Kettle#Notes|n]] [[Kettle]] [[Kettle#Nope]]\n")
    approver.asked.clear()
    outcome = await call(workspace, "rename_heading", name="Kettle", heading="notes", new_heading="Log")
    assert outcome.success and outcome.result["rewritten"] == ["Linking.md"] and len(approver.asked) == 1
    assert approver.asked[0].proposal.summary.endswith(" to Log, links updated in 1 note")
    assert text(workspace, "Kettle.md") == "# Kettle\n## Log\nSee [[#Log]].\n"
    assert text(workspace, "Linking.md") == "[[Kettle#Log|n]] [[Kettle]] [[Kettle#Nope]]\n"
    assert (await call(workspace, "undo")).success
    assert text(workspace, "Kettle.md") == note


async def test_a_link_that_can_not_follow_is_named(workspace):
    await fill(workspace, Kettle="## Notes\n", Linking='---\nsee: "[[Kettle#Notes]]"\n---\n')
    outcome = await call(workspace, "rename_heading", name="Kettle", heading="Notes", new_heading="Log")
    assert outcome.success and outcome.result["left_out"][0].startswith("Linking.md: The link in line 2")


# Folders


async def test_a_folder_moves_with_its_files_and_links(workspace, approver):
    notes = {
        "Old__One": "[[Old/Two]] [t](Two.md) [o](../Outside.md)\n",
        "Old__Sub__Two": "x\n",
        "Outside": "[[Old/One]] ![[Old/a.png]] [[One]]\n",
    }
    await fill(workspace, **notes)
    (workspace.root / "Old" / "a.png").write_bytes(b"\x89PNG\xff")
    await workspace.index.scan()
    approver.asked.clear()
    outcome = await call(workspace, "move_folder", folder="Old", new_folder="Archive/New")
    assert outcome.success and outcome.result["files"] == 3 and len(approver.asked) == 1
    assert text(workspace, "Outside.md") == "[[Archive/New/One]] ![[Archive/New/a.png]] [[One]]\n"
    assert text(workspace, "Archive/New/One.md") == "[[Old/Two]] [t](Two.md) [o](../../Outside.md)\n"
    assert workspace.store.read(NotePath("Archive/New/a.png")) == b"\x89PNG\xff"
    assert not workspace.index.notes("Old")
    assert (await call(workspace, "undo")).success
    assert text(workspace, "Outside.md") == notes["Outside"]
    assert text(workspace, "Old/One.md") == notes["Old__One"]


@pytest.mark.parametrize(
    ("folder", "new_folder", "kind"),
    [
        ("Nope", "New", "not_found"),
        ("", "New", "not_found"),
        ("Instruments", "People", "conflict"),
        ("Instruments", "instruments", "invalid_parameters"),
        ("instruments", "Instruments", "invalid_parameters"),
        ("Instruments", "Instruments/Sub", "invalid_parameters"),
        ("Instruments", "Instruments", "invalid_parameters"),
        ("Instruments", ".hidden", "invalid_parameters"),
        ("Instruments", "People/.hidden/Sub", "invalid_parameters"),
        ("Instruments", "", "invalid_parameters"),
        ("Instruments", "../x", "invalid_parameters"),
    ],
)
async def test_a_folder_that_can_not_move_stays(workspace, approver, folder, new_folder, kind):
    outcome = await call(workspace, "move_folder", folder=folder, new_folder=new_folder)
    assert outcome.error["type"] == kind and not approver.asked


def names_of(root) -> list[str]:
    """Return the folders and files below a folder, except the data of programs."""
    names = (path.relative_to(root).as_posix() for path in root.rglob("*"))
    return sorted(name for name in names if not name.startswith((".trash", ".obsidian", ".scriptorium")))


async def test_folders_in_which_nothing_is_left_are_removed_and_undo_creates_them_again(workspace):
    await fill(workspace, Old__One="x\n", Old__Sub__Deep__Two="[[One]]\n")
    before = names_of(workspace.root)
    assert (await call(workspace, "move_folder", folder="old", new_folder="New/Er")).success
    moved = names_of(workspace.root)
    assert [name for name in moved if name.startswith("Old")] == [] and "New/Er/Sub/Deep/Two.md" in moved
    undone = await call(workspace, "undo")
    assert undone.success and names_of(workspace.root) == before
    redone = await call(workspace, "undo", entry=undone.entry)
    assert redone.success and names_of(workspace.root) == moved


async def test_a_folder_moves_back_to_its_old_path(workspace):
    await fill(workspace, Old__One="x\n")
    (workspace.root / "Old" / "Empty").mkdir()
    before = names_of(workspace.root)
    assert (await call(workspace, "move_folder", folder="Old", new_folder="New")).success
    assert (workspace.root / "Old" / "Empty").is_dir(), "an empty folder of the user stays"
    assert (await call(workspace, "move_folder", folder="New", new_folder="Old")).success
    assert names_of(workspace.root) == before


async def test_a_folder_of_which_only_a_part_moves_stays(workspace, approver):
    await fill(workspace, Old__One="x\n", Old__Two="x\n")
    path = NotePath("Old/One.md")
    approver.answers = [lambda request: Approved(restrict_to(request.proposal, [path]))]
    assert (await call(workspace, "move_folder", folder="Old", new_folder="New")).result["files"] == 1
    assert text(workspace, "Old/Two.md") == text(workspace, "New/One.md") == "x\n"


async def test_a_folder_that_already_has_the_path_stays(workspace):
    for folder, new_folder in (("Instruments", "Instruments"), ("instruments", "Instruments")):
        outcome = await call(workspace, "move_folder", folder=folder, new_folder=new_folder)
        assert outcome.error["message"].startswith("The folder already has the path “Instruments”.")


async def test_the_approval_and_the_answer_say_that_hidden_files_stay(workspace, approver):
    await fill(workspace, Old__One="x\n", Old__Gone="x\n")
    (workspace.root / "Old" / "Sub").mkdir()
    for name in (".hidden.md", "Sub/.DS_Store"):
        (workspace.root / "Old" / name).write_text("x")
    approver.asked.clear()
    outcome = await call(workspace, "move_folder", folder="old", new_folder="New")
    assert approver.asked[0].proposal.summary == "Move the folder old to New (2 files)"
    assert warnings_of(approver.asked[0]) == ("2 hidden or excluded files stay in “old”.",)
    assert outcome.message == "Moved 2 files from “old” to “New”. 2 hidden or excluded files stay in “old”."
    assert outcome.result["remaining"] == 2 and (workspace.root / "Old" / ".hidden.md").exists()


async def test_a_model_does_not_learn_how_many_files_stay(workspace, approver):
    await fill(workspace, Old__One="x\n")
    (workspace.root / "Old" / ".hidden.md").write_text("x")
    approver.asked.clear()
    outcome = await call(workspace, "move_folder", MODEL, folder="Old", new_folder="New")
    assert warnings_of(approver.asked[0]) == ("1 hidden or excluded file stays in “Old”.",)
    assert outcome.message == "Moved 1 file from “Old” to “New”." and outcome.result["remaining"] is None
    versions = await call(workspace, "note_history", MODEL, name="One")
    assert "Move the folder Old to New" in str(versions.as_dict()) and "stay" not in str(versions.as_dict())


async def test_a_file_that_has_gone_hides_no_file_that_stays(workspace):
    await fill(workspace, Old__One="x\n")
    (workspace.root / "Old" / ".hidden").write_text("x")
    visibility = Visibility(workspace.index, workspace.policy, workspace.events)
    view = VaultView(workspace.store, workspace.index.resolver, visibility.of(AGENT, "move_folder"))
    known = [NotePath("old/One.md"), NotePath("Old/Gone.md")]
    assert view.count_other_files(NotePath("OLD"), known) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads every folder")
async def test_a_folder_that_can_not_be_read_does_not_move(workspace, approver):
    await fill(workspace, Old__One="x\n", Old__Sub__Two="x\n")
    approver.asked.clear()
    (workspace.root / "Old" / "Sub").chmod(0)
    try:
        outcome = await call(workspace, "move_folder", folder="Old", new_folder="New")
    finally:
        (workspace.root / "Old" / "Sub").chmod(0o700)
    assert not outcome.success and not approver.asked


@pytest.mark.parametrize("file", ["Diary.md", ".hidden"])
async def test_a_folder_of_hidden_files_is_no_free_path(workspace, approver, file):
    await fill(workspace, Old__One="x\n", Sec__Diary="---\nai: private\n---\n")
    if file == ".hidden":
        await call(workspace, "delete_note", name="Diary")
        (workspace.root / "Sec").mkdir(exist_ok=True)
        (workspace.root / "Sec" / file).write_text("x")
    approver.asked.clear()
    outcome = await call(workspace, "move_folder", MODEL, folder="Old", new_folder="sec")
    assert outcome.error == {
        "type": "invalid_parameters",
        "message": "That path can't be used.",
        "path": "sec",
    }
    outcome = await call(workspace, "move_folder", folder="Old", new_folder="sec")
    assert outcome.error["message"] == "There is already a folder “sec”. Choose another name."
    assert not approver.asked


async def test_a_denied_path_is_refused_whether_it_is_in_use_or_not(workspace):
    await fill(workspace, Old__One="x\n", Secret__A="x\n")
    deny = Rule(effect="deny", glob="Sec*/**", operations=("read",), caller="mcp")
    workspace.policy.configure(PermissionSettings(rules=(deny,)))
    for folder in ("Secret", "Section"):
        outcome = await call(workspace, "move_folder", MODEL, folder="Old", new_folder=folder)
        assert outcome.error["message"] == "That path can't be used."


_HIDE = Rule(effect="deny", glob="Secret/**", operations=("read",), caller="mcp")
_PROTECT = Rule(effect="ask", glob="Secret", operations=("update", "delete"), caller="mcp")
_HIDE_EVERYWHERE = Rule(effect="deny", glob="[SP]*/**", operations=("read",), caller="mcp")
_ASK = Rule(effect="ask", glob="Secret", operations=("read",), caller="mcp")
_ASK_ELSEWHERE = Rule(effect="ask", glob="Public", operations=("read",), caller="mcp")
_ALLOW = Rule(effect="allow", glob="Secret/**", operations=("update",))


@pytest.mark.parametrize(
    ("rules", "folders", "effect", "patterns"),
    [
        ((), (), "", ""),
        ((_HIDE,), (), "hidden", "“Secret/**”"),
        ((_HIDE, _PROTECT), (), "hidden", "“Secret”, “Secret/**”"),
        ((_PROTECT,), (), "protected", "“Secret”"),
        ((_ASK,), (), "protected", "“Secret”"),
        ((_HIDE, _ASK_ELSEWHERE), (), "protected", "“Secret/**”"),
        ((_HIDE_EVERYWHERE,), (), "", ""),
        ((_HIDE, _HIDE_EVERYWHERE), (), "", "“Secret/**”"),
        ((_ALLOW,), (), "", "“Secret/**”"),
        ((), ("Public",), "hidden", ""),
        ((), ("Secret", "Secret/Sub"), "", "“Secret”, “Secret/Sub”"),
    ],
)
async def test_the_approval_counts_the_files_that_a_rule_no_longer_applies_to(
    workspace, approver, rules, folders, effect, patterns
):
    await fill(workspace, Secret__A="classified\n", Secret__Sub__B="x\n")
    profiles = (CallerProfile(caller="mcp", folders=folders),) if folders else ()
    workspace.policy.configure(PermissionSettings(rules=rules, callers=profiles))
    approver.asked.clear()
    assert (await call(workspace, "move_folder", folder="Secret", new_folder="Public")).success
    sentences = {
        "hidden": "2 files are no longer hidden by a permission rule.",
        "protected": "2 files are less protected by permission rules.",
    }
    warnings = [sentences[effect]] if effect else []
    rest = "do not apply to the new paths. Change them, too."
    named = [f"Permission rules for {patterns} {rest}"] if patterns else []
    assert warnings_of(approver.asked[0]) == (*warnings, *named)
    assert (await call(workspace, "undo")).success
    approver.asked.clear()
    assert (await call(workspace, "move_note", name="Secret/A", folder="Public")).success
    assert warnings_of(approver.asked[0]) == tuple(
        warning.replace("2 files are", "1 file is") for warning in warnings
    )


async def test_the_approval_names_settings_that_name_the_folder_or_note(workspace, approver):
    shutil.rmtree(workspace.root / ".obsidian", ignore_errors=True)
    editor = workspace.settings.editor
    editor.daily_folder, editor.daily_template, editor.attachment_folder = "/Own/Days/", "Own/Day", "./Own"
    await fill(workspace, Own__Days__Today="x\n", Own__Day="x\n", Templates__Trip="x\n")
    requests = [
        ("move_folder", {"folder": "own", "new_folder": "Mine"}),
        ("move_folder", {"folder": "Templates", "new_folder": "Forms"}),
        ("move_note", {"name": "Trip", "folder": "Elsewhere"}),
        ("move_note", {"name": "Mine/Day", "new_name": "Daily"}),
        ("move_folder", {"folder": "Mine", "new_folder": "Own"}),
        ("move_note", {"name": "Own/Daily", "new_name": "Day"}),
        ("move_note", {"name": "Own/Day", "new_name": "Daily"}),
    ]
    approver.asked.clear()
    for tool, arguments in requests:
        assert (await call(workspace, tool, **arguments)).success, arguments
    still = "The settings still name “{}” as the {}. Change it there, too.".format
    template = still("Own/Day", "template of daily notes")
    assert [warnings_of(request) for request in approver.asked] == [
        (still("Own/Days", "folder of daily notes"), template),
        (),
        (),
        (),
        (),
        (),
        (template,),
    ]


async def test_a_note_and_a_folder_of_the_same_name_are_told_apart_in_the_settings(workspace, approver):
    shutil.rmtree(workspace.root / ".obsidian", ignore_errors=True)
    editor = workspace.settings.editor
    editor.daily_folder, editor.daily_template, editor.templates_folder = "Days", "Day", "Templates"
    await fill(workspace, Days="x\n", Days__Today="x\n", Day="x\n", Day__Sub="x\n", Templates__Trip="x\n")
    requests = [
        ("move_note", {"name": "Days.md", "new_name": "About days"}),
        ("move_folder", {"folder": "Day", "new_folder": "Parts of the day"}),
        ("move_folder", {"folder": "Templates", "new_folder": "Forms"}),
    ]
    approver.asked.clear()
    for tool, arguments in requests:
        assert (await call(workspace, tool, **arguments)).success, arguments
    assert [warnings_of(request) for request in approver.asked] == [
        (),
        (),
        ("The settings still name “Templates” as the templates folder. Change it there, too.",),
    ]


@pytest.mark.parametrize(("name", "limit"), [("MAX_MOVED_FILES", 1), ("MAX_MOVED_BYTES", 3)])
async def test_a_folder_with_too_many_or_too_large_files_does_not_move(
    workspace, approver, monkeypatch, name, limit
):
    await fill(workspace, Old__One="x\n", Old__Sub__Two="x\n")
    approver.asked.clear()
    monkeypatch.setattr(move_delete, name, limit)
    outcome = await call(workspace, "move_folder", folder="Old", new_folder="New")
    assert outcome.error["type"] == "limit" and not approver.asked
    assert (await call(workspace, "move_folder", folder="Old/Sub", new_folder="New")).success


async def test_a_caller_that_can_not_see_all_files_of_a_folder_does_not_move_it(workspace, approver):
    await fill(workspace, Old__One="x\n", Old__Sub__Diary="---\nai: private\n---\n", Open__Two="x\n")
    approver.asked.clear()
    outcome = await call(workspace, "move_folder", MODEL, folder="Old", new_folder="New")
    assert outcome.error["type"] == "permission_denied" and not approver.asked
    assert "Diary" not in str(outcome.as_dict()) and "private" not in str(outcome.as_dict())
    assert (await call(workspace, "move_folder", MODEL, folder="Open", new_folder="New")).success
    assert (await call(workspace, "move_folder", folder="Old", new_folder="Newer")).result["files"] == 2


# Answers in German

_ENGLISH = re.compile(
    r"\b(?:the|this|is|are|can't|has|no|and|more|nothing|unchanged|note|notes|folder|property|heading|moved"
    r"|renamed|updated|line(?! \d+: #)|could|matches|files?)\b",
    re.IGNORECASE,
)
_BOTH = "---\nlast: 1\nseen: 2\n---\n"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("rename_property", {"key": "last", "new_key": "first"}),
        ("rename_property", {"key": "last", "new_key": "seen"}),
        ("rename_property", {"key": "last", "new_key": "seen", "names": ["Both"]}),
        ("rename_property", {"key": "last", "new_key": "seen", "names": ["Zed"]}),
        ("rename_property", {"key": "last", "new_key": "last"}),
        ("rename_property", {"key": "lust", "new_key": "x"}),
        ("rename_property", {"key": "zzzzzz", "new_key": "x"}),
        ("rename_property", {"key": "p", "new_key": "q"}),
        ("rename_heading", {"name": "Zed", "heading": "Trial", "new_heading": "Test"}),
        ("rename_heading", {"name": "Zed", "heading": "Trial", "new_heading": "Other"}),
        ("rename_heading", {"name": "Zed", "heading": "Trial", "new_heading": "#"}),
        ("rename_heading", {"name": "Zed", "heading": "Nope", "new_heading": "x"}),
        ("rename_heading", {"name": "Zed", "heading": "Twice", "new_heading": "x"}),
        ("move_folder", {"folder": "Box", "new_folder": "Kiste"}),
        ("move_folder", {"folder": "Nope", "new_folder": "x"}),
        ("move_folder", {"folder": "Box", "new_folder": "People"}),
        ("move_folder", {"folder": "Box", "new_folder": "box"}),
        ("move_folder", {"folder": "Box", "new_folder": "Box"}),
        ("move_folder", {"folder": "Many", "new_folder": "x"}),
        ("move_folder", {"folder": "Box", "new_folder": "Box/Sub"}),
        ("move_folder", {"folder": "Box", "new_folder": ".x"}),
        ("move_folder", {"folder": "Box", "new_folder": "a:b"}),
        ("move_folder", {"folder": "Box", "new_folder": "a."}),
    ],
)
async def test_messages_and_errors_have_words_in_german(workspace, monkeypatch, tool, arguments):
    monkeypatch.setattr(move_delete, "MAX_MOVED_FILES", 3)
    await fill(
        workspace,
        **{f"Many__P{number}": "---\np: 1\nq: 2\n---\n" for number in range(5)},
        One="---\nlast: 1\n---\n[[Box/A]] [[Zed#Trial]]\n",
        Both=_BOTH,
        Zed="## Trial\n## Other\n## Twice\n## Twice\n",
        Box__A="x\n",
        Box__Plan="x\n",
        Crate__Deep__Plan="x\n",
        Vague="[[Plan]]\n",
        Linking="---\nrelated: '[[Zed#Trial]]'\n---\n",
    )
    (workspace.root / "Box" / ".hidden").write_text("x")
    (workspace.root / "All.base").write_text("filters: last > 1\n")
    await workspace.index.scan()
    outcome = await call(workspace, tool, **arguments)
    german = next(language for language in languages() if language.code == "de")
    answer = localize(format_outcome(AnsweredCall(tool, arguments), outcome), german)
    assert not _ENGLISH.search(answer), answer
