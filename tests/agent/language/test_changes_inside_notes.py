"""After a change inside a note, "it" may be what was changed, so the agent asks which one is meant."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import answers, order, say, talk, text

__all__ = ["talk"]

SEXTANT = "Instruments/Sextant.md"


@pytest.mark.parametrize(
    ("change", "request_text", "part"),
    [
        ("add a task to Sextant: oil the arc", "delete it", "undo scope=last"),
        ("füge in Sextant eine Aufgabe hinzu: Bogen ölen", "lösche sie", "undo scope=last"),
        ("add a line to Sextant: bought in Bath", "delete that", "undo scope=last"),
        ("tag Sextant with brass", "delete it", "undo scope=last"),
        ("set the weight of Sextant to 3", "delete it", "undo scope=last"),
    ],
)
async def test_what_was_added_is_offered_before_the_deletion_of_its_note(
    talk, change, request_text, part
) -> None:
    await order(talk, change)
    await say(talk, request_text)
    first, second = choices(talk)
    assert first.startswith(part)
    assert second == "delete [@Instruments/Sextant]"


async def test_the_task_is_removed_and_its_note_stays(talk) -> None:
    before = text(talk, SEXTANT)
    await say(talk, "add a task to Sextant: oil the arc by Friday", "delete it")
    await say(talk, f"= {choices(talk)[0]}")
    assert text(talk, SEXTANT) == before


async def test_a_task_is_reworded(talk) -> None:
    await say(talk, "add a task to Sextant: oil the arc", "rename it to Oil the whole arc")
    await say(talk, f"= {choices(talk)[0]}")
    assert "- [ ] Oil the whole arc\n" in text(talk, SEXTANT)


async def test_the_due_date_of_a_new_task_is_moved(talk) -> None:
    await say(talk, "add a task to Sextant: oil the arc by 3 May 2027", "set the due to 5 May 2027")
    await say(talk, f"= {choices(talk)[0]}")
    assert "- [ ] oil the arc 📅 2027-05-05\n" in text(talk, SEXTANT)


async def test_the_date_of_the_note_can_be_chosen_instead(talk) -> None:
    await say(talk, "add a task to Sextant: oil the arc by 3 May 2027", "set the due to 5 May 2027")
    await say(talk, f"= {choices(talk)[1]}")
    assert "due: 2027-05-05\n" in text(talk, SEXTANT) and "📅 2027-05-03\n" in text(talk, SEXTANT)


@pytest.mark.parametrize("request_text", ["delete the note", "delete Sextant", "delete this note"])
async def test_a_named_note_is_deleted_at_once(talk, request_text) -> None:
    await talk.say("tag it brass", open_note=SEXTANT)
    await talk.say(request_text, open_note=SEXTANT)
    assert SEXTANT not in {str(path) for path in talk.workspace.index.note_paths()}


async def test_a_note_that_was_only_opened_is_deleted_at_once(talk) -> None:
    await say(talk, "open Sextant", "delete it")
    assert not isinstance(talk.items[-1], Question)
    assert SEXTANT not in {str(path) for path in talk.workspace.index.note_paths()}


# Tasks without words


@pytest.fixture
async def with_tasks(talk):
    for task in ("oil the arc", "grind the mirror", "sell the case"):
        await order(talk, f"add a task to Sextant: {task}")
    return talk


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("complete the first task in Sextant", "- [x] oil the arc\n"),
        ("tick off the second task in Sextant", "- [x] grind the mirror\n"),
        ("hake die letzte Aufgabe in Sextant ab", "- [x] sell the case\n"),
        ("move the third task in Sextant to 4 May 2027", "- [ ] sell the case 📅 2027-05-04\n"),
    ],
)
async def test_a_task_is_changed_by_its_position_in_a_named_note(with_tasks, request_text, line) -> None:
    await say(with_tasks, request_text)
    assert line in text(with_tasks, SEXTANT)


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("move the task to 4 May 2027", "- [ ] oil the arc 📅 2027-05-04\n"),
        ("postpone its task to 4 May 2027", "- [ ] oil the arc 📅 2027-05-04\n"),
        ("postpone the open task to 4 May 2027", "- [ ] oil the arc 📅 2027-05-04\n"),
        ("mark the task as done", "- [x] oil the arc\n"),
        ("mark the task there as done", "- [x] oil the arc\n"),
        ("hake die Aufgabe ab", "- [x] oil the arc\n"),
    ],
)
async def test_the_only_task_of_the_note_in_focus_needs_no_words(talk, request_text, line) -> None:
    await order(talk, "add a task to Sextant: oil the arc")
    await say(talk, "show H4", "open Sextant", request_text)
    assert line in text(talk, SEXTANT)


async def test_one_of_several_tasks_without_words_is_asked_for(with_tasks) -> None:
    await say(with_tasks, "show H4", "open Sextant", "mark the task as done")
    assert len(choices(with_tasks)) == 3
    assert "- [x]" not in text(with_tasks, SEXTANT)


# Undo


@pytest.mark.parametrize(
    ("request_text", "left"),
    [
        ("undo the tags", ["rename"]),
        ("undo the last tag", ["brass", "rename"]),
        ("undo the first tag", ["wood", "rename"]),
        ("undo the last rename", ["brass", "wood"]),
        ("undo the rename and the tag", ["brass"]),
        ("mach die Tags rückgängig", ["rename"]),
    ],
)
async def test_changes_of_a_kind_are_undone(talk, request_text, left) -> None:
    await say(talk, "tag H4 with brass", "tag H2 with wood", "rename Octant to Oktant", request_text)
    paths = {str(path) for path in talk.workspace.index.note_paths()}
    found = {
        "brass": "brass" in text(talk, "Instruments/H4.md"),
        "wood": "wood" in text(talk, "Instruments/H2.md"),
        "rename": "Instruments/Oktant.md" in paths,
    }
    assert [name for name, is_left in found.items() if is_left] == left, answers(talk)[-1]


async def test_an_undo_that_goes_on_after_a_comma_is_asked_about(talk) -> None:
    await say(talk, "delete Octant", "tag H4 with brass", "undo the delete, keep the note in Archive")
    assert isinstance(talk.items[-1], Question)
    assert "Instruments/Octant.md" not in {str(path) for path in talk.workspace.index.note_paths()}
