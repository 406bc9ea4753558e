"""A property of a note one link away answers a question about the note in talk."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.comparison.test_fact_answers import last_answer
from tests.agent.language.meaning.test_dialog import fill, talk, text
from tests.agent.language.test_described_notes import note
from tests.agent.test_session import SessionConversation

__all__ = ["talk"]
DINGHY, MIRA, BERTH = "Boats/Dinghy.md", "People/Mira Holt.md", "Berths/Berth 4.md"
MAST = "Repairs/Dinghy mast.md"
NOTES = {
    "Boats__Dinghy": note(
        skipper='"[[Mira Holt]]"', mooring='"[[Berth 4]]"', loaned_to='"[[Otto Lang]]"', price="450"
    ),
    "People__Mira Holt": note(phone="555 2040", joined="2016-05-01", age="44"),
    "People__Otto Lang": note(shoe="43"),
    "People__Lena Voss": note(deputy_for='"[[Mira Holt]]"'),
    "Berths__Berth 4": note(fee="80", paid="false", roof="true", let_since="2020-02-01"),
    "Repairs__Dinghy mast": note(boat='"[[Dinghy]]"', hours="3", bill="120"),
    "Repairs__Dinghy sail": note(boat='"[[Dinghy]]"', hours="5", bill="60"),
}


async def ask(talk, *requests: str, open_note: str = DINGHY) -> SessionConversation:
    """Return a new conversation after some requests in a vault with boats, people and berths."""
    await fill(talk, **NOTES)
    talk = SessionConversation(talk.workspace)
    for request in requests:
        await talk.say(request, open_note=open_note)
    return talk


@pytest.mark.parametrize(
    ("question", "open_note", "answer"),
    [
        ("her phone?", DINGHY, "Mira Holt]], phone: 555 2040"),
        ("what's her number?", DINGHY, "Mira Holt]], phone: 555 2040"),
        ("does it have a roof?", DINGHY, "Berth 4]], roof: true"),
        ("has the fee been paid yet?", DINGHY, "Berth 4]], paid: false"),
        ("what does the mooring cost?", DINGHY, "Berth 4]], fee: 80"),
        ("how many hours did the mast take?", DINGHY, "Dinghy mast]], hours: 3"),
        ("who fills in for her if she is ill?", MIRA, "Lena Voss]], deputy_for: [[Mira Holt]]"),
        ("wie ist ihre Telefonnummer?", DINGHY, "Mira Holt]], phone: 555 2040"),
    ],
)
async def test_the_note_of_a_link_answers(talk, question, open_note, answer) -> None:
    talk = await ask(talk, question, open_note=open_note)
    assert answer in last_answer(talk)


@pytest.mark.parametrize(
    ("question", "open_note", "answer"),
    [
        ("who is using it right now?", DINGHY, "loaned_to: [[Otto Lang]]"),
        ("which boats is it meant for", MAST, "boat: [[Dinghy]]"),
        ("who is the skipper?", DINGHY, "skipper: [[Mira Holt]]"),
        ("since when is she with us?", MIRA, "joined: 2016-05-01"),
        ("how old is she?", MIRA, "age: 44"),
        ("how long has she had this berth?", BERTH, "let_since: 2020-02-01"),
        ("seit wann ist sie dabei?", MIRA, "joined: 2016-05-01"),
    ],
)
async def test_the_kind_of_a_question_selects_the_property(talk, question, open_note, answer) -> None:
    talk = await ask(talk, question, open_note=open_note)
    assert answer in last_answer(talk)


async def test_the_second_question_is_about_the_first_answer(talk) -> None:
    talk = await ask(talk, "who is the skipper, and her phone number?")
    assert "skipper: [[Mira Holt]]" in last_answer(talk)
    assert "phone: 555 2040" in last_answer(talk)


async def test_the_values_of_linking_notes_are_added_up(talk) -> None:
    talk = await ask(talk, "how many hours do the repairs take in total?")
    assert "hours in total: 8." in last_answer(talk)


async def test_the_conversation_stays_about_its_note(talk) -> None:
    talk = await ask(talk, "her phone?", "set price to 400")
    assert "price: 400" in text(talk, DINGHY)


@pytest.mark.parametrize(
    "request_text",
    [
        "what's the colour?",  # of no note
        "what's the shoe size of the crew?",  # another word than those of one property
        "which skippers have a phone?",  # not only this one
        "her phone is broken",  # no question
    ],
)
async def test_another_request_shows_no_linked_value(talk, request_text) -> None:
    talk = await ask(talk, request_text)
    shown = "\n".join(getattr(item, "text", "") for item in talk.items)
    assert "phone: 555" not in shown and "shoe: 43" not in shown and "has no property" not in shown


async def test_a_question_offers_no_change(talk) -> None:
    talk = await ask(talk, "which berths are they meant for")
    asked = [item for item in talk.items if isinstance(item, Question)]
    assert not any("set property" in choice.label for item in asked for choice in item.choices)
