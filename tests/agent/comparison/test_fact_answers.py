"""Questions that a property answers: of the note on the screen, or of the notes just listed."""

from __future__ import annotations

import pytest

from app.agent.language.grammar.note_facts import may_be_summed
from app.agent.transcript import AgentText, Question, RequestReading, ToolCard
from tests.agent.language.meaning.test_dialog import fill, names, say, talk, text
from tests.agent.language.test_described_notes import note
from tests.agent.test_session import SessionConversation

__all__ = ["talk"]
OAK, LEASE = "Trees/Oak.md", "Leases/Barn.md"
NOTES = {
    "Trees__Oak": note(state="ill", keeper='"[[Ada Lind]]"', planted="1931", fee="120", pruned="true"),
    "Trees__Ash": note(state="ill", keeper='"[[Ben Moor]]"', planted="1950", fee="80", pruned="false"),
    "Trees__Elm": note(state="fine", keeper='"[[Ada Lind]]"', planted="1990", fee="45", pruned="true"),
    "Leases__Barn": note(contract="true", renewal="2027-05-31", monthly="640"),
    "People__Ada Lind": note(nightshift="true"),
    "People__Ben Moor": note(nightshift="false"),
}


async def ask(talk, *requests: str, open_note: str = OAK) -> SessionConversation:
    """Return a new conversation after some requests in a vault with trees, leases and people."""
    await fill(talk, **NOTES)
    talk = SessionConversation(talk.workspace)
    for request in requests:
        await talk.say(request, open_note=open_note)
    return talk


def last_answer(talk) -> str:
    """Return the texts after the last reading that was shown."""
    start = max(at for at, item in enumerate(talk.items) if isinstance(item, RequestReading))
    return "\n".join(getattr(item, "text", "") for item in talk.items[start:])


@pytest.mark.parametrize(
    ("question", "open_note", "answer"),
    [
        ("who is the keeper of this?", OAK, "keeper: [[Ada Lind]]"),
        ("who looks after it?", OAK, "keeper: [[Ada Lind]]"),
        ("when does the contract end?", LEASE, "renewal: 2027-05-31"),
        ("how much is it?", LEASE, "monthly: 640"),
        ("Wann läuft der Vertrag aus?", LEASE, "renewal: 2027-05-31"),
    ],
)
async def test_the_note_on_the_screen_answers_at_once(talk, question, open_note, answer) -> None:
    talk = await ask(talk, question, open_note=open_note)
    assert answer in last_answer(talk)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("who looks after them?", ("[[Ada Lind]]", "[[Ben Moor]]")),
        ("when were they planted?", ("planted: 1931", "planted: 1950")),
        ("what fee do they earn", ("fee: 120", "fee: 80")),
        ("how much is that in total?", ("fee: 120", "fee: 80", "fee in total: 200.")),
        ("how much do they cost together?", ("fee in total: 200.",)),
    ],
)
async def test_listed_notes_answer_with_the_value_of_each(talk, question, answers) -> None:
    talk = await ask(talk, "which trees are ill?", question)
    assert all(answer in last_answer(talk) for answer in answers)
    assert "Elm" not in last_answer(talk)


async def test_shown_values_are_added_up(talk) -> None:
    talk = await ask(talk, "which trees are ill?", "what fee do they earn", "how much is that in total?")
    assert "fee in total: 200." in last_answer(talk)


async def test_years_are_not_added_up(talk) -> None:
    talk = await ask(talk, "which trees are ill?", "when were they planted?")
    assert "in total" not in last_answer(talk)


async def test_numbers_that_may_be_names_are_not_added_up(talk) -> None:
    beds = {f"Beds__Bed {number}": note(number=str(number), rent="31", state="vacant") for number in (7, 18)}
    await fill(talk, **beds)
    await say(talk, "find notes with state vacant", "how much is that in total?")
    answer = last_answer(talk)
    assert "number in total" not in answer
    assert "rent in total: 62." in answer


async def test_a_number_of_listed_notes_is_still_counted(talk) -> None:
    talk = await ask(talk, "which trees are ill?", "how many of them are pruned?")
    assert "1 note." in last_answer(talk)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("which trees does Ada Lind keep?", ["Elm", "Oak"]),
        ("what does Ben Moor keep?", ["Ash"]),
        ("who is on night shift?", ["Ada Lind"]),
    ],
)
async def test_a_verb_names_the_property_with_its_stem(talk, question, found) -> None:
    await fill(talk, **NOTES)
    replies = await say(talk, question)
    assert not isinstance(talk.items[-1], Question)
    assert sorted(names(replies.results)) == found


async def test_the_person_of_a_verb_answers_who(talk) -> None:
    talk = await ask(talk, "who keeps the ash?", open_note=LEASE)
    assert "keeper: [[Ben Moor]]" in last_answer(talk)


@pytest.mark.parametrize("request_text", ["what does Ben Moor eat?", "which trees does Nobody keep?"])
async def test_an_unknown_verb_or_person_finds_nothing_else(talk, request_text) -> None:
    talk = await ask(talk, request_text)
    assert not any(
        "Ash" in chip.label for item in talk.items if isinstance(item, RequestReading) for chip in item.chips
    )


async def test_an_order_after_an_answer_from_elsewhere_is_about_the_screen(talk) -> None:
    talk = await ask(talk, "is there a cure for gout in the attic?", "set fee to 130")
    assert "fee: 130" in text(talk, OAK)


async def test_a_question_leaves_one_card(talk) -> None:
    talk = await ask(talk, "why does nobody like marzipan?")
    assert sum(isinstance(item, ToolCard) for item in talk.items) == 1


@pytest.mark.parametrize(
    ("name", "is_summed"),
    [
        ("miles", True),
        ("Stunden", True),
        ("fee", True),
        ("year", False),
        ("mileage", False),
        ("walk-distance", True),
    ],
)
def test_amounts_and_distances_are_added_up(name, is_summed) -> None:
    assert may_be_summed(name) == is_summed


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("what did the keeper say about the phone?", "phone"),
        ("when did she last phone?", "phone"),
        ("how long has she been here?", "hours"),
        ("which people are ill or at the river?", "keeper"),
        ("was hat sie über phone gesagt?", "phone"),
    ],
)
async def test_a_property_does_not_answer_another_question(talk, question, name) -> None:
    person = "---\nphone: 01550 104455\nhours: 12\nstart: 2021-04-01\n---\n"
    await fill(talk, **NOTES | {"People__Ada Lind": person})
    talk = SessionConversation(talk.workspace)
    await talk.say("who is the keeper?", open_note=OAK)
    shown = len(talk.items)
    await talk.say(question, open_note=OAK)
    texts = [own.text for own in talk.items[shown:] if isinstance(own, AgentText)]
    assert not any(f"]], {name}:" in own for own in texts)
