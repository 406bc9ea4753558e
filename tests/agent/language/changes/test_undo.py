"""Undo: only the change that is named, and none of another conversation."""

from __future__ import annotations

import re

import pytest

from app.agent.transcript import AgentText, Question
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import OPEN, answers, fill, order, say, state, talk, text
from tests.agent.test_session import SessionConversation

__all__ = ["talk"]
NO_SUCH_CHANGE = {
    "undo the rename": "I have made no change “rename” in this conversation. Nothing was undone.",
    "mach die umbenennung rückgängig": (
        "In diesem Gespräch habe ich keine Änderung „umbenennen“ gemacht. Es wurde nichts rückgängig gemacht."
    ),
}


@pytest.mark.parametrize(("request_text", "answer"), NO_SUCH_CHANGE.items())
async def test_a_named_change_of_another_conversation_is_not_undone(
    unwatched_workspace, talk, request_text, answer
) -> None:
    await say(talk, "rename H4 to H5")
    other = SessionConversation(unwatched_workspace)
    await say(other, request_text)
    assert answers(other)[-1] == answer
    assert text(talk, "Instruments/H5.md")


async def test_an_undo_of_another_kind_than_the_last_change_is_a_question(talk) -> None:
    await say(talk, "tag H4 with brass", "undo the rename")
    assert choices(talk)[0] == "undo scope=last" and "brass" in text(talk, "Instruments/H4.md")


async def test_the_last_changes_of_other_conversations_are_undone_if_this_one_has_none(
    unwatched_workspace, talk
) -> None:
    await say(talk, "tag H4 with brass", "tag H2 with wood")
    await say(SessionConversation(unwatched_workspace), "undo the last two changes")
    assert "brass" not in text(talk, "Instruments/H4.md") and "wood" not in text(talk, "Instruments/H2.md")


async def test_after_a_question_about_a_change_an_undo_asks_which_one(talk) -> None:
    await say(talk, "tag H4 with brass", "delete")
    assert isinstance(talk.items[-1], Question)
    await say(talk, "take that back")
    assert choices(talk)[0] == "undo scope=last" and "brass" in text(talk, "Instruments/H4.md")


async def test_the_verb_of_an_undo_is_no_name_of_a_note(talk) -> None:
    await fill(talk, Concepts__Undo_and_Redo="How to undo.")
    await say(talk, "delete Octant")
    await talk.say("undo that", open_note=OPEN)
    assert (
        state(talk).last.last.action == "undo" and "octant" in text(talk, "Instruments/Octant.md").casefold()
    )


async def test_what_was_undone_is_redone_and_undone_again(talk) -> None:
    await say(talk, "rename H4 to H5", "tag H5 with brass", "undo both")
    assert "brass" not in text(talk, "Instruments/H4.md")
    await say(talk, "redo")
    assert "brass" not in text(talk, "Instruments/H5.md")
    replies = await say(talk, "redo that")
    assert "brass" in text(talk, "Instruments/H5.md") and not replies.undone
    await say(talk, "undo the tag")
    assert "brass" not in text(talk, "Instruments/H5.md")


async def test_an_approval_names_a_redo_and_its_undo(talk, approver) -> None:
    await say(talk, "tag H4 with brass", "undo", "redo", "undo")
    change = "Add #brass to Instruments/H4.md"
    summaries = [request.proposal.summary for request in approver.asked]
    assert summaries == [change, f"Undo: {change}", f"Redo: {change}", f"Undo: {change}"]


