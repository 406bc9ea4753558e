"""Requests for new tasks: their notes, headings and due dates, and several tasks at once."""

from __future__ import annotations

import pytest

from app.agent.language.meaning.dialog import DialogState
from app.agent.language.words.task_texts import split_due_day
from app.agent.transcript import Question
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import OPEN, answers, fill, order, say, state, talk, text

__all__ = ["talk"]
HEAD = "# Errands\n"


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("add a task to Errands: oil the lock, due 2031-12-04.", "oil the lock 📅 2031-12-04"),
        ("add a task to Errands: oil the lock", "oil the lock"),
        ("add a task to Errands: why is it late?", "why is it late?"),
        ("add a task to Errands: wait for Ann...", "wait for Ann..."),
        ('add a task to Errands: "buy milk, eggs and bread"', "buy milk, eggs and bread"),
        ("add a task to Errands: buy milk, eggs and bread", "buy milk, eggs and bread"),
        ("add the task 'oil it' to Errands with due date 4 December 2031", "oil it 📅 2031-12-04"),
        ('add a task "oil it" due 2031-12-04 to Errands', "oil it 📅 2031-12-04"),
        ('add task "oil it" to Errands, due 2031-12-04', "oil it 📅 2031-12-04"),
        ("new task in Errands: oil it (due 2031-12-04)", "oil it 📅 2031-12-04"),
        ("new to do in Errands: oil lock 4, due 2031-12-04", "oil lock 4 📅 2031-12-04"),
        ("new task in Errands: oil lock 4 on 5 December 2031", "oil lock 4 📅 2031-12-05"),
        ("new task in Errands: tell the team, December 10, 2031", "tell the team 📅 2031-12-10"),
        ("can you add a to-do to Errands: oil it by December 4, 2031?", "oil it 📅 2031-12-04"),
        ("add to Errands a task: - [ ] oil it", "oil it"),
        ("Neue Aufgabe in Errands: Pass prüfen bis 15. Januar 2031", "Pass prüfen 📅 2031-01-15"),
        (
            "Füg die Aufgabe Pass prüfen zu Errands hinzu, fällig am 15. Januar 2031",
            "Pass prüfen 📅 2031-01-15",
        ),
        ("Füge zu Errands eine Aufgabe hinzu: Pass prüfen", "Pass prüfen"),
        # The note is before the task.
        ("add a task to Errands to call Ann by 2031-12-04", "call Ann 📅 2031-12-04"),
        ("add a task for Errands to call Ann by 2031-12-04", "call Ann 📅 2031-12-04"),
        ("add the task to Errands 'oil it'", "oil it"),
        # The due date is before the task.
        ("add a task in Errands due 2031-12-04: call Ann", "call Ann 📅 2031-12-04"),
        ("add a task due 2031-12-04 to Errands: pay", "pay 📅 2031-12-04"),
        ("add a task to Errands due 2031-12-04: pay by 2031-12-01", "pay 📅 2031-12-01"),
        (
            "Füge zu Errands eine Aufgabe hinzu, fällig am 15. Januar 2031: Pass prüfen",
            "Pass prüfen 📅 2031-01-15",
        ),
        (
            "Füge eine Aufgabe zu Errands hinzu, fällig am 15. Januar 2031: Pass prüfen",
            "Pass prüfen 📅 2031-01-15",
        ),
    ],
)
async def test_a_task_is_added_with_its_due_date(talk, request_text, line) -> None:
    await fill(talk, Errands=HEAD)
    await say(talk, request_text)
    assert text(talk, "Errands.md") == f"{HEAD}- [ ] {line}\n"


