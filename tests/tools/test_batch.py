"""Several calls of one tool are one proposal: approved once, written and undone together."""

from __future__ import annotations

from dataclasses import replace

from app.permissions.caller import Caller, CallerKind
from app.toolkit.batch import make_batch_tool
from app.toolkit.call import Call
from app.tools.notes import set_properties
from app.tools.tags import add_tag, remove_tag
from app.translatable_text import TranslatableText
from app.vault.changes import ChangeWarning
from app.vault.path import NotePath

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Built-in agent", uses_model=False)


async def call(workspace, tool, names, arguments):
    return await workspace.runner.run(
        Call.internal(make_batch_tool(tool), {"names": names, "arguments": arguments}, AGENT)
    )


async def test_many_notes_are_one_question_one_commit_and_one_undo(workspace, approver):
    before = {
        name: workspace.store.read(NotePath(name)) for name in ("Instruments/H1.md", "Instruments/H2.md")
    }
    outcome = await call(workspace, add_tag, list(before), [{"tag": "seaclock"}] * 2)
    assert outcome.success and len(approver.asked) == 1
    assert sorted(outcome.result["notes"]) == sorted(before)
    for name in before:
        assert b"seaclock" in workspace.store.read(NotePath(name))
    assert (await workspace.runner.run(Call.of("undo", {"entry": outcome.entry}, AGENT))).success
    assert {name: workspace.store.read(NotePath(name)) for name in before} == before


async def test_calls_for_one_note_build_on_each_other(workspace, approver):
    names = ["Concepts/Gimbal.md"] * 2
    outcome = await call(workspace, add_tag, names, [{"tag": "one"}, {"tag": "two"}])
    assert outcome.success and len(approver.asked) == 1
    text = workspace.store.read(NotePath("Concepts/Gimbal.md"))
    assert b"one" in text and b"two" in text


async def test_a_note_that_cannot_be_changed_is_left_out_with_its_reason(workspace):
    names = ["Instruments/H1.md", "Concepts/Gimbal.md"]
    outcome = await call(workspace, remove_tag, names, [{"tag": "instrument"}] * 2)
    assert outcome.success and outcome.result["notes"] == ["Instruments/H1.md"]
    assert "Gimbal" in outcome.result["left_out"][0]


async def test_a_call_with_invalid_arguments_is_left_out_with_its_reason(workspace, approver):
    names = ["Instruments/H1.md", "Instruments/H2.md"]
    outcome = await call(workspace, add_tag, names, [{"tag": "seaclock"}, {"label": "seaclock"}])
    assert outcome.success and outcome.result["notes"] == ["Instruments/H1.md"]
    assert "tag" in outcome.result["left_out"][0]


async def test_if_every_call_fails_the_first_error_is_raised(workspace):
    outcome = await call(workspace, remove_tag, ["Concepts/Gimbal.md"], [{"tag": "nope"}])
    assert outcome.error["type"] == "not_found"


async def test_the_summary_says_what_is_done(workspace, approver):
    names = ["Instruments/H1.md", "Instruments/H2.md"]
    await call(workspace, add_tag, names, [{"tag": "seaclock"}] * 2)
    assert approver.asked[-1].proposal.summary == "Add #seaclock to 2 notes"
    await call(workspace, set_properties, names, [{"properties": {"maker": "Harrison"}}] * 2)
    assert approver.asked[-1].proposal.summary == "Set maker of 2 notes"


async def test_the_warnings_and_emptied_folders_of_all_calls_are_joined(workspace, approver):
    async def warn(context, name, tag):
        proposal = await add_tag.function(context, name=name, tag=tag)
        warning = ChangeWarning(TranslatableText.verbatim(f"{tag}."), concerns_access=tag == "two")
        return replace(
            proposal, change_set=replace(proposal.change_set, warnings=(warning,), emptied=(f"No {tag}",))
        )

    names = ["Instruments/H1.md", "Instruments/H2.md", "Concepts/Gimbal.md"]
    tags = [{"tag": tag} for tag in ("one", "two", "one")]
    assert (await call(workspace, replace(add_tag, function=warn), names, tags)).success
    proposal = approver.asked[-1].proposal
    assert [(text.text.english, text.concerns_access) for text in proposal.warnings] == [
        ("one.", False),
        ("two.", True),
    ]
    assert sorted(proposal.emptied) == ["No one", "No two"]