@pytest.mark.parametrize(
    ("change", "undo", "redo", "answer"),
    [
        ("delete Octant", "undo", "redo", "1 note was deleted again:\n\n- Instruments/Octant.md"),
        ("create a note called Tea", "undo", "redo", "1 note was created again:\n\n- [[Tea]]"),
        ("move H4 to Events", "undo", "redo", "1 note was moved again:\n\n- [[Events/H4|H4]]"),
        ("tag H4 with brass", "undo", "redo", "1 note was changed again:\n\n- [[Instruments/H4|H4]]"),
        (
            "lösche Octant",
            "rückgängig",
            "wiederholen",
            "1 Notiz wurde erneut gelöscht:\n\n- Instruments/Octant.md",
        ),
        (
            "markiere H4 mit brass",
            "rückgängig",
            "wiederholen",
            "1 Notiz wurde erneut geändert:\n\n- [[Instruments/H4|H4]]",
        ),
    ],
)
async def test_a_redo_says_what_it_did(talk, change, undo, redo, answer) -> None:
    await order(talk, change, undo, redo)
    assert answers(talk)[-1] == answer


async def test_a_redo_says_what_is_left(talk) -> None:
    await order(talk, "tag H4 with brass", "tag H3 with brass", "undo both", "redo")
    assert answers(talk)[-1] == "1 other change was undone, too. Say “redo” again to make the next one."


async def test_after_a_new_change_there_is_nothing_to_redo(talk, approver) -> None:
    await say(talk, "tag H4 with brass", "undo", "tag H2 with wood")
    approver.asked.clear()
    await say(talk, "redo")
    assert answers(talk)[-1] == "There is nothing to redo."
    assert not approver.asked


@pytest.mark.parametrize(
    ("request_text", "undone"),
    [
        ("undo everything except the rename", {"brass", "wood"}),
        ("undo everything but the tag on H2", {"rename", "brass"}),
        ("undo everything except the last change", {"brass", "wood"}),
        ("undo both tags", {"brass", "wood"}),
        ("undo the first change", {"brass"}),
        ("mach alles außer der Umbenennung rückgängig", {"brass", "wood"}),
        ("nimm alles zurück, aber nicht die letzte Änderung", {"brass", "wood"}),
    ],
)
async def test_only_the_named_changes_are_undone(talk, request_text, undone) -> None:
    await say(talk, "tag H4 with brass", "tag H2 with wood", "rename Octant to Oktant", request_text)
    is_renamed = "Instruments/Oktant.md" in {str(path) for path in talk.workspace.index.note_paths()}
    left = {
        "brass": "brass" in text(talk, "Instruments/H4.md"),
        "wood": "wood" in text(talk, "Instruments/H2.md"),
        "rename": is_renamed,
    }
    assert {name for name, is_left in left.items() if not is_left} == undone


async def test_the_tags_of_a_number_of_notes_are_undone_together(talk) -> None:
    await say(talk, "tag H2, H3 and H4 with brass", "tag K1 with wood", "undo the tagging of the three notes")
    assert all("brass" not in text(talk, f"Instruments/H{number}.md") for number in (2, 3, 4))
    assert "wood" in text(talk, "Instruments/K1.md")


@pytest.mark.parametrize(
    "request_text",
    ["restore the note I deleted", "bring Octant back", "stelle die gelöschte Notiz wieder her"],
)
async def test_a_deleted_note_comes_back_after_other_changes(talk, request_text) -> None:
    before = text(talk, "Instruments/Octant.md")
    await say(talk, "delete Octant", "tag H2 with wood", request_text)
    assert text(talk, "Instruments/Octant.md") == before and "wood" in text(talk, "Instruments/H2.md")


async def test_the_answer_says_that_no_note_was_deleted(talk) -> None:
    await say(talk, "tag H2 with wood", "restore the note I deleted")
    assert answers(talk)[-1] == "I have made no change “delete” in this conversation. Nothing was undone."
    assert "wood" in text(talk, "Instruments/H2.md")


async def test_a_tag_is_taken_back_from_one_of_several_notes(talk) -> None:
    await say(talk, "tag H2 and H3 with brass", "undo that only for H3")
    assert "brass" in text(talk, "Instruments/H2.md") and "brass" not in text(talk, "Instruments/H3.md")


