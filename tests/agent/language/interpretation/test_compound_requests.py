"""Several orders in one request: each is interpreted by itself, and all of them run."""

from __future__ import annotations

import pytest

from app.agent.language.interpretation.compound_requests import split_orders
from app.agent.transcript import Question
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import OPEN, answers, fill, order, say, state, talk, text

__all__ = ["talk"]


def notes(talk) -> set[str]:
    return {str(path) for path in talk.workspace.index.note_paths()}


@pytest.mark.parametrize(
    "request_text",
    [
        "move it to Events and rename it to Old clock",
        "rename it to Old clock, then move it to Events",
        "verschiebe es nach Events und benenne es in Old clock um",
    ],
)
async def test_a_note_is_moved_and_renamed(talk, request_text) -> None:
    await order(talk, request_text)
    assert "Events/Old clock.md" in notes(talk) and OPEN not in notes(talk)


@pytest.mark.parametrize(
    ("request_text", "path"),
    [
        ("set status to done and rename to Bar", "Instruments/Bar.md"),
        ("set status to done and move to People", "People/H4.md"),
    ],
)
async def test_an_order_without_a_note_is_about_the_same_note(talk, request_text, path) -> None:
    await order(talk, "open H4", request_text)
    assert "status: done" in text(talk, path)


@pytest.mark.parametrize(
    "request_text", ["tag it trip and link it to K1", "tagge es mit trip und verlinke es mit K1"]
)
async def test_it_is_the_same_note_in_each_order(talk, request_text) -> None:
    await order(talk, request_text)
    assert "trip" in text(talk, OPEN) and "[[K1]]" in text(talk, OPEN)
    assert "trip" not in text(talk, "Instruments/K1.md")


@pytest.mark.parametrize(
    "request_text",
    [
        "create a note called Ferry, tag it travel and link it to K1",
        "erstelle eine Notiz namens Ferry, tagge sie mit travel und verlinke sie mit K1",
    ],
)
async def test_it_is_the_note_that_the_first_order_creates(talk, request_text) -> None:
    await order(talk, request_text)
    assert "travel" in text(talk, "Ferry.md") and "[[K1]]" in text(talk, "Ferry.md")
    assert "travel" not in text(talk, OPEN)


async def test_tasks_of_a_list_change_in_one_request(talk) -> None:
    await fill(talk, Errands="- [ ] oil the lock\n- [ ] call Ann\n- [ ] pay\n")
    await order(talk, "open tasks in Errands", "complete the first one and move the second one to 2031-12-04")
    assert text(talk, "Errands.md") == "- [x] oil the lock\n- [ ] call Ann 📅 2031-12-04\n- [ ] pay\n"


@pytest.mark.parametrize(
    "request_text",
    [
        "tick off the first one and push everything else back a week",
        "hake die erste ab und verschiebe alle anderen um eine Woche",
    ],
)
async def test_everything_else_is_the_other_listed_tasks_with_a_day(talk, request_text) -> None:
    await fill(talk, Errands="- [ ] oil it 📅 2031-12-04\n- [ ] call Ann 📅 2031-12-05\n- [ ] pay\n")
    await order(talk, "open tasks in Errands", request_text)
    assert text(talk, "Errands.md") == "- [x] oil it 📅 2031-12-04\n- [ ] call Ann 📅 2031-12-12\n- [ ] pay\n"


@pytest.mark.parametrize(
    "request_text",
    [
        "add a task to Errands to oil the lock by 2031-12-04 and another to call Ann by 2031-12-05",
        "add a task oil the lock due 2031-12-04 and a task call Ann due 2031-12-05 to Errands",
    ],
)
async def test_each_of_two_tasks_has_its_own_day(talk, request_text) -> None:
    await fill(talk, Errands="")
    await order(talk, request_text)
    assert text(talk, "Errands.md") == "- [ ] oil the lock 📅 2031-12-04\n- [ ] call Ann 📅 2031-12-05\n"


async def test_the_question_is_only_about_the_order_in_doubt(talk) -> None:
    await fill(talk, **{"Old Clock": "", "New Clock": ""})
    await say(talk, "tag it trip and link it to clock")
    assert isinstance(talk.items[-1], Question)
    assert all(choice.startswith("add_tag [@Instruments/H1] tag=trip | ") for choice in choices(talk))
    assert "trip" not in text(talk, OPEN)


async def test_an_order_that_is_not_understood_leaves_all_of_them_to_a_question(talk) -> None:
    await order(talk, "tag it trip and delete the frobnicator")
    assert "trip" not in text(talk, OPEN)


@pytest.mark.parametrize(
    ("request_text", "answer"),
    [
        ("tag it trip and delete the frobnicator", "K1"),
        ("tagge es mit trip und lösche den Frobnikator", "K1"),
    ],
)
async def test_the_answer_to_a_question_about_the_last_order_runs_all_of_them(
    talk, request_text, answer
) -> None:
    await order(talk, request_text, answer)
    assert "trip" in text(talk, OPEN) and "Instruments/K1.md" not in notes(talk)


