"""Short lines that set properties of the note in talk: "rating 4", "room is S7 then"."""

from __future__ import annotations

import pytest

from app.agent.language.changes.property_lines import parse_property_line
from app.agent.language.meaning.actions import ACTIONS
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import PREFIX, parse
from app.agent.language.meaning.readings import Clarification, ClarificationOption
from app.agent.transcript import Question
from app.vault.markdown.frontmatter import read_frontmatter
from tests.agent.language.meaning.test_dialog import OPEN, fill, order, say, talk, text

__all__ = ["talk"]
H4, K1 = "Instruments/H4.md", "Instruments/K1.md"


async def with_properties(talk) -> None:
    await say(
        talk,
        f"{PREFIX} set_property [@H4] key=room value=S5",
        f"{PREFIX} set_property [@H4] key=rating value=3",
        f"{PREFIX} set_property [@K1] key=warranty value=2026-01-02",
        f"{PREFIX} set_property [@K1] key=status value=done",
        f"{PREFIX} set_property [@K1] key=with value=Ann",
    )


def properties(talk, path=H4):
    return dict(read_frontmatter(text(talk, path)).properties)


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("rating 4", {"rating": 4}),
        ("and the rating is now 5", {"rating": 5}),
        ("room is S7 then", {"room": "S7"}),
        ("status done", {"status": "done"}),
        ("rating 4, room S8", {"rating": 4, "room": "S8"}),
        ("warranty until 2028-03-18", {"warranty": "2028-03-18"}),
        ("warranty was extended to 2027-12-20", {"warranty": "2027-12-20"}),
        ("Bewertung auf 2", {"rating": 2}),
        ("die Bewertung ist jetzt 1", {"rating": 1}),
    ],
)
async def test_a_line_sets_a_property_of_the_note_in_talk(talk, line, values) -> None:
    await with_properties(talk)
    await say(talk, "open H4", line)
    assert values.items() <= {name: _plain(value) for name, value in properties(talk).items()}.items()


def _plain(value):
    return str(value) if hasattr(value, "year") else value


@pytest.mark.parametrize("line", ["rating probably 4", "room is far too small"])
async def test_a_thought_or_an_unusual_value_is_asked_about(talk, line) -> None:
    await with_properties(talk)
    before = text(talk, H4)
    await say(talk, "open H4", line)
    question = talk.items[-1]
    assert isinstance(question, Question)
    assert question.choices[0].reply.startswith(f"{PREFIX} set_property [@Instruments/H4]")
    assert text(talk, H4) == before


@pytest.mark.parametrize("line", ["rating of K1", "rating?", "rating 7 notes", "rating over 2", "read Dune"])
async def test_other_words_after_a_property_are_no_value(talk, line) -> None:
    await with_properties(talk)
    before = text(talk, H4)
    await say(talk, "open H4", line)
    assert text(talk, H4) == before


async def test_a_line_after_a_list_is_a_search(talk) -> None:
    await with_properties(talk)
    before = text(talk, K1), text(talk, OPEN)
    await say(talk, "list the instruments", "status done")
    assert (text(talk, K1), text(talk, OPEN)) == before
    assert not isinstance(talk.items[-1], Question)


async def test_a_line_goes_on_with_the_creation_in_question(talk) -> None:
    await with_properties(talk)
    await fill(talk, Templates__Instrument="# {{title}}")
    await say(talk, "create an instrument called Tide Compass", "rating 4", "room is S5")
    question = talk.items[-1]
    assert isinstance(question, Question)
    reply = question.choices[0].reply
    assert "create_note" in reply
    assert "key=rating value=4" in reply
    assert "key=room value=S5" in reply


@pytest.mark.parametrize(
    "request_", ["make that 5", "change it to 5", "no, make it 5", "it's 5 now", "ändere es auf 5"]
)
async def test_a_value_without_a_property_is_that_of_the_property_asked_for(talk, request_) -> None:
    await with_properties(talk)
    await say(talk, "what is the rating of H4?", request_)
    assert properties(talk)["rating"] == 5


@pytest.mark.parametrize("request_", ["make it private", "make it a task", "rename it to H5?"])
async def test_other_orders_after_a_property_do_not_set_it(talk, request_) -> None:
    await with_properties(talk)
    await say(talk, "what is the rating of H4?", request_)
    assert properties(talk)["rating"] == 3


async def test_with_a_person_does_not_repeat_the_property_on_the_person(talk) -> None:
    await with_properties(talk)
    before = text(talk, "People/James Cook.md")
    await say(talk, "open H4", "room S8", "with James Cook")
    assert text(talk, "People/James Cook.md") == before


async def test_a_line_after_an_offered_creation_is_asked_about(talk) -> None:
    await with_properties(talk)
    requests = talk.workspace.agent._builtin._requests
    for offered, is_certain in (("open [@H4]", True), ("create_note name=Watch", False)):
        lines = ("move [@H4] folder=Library", offered)
        readings = [
            parse(line, requests.request_of("x", DialogState()).vocabulary.notes, ACTIONS) for line in lines
        ]
        question = Clarification("", tuple(ClarificationOption("", reading) for reading in readings))
        dialog = DialogState(focus=(H4,), open_note=OPEN, last=readings[0], question=question)
        request = requests.request_of("rating 4", dialog)
        assert parse_property_line(request, request.tokens)[0].is_certain == is_certain


@pytest.mark.parametrize(
    ("request_", "crew"),
    [
        ("crew Ann Weir and Bob Stone", ("Ann Weir", "Bob Stone")),
        ("crew Ann Weir, Bob Stone and Cy Dale", ("Ann Weir", "Bob Stone", "Cy Dale")),
    ],
)
async def test_a_list_property_takes_all_names(talk, request_, crew) -> None:
    listed = "---\ncrew: [Dee Moor, Eli Park]\n---\n"
    await fill(talk, Boats__Heron=listed, Boats__Tern=listed)
    await order(talk, "new instrument: Skiff", request_)
    assert all(name in text(talk, "Instruments/Skiff.md") for name in crew)
