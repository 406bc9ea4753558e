"""Changes that may mean something else, as testers found them in ordinary conversations."""

from __future__ import annotations

from datetime import datetime

import pytest

from app.agent.transcript import Question
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import OPEN, fill, order, say, talk, text

__all__ = ["talk"]


@pytest.mark.parametrize(
    ("request_text", "path"),
    [
        ("create an event Second trial with year 1764", "Events/Second trial.md"),
        ("create a new instrument Backstaff with year 1594", "Instruments/Backstaff.md"),
        ("create a gadget Backstaff with year 1594", "Backstaff.md"),
    ],
)
async def test_the_kind_of_a_new_note_is_no_part_of_its_name(talk, request_text, path) -> None:
    await order(talk, "set year of H1 to 1735")
    await order(talk, request_text)
    assert request_text[-4:] in text(talk, path)


async def test_an_article_with_a_capital_letter_belongs_to_the_name(talk) -> None:
    await order(talk, "set year of H1 to 1735")
    await say(talk, "create a note The Long Walk with year 1979")
    assert "year: 1979" in text(talk, "The Long Walk.md")


@pytest.mark.parametrize(
    "request_text", ["throw out Octant", "scrap Octant", "kill Octant", "drop Octant", "wirf Octant weg"]
)
async def test_an_everyday_verb_deletes_no_note_at_once(talk, request_text) -> None:
    await say(talk, request_text)
    assert "delete [@Instruments/Octant]" in choices(talk)


async def test_a_note_that_is_called_one_is_thrown_out_at_once(talk) -> None:
    await say(talk, "throw out the note Octant")
    assert not isinstance(talk.items[-1], Question)


@pytest.mark.parametrize(
    "request_text",
    [
        "add to H4: cleaned, and tag it brass",
        "add a task to H4: oil it by Friday, and tag it brass",
        "add a task to H4: oil it by Friday and set status to done",
        "füge zu H4 hinzu: geputzt, und tagge sie mit messing",
    ],
)
async def test_another_order_in_an_added_text_is_asked_about(talk, request_text) -> None:
    before = text(talk, "Instruments/H4.md")
    await say(talk, request_text)
    assert isinstance(talk.items[-1], Question) and text(talk, "Instruments/H4.md") == before


async def test_two_verbs_of_one_task_are_no_other_order(talk) -> None:
    await say(talk, "add a task to H4: oil the gears and clean the case")
    assert "- [ ] oil the gears and clean the case\n" in text(talk, "Instruments/H4.md")


async def test_a_task_with_two_days_is_asked_about(talk) -> None:
    await say(talk, "add a task to H4: oil it on 1 March, show it by 15 May")
    assert isinstance(talk.items[-1], Question)


@pytest.mark.parametrize(
    "request_text", ["set review of H4 to in four weeks", "set visited of H4 to two weeks ago"]
)
async def test_a_day_in_words_is_asked_about(talk, request_text) -> None:
    before = text(talk, "Instruments/H4.md")
    await say(talk, request_text)
    assert isinstance(talk.items[-1], Question) and text(talk, "Instruments/H4.md") == before


async def test_a_set_of_notes_is_no_value(talk) -> None:
    before = text(talk, "People/John Harrison.md")
    await say(talk, "set the owner of all instruments to John Harrison")
    assert isinstance(talk.items[-1], Question) and text(talk, "People/John Harrison.md") == before


async def test_a_canceled_question_is_settled(talk) -> None:
    await say(talk, "open H2", "delete the notes H3 and H4", "never mind", "tag it brass")
    assert "brass" in text(talk, "Instruments/H2.md")


async def test_an_answered_question_is_settled(talk) -> None:
    await order(talk, "set status of H2 to done or late")
    await say(talk, "tag it brass")
    assert "brass" in text(talk, "Instruments/H2.md")