@pytest.mark.parametrize(
    ("request_text", "answer"),
    [
        ("undo everything except the merge", "I don't know which of my changes are meant"),
        ("mach alles außer der Konfidenz rückgängig", "Ich weiß nicht, welche meiner Änderungen"),
    ],
)
async def test_an_undo_that_is_not_possible_is_refused(talk, request_text, answer) -> None:
    await say(talk, "tag H2 and H3 with brass", "tag K1 with wood", request_text)
    assert answers(talk)[-1].startswith(answer)
    assert "brass" in text(talk, "Instruments/H3.md") and "wood" in text(talk, "Instruments/K1.md")


async def test_a_change_of_all_notes_together_is_not_undone_for_one(talk) -> None:
    await fill(talk, Dune="---\nrank: 1\n---\n", Alien="---\nrank: 2\n---\n")
    await say(talk, "= rename_property key=rank new_key=place", "undo that only for Dune")
    assert answers(talk)[-1] == (
        "This change affects 2 notes and can only be undone for all of them. Nothing was undone."
    )
    assert "place" in text(talk, "Dune.md") and "place" in text(talk, "Alien.md")


@pytest.mark.parametrize(
    ("between", "request_text"),
    [
        ("open H3", "undo the tag on H3"),
        ("tag K1 with wood", "undo the tag on H3"),
        ("move H3 to Events", "undo the tag on H3"),
        ("öffne H3", "mach das Tag an H3 rückgängig"),
    ],
)
async def test_a_tag_is_taken_back_from_one_note_after_another_request(talk, between, request_text) -> None:
    await say(talk, "tag H2 and H3 with brass", between, request_text)
    path = "Events/H3.md" if between.startswith("move") else "Instruments/H3.md"
    assert "brass" not in text(talk, path) and "brass" in text(talk, "Instruments/H2.md")


async def test_another_change_is_made_again_for_the_notes_that_keep_it(talk) -> None:
    await say(talk, "= set_property [@H2, @H3] key=room value=attic", "= add_tag [@K1] tag=wood")
    await say(talk, "undo the property on H3")
    assert "attic" not in text(talk, "Instruments/H3.md") and "attic" in text(talk, "Instruments/H2.md")
    assert "wood" in text(talk, "Instruments/K1.md")


@pytest.mark.parametrize(
    ("request_text", "answer"),
    [
        (
            "undo everything except the rename",
            "I have not changed anything in this conversation. Nothing was undone.",
        ),
        (
            "mach alles außer der Umbenennung rückgängig",
            "In diesem Gespräch habe ich nichts geändert. Es wurde nichts rückgängig gemacht.",
        ),
    ],
)
async def test_without_changes_there_is_no_rest_to_undo(talk, approver, request_text, answer) -> None:
    await say(talk, request_text)
    assert answers(talk)[-1] == answer and not approver.asked


@pytest.mark.parametrize(
    ("undo", "request_text"),
    [
        ("undo that", "restore it"),
        ("rückgängig", "wiederherstellen"),
        ("rückgängig", "wiederholen"),
        ("mach das rückgängig", "stelle es wieder her"),
    ],
)
async def test_what_was_undone_is_restored(talk, undo, request_text) -> None:
    await say(talk, "= add_tag [@H4] tag=wood", "= add_tag [@H4] tag=brass")
    await order(talk, undo, request_text)
    assert {"brass", "wood"} <= set(re.findall(r"\w+", text(talk, "Instruments/H4.md")))


@pytest.mark.parametrize("request_text", ["undo that", "undo", "mach das rückgängig", "no"])
async def test_all_changes_of_one_request_are_undone(talk, request_text) -> None:
    await say(talk, "= add_tag [@K1] tag=wood")
    await say(talk, "= set_property [@H3] key=room value=attic | set_property [@H4] key=room value=hall")
    await say(talk, request_text)
    both = 'undo scope="last:2"'
    if request_text == "no":
        assert choices(talk) == [both]
        await say(talk, f"= {both}")
    assert "attic" not in text(talk, "Instruments/H3.md") and "hall" not in text(talk, "Instruments/H4.md")
    assert "wood" in text(talk, "Instruments/K1.md")


