"""A new day may be that of a note's property instead of one of its tasks, and the reverse."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import fill, say, talk, text

__all__ = ["talk"]
TRIP = "---\ndeadline: 2031-04-03\n---\n- [ ] Borrow the tent for the trip 📅 2031-03-21\n"


@pytest.mark.parametrize(
    "request_text",
    [
        "move the deadline of Ridge trip to 2031-05-11",
        "push the ridge trip deadline to 11 May 2031",
        "postpone the deadline of the Ridge trip to 11 May 2031",
        "verschieb die Deadline von Ridge trip auf den 11. Mai 2031",
    ],
)
async def test_the_deadline_of_a_note_comes_before_its_tasks(talk, request_text) -> None:
    await fill(talk, **{"Ridge trip": TRIP})
    await say(talk, request_text)
    if isinstance(talk.items[-1], Question):
        await say(talk, talk.items[-1].choices[0].reply)
    assert text(talk, "Ridge trip.md") == TRIP.replace("2031-04-03", "2031-05-11")


@pytest.mark.parametrize(
    "request_text", ["move the tent task to 2031-05-11", "push borrow the tent in Ridge trip to 2031-05-11"]
)
async def test_the_words_of_a_task_mean_the_task(talk, request_text) -> None:
    await fill(talk, **{"Ridge trip": TRIP})
    await say(talk, "open Ridge trip", request_text)
    if isinstance(talk.items[-1], Question):
        assert choices(talk)[0].startswith("reschedule_task")


@pytest.mark.parametrize(
    "request_text",
    ["due 2031-09-30", "add her birthday 1981-08-12", "birthdays last week"],
)
async def test_a_day_of_a_property_moves_no_task(talk, request_text) -> None:
    tasks = "- [ ] Ask for a new due date\n- [ ] Birthday cake\n"
    await fill(talk, Ada="---\ndue: 2031-01-01\nbirthday: 1980-08-12\n---\n", Errands=tasks)
    await say(talk, "open Ada", request_text)
    offered = choices(talk) if isinstance(talk.items[-1], Question) else []
    assert not any(choice.startswith("reschedule_task") for choice in offered)


@pytest.mark.parametrize(
    "request_text",
    [
        "mend the kayak moves to the 31st",
        "mend the kayak slips to the 31st",
        "mend the kayak rutscht auf den 31.",
    ],
)
async def test_a_task_moves_to_another_day(talk, request_text) -> None:
    await fill(talk, Boats="- [ ] Mend the kayak 📅 2031-01-01\n- [ ] Oil the oars\n")
    await say(talk, "open Boats", request_text)
    assert choices(talk)[0].startswith("reschedule_task") and "kayak" in choices(talk)[0]


@pytest.mark.parametrize(
    "request_text", ["make that 2031-02-25", "make it 2031-02-25", "make the kayak 2031-02-25"]
)
async def test_the_listed_task_gets_the_day(talk, request_text) -> None:
    await fill(talk, Boats="- [ ] Mend the kayak 📅 2031-01-01\n- [x] Oil the oars\n")
    await say(talk, "open tasks in Boats", request_text)
    if isinstance(talk.items[-1], Question):
        await say(talk, f"= {choices(talk)[0]}")
    assert "kayak 📅 2031-02-25" in talk.workspace.root.joinpath("Boats.md").read_text()
