"""Changes to tasks in conversations: those just listed, added or changed, and those called tasks."""

from __future__ import annotations

import pytest

from app.agent.language.meaning.notation import PREFIX
from app.agent.transcript import Question
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import answers, fill, order, say, state, talk, text

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


@pytest.mark.parametrize(
    ("request_text", "done"),
    [
        ("tick off the deposit and the yukata", (0, 1)),
        ("tick off call Anna, pack the yukata and pay the deposit", (0, 1, 2)),
        ('check off "pack the yukata", "call Anna"', (1, 2)),
        ("complete the yukata and the deposit task in Errands", (0, 1)),
        ("hake deposit und yukata ab", (0, 1)),
        ('hake "pack the yukata" und "call Anna" ab', (1, 2)),
    ],
)
async def test_each_of_several_named_tasks_is_changed_at_once(talk, approver, request_text, done) -> None:
    await fill(talk, Errands=ERRANDS)
    await say(talk, request_text)
    lines = ERRANDS.splitlines()
    expected = [line.replace("[ ]", "[x]") if at in done else line for at, line in enumerate(lines)]
    assert text(talk, "Errands.md").splitlines() == expected
    assert len(state(talk).changes) == 1
    await say(talk, "undo")
    assert text(talk, "Errands.md") == ERRANDS


async def test_several_tasks_of_several_notes_are_moved_in_one_change(talk) -> None:
    await fill(talk, Errands=ERRANDS, Trip="- [ ] call\n- [ ] call the hotel\n")
    await say(talk, "postpone the yukata and call the hotel to 2031-12-07")
    assert "- [ ] pack the yukata 📅 2031-12-07\n" in text(talk, "Errands.md")
    assert text(talk, "Trip.md") == "- [ ] call\n- [ ] call the hotel 📅 2031-12-07\n"
    assert len(state(talk).changes) == 1


async def test_equal_beginnings_of_lines_do_not_mix_up_several_tasks(talk) -> None:
    await fill(talk, Trip="- [ ] oil the door\n- [ ] oil the door frame\n- [ ] oil\n")
    await say(talk, 'tick off "oil the door frame" and "oil the door"')
    assert text(talk, "Trip.md") == "- [x] oil the door\n- [x] oil the door frame\n- [ ] oil\n"


@pytest.mark.parametrize(
    ("request_text", "answer", "choices"),
    [
        ("tick off the yukata and the kimono", "There is no open task that matches “the kimono”.", 1),
        (f'{PREFIX} complete_task query="the yukata and call"', None, 2),
        ("hake yukata und Kimono ab", "Es gibt keine offene Aufgabe, die zu „Kimono“ passt.", 1),
    ],
)
async def test_several_tasks_are_asked_about_unless_each_is_clear(
    talk, request_text, answer, choices
) -> None:
    await fill(talk, Errands=f"{ERRANDS}- [ ] call Bob\n")
    before = text(talk, "Errands.md")
    await say(talk, request_text)
    question = talk.items[-1]
    assert isinstance(question, Question) and len(question.choices) == choices
    assert text(talk, "Errands.md") == before and (answer is None or answer in answers(talk)[-1])
    await say(talk, question.choices[0].reply)
    assert "- [x] pack the yukata" in text(talk, "Errands.md")


@pytest.mark.parametrize(
    "request_text",
    [
        "tick off the deposit, but not the yukata",
        "tick off the yukata, not the deposit",
        "tick off the deposit except the yukata",
        "hake deposit ab, aber nicht yukata",
    ],
)
async def test_no_task_is_ticked_off_that_an_order_leaves_out(talk, request_text) -> None:
    await fill(talk, Errands=ERRANDS)
    await say(talk, request_text)
    assert text(talk, "Errands.md") == ERRANDS


async def test_several_tasks_move_only_if_each_has_a_due_date(talk) -> None:
    await fill(talk, Errands=ERRANDS)
    await say(talk, f'{PREFIX} reschedule_task [@Errands] query="deposit and yukata" due="+1 week"')
    assert answers(talk)[-1] == "“pack the yukata” has no due date that can be moved. Nothing was changed."
    assert text(talk, "Errands.md") == ERRANDS


