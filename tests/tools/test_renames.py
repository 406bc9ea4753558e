"""Renames of properties, headings and folders: one change set, which undo takes back byte for byte."""

from __future__ import annotations

import re

import pytest

from app.agent.answered_call import AnsweredCall
from app.agent.language.answers import localize
from app.agent.language.lexicon import languages
from app.agent.result_formatting import format_outcome
from app.permissions.caller import Caller, CallerKind
from app.toolkit.call import Call
from app.vault.path import NotePath
from tests.support.tool_calls import call

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
        "“last” can't be renamed. Nothing was changed.\n\n"
        "Unchanged:\n\n- Both.md: The note has both “last” and “seen”."
    )


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
    assert outcome.result["left_out"] == ["All.base: This base may name the property; change it there."]


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


async def test_the_approval_and_the_answer_say_that_hidden_files_stay(workspace, approver):
    await fill(workspace, Old__One="x\n")
    (workspace.root / "Old" / "Sub").mkdir()
    for name in (".hidden.md", "Sub/.DS_Store"):
        (workspace.root / "Old" / name).write_text("x")
    approver.asked.clear()
    outcome = await call(workspace, "move_folder", folder="old", new_folder="New")
    assert approver.asked[0].proposal.summary.endswith("(1 file), 2 hidden or excluded files stay in “old”")
    assert outcome.message == "Moved 1 file from “old” to “New”. 2 hidden or excluded files stay in “old”."
    assert outcome.result["remaining"] == 2 and (workspace.root / "Old" / ".hidden.md").exists()


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
    r"\b(?:the|is|are|can't|has|no|note|notes|folder|property|heading|moved|renamed|file)\b", re.I
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
        ("rename_heading", {"name": "Zed", "heading": "Trial", "new_heading": "Test"}),
        ("rename_heading", {"name": "Zed", "heading": "Trial", "new_heading": "Other"}),
        ("rename_heading", {"name": "Zed", "heading": "Trial", "new_heading": "#"}),
        ("rename_heading", {"name": "Zed", "heading": "Nope", "new_heading": "x"}),
        ("rename_heading", {"name": "Zed", "heading": "Twice", "new_heading": "x"}),
        ("move_folder", {"folder": "Box", "new_folder": "Kiste"}),
        ("move_folder", {"folder": "Nope", "new_folder": "x"}),
        ("move_folder", {"folder": "Box", "new_folder": "People"}),
        ("move_folder", {"folder": "Box", "new_folder": "box"}),
        ("move_folder", {"folder": "Box", "new_folder": "Box/Sub"}),
        ("move_folder", {"folder": "Box", "new_folder": ".x"}),
        ("move_folder", {"folder": "Box", "new_folder": "a:b"}),
        ("move_folder", {"folder": "Box", "new_folder": "a."}),
    ],
)
async def test_messages_and_errors_have_words_in_german(workspace, tool, arguments):
    await fill(
        workspace,
        One="---\nlast: 1\n---\n[[Box/A]] [[Zed#Trial]]\n",
        Both=_BOTH,
        Zed="## Trial\n## Other\n## Twice\n## Twice\n",
        Box__A="x\n",
        Linking="---\nrelated: '[[Zed#Trial]]'\n---\n",
    )
    (workspace.root / "Box" / ".hidden").write_text("x")
    (workspace.root / "All.base").write_text("filters: last > 1\n")
    await workspace.index.scan()
    outcome = await call(workspace, tool, **arguments)
    german = next(language for language in languages() if language.code == "de")
    answer = localize(format_outcome(AnsweredCall(tool, arguments), outcome), german)
    assert not _ENGLISH.search(answer), answer