@pytest.mark.parametrize(
    ("request_text", "lines"),
    [
        (
            "add three tasks to Errands: oil it by 2031-12-04, wind it by 2031-12-07, tell Ann on 2031-12-10",
            ["oil it 📅 2031-12-04", "wind it 📅 2031-12-07", "tell Ann 📅 2031-12-10"],
        ),
        ("add todos to Errands: oil it, wind it, tell Ann", ["oil it", "wind it", "tell Ann"]),
        ("add 3 tasks to Errands: oil it, wind it and tell Ann", ["oil it", "wind it", "tell Ann"]),
        ("add 2 tasks to Errands: oil it, wind it and tell Ann", ["oil it", "wind it and tell Ann"]),
        ('add tasks to Errands: "oil, then wind it", "tell Ann"', ["oil, then wind it", "tell Ann"]),
        ('add the tasks "oil it" and "wind it" to Errands', ["oil it", "wind it"]),
        (
            "add two tasks to Errands: oil it, due 2031-12-04, wind it",
            ["oil it 📅 2031-12-04", "wind it"],
        ),
        (
            "Schreib zwei Aufgaben in Errands: Ann anrufen bis 4.12.2031, Adapter kaufen",
            ["Ann anrufen 📅 2031-12-04", "Adapter kaufen"],
        ),
        ("add tasks to Errands:\n- buy milk, eggs\n- pay rent", ["buy milk, eggs", "pay rent"]),
        ("add tasks to Errands: call Ann, 2031 budget, pay", ["call Ann", "2031 budget", "pay"]),
        (
            "add tasks to Errands: call Ann, December 10, 2031, pay",
            ["call Ann 📅 2031-12-10", "pay"],
        ),
        (
            "add tasks to Errands due 2031-12-04: oil it, wind it by 2031-12-01",
            ["oil it 📅 2031-12-04", "wind it 📅 2031-12-01"],
        ),
    ],
)
async def test_several_tasks_are_added_in_one_change(talk, request_text, lines) -> None:
    await fill(talk, Errands=HEAD)
    replies = await say(talk, request_text)
    assert text(talk, "Errands.md") == HEAD + "".join(f"- [ ] {line}\n" for line in lines)
    assert len(replies.changes) == 1


@pytest.mark.parametrize(
    ("request_text", "options"),
    [
        # The last task may have a conjunction of its own.
        ("add todos to Errands: oil it, wind it and tell Ann", ["wind it\\n", "wind it and tell Ann"]),
        # "To Errands" may be a part of the task.
        ("add a task send the report to Errands, due 2031-12-04", ["report 📅", "report to Errands 📅"]),
        # Another number of tasks was announced.
        ("add four tasks to Errands: oil it, wind it", ["oil it\\n", "oil it, wind it"]),
        # The last phrase may be a part of the task.
        ("add a task: call Ann, for Errands", ["@Errands", "call Ann, for Errands"]),
        ("add tasks: oil it, in Errands", ["@Errands", "oil it, in Errands"]),
    ],
)
async def test_where_a_task_ends_is_asked_if_it_is_unclear(talk, request_text, options) -> None:
    await fill(talk, Errands=HEAD)
    await say(talk, request_text)
    question = talk.items[-1]
    assert isinstance(question, Question) and text(talk, "Errands.md") == HEAD
    assert all(part in choice.reply for part, choice in zip(options, question.choices, strict=True))


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("add a task to pay rent on 2031-12-04", "pay rent 📅 2031-12-04"),
        ("add a task to send it to Ann on 2031-12-04", "send it to Ann 📅 2031-12-04"),
        ("add a task: call Ann by 2031-12-04, in this note", "call Ann 📅 2031-12-04"),
        ("add a task: call Ann by 2031-12-04, also in this note", "call Ann 📅 2031-12-04"),
        ("neue Aufgabe: Ann anrufen bis 4.12.2031, auch in dieser Notiz", "Ann anrufen 📅 2031-12-04"),
    ],
)
async def test_a_task_is_added_to_the_open_note(talk, request_text, line) -> None:
    await fill(talk, Errands=HEAD)
    await say(talk, request_text)
    assert text(talk, OPEN).endswith(f"- [ ] {line}\n")


@pytest.mark.parametrize(
    "request_text",
    [
        "add a task to Shopping to call Ann by 2031-12-04",
        "add a task to Errands under Next to call Ann by 2031-12-04",
    ],
)
async def test_an_unknown_place_is_no_part_of_a_task(talk, request_text) -> None:
    await fill(talk, Errands=HEAD)
    before = text(talk, OPEN)
    await say(talk, request_text)
    assert isinstance(talk.items[-1], Question)
    assert (text(talk, OPEN), text(talk, "Errands.md")) == (before, HEAD)