async def test_one_task_may_have_a_conjunction(talk) -> None:
    await fill(talk, Errands="- [ ] call Ann and Bob\n- [ ] buy bread\n")
    await say(talk, "tick off Ann and Bob")
    assert text(talk, "Errands.md") == "- [x] call Ann and Bob\n- [ ] buy bread\n"


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("mark list supported browsers as done", "- [x] list supported browsers"),
        ("markiere list supported browsers als erledigt", "- [x] list supported browsers"),
    ],
)
async def test_a_task_that_has_all_words_is_changed(talk, request_text, line) -> None:
    await fill(talk, Errands=ERRANDS, Backlog="- [ ] list supported browsers\n- [ ] list colors\n")
    await say(talk, request_text)
    assert line in text(talk, "Backlog.md") and "- [ ] list colors" in text(talk, "Backlog.md")


@pytest.mark.parametrize(
    "request_text", ["the import one is due on 2031-12-10", "das Import ist fällig am 10.12.2031"]
)
async def test_a_word_of_a_task_in_the_note_in_focus_may_mean_it_or_a_note(talk, request_text) -> None:
    await fill(talk, Import="A page.\n", Backlog="- [ ] document Import\n")
    await say(talk, "open Backlog", request_text)
    assert isinstance(talk.items[-1], Question)
    assert "reschedule_task [@Backlog]" in talk.items[-1].choices[0].reply
    assert "due=2031-12-10" in talk.items[-1].choices[0].reply


@pytest.mark.parametrize(
    "request_text", ["push the other one back by a week", "verschieb die andere um eine Woche"]
)
async def test_the_other_task_moves_from_its_own_date(talk, request_text) -> None:
    await fill(talk, Errands="- [ ] write docs 📅 2031-12-01\n- [ ] fix borders 📅 2031-12-04\n")
    await say(talk, "open tasks in Errands", "push the docs one back by two days", request_text)
    assert text(talk, "Errands.md") == ("- [ ] write docs 📅 2031-12-03\n- [ ] fix borders 📅 2031-12-11\n")


CHECKLIST = "- [ ] check broken links\n- [ ] publish docs\n- [ ] call Ann\n"


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("tick off the first one", "- [x] check broken links"),
        ("tick off the last one", "- [x] ask Ramses"),
        ("hake die zweite ab", "- [x] publish docs"),
        ("push the third one to 2031-12-04", "- [ ] call Ann 📅 2031-12-04"),
    ],
)
async def test_after_one_new_task_a_position_is_that_in_the_note(talk, request_text, line) -> None:
    await fill(talk, Errands=CHECKLIST)
    await say(talk, "add a task to Errands: ask Ramses", request_text)
    assert f"{line}\n" in text(talk, "Errands.md") and text(talk, "Errands.md").count("[x]") <= 1


async def test_positions_in_a_note_stay_after_the_first_change(talk) -> None:
    await fill(talk, Errands=CHECKLIST)
    await say(talk, "add a task to Errands: ask Ramses", "tick off the first one", "tick off the second one")
    assert text(talk, "Errands.md").startswith("- [x] check broken links\n- [x] publish docs\n- [ ] call Ann")


async def test_several_tasks_with_verbs_are_completed(talk, approver) -> None:
    await fill(talk, Errands=CHECKLIST)
    approver.asked.clear()
    await say(talk, "summarize Errands", "i finished check broken links and publish docs")
    assert text(talk, "Errands.md") == "- [x] check broken links\n- [x] publish docs\n- [ ] call Ann\n"
    assert len(approver.asked) == 1


