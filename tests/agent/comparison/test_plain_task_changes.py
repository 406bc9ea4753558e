"""Changes of the only task that a request can mean: they run, or come first."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import fill, say, talk, text

__all__ = ["talk"]
SHED = (
    "# Shed\n- [ ] Grease the hinges 📅 2031-12-06\n- [ ] Order a new rake\n"
    "- [ ] Ask Bo about the spare wheel\n- [ ] Scharniere ölen\n"
)
YARD = "# Yard\n- [ ] Repair the fence by the pond\n- [ ] Move the compost heap\n"


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("hinges are greased", "- [x] Grease the hinges 📅 2031-12-06"),
        ("the new rake is ordered", "- [x] Order a new rake"),
        ("ok, the new rake has been ordered", "- [x] Order a new rake"),
        ("talked to bo about the wheel, tick that", "- [x] Ask Bo about the spare wheel"),
        ("fixed the pond fence, check it off", "- [x] Repair the fence by the pond"),
        ("spare wheel: move to 2031-12-12", "- [ ] Ask Bo about the spare wheel 📅 2031-12-12"),
        ("the compost heap can wait until 2031-12-20", "- [ ] Move the compost heap 📅 2031-12-20"),
        ("die Scharniere sind geölt, hake das ab", "- [x] Scharniere ölen"),
        ("the hinges have to wait a week", "- [ ] Grease the hinges 📅 2031-12-13"),
        ("the rake's ordered already", "- [x] Order a new rake"),
        ("greased the hinges", "- [x] Grease the hinges 📅 2031-12-06"),
        ("got the rake", "- [x] Order a new rake"),
        ("hinges are sorted", "- [x] Grease the hinges 📅 2031-12-06"),
        (
            "spare wheel by 2031-12-12 please, before the tour",
            "- [ ] Ask Bo about the spare wheel 📅 2031-12-12",
        ),
        ("the rake -> 2031-12-12", "- [ ] Order a new rake 📅 2031-12-12"),
        ("i want the rake by 2031-12-12", "- [ ] Order a new rake 📅 2031-12-12"),
        ("Bo can't do the 5th, make the rake 2031-12-12", "- [ ] Order a new rake 📅 2031-12-12"),
        ("Scharniere sind geölt", "- [x] Scharniere ölen"),
        ("die Scharniere erst am 12.12.2031", "- [ ] Scharniere ölen 📅 2031-12-12"),
    ],
)
async def test_the_only_task_that_a_request_can_mean_is_changed(talk, request_text, line) -> None:
    await fill(talk, Shed=SHED, Yard=YARD)
    await say(talk, "open Shed", request_text)
    assert line in text(talk, "Shed.md") + text(talk, "Yard.md")


@pytest.mark.parametrize(
    "request_text",
    [
        "the fence is repaired",  # another note than that on the screen, and no order
        "the hinges aren't greased yet",
        "are the hinges greased?",
        "did I order the rake",
        "remind me tomorrow to grease the hinges",
        "sold the compost, tick that",  # only one word of another note's task
        "add to the text: rake ordered on 2031-12-04",
        "finish the spare wheel drawing",
        "tick nothing, but give the new rake 2031-12-20",
        "no hinges are greased",
        "the other hinges are greased",
        "wrong rake is ordered",
        "until the hinges are greased",
        "once the hinges are greased, tick that",
        "last year's hinges were greased",
        "the rake is new",
        "the rake is on 2031-12-04",  # an event, not the day of its order
        "the rake was ordered on 2031-12-04",
        "got the rake from Bo back",
        "the hinges could be greased",
        "we ordered the rake stand",
        "die Scharniere waren am 4.12.2031",
        "keine Scharniere sind geölt",
        "wenn die Scharniere geölt sind, hak das ab",
        "greased the chain of the bike, tick that",  # the verb of a task, but another thing
        "asked Bo for the ladder, check that off",
        "tick the hinges if they are greased",
        "tick off everything except the new rake",
        "hake die Scharniere ab, falls sie geölt sind",
        "the hinges were due 2031-12-04",
        "the new rake should have been 2031-12-04",
    ],
)
async def test_other_requests_change_no_task_at_once(talk, request_text) -> None:
    await fill(talk, Shed=SHED, Yard=YARD)
    await say(talk, "open Shed", request_text)
    assert "[x]" not in text(talk, "Shed.md") + text(talk, "Yard.md")
    assert "📅 2031-12-04" not in text(talk, "Shed.md")


async def test_the_verb_of_a_task_with_the_name_of_its_note_ticks_it(talk) -> None:
    await fill(talk, Shed=SHED, Lilac="# Lilac\n- [ ] Prune the lower branches\n- [ ] Water\n")
    await say(talk, "open Lilac", "I pruned the lilac today, tick that off please")
    assert "- [x] Prune" in text(talk, "Lilac.md")


async def test_a_task_of_another_note_with_more_of_the_words_is_ticked(talk) -> None:
    await fill(talk, Shed=SHED, Yard="# Yard\n- [ ] Order three new rakes for the school\n")
    await say(talk, "open Shed", "three new rakes for the school were ordered, tick that")
    assert text(talk, "Shed.md") == SHED and "[x]" in text(talk, "Yard.md")


async def test_one_word_of_a_task_of_another_note_moves_it_only_after_a_question(talk) -> None:
    await fill(talk, Shed=SHED, Yard=YARD)
    await say(talk, "open Shed", "make the fence due 2031-12-04")
    assert text(talk, "Yard.md") == YARD and "Repair the fence" in choices(talk)[0]


async def test_a_condition_deletes_no_task(talk) -> None:
    await fill(talk, Shed=SHED)
    await say(talk, "open Shed", "delete that task if the rake is ordered")
    assert text(talk, "Shed.md") == SHED


async def test_two_tasks_with_the_same_words_are_asked_about(talk) -> None:
    await fill(talk, Shed=SHED + "- [ ] Paint the hinges\n", Yard=YARD)
    await say(talk, "open Shed", "oiled the hinges, tick that")
    assert "[x]" not in text(talk, "Shed.md") + text(talk, "Yard.md") and isinstance(talk.items[-1], Question)


@pytest.mark.parametrize(
    ("task", "request_text"),
    [
        ("Back up the photos", "photos are backed up"),
        ("Submit the survey", "survey's submitted"),
        ("Water the ferns", "ferns watered"),
    ],
)
async def test_a_task_in_other_forms_is_offered_first(talk, task, request_text) -> None:
    await fill(talk, Shed=f"# Shed\n- [ ] {task}\n- [ ] Sweep\n")
    await say(talk, "open Shed", request_text)
    done = "[x]" in text(talk, "Shed.md")
    assert done or f'complete_task [@Shed] query="{task}"' in choices(talk)[0]


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("Bo came by at lunch with a flask of tea, you can tick that", "- [x] Ask Bo about"),
        ("squeaking is gone, hinges look fine again. check that off please", "- [x] Grease the hinges"),
        ("rake turned up at the neighbour's, done", "- [x] Order a new rake"),
        ("die Scharniere laufen wieder leise, hak das mal ab", "- [x] Scharniere ölen"),
        ("Scharniere laufen prima, hak das ab", "- [x] Scharniere ölen"),
    ],
)
async def test_an_order_after_a_story_ticks_the_only_task_of_the_note(talk, request_text, line) -> None:
    await fill(talk, Shed=SHED, Yard=YARD)
    await say(talk, "open Shed", request_text)
    assert line in text(talk, "Shed.md")


@pytest.mark.parametrize(
    ("request_text", "option"),
    [
        ("I wrote Bo about the wheel last night", 'complete_task [@Shed] query="Ask Bo'),
        ("we share a rake with Ann, delete that task", 'remove_text [@Shed] old="Order a new rake"'),
    ],
)
async def test_the_change_of_a_task_is_the_first_option(talk, request_text, option) -> None:
    await fill(talk, Shed=SHED, Yard=YARD)
    await say(talk, "open Shed", request_text)
    assert choices(talk)[0].startswith(option)
    assert text(talk, "Shed.md") == SHED


@pytest.mark.parametrize(
    ("request_text", "option"),
    [
        ("remind me to order a new rake by 2031-12-04", 'reschedule_task [@Shed] query="Order a new rake"'),
        ("remind me to buy a hose by 2031-12-04", 'append [@Shed] text="- [ ] buy a hose 📅 2031-12-04"'),
    ],
)
async def test_a_reminder_with_a_day_is_offered_as_a_task(talk, request_text, option) -> None:
    await fill(talk, Shed=SHED, Yard=YARD)
    await say(talk, "open Shed", request_text)
    assert text(talk, "Shed.md") == SHED and choices(talk)[0].startswith(option)


@pytest.mark.parametrize(
    "request_text",
    [
        "we still need a new rake",
        "which new rake is the best",
        "the fence at the pond is green",
        "Bo comes on 2031-12-04",
        "tag the note with hinges, done",
        "Bo and the hinges are both fine, tick that",
    ],
)
async def test_a_request_about_something_else_ticks_no_task(talk, request_text) -> None:
    await fill(talk, Shed=SHED, Yard=YARD)
    await say(talk, "open Shed", request_text)
    offered = choices(talk)[:1] if isinstance(talk.items[-1], Question) else []
    assert "[x]" not in text(talk, "Shed.md") + text(talk, "Yard.md")
    assert request_text.endswith(("done", "that")) or not any("complete_task" in own for own in offered)


async def test_a_statement_about_a_task_of_another_note_ticks_no_task_in_talk(talk) -> None:
    await fill(talk, Shed="# Shed\n- [ ] Call Ann\n", Yard="# Yard\n- [ ] Ann: answer the letter\n")
    await say(talk, "open Shed", "ann's answer is finished")
    assert "[x]" not in text(talk, "Shed.md")


async def test_done_ticks_the_only_task_shown(talk) -> None:
    await fill(talk, Shed="# Shed\n- [ ] Grease the hinges\n")
    await say(talk, "open Shed", "what is open in Shed?", "done, tick it")
    assert "- [x] Grease the hinges" in text(talk, "Shed.md")


async def test_done_offers_no_task_without_words_if_several_were_shown(talk) -> None:
    await fill(talk, Shed=SHED)
    await say(talk, "open Shed", "what is open in Shed?", "done, tick it")
    assert text(talk, "Shed.md") == SHED
    assert all("query=" in choice and 'query=""' not in choice for choice in choices(talk))


@pytest.mark.parametrize(
    ("requests", "line"),
    [
        (["what is open in Shed?", "make that the 25th"], "- [ ] Grease the hinges 📅 20"),
        (
            ["move grease the hinges to 2031-12-24", "and the compost heap to the same day"],
            "heap 📅 2031-12-24",
        ),
        (
            ["verschieb grease the hinges auf 2031-12-24", "und compost heap auf den gleichen Tag"],
            "heap 📅 2031-12-24",
        ),
    ],
)
async def test_a_day_follows_a_task(talk, requests, line) -> None:
    await fill(talk, Shed="# Shed\n- [ ] Grease the hinges\n", Yard=YARD)
    await say(talk, "open Shed", *requests)
    assert line in text(talk, "Shed.md") + text(talk, "Yard.md")