async def test_every_note_that_may_be_meant_is_offered_with_each_split(talk) -> None:
    await fill(talk, Errands=HEAD, Trips="# Trips\n")
    await say(talk, "add a task to Errands: pay", "sources before 1800")
    await say(talk, "add tasks: oil it, wind it and tell Ann")
    replies = [choice.reply for choice in talk.items[-1].choices]
    assert all(any(f"@{note}" in reply for reply in replies) for note in ("Errands", "Instruments/H1"))


async def test_a_task_is_added_after_another_one(talk) -> None:
    await fill(talk, Errands=HEAD, Trips="# Trips\n")
    await say(talk, "add a task to Errands: oil it", "another task: wind it, due 2031-12-04")
    assert text(talk, "Errands.md") == f"{HEAD}- [ ] oil it\n- [ ] wind it 📅 2031-12-04\n"
    await say(talk, "and another one to Trips: pack", "one more task for it: call Ann")
    assert text(talk, "Trips.md") == "# Trips\n- [ ] pack\n- [ ] call Ann\n"
    await say(talk, "und die Aufgabe Adapter kaufen, bis 4. Dezember 2031")
    assert text(talk, "Trips.md").endswith("- [ ] call Ann\n- [ ] Adapter kaufen 📅 2031-12-04\n")


@pytest.mark.parametrize(
    "request_text",
    [
        "add a new one: oil it",
        "and one more: oil it",
        "add one there: oil it",
        "noch eine: oil it",
        "füge eine hinzu: oil it",
    ],
)
async def test_a_new_one_after_a_list_of_tasks_is_a_task(talk, request_text) -> None:
    await fill(talk, Errands=HEAD)
    await say(talk, "add a task to Errands: pay", "which tasks are open in Errands?", request_text)
    if isinstance(question := talk.items[-1], Question):
        await say(talk, question.choices[0].reply)
    assert text(talk, "Errands.md").endswith("- [ ] oil it\n")


async def test_one_is_a_task_only_after_tasks(talk) -> None:
    await fill(talk, Errands=HEAD)
    await say(talk, "open Errands", "add one: oil it")
    assert text(talk, "Errands.md") == f"{HEAD}oil it\n"


async def test_a_task_goes_under_a_heading(talk) -> None:
    await fill(talk, Errands="# Errands\n## Next\n- [ ] pay\n## Later\n")
    await say(talk, "open Errands", "under Next, add a task: oil it by 2031-12-04")
    assert "- [ ] oil it 📅 2031-12-04\n" in text(talk, "Errands.md").partition("## Later")[0]
    await say(talk, "add a task under Later in Errands: wind it")
    assert text(talk, "Errands.md").endswith("## Later\n- [ ] wind it\n")


async def test_a_task_without_a_note_is_asked_about(talk) -> None:
    await say(talk, "thanks")
    await talk.say("add a task: oil it")
    assert isinstance(talk.items[-1], Question) or answers(talk)[-1] == "Which note?"
    assert not state(talk).changes


async def test_other_texts_are_no_tasks(talk) -> None:
    await fill(talk, Errands=HEAD)
    await say(talk, "add the tag todo to Errands", "create a task note called Plan")
    assert "- [ ]" not in text(talk, "Errands.md")


@pytest.mark.parametrize(
    ("request_text", "task"),
    [
        ("add a task to H4: oil it in two weeks", "oil it 📅"),
        ("add a task to H4: bleed the radiator before december 10", "bleed the radiator 📅"),
    ],
)
async def test_a_day_at_the_end_of_a_task_that_is_not_marked_as_due_is_offered(
    talk, request_text, task
) -> None:
    before = text(talk, "Instruments/H4.md")
    await say(talk, request_text)
    assert any(task in choice for choice in choices(talk))
    assert text(talk, "Instruments/H4.md") == before


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("add a task to the press: oil it by 2031-12-04", "oil it 📅 2031-12-04"),
        ("add a task to Hay: oil it", "oil it"),
        ("add a task to the press to oil it by 2031-12-04", "oil it 📅 2031-12-04"),
        ("Füge eine Aufgabe zu der Press hinzu: Sieb reinigen", "Sieb reinigen"),
    ],
)
async def test_a_note_is_named_in_part(talk, request_text, line) -> None:
    await fill(talk, **{"Hay Press": HEAD, "Errands": HEAD})
    await say(talk, "open Errands", request_text)
    assert text(talk, "Hay Press.md") == f"{HEAD}- [ ] {line}\n" and text(talk, "Errands.md") == HEAD