@pytest.mark.parametrize("request_text", ["move its last task to 2031-05-01", "tick off its last task"])
async def test_a_position_among_the_tasks_of_a_note_is_no_text(talk, request_text) -> None:
    await fill(talk, Errands="- [ ] ask for the last bill\n- [ ] call Anna\n")
    await order(talk, "open Errands", request_text)
    assert text(talk, "Errands.md").startswith("- [ ] ask for the last bill\n")
    assert text(talk, "Errands.md") != "- [ ] ask for the last bill\n- [ ] call Anna\n"


@pytest.mark.parametrize(
    ("request_text", "after"),
    [
        ("delete the task about the kettle", ""),
        ('= complete_task [@H4] query="the kettle"', "- [x] descale the kettle\n"),
    ],
)
async def test_a_task_of_another_note_is_changed_after_a_question(talk, request_text, after) -> None:
    await fill(talk, Kitchen="- [ ] descale the kettle\n")
    await say(talk, "open H4", request_text)
    assert text(talk, "Kitchen.md") == "- [ ] descale the kettle\n"
    (choice,) = choices(talk)
    await say(talk, f"{PREFIX} {choice}")
    assert text(talk, "Kitchen.md") == after


async def test_a_task_that_no_note_has_is_not_offered(talk) -> None:
    await fill(talk, Kitchen="- [ ] descale the kettle\n")
    await say(talk, "open H4", "delete the task descale the boat")
    assert not isinstance(talk.items[-1], Question)


@pytest.mark.parametrize(
    ("requests", "done"),
    [
        (("complete all tasks in Errands",), ["Errands"]),
        (("hake alle Aufgaben in Errands ab",), ["Errands"]),
        (("mark all overdue tasks as done",), ["Trips"]),
        (("tasks in Errands", "mark all of them done"), ["Errands"]),
        (("open tasks in Trips", "check them off"), ["Trips"]),
    ],
)
async def test_a_set_of_tasks_is_changed_by_one_change(talk, requests, done) -> None:
    await fill(talk, Errands=ERRANDS, Trips="- [x] pack\n- [ ] pay 📅 2020-01-04\n- [ ] book 📅 2020-01-05\n")
    await say(talk, *requests)
    assert len(state(talk).changes) == 1
    assert [name for name in ("Errands", "Trips") if "[ ]" not in text(talk, f"{name}.md")] == done


@pytest.mark.parametrize(
    "request_text",
    ["postpone all overdue tasks to 2031-12-14", "verschiebe alle überfälligen Aufgaben auf 2031-12-14"],
)
async def test_overdue_tasks_are_postponed_together(talk, request_text) -> None:
    await fill(talk, Errands=ERRANDS, Trips="- [ ] pay 📅 2020-01-04\n- [ ] book 📅 2020-01-05\n- [ ] pack\n")
    await say(talk, request_text)
    assert text(talk, "Trips.md") == "- [ ] pay 📅 2031-12-14\n- [ ] book 📅 2031-12-14\n- [ ] pack\n"
    assert text(talk, "Errands.md") == ERRANDS and len(state(talk).changes) == 1
    await say(talk, "undo that")
    assert "2020-01-04" in text(talk, "Trips.md") and "2020-01-05" in text(talk, "Trips.md")


async def test_all_tasks_of_the_vault_are_completed_only_after_a_question(talk) -> None:
    await fill(talk, Errands=ERRANDS)
    await say(talk, "mark all tasks as done")
    assert choices(talk) == ["complete_task which=all"] and text(talk, "Errands.md") == ERRANDS


async def test_a_task_for_a_thing_of_a_kind_is_that_of_the_note_in_focus(talk) -> None:
    await fill(talk, Bittern="---\ntype: boat\n---\n")
    await say(talk, "open Bittern", "and next task for the boat: check the bolts, due 2031-02-01")
    assert choices(talk)[0] == 'append [@Bittern] text="- [ ] check the bolts 📅 2031-02-01"'


async def test_a_new_task_for_a_day_moves_no_other_one(talk) -> None:
    await fill(talk, Instruments__H1="- [ ] Oil the pivots\n")
    await say(talk, "make a task for Friday")
    assert text(talk, "Instruments/H1.md") == "- [ ] Oil the pivots\n"