async def test_the_note_of_a_task_is_not_surely_it(talk) -> None:
    await order(talk, "add a task to Sextant: oil the arc", "set status of H2 to done")
    await say(talk, "mark oil the arc as done", "tag it brass")
    assert {"add_tag [@Instruments/Sextant] tag=brass", "add_tag [@Instruments/H2] tag=brass"} <= {
        *choices(talk)
    }


async def test_after_a_change_of_several_notes_the_open_note_is_not_surely_meant(talk) -> None:
    before = text(talk, OPEN)
    await say(talk, "tag H2 and H3 with brass", "add a line: cleaned")
    assert isinstance(talk.items[-1], Question) and text(talk, OPEN) == before


@pytest.mark.parametrize(
    "request_text", ["delete the daily note of 2024-02-12", "delete the journal entry of February 2024"]
)
async def test_the_deletion_of_a_dated_note_is_not_that_of_the_open_one(talk, request_text) -> None:
    await fill(talk, **{"Journal__2024-02-12": "a", "Journal__2024-02-25": "b"})
    await say(talk, request_text)
    left = choices(talk) if isinstance(talk.items[-1], Question) else []
    assert not any("Instruments/H1" in choice for choice in left)
    assert "Instruments/H1.md" in {str(path) for path in talk.workspace.index.note_paths()}
    assert left or "Journal/2024-02-12.md" not in {str(path) for path in talk.workspace.index.note_paths()}


@pytest.mark.parametrize(
    "request_text",
    [
        "rename H1 to Sea Watch asap",
        "rename H1 to Sea Watch right away",
        "replace Lisbon with Lissabon today",
        "benenne H1 in Seeuhr um sofort",
    ],
)
async def test_a_word_that_may_not_belong_to_the_name_or_text_is_asked_about(talk, request_text) -> None:
    before = text(talk, OPEN)
    await say(talk, request_text)
    assert isinstance(talk.items[-1], Question) and text(talk, OPEN) == before


@pytest.mark.parametrize(
    "request_texts", [("move my daily notes", "into Old"), ("verschiebe meine Tagesnotizen nach Old",)]
)
async def test_other_notes_in_the_folder_of_the_daily_notes_are_no_daily_notes(talk, request_texts) -> None:
    await order(talk, *request_texts)
    paths = {str(path) for path in talk.workspace.index.note_paths()}
    assert {"Old/2026-03-02.md", "Old/2026-03-16.md", "Journal/Letters (private).md"} <= paths


async def test_a_change_of_the_journal_is_one_of_the_whole_folder(talk) -> None:
    await order(talk, "move my journal to Old")
    paths = {str(path) for path in talk.workspace.index.note_paths()}
    assert {"Old/2026-03-02.md", "Old/Letters (private).md"} <= paths


@pytest.mark.parametrize(
    ("request_text", "price"),
    [("raise the price by 5", 45), ("lower its price by 10", 30), ("senke price von Lamp um 4", 36)],
)
async def test_a_number_is_raised_or_lowered_by_an_amount(talk, request_text, price) -> None:
    await fill(talk, Lamp="---\nprice: 40\n---\n")
    await order(talk, "open Lamp", request_text)
    assert f"price: {price}\n" in text(talk, "Lamp.md")


async def test_properties_that_are_not_understood_are_no_text_at_once(talk) -> None:
    await say(talk, "new claim: Wood was good enough, weight 0.3")
    assert isinstance(talk.items[-1], Question)


async def test_a_new_note_gets_its_confidence(talk) -> None:
    await say(talk, "new claim: Wood was good enough, confidence 0.3")
    assert "confidence: 0.3\n" in text(talk, "Claims/Wood was good enough.md")


async def test_the_note_that_a_question_offers_to_create_may_be_it(talk) -> None:
    before = text(talk, OPEN)
    await say(talk, "create a gadget Backstaff with year 1594", "tag it wood and brass")
    assert isinstance(talk.items[-1], Question) and text(talk, OPEN) == before


async def test_words_without_a_meaning_are_no_task(talk) -> None:
    await fill(talk, Plan="- [ ] Write to Ann\n", Other="- [ ] Come along with that letter\n")
    await say(talk, "open Plan", "done with that task too then")
    assert isinstance(talk.items[-1], Question) and "[x]" not in text(talk, "Other.md")