async def test_the_last_change_of_a_request_is_undone_alone(talk) -> None:
    await say(talk, "= set_property [@H3] key=room value=attic | set_property [@H4] key=room value=hall")
    await order(talk, "undo the last change")
    assert "attic" in text(talk, "Instruments/H3.md") and "hall" not in text(talk, "Instruments/H4.md")


async def test_changes_of_another_kind_stay(talk) -> None:
    await say(talk, "tag H4 with brass", "move H2 to Events", "rename Octant to Oktant")
    await say(talk, "undo all renames but keep the tags")
    assert "brass" in text(talk, "Instruments/H4.md") and text(talk, "Instruments/Octant.md")
    assert text(talk, "Events/H2.md")


async def test_a_replacement_before_other_changes_is_undone_alone(talk) -> None:
    await fill(talk, Tart="## Tips\n\nsugar\n")
    await say(talk, "replace sugar with salt in Tart", "rename the heading Tips to Hints in Tart")
    await say(talk, "undo only the word replacement")
    assert text(talk, "Tart.md") == "## Hints\n\nsugar\n"


@pytest.mark.parametrize(
    "request_text",
    ["undo everything you did in the last ten minutes", "mach alles aus der letzten Stunde rückgängig"],
)
async def test_the_changes_of_a_period_are_not_undone(talk, approver, request_text) -> None:
    await say(talk, "tag H4 with brass", request_text)
    assert len(approver.asked) == 1 and isinstance(talk.items[-1], AgentText)
    assert "brass" in text(talk, "Instruments/H4.md")


async def test_an_option_says_what_it_undoes(talk) -> None:
    await say(talk, "tag H4 with brass", "delete", "take that back")
    assert isinstance(talk.items[-1], Question)
    assert talk.items[-1].choices[0].label == "undo · add tag · H4"


async def test_one_of_several_deleted_notes_comes_back(talk) -> None:
    before = text(talk, "Instruments/Octant.md")
    await say(talk, "delete Octant and Chip log", "restore Octant")
    if isinstance(talk.items[-1], Question):
        await say(talk, talk.items[-1].choices[0].reply)
    assert text(talk, "Instruments/Octant.md") == before
    assert "Instruments/Chip log.md" not in {str(path) for path in talk.workspace.index.note_paths()}


@pytest.mark.parametrize("request_text", ["undo the last rename", "undo the rename"])
async def test_the_last_change_of_a_kind_is_undone(talk, request_text) -> None:
    await say(talk, "rename H4 to H5", "tag it brass")
    await order(talk, request_text)
    assert "brass" in text(talk, "Instruments/H4.md")


async def test_the_first_change_of_a_kind_is_undone(talk) -> None:
    await say(talk, "rename H3 to H9", "tag H1 with wood", "tag H2 with wood")
    await order(talk, "undo the first tag")
    assert "wood" not in text(talk, "Instruments/H1.md")
    assert "wood" in text(talk, "Instruments/H2.md") and text(talk, "Instruments/H9.md")


async def test_the_only_deletion_is_undone_after_another_change(talk) -> None:
    await say(talk, "delete Octant", "rename H4 to H5")
    await order(talk, "undo the delete")
    assert text(talk, "Instruments/Octant.md") and text(talk, "Instruments/H5.md")


@pytest.mark.parametrize(
    "request_text",
    ["undo the last two changes", "undo my last two changes", "mach die letzten zwei Änderungen rückgängig"],
)
async def test_a_number_of_the_last_changes_is_undone(talk, request_text) -> None:
    await say(talk, "tag H1 with wood", "tag H2 with wood", "tag H3 with wood", request_text)
    assert "wood" in text(talk, "Instruments/H1.md")
    assert "wood" not in text(talk, "Instruments/H2.md") + text(talk, "Instruments/H3.md")
