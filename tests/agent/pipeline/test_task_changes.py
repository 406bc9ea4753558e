"""A task keeps its month if the request gives only the day."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.doubts.test_stated_values import fill_books
from tests.agent.language.meaning.test_dialog import answers, fill, say, state, talk, text

__all__ = ["talk"]


async def test_a_day_of_the_month_keeps_the_month_of_the_task(talk) -> None:
    await fill_books(talk)
    await say(talk, "add a task to Empty: call Ann by 20 January 2031", "push it to the 25th")
    assert choices(talk)[0].endswith("due=2031-01-25") and len(choices(talk)) == 2
    await say(talk, "1")
    assert "2031-01-25" in text(talk, "Books/Empty.md")
    await say(talk, "push it to 28 February 2031")
    assert "2031-02-28" in text(talk, "Books/Empty.md")


@pytest.mark.parametrize("request_text", ["push both to the 25th", "move call Ann and pay Bob to the 25th"])
async def test_a_day_of_the_month_keeps_the_month_of_each_task(talk, request_text) -> None:
    tasks = "- [ ] call Ann 📅 2031-01-20\n- [ ] pay Bob 📅 2031-03-20\n"
    await fill(talk, Errands=tasks)
    await say(talk, "tasks in Errands", request_text)
    assert not state(talk).changes and len(choices(talk)) == 2
    assert "2031-01-25" in choices(talk)[0] and "2031-03-25" in choices(talk)[0]
    await say(talk, "the first one")
    assert text(talk, "Errands.md") == tasks.replace("-20", "-25")


async def test_a_day_of_the_month_keeps_the_month_of_a_task_that_is_not_known_yet(talk) -> None:
    await fill(talk, Errands="- [ ] call Ann 📅 2031-01-20\n- [ ] pay 📅 2020-01-20\n")
    await say(talk, "move the Ann task to the 25th")
    assert choices(talk)[0].endswith("2031-01-25") and len(choices(talk)) == 2
    await say(talk, f"= {choices(talk)[0]}")
    assert "call Ann 📅 2031-01-25" in text(talk, "Errands.md")
    await say(talk, "move the task pay in Errands to the 25th")
    assert "pay 📅 2020" not in text(talk, "Errands.md")


@pytest.mark.parametrize(
    "request_text", ["put the task off until 2031-12-04", "put the task off to 4 December 2031"]
)
async def test_a_task_that_is_put_off_is_no_new_one(talk, request_text) -> None:
    await fill(talk, Errands="- [ ] call Ann 📅 2031-12-01\n")
    await say(talk, "open Errands", request_text)
    if isinstance(talk.items[-1], Question):
        assert choices(talk)[0] == "reschedule_task [@Errands] due=2031-12-04"
        await say(talk, f"= {choices(talk)[0]}")
    assert text(talk, "Errands.md") == "- [ ] call Ann 📅 2031-12-04\n"


DATED = "- [ ] call Ann 📅 2031-01-20\n- [ ] pay the deposit 📅 2031-03-20 #money\n"
UNDATED = DATED.replace(" 📅 2031-03-20", "")


@pytest.mark.parametrize(
    "request_text",
    [
        "pay the deposit: no deadline any more",
        "remove the due date of the deposit task",
        "the deposit has no due date any longer",
        "take the date off the second task",
        "Entferne die Fälligkeit der Aufgabe mit dem deposit",
        "pay the deposit: ohne Termin",
    ],
)
async def test_a_listed_task_loses_its_due_date(talk, request_text) -> None:
    await fill(talk, Errands=DATED)
    await say(talk, "tasks in Errands", request_text)
    assert text(talk, "Errands.md") == UNDATED


async def test_the_last_task_loses_its_due_date_and_gets_it_back(talk) -> None:
    await fill(talk, Errands=DATED)
    await say(talk, "move the task pay the deposit in Errands to 2031-04-02", "remove its due date")
    assert text(talk, "Errands.md") == UNDATED
    await say(talk, "remove the deadline of that task")
    assert answers(talk)[-1] == "The task has no due date. Nothing was changed."
    await say(talk, "undo")
    assert "2031-04-02" in text(talk, "Errands.md")


async def test_all_tasks_of_a_note_lose_their_due_dates(talk) -> None:
    await fill(talk, Errands=f"{DATED}- [ ] rest\n")
    await say(talk, "remove the due dates of all tasks in Errands")
    assert "📅" not in text(talk, "Errands.md")


@pytest.mark.parametrize(
    "request_text",
    [
        "which task has no deadline",
        "show my tasks without a due date",
        "Aufgaben ohne Termin",
        "delete the deposit without a deadline",
        "remove the deadline of Plan",
    ],
)
async def test_no_task_loses_its_due_date(talk, request_text) -> None:
    await fill(talk, Errands=DATED, Plan="---\ndeadline: 2031-01-01\n---\n- [ ] plan 📅 2031-01-20\n")
    await say(talk, "tasks in Errands", request_text)
    assert text(talk, "Errands.md") == DATED and "plan 📅 2031-01-20" in text(talk, "Plan.md")