async def test_another_one_after_a_task_is_a_task(talk) -> None:
    await order(talk, "add a task to H4: oil it", "add another: clean the case")
    assert "- [ ] clean the case\n" in text(talk, "Instruments/H4.md")


@pytest.mark.parametrize("words", ["eggs should be 12", "status edited, stage 3"])
async def test_a_part_of_a_request_does_not_change_a_note_alone(talk, words) -> None:
    await fill(talk, Shop="---\nstatus: draft\nstage: 1\n---\n- 6 eggs\n")
    await say(talk, "open Shop", words)
    assert "- 6 eggs\n" in text(talk, "Shop.md") and "stage: 1\n" in text(talk, "Shop.md")


async def test_a_value_that_begins_with_another_property_is_in_doubt(talk) -> None:
    notes = {
        name: f"---\nepisode: {number}\ntopics: [Art]\n---\n"
        for number, name in enumerate(("Show", "Talk"), 3)
    }
    await fill(talk, **notes)
    before = text(talk, "Show.md")
    await say(talk, "open Show", "add the topic Futurism to the episode")
    assert isinstance(talk.items[-1], Question)
    assert text(talk, "Show.md") == before


@pytest.mark.parametrize(
    ("request_text", "days"),
    [
        ("add a task: ring Ann by next friday", ["2026-03-27", "2026-03-20"]),
        ("set due to next friday", ["2026-03-27", "2026-03-20"]),
        ("neue Aufgabe: Ann anrufen bis nächsten Freitag", ["2026-03-27", "2026-03-20"]),
        ("add a task: ring Ann by friday", ["2026-03-20"]),
        ("add a task: ring Ann by next monday", ["2026-03-23"]),
    ],
)
async def test_a_weekday_that_may_be_in_two_weeks_is_asked_about(talk, request_text, days) -> None:
    talk.workspace.agent._builtin._requests.now = lambda: datetime(2026, 3, 18, 12)
    await fill(talk, Desk="---\ndue: 2026-01-02\n---\n- [ ] sort the post\n")
    await say(talk, "open Desk", request_text)
    if len(days) == 1:
        assert days[0] in text(talk, "Desk.md")
    else:
        assert [day for choice in choices(talk) for day in days if day in choice][: len(days)] == days


@pytest.mark.parametrize("request_text", ["set due to December 10", "setze due auf 10. Dezember"])
async def test_a_day_to_come_without_a_year_stays_in_the_future(talk, request_text) -> None:
    talk.workspace.agent._builtin._requests.now = lambda: datetime(2026, 3, 18, 12)
    await fill(talk, Desk="---\ndue: 2026-05-15\n---\nA desk.\n")
    await order(talk, "open Desk", request_text)
    assert "due: 2026-12-10" in text(talk, "Desk.md")


async def test_the_article_of_a_name_may_be_a_note_with_a_longer_name(talk) -> None:
    await fill(talk, Brass="A metal.\n", **{"Brass and its uses at sea": "An article.\n"})
    await say(talk, "move the brass article to the Sources folder")
    assert choices(talk) == [
        "move [@Brass] folder=Sources",
        "move [@Brass and its uses at sea] folder=Sources",
    ]


@pytest.mark.parametrize("word", ["brass page", "Brass article"])
async def test_a_note_with_this_name_is_moved_at_once(talk, word) -> None:
    await fill(talk, Brass="A metal.\n", **{"Brass and its uses at sea": "An article.\n"})
    await say(talk, f"move the {word} to the Sources folder")
    assert text(talk, "Sources/Brass.md") == "A metal.\n"


async def test_a_number_is_no_name_of_a_note(talk) -> None:
    await say(talk, "= set_property [@Octant] key=discount value=0", "setze bei Octant den Rabatt auf 5")
    assert "discount: 5\n" in text(talk, "Instruments/Octant.md")