@pytest.mark.parametrize("name", ["the press", "the harvester"])
async def test_an_unclear_part_of_a_name_is_no_text(talk, name) -> None:
    await fill(talk, **{"Hay Press": HEAD, "Wine Press": HEAD, "Errands": HEAD})
    await say(talk, "open Errands", f"add a task to {name}: oil it, by 2031-12-04")
    assert isinstance(talk.items[-1], Question)
    assert all(text(talk, f"{own}.md") == HEAD for own in ("Hay Press", "Wine Press", "Errands"))


@pytest.mark.parametrize(
    ("request_text", "added"),
    [
        ("add a reminder: pay, due 2031-12-04", "- [ ] pay 📅 2031-12-04\n"),
        ("add an action: tell Ann by 2031-12-04", "- [ ] tell Ann 📅 2031-12-04\n"),
        ("Füge eine Erinnerung hinzu: zahlen, bis 4.12.2031", "- [ ] zahlen 📅 2031-12-04\n"),
        ("add a reminder: the key is under the mat", "the key is under the mat\n"),
    ],
)
async def test_a_reminder_with_a_day_is_a_task(talk, request_text, added) -> None:
    await fill(talk, Errands="Rain.\n")
    await order(talk, "open Errands", request_text)
    assert text(talk, "Errands.md") == f"Rain.\n{added}"


@pytest.mark.parametrize(
    ("request_text", "lines"),
    [
        ("add the steps scan, print and bind as tasks", ["scan", "print", "bind"]),
        ("add pay the deposit in May as a task", ["pay the deposit in May"]),
        ("oil the gate - add that as a task there, due 2031-12-04", ["oil the gate 📅 2031-12-04"]),
        ("add wash the van as a todo", ["wash the van"]),
        ("write clean the gutter down as a task", ["clean the gutter"]),
        ("we need salt - add that as a task", ["we need salt"]),
        ("Füge Zaun streichen als Aufgabe hinzu", ["Zaun streichen"]),
    ],
)
async def test_texts_are_called_tasks(talk, request_text, lines) -> None:
    await fill(talk, Errands=HEAD)
    await say(talk, "open Errands", request_text)
    assert text(talk, "Errands.md") == HEAD + "".join(f"- [ ] {line}\n" for line in lines)


@pytest.mark.parametrize(
    "request_text", ["tag it as a task", "show these as tasks", "add it as a task", "put this down as a task"]
)
async def test_a_pronoun_is_no_task(talk, request_text) -> None:
    await fill(talk, Errands=HEAD)
    await say(talk, "open Errands", request_text)
    assert "- [ ]" not in text(talk, "Errands.md")


@pytest.mark.parametrize(
    "request_text",
    ["pay the deposit in May as a task", "treat the shed as a task", "Zaun streichen als Aufgabe"],
)
async def test_a_text_that_is_called_a_task_without_a_verb_is_offered(talk, request_text) -> None:
    await fill(talk, Errands=HEAD)
    await say(talk, "open Errands", request_text)
    assert text(talk, "Errands.md") == HEAD
    assert "- [ ]" in choices(talk)[0]


@pytest.mark.parametrize(
    "request_text",
    [
        "this was not meant as a task",
        "we don't need the ladder as a task",
        "she never saw the ladder as a task",
        "I did not add that as a task",
        "das war nie als Aufgabe gedacht",
        "ich will die Leiter nicht als Aufgabe",
    ],
)
async def test_a_statement_about_a_task_is_no_task(talk, request_text) -> None:
    await fill(talk, Errands=HEAD)
    await say(talk, "open Errands", request_text)
    assert text(talk, "Errands.md") == HEAD


async def test_a_property_gets_the_value_task(talk) -> None:
    await fill(talk, Errands=HEAD)
    await say(talk, "open Errands", "set type as task")
    assert text(talk, "Errands.md") == f"---\ntype: task\n---\n{HEAD}"


@pytest.mark.parametrize("text", ["paint room 4 tomorrow", "paint room 4 today"])
def test_a_number_before_a_day_stays_in_a_task(talk, text) -> None:
    request = talk.workspace.agent._builtin._requests.request_of(text, DialogState())
    rest, day = split_due_day(text, request.language, request.dates)
    assert rest == "paint room 4" and day is not None
