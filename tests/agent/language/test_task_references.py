"""Changes to tasks in conversations: those just listed, added or changed, and those called tasks."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.test_dialog import answers, fill, say, state, talk, text

__all__ = ["talk"]
ERRANDS = "- [ ] pay the deposit 📅 2031-12-04\n- [ ] pack the yukata\n- [ ] call Anna\n"


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("yukata done", "- [x] pack the yukata"),
        ("mark the deposit task as done", "- [x] pay the deposit 📅 2031-12-04"),
        ("complete the yukata one instead", "- [x] pack the yukata"),
        ("and tick off call Anna too", "- [x] call Anna"),
        ("push the deposit to 2031-12-14", "- [ ] pay the deposit 📅 2031-12-14"),
        ("postpone the deposit task by a week", "- [ ] pay the deposit 📅 2031-12-11"),
        ("move the deposit two days later", "- [ ] pay the deposit 📅 2031-12-06"),
        ("move the due date of the second one to December 11, 2031", "- [ ] pack the yukata 📅 2031-12-11"),
        ("Put a due date on the second one: 11 December 2031", "- [ ] pack the yukata 📅 2031-12-11"),
        ("The task call Anna is due on 11 December 2031", "- [ ] call Anna 📅 2031-12-11"),
        ("verschiebe die Aufgabe deposit um eine Woche", "- [ ] pay the deposit 📅 2031-12-11"),
        ("yukata erledigt", "- [x] pack the yukata"),
    ],
)
async def test_one_of_the_listed_tasks_is_changed(talk, request_text, line) -> None:
    await fill(talk, Errands=ERRANDS)
    await say(talk, "open tasks in Errands", request_text)
    assert f"{line}\n" in text(talk, "Errands.md")
    assert len(state(talk).changes) == 1


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("tick it off", "- [x] call Bob"),
        ("actually push that one to the 14th", "- [ ] call Bob 📅 "),
        ("make it due on 2031-12-07", "- [ ] call Bob 📅 2031-12-07"),
        ("due 2031-12-07", "- [ ] call Bob 📅 2031-12-07"),
        ("Give that task a due date of 11 December 2031.", "- [ ] call Bob 📅 2031-12-11"),
        ("the task call Bob is due on December 11, 2031", "- [ ] call Bob 📅 2031-12-11"),
        ("the task is done", "- [x] call Bob"),
        ("die Aufgabe ist fällig am 11. Dezember 2031", "- [ ] call Bob 📅 2031-12-11"),
        ("fällig am 11. Dezember 2031", "- [ ] call Bob 📅 2031-12-11"),
    ],
)
async def test_the_task_just_added_is_changed(talk, request_text, line) -> None:
    await fill(talk, Errands=ERRANDS)
    await say(talk, "add a task to Errands: call Bob", request_text)
    assert line in text(talk, "Errands.md")
    assert text(talk, "Errands.md").startswith(ERRANDS) and len(state(talk).changes) == 2


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("complete the yukata task", "- [x] pack the yukata"),
        ("mark the task call Anna as done", "- [x] call Anna"),
        ("tick off pack the yukata", "- [x] pack the yukata"),
        ("hake pack the yukata ab", "- [x] pack the yukata"),
        ("postpone the deposit task by a week", "- [ ] pay the deposit 📅 2031-12-11"),
    ],
)
async def test_a_task_is_found_without_a_list(talk, request_text, line) -> None:
    await fill(talk, Errands=ERRANDS)
    await say(talk, request_text)
    assert f"{line}\n" in text(talk, "Errands.md")


async def test_the_only_task_of_a_note_needs_no_words(talk) -> None:
    await fill(talk, Errands="- [ ] pack the yukata\n", Trips=ERRANDS)
    await say(talk, "tick off the one in Errands")
    assert text(talk, "Errands.md") == "- [x] pack the yukata\n"
    await say(talk, "tick off the task in Trips, please")
    assert isinstance(talk.items[-1], Question) and len(talk.items[-1].choices) == 3
    assert text(talk, "Trips.md") == ERRANDS


async def test_a_completed_task_is_reopened_and_moved(talk) -> None:
    await fill(talk, Errands=ERRANDS)
    await say(talk, "open tasks in Errands", "deposit done", "reopen it")
    assert text(talk, "Errands.md") == ERRANDS
    await say(talk, "push it to 2031-12-20", "postpone it by two days")
    assert "- [ ] pay the deposit 📅 2031-12-22\n" in text(talk, "Errands.md")


@pytest.mark.parametrize(
    "request_text",
    [
        "push the deposit to between 2031-12-10 and 2031-12-12",
        "the deposit task is due between 2031-12-10 and 2031-12-12",
    ],
)
async def test_a_task_is_not_moved_to_a_period_without_a_question(talk, request_text) -> None:
    await fill(talk, Errands=ERRANDS)
    await say(talk, "open tasks in Errands", request_text)
    assert isinstance(talk.items[-1], Question) and text(talk, "Errands.md") == ERRANDS


async def test_a_task_with_a_conjunction_is_ticked_off(talk) -> None:
    await fill(talk, Errands="- [ ] pack the bag and call Ann\n- [ ] pay\n")
    await say(talk, "open tasks in Errands", "tick off pack the bag and call Ann")
    assert text(talk, "Errands.md") == "- [x] pack the bag and call Ann\n- [ ] pay\n"


async def test_a_task_without_a_due_date_has_none_to_move(talk) -> None:
    await fill(talk, Errands=ERRANDS)
    await say(talk, "open tasks in Errands", "postpone the yukata task by a week")
    assert answers(talk)[-1] == "The task has no due date that can be moved. Nothing was changed."
    assert text(talk, "Errands.md") == ERRANDS


@pytest.mark.parametrize(
    "request_text",
    [
        'put "check the salt" as a task in here due sunday',
        "mark the deposit task as not done",
        "is the deposit task due on Friday?",
        "which task is due Friday?",
        "no, the task is only 'write X', due monday",
        "the task is in Errands, due monday",
        "die Aufgabe ist nur 'X schreiben', fällig am 11. Dezember 2031",
    ],
)
async def test_no_task_is_changed_by_a_denial_or_a_question(talk, request_text) -> None:
    await fill(talk, Errands=ERRANDS)
    await say(talk, "open tasks in Errands", request_text)
    assert text(talk, "Errands.md") == ERRANDS