@pytest.mark.parametrize(
    "request_text",
    [
        "lösche H3 und tagge es mit brass",
    ],
)
async def test_no_reading_drops_an_order(talk, approver, request_text) -> None:
    approver.asked.clear()
    await order(talk, request_text)
    question = state(talk).question
    assert not approver.asked and (question is None or not question.options)
    assert (
        answers(talk)[-1].startswith("I can't run these requests together.")
        if question is None
        else ([step.action for step in question.partial.steps][-2:] == ["delete", "add_tag"])
    )


async def test_a_text_with_a_conjunction_stays_an_option(talk) -> None:
    await say(talk, "add a task to H3 wind the clock and tag the box")
    assert 'append [@Instruments/H3] text="- [ ] wind the clock and tag the box"' in choices(talk)


@pytest.mark.parametrize(
    ("request_text", "orders"),
    [
        (
            "rename it to Salt and Pepper, and tag it spice",
            [("rename it to Salt and Pepper", "tag it spice")],
        ),
        (
            "tag it trip and append a note: oil it and rename it later",
            [("tag it trip", "append a note: oil it and rename it later")],
        ),
        ("what do my notes say about tides and ebbs?", []),
    ],
)
async def test_orders_split_before_a_verb_but_not_in_a_text(talk, request_text, orders) -> None:
    request = talk.workspace.agent._builtin._requests.request_of(request_text, state(talk))
    assert list(split_orders(request)) == orders


@pytest.mark.parametrize(
    "request_text", ["show H3 and delete H4", "open H3 and delete H4", "Öffne H3 und lösche H4"]
)
async def test_a_note_that_is_only_shown_is_not_deleted(talk, approver, request_text) -> None:
    await say(talk, request_text)
    question = talk.items[-1]
    assert isinstance(question, Question) and not approver.asked
    assert all("delete [@Instruments/H4]" in choice.reply for choice in question.choices)


@pytest.mark.parametrize(
    ("request_text", "reading"),
    [
        (
            "move the milk task to 2031-12-05 and the bread one to 2031-12-08",
            "reschedule_task query=milk due=2031-12-05 | reschedule_task query=bread due=2031-12-08",
        ),
        (
            "verschieb die Aufgabe milk auf den 5.12.2031 und die Aufgabe bread auf den 8.12.2031",
            "reschedule_task query=milk due=2031-12-05 | reschedule_task query=bread due=2031-12-08",
        ),
        (
            "rename H1 to Clock one and H2 to Clock two",
            'rename [@Instruments/H1] new_name="Clock one" | rename [@Instruments/H2] new_name="Clock two"',
        ),
    ],
)
async def test_a_later_order_may_leave_out_its_verb(talk, request_text, reading) -> None:
    await fill(talk, Groceries="- [ ] buy milk\n- [ ] bake bread\n")
    await say(talk, request_text)
    assert choices(talk)[0] == reading
    assert not state(talk).changes


@pytest.mark.parametrize(
    "request_text",
    ["rename it to Old clock and fix the links to it", "rename it to Old clock and update the links"],
)
async def test_links_that_a_rename_updates_are_no_order(talk, request_text) -> None:
    await order(talk, request_text)
    assert "Instruments/Old clock.md" in notes(talk) and len(state(talk).changes) == 1


async def test_a_part_of_an_order_is_no_order_without_its_verb(talk) -> None:
    await say(talk, "set the rating of H1 to 5 and of Nowhere to 6")
    offered = choices(talk) if isinstance(talk.items[-1], Question) and talk.items[-1].choices else []
    assert not any(reading.count("[@Instruments/H1] key=rating") > 1 for reading in offered)


@pytest.mark.parametrize(
    "request_text",
    ["delete H3 and fix the links", "lösche H3 und aktualisiere die Links"],
)
async def test_only_a_rename_updates_links_anyway(talk, request_text) -> None:
    replies = await say(talk, request_text)
    assert not replies.changes and (talk.workspace.root / "Instruments" / "H3.md").exists()


async def test_a_quoted_word_is_not_replaced_by_the_noun_of_the_first_order(talk) -> None:
    await fill(talk, Shopping="x\n", List="y\n")
    await say(talk, 'add a task "Buy milk" to Shopping and one "Take one pill" to List')
    assert not any("Take task pill" in choice for choice in choices(talk))


@pytest.mark.parametrize(
    "request_text",
    [
        "the sail is done, tick it off",
        "the sail is done, mark it as done",
        "das Segel ist erledigt, hake es ab",
    ],
)
async def test_a_task_that_is_done_is_not_completed_twice(talk, request_text) -> None:
    task = "Segel flicken" if "Segel" in request_text else "mend the sail"
    await fill(talk, Boat=f"# Boat\n\n- [ ] {task}\n- [ ] paint the hull")
    await order(talk, "open Boat", request_text)
    assert f"- [x] {task}" in text(talk, "Boat.md")
