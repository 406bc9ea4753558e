"""Lists of tasks by their due dates, and lists of the whole vault's tasks."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.agent.transcript import Question
from tests.agent.language.meaning.test_dialog import OPEN, answers, fill, say, state, talk, text

__all__ = ["talk"]
ERRANDS = "- [ ] pack the yukata\n- [ ] pay the deposit 📅 2031-12-04\n- [x] call Anna 📅 2031-01-01\n"
TRIPS = "- [ ] book the ryokan 📅 2031-11-30\n- [ ] read the guide\n"
DATED = ["book the ryokan 📅 2031-11-30", "pay the deposit 📅 2031-12-04"]


def listed(talk):
    """Return the tasks of the last answer in order."""
    return [task for _, task in state(talk).tasks]


@pytest.mark.parametrize(
    ("request_text", "tasks"),
    [
        ("and which of them is due first?", DATED[:1]),
        ("which one is due next?", DATED[:1]),
        ("show me the tasks with a due date", DATED),
        ("which of these have no due date?", ["pack the yukata", "read the guide"]),
        ("what tasks have no date?", ["pack the yukata", "read the guide"]),
        ("sort them by due date", [*DATED, "pack the yukata", "read the guide"]),
        ("list all my open tasks by due date", [*DATED, "pack the yukata", "read the guide"]),
        ("which of these are due before December 1, 2031?", DATED[:1]),
        ("tasks with a due date in Trips", DATED),
        ("welche davon ist zuerst fällig?", DATED[:1]),
        ("Aufgaben ohne Datum", ["pack the yukata", "read the guide"]),
    ],
)
async def test_listed_tasks_are_selected_by_their_due_dates(talk, request_text, tasks) -> None:
    await fill(talk, Trips=ERRANDS + TRIPS)
    await say(talk, "open tasks in Trips", request_text)
    assert [task for path, task in state(talk).tasks if path == "Trips.md"] == tasks


async def test_todos_are_tasks(talk) -> None:
    await fill(talk, Trips=ERRANDS + TRIPS)
    await say(talk, "show me the todos with a due date in Trips")
    assert listed(talk) == DATED


async def test_the_first_of_no_tasks_is_none(talk) -> None:
    await fill(talk, Errands="- [ ] pack the yukata\n")
    await say(talk, "open tasks in Errands", "which of them is due first?")
    assert answers(talk)[-1] == "No open task matches."


async def test_the_tasks_that_are_left_are_those_of_the_same_notes(talk) -> None:
    await fill(talk, Errands=ERRANDS, Trips=TRIPS)
    await say(talk, "open tasks in Errands", "tick off the first one", "how many are left?")
    assert answers(talk)[-1].startswith("1 open task:") and listed(talk) == [DATED[1]]
    await say(talk, "offene Aufgaben in Trips", "und wie viele sind noch übrig?")
    assert answers(talk)[-1].startswith("2 offene Aufgaben:")


@pytest.mark.parametrize("request_text", ["completed tasks in Errands", "which of them is due first?"])
async def test_all_open_tasks_of_the_last_list_are_left(talk, request_text) -> None:
    await fill(talk, Errands=ERRANDS, Trips=TRIPS)
    await say(talk, "open tasks in Errands", request_text, "how many are left?")
    assert answers(talk)[-1].startswith("2 open tasks:") and listed(talk) == ["pack the yukata", DATED[1]]


async def test_tasks_with_the_same_words_are_all_listed(talk) -> None:
    await fill(talk, Errands="- [ ] pay 📅 2031-12-04\n- [ ] pay 📅 2031-12-04\n- [ ] pack\n- [ ] pack\n")
    await say(talk, "open tasks in Errands", "sort them by due date")
    assert listed(talk) == ["pay 📅 2031-12-04"] * 2 + ["pack"] * 2


@pytest.mark.parametrize(
    "request_text",
    [
        "Show me all open tasks",
        "I want the open tasks in the whole vault, not just in Errands",
        "what open tasks are there in all my notes?",
        "what open tasks do I have?",
        "how many open tasks do I have in total?",
        "what is open overall?",
        "was ist insgesamt noch offen?",
        "Zeig mir alle offenen Aufgaben",
    ],
)
async def test_all_tasks_are_those_of_the_whole_vault(talk, request_text) -> None:
    await fill(talk, Errands=ERRANDS, Trips=TRIPS)
    await say(talk, "add a task to Errands: call Bob", request_text)
    assert set(DATED) < set(listed(talk))


async def test_all_tasks_of_a_named_note_are_only_its_own(talk) -> None:
    await fill(talk, Errands=ERRANDS, Trips=TRIPS)
    await say(talk, "all open tasks in Errands")
    assert listed(talk) == ["pack the yukata", DATED[1]]


@pytest.mark.parametrize(
    ("requests", "tasks"),
    [
        (["how many are overdue?"], ["sow leeks 📅 2020-05-01"]),
        (["which of them are overdue?"], ["sow leeks 📅 2020-05-01"]),
        (["only the ones in Trips"], [DATED[0], "read the guide"]),
        (["only the ones in Errands", "and the ones without a due date?"], ["pack the yukata"]),
        (["any without a due date?", "which of them are done?"], ["call Anna 📅 2031-01-01"]),
        (["nur die aus Trips", "nur die ohne Datum"], ["read the guide"]),
        (["wie viele davon sind überfällig?"], ["sow leeks 📅 2020-05-01"]),
    ],
)
async def test_a_list_of_tasks_is_narrowed_down(talk, requests, tasks) -> None:
    await fill(talk, Errands=ERRANDS, Trips=TRIPS, Garden="- [ ] sow leeks 📅 2020-05-01\n")
    await say(talk, "open tasks", *requests)
    own = ("Errands.md", "Trips.md", "Garden.md")
    assert [task for path, task in state(talk).tasks if path in own] == tasks


async def test_them_are_the_notes_of_the_narrowed_tasks(talk) -> None:
    await fill(talk, Errands=ERRANDS, Garden="- [ ] sow leeks 📅 2020-05-01\n")
    await say(talk, "open tasks", "how many are overdue?")
    assert state(talk).results == ("Garden.md",)


async def test_other_words_after_a_list_of_tasks_do_not_narrow_it(talk) -> None:
    await fill(talk, Errands=ERRANDS, Trips=TRIPS)
    await say(talk, "open tasks in Trips", "only the blue ones")
    assert listed(talk) == ["book the ryokan 📅 2031-11-30", "read the guide"]


async def test_a_task_is_overdue_by_its_due_date_alone(talk) -> None:
    later, overdue = "pay ➕ 2020-01-01 📅 2031-12-04", "call ➕ 2031-01-01 📅 2020-12-04"
    await fill(talk, Errands=f"- [ ] {later}\n- [ ] {overdue}\n")
    await say(talk, "open tasks in Errands", "which are overdue?")
    assert listed(talk) == [overdue]


@pytest.mark.parametrize(
    "request_text",
    ["show me all open tasks tagged #boats", "open tasks tagged boats", "offene Aufgaben mit dem Tag boats"],
)
async def test_the_tasks_of_tagged_notes_are_listed(talk, request_text) -> None:
    await fill(talk, Pier="#boats\n- [ ] paint\n- [x] sand\n", Shed="- [ ] sweep\n")
    replies = await say(talk, request_text)
    assert replies.tasks == (("Pier.md", "paint"),)


@pytest.mark.parametrize(
    "request_text", ["what's still open here?", "what's still to do here?", "was ist hier noch offen?"]
)
async def test_here_is_the_note_on_the_screen(talk, request_text) -> None:
    await fill(talk, Trips=TRIPS, Errands=ERRANDS)
    await say(talk, "summarize Errands")
    await talk.say(request_text, open_note="Trips.md")
    assert [path for path, _ in state(talk).tasks] == ["Trips.md"] * 2
    assert state(talk).focus == ("Trips.md",)


async def test_new_tasks_after_an_empty_list_are_added_to_its_note(talk) -> None:
    await fill(talk, Trips="# Trips\n", Errands=ERRANDS)
    await say(talk, "summarize Errands")
    for said in ("what's still open here?", "add two tasks: “Write docs” and “Fix borders”"):
        await talk.say(said, open_note="Trips.md")
    assert text(talk, "Trips.md") == ("# Trips\n- [ ] Write docs\n- [ ] Fix borders\n")


@pytest.mark.parametrize("request_text", ["which tasks are open?", "Welche Aufgaben sind offen?"])
async def test_tasks_without_a_pronoun_are_those_of_the_vault(talk, request_text) -> None:
    await fill(talk, Trips=TRIPS, Errands=ERRANDS)
    await say(talk, "summarize Errands", request_text)
    assert {"Trips.md", "Errands.md"} <= {path for path, _ in state(talk).tasks}


async def test_open_tasks_here_are_those_of_one_note(talk) -> None:
    await fill(talk, Trips=TRIPS, Errands=ERRANDS)
    await talk.say("summarize Trips", open_note="Errands.md")
    await talk.say("open tasks here", open_note="Errands.md")
    assert {path for path, _ in state(talk).tasks} == {"Errands.md"}


CREW = {
    "Boats": "- [ ] Greta: caulk the hull\n- [ ] oil the oars, ask Greta first\n- [x] Greta: buy rope\n",
    "Harbour crew": "- [ ] pay the fee\n",
    "People__Greta_Holm": "Coxswain.\n- [ ] send her the rota\n",
    "Yards__North_Slip": '---\nowner: "[[Bruno Vance]]"\n---\n- [ ] clear the rails\n',
}


@pytest.mark.parametrize(
    ("request_text", "tasks"),
    [
        ("tasks to do with greta", ["Greta: caulk the hull", "oil the oars, ask Greta first"]),
        ("which tasks mention greta?", ["Greta: caulk the hull", "oil the oars, ask Greta first"]),
        ("what does greta still have to do?", ["Greta: caulk the hull", "oil the oars, ask Greta first"]),
        ("was muss Greta noch tun?", ["Greta: caulk the hull", "oil the oars, ask Greta first"]),
        ("what is open with bruno?", ["clear the rails"]),
    ],
)
async def test_tasks_about_a_name_are_in_any_note(talk, request_text, tasks) -> None:
    await fill(talk, **CREW)
    await say(talk, request_text)
    assert sorted(listed(talk)) == tasks


async def test_a_pronoun_for_a_person_is_the_first_name_in_tasks(talk) -> None:
    await fill(talk, **CREW)
    await say(talk, "open Greta Holm", "which tasks mention her?")
    assert sorted(listed(talk)) == ["Greta: caulk the hull", "oil the oars, ask Greta first"]


@pytest.mark.parametrize("request_text", ["what do i still have to do?", "what do we still have to do?"])
async def test_other_questions_about_work_name_nobody(talk, request_text) -> None:
    await fill(talk, **CREW)
    await say(talk, request_text)
    assert "query" not in state(talk).last.last.arguments


LATE = "- [ ] sand the deck 📅 2020-01-02\n- [ ] paint the bow 📅 2020-01-03\n"


@pytest.mark.parametrize(
    "request_text",
    ["so what is overdue now", "was ist jetzt überfällig?"],
)
async def test_a_change_of_a_task_does_not_limit_the_next_list(talk, request_text) -> None:
    await fill(talk, Deck=LATE, Mast="- [ ] check the shrouds 📅 2020-02-01\n")
    await say(talk, "tick off sand the deck in Deck", request_text)
    assert {"paint the bow 📅 2020-01-03", "check the shrouds 📅 2020-02-01"} <= set(listed(talk))


async def test_a_note_is_opened_without_a_word_for_a_list(talk) -> None:
    await fill(talk, **CREW)
    await say(talk, "open crew")
    assert state(talk).last is None or state(talk).last.last.action != "list_tasks"


@pytest.mark.parametrize(
    ("request_text", "days"),
    [
        ("hi, could you please tell me what I have to do today?", 0),
        ("what have we got to do tomorrow", 1),
        ("show me what I still need to do today", 0),
    ],
)
async def test_what_is_to_be_done_on_a_day_are_the_tasks_due_then(talk, request_text, days) -> None:
    await fill(talk, Trips=ERRANDS)
    step = (await say(talk, request_text)).last.last
    today = talk.workspace.agent._builtin._requests.now().date()
    assert step.action == "list_tasks"
    assert step.arguments == {"state": "open", "due": str(today + timedelta(days=days))}


async def test_what_is_to_be_done_for_a_note_is_no_day(talk) -> None:
    await fill(talk, Trips=ERRANDS)
    await say(talk, "tell me what I have to do for Trips")
    question = talk.items[-1]
    assert isinstance(question, Question)
    assert "= list_tasks [@Trips]" in [choice.reply for choice in question.choices]


@pytest.mark.parametrize(
    ("request_text", "paths"),
    [
        ("what are the open tasks here?", (OPEN,)),
        ("list all my unfinished todos here", (OPEN,)),
        ("zeig mir die offenen Aufgaben hier", (OPEN,)),
        ("what are the open tasks in Trips?", ("Trips.md",)),
    ],
)
async def test_the_tasks_here_are_those_of_the_note_on_the_screen(talk, request_text, paths) -> None:
    await fill(talk, Trips=ERRANDS)
    step = (await say(talk, "open Trips", request_text)).last.last
    assert step.action == "list_tasks" and step.target.notes == paths


@pytest.mark.parametrize(
    ("request_text", "tasks"),
    [
        ("which tasks are open in Errands?", ["call Ben", "pay the rent 📅 2031-12-04"]),
        ("only those in Errands", ["pay the rent 📅 2031-12-04"]),
    ],
)
async def test_tasks_of_another_note_are_a_new_list(talk, request_text, tasks) -> None:
    await fill(talk, Errands="- [ ] call Ben\n- [ ] pay the rent 📅 2031-12-04\n", Trips=TRIPS)
    await say(talk, "which tasks have a due date?", request_text)
    assert [task for path, task in state(talk).tasks if path == "Errands.md"] == tasks
