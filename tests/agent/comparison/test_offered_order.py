"""The change that a request more likely means is the first option of a question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.agent.comparison.offered_order import (
    with_named_note_first,
    with_note_in_talk,
    with_stated_value_first,
)
from app.agent.language.meaning.actions import ACTIONS
from app.agent.language.meaning.clarifications import question_for
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import parse, serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    NoteSet,
    PipelineStep,
    Reading,
)
from tests.agent.language.meaning.test_dialog import talk

__all__ = ["talk"]
H1, H3, H4 = "Instruments/H1.md", "Instruments/H3.md", "Instruments/H4.md"
LISTED = Reading((PipelineStep("find", NoteSet(query="path:Instruments/")),), 1.0)
STATE = DialogState(open_note=H1, results=(H3, H4), last=LISTED)


def request_of(talk, text, state=STATE):
    return talk.workspace.agent._builtin._requests.request_of(text, state)


def question(talk, *lines) -> Clarification:
    notes = request_of(talk, "x").vocabulary.notes
    readings = [parse(line, notes, ACTIONS) for line in lines]
    return Clarification("", tuple(ClarificationOption(serialize(own), own) for own in readings))


def steps(clarification) -> list[str]:
    return [serialize(option.reading) for option in clarification.options]


SET_ALL = "set_property [path:Instruments/] key=room value=S5"
SET_OPEN = "set_property [@Instruments/H1] key=room value=S5"
SET_LISTED = "set_property [@Instruments/H4] key=room value=S5"


def test_the_note_on_the_screen_comes_before_the_whole_list(talk) -> None:
    asked = question(talk, SET_ALL, SET_LISTED)
    for text in ("set the room to S5", "room S5", "setze room auf S5"):
        assert steps(with_note_in_talk(asked, request_of(talk, text))) == [SET_OPEN, SET_ALL, SET_LISTED], (
            text
        )


@pytest.mark.parametrize(
    "text",
    ["set their room to S5", "set the room of all of them to S5", "set room S5 in these", "alle auf room S5"],
)
def test_words_for_several_notes_mean_the_list(talk, text) -> None:
    asked = question(talk, SET_ALL, SET_LISTED)
    assert steps(with_note_in_talk(asked, request_of(talk, text))) == [SET_ALL, SET_LISTED]


def test_a_change_of_other_notes_than_the_list_stays_first(talk) -> None:
    asked = question(talk, "set_property [tag:instrument] key=room value=S5", SET_LISTED)
    assert with_note_in_talk(asked, request_of(talk, "set the room to S5")) == asked


def test_a_question_for_the_note_offers_the_one_on_the_screen(talk) -> None:
    step = PipelineStep("append", None, {"text": "Polished."})
    asked = Clarification("Which note?", (), Reading((step,), 1.0, missing="target"))
    offered = with_note_in_talk(asked, request_of(talk, "add to the text: Polished."))
    assert steps(offered) == ["append [@Instruments/H1] text=Polished."]
    assert offered.partial == asked.partial
    empty = DialogState()
    assert with_note_in_talk(asked, request_of(talk, "add to the text: Polished.", empty)) == asked


def test_a_change_comes_before_a_look_at_the_same_property(talk) -> None:
    lines = (
        "properties_of [@Instruments/H4] about=read",
        "set_property [@Instruments/H4] key=read value=true",
    )
    for text in ("mark it as read", "H4 is read now", "markiere es als read"):
        assert steps(with_stated_value_first(question(talk, *lines), request_of(talk, text))) == [
            *lines[::-1]
        ]
    for text in ("is it read?", "what is read in H4"):
        assert steps(with_stated_value_first(question(talk, *lines), request_of(talk, text))) == [*lines]


@pytest.mark.parametrize("text", ["set the room of Sextant to S5", "setze room von Sextant auf S5"])
def test_a_named_note_comes_before_the_others(talk, text) -> None:
    asked = question(talk, SET_LISTED, SET_ALL)
    wanted = "set_property [@Instruments/Sextant] key=room value=S5"
    assert steps(with_named_note_first(asked, request_of(talk, text))) == [wanted, SET_LISTED, SET_ALL]


def test_a_note_is_named_by_a_word_of_its_long_name(talk) -> None:
    asked = question(talk, SET_LISTED)
    offered = with_named_note_first(asked, request_of(talk, "set the room of the astronomy to S5"))
    assert steps(offered)[0] == "set_property [@Claims/Astronomy worked first on land] key=room value=S5"
    unnamed = replace(asked.options[0].reading.last, target=None)
    missing = Clarification("Which note?", (), Reading((unnamed,), 1.0, missing="target"))
    offered = with_named_note_first(missing, request_of(talk, "set the room of the astronomy to S5"))
    assert steps(offered) == ["set_property [@Claims/Astronomy worked first on land] key=room value=S5"]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("set_property [@H4] key=maker value=Kendall", "set the maker to Kendall"),
        ('append [@H4] text="Ask James Cook."', "add Ask James Cook."),
        ("set_property [@H4] key=room value=S5", "set the room of H4 to S5"),
        ("set_property [@H4] key=room value=S5", "set the chamber to S5"),
        ("properties_of [@H4] about=room", "the room of Sextant"),
    ],
)
def test_a_name_in_a_value_is_not_the_changed_note(talk, line, text) -> None:
    asked = question(talk, line)
    assert with_named_note_first(asked, request_of(talk, text)) == asked


@pytest.mark.parametrize(("order", "note"), [(with_note_in_talk, ""), (with_named_note_first, "of H4 ")])
def test_a_change_that_lacks_more_than_its_note_is_not_offered(talk, order, note) -> None:
    value = PipelineStep("set_property", None, {"value": "S5"})
    partial = Reading((value,), 0.5, missing="target")
    asked = Clarification(question_for(partial), (), partial)
    assert order(asked, request_of(talk, f"change {note}to S5")) == asked
    partial = replace(partial, steps=(value.with_argument("key", "room"),))
    asked = Clarification(question_for(partial), (), partial)
    assert order(asked, request_of(talk, f"change the room {note}to S5")).options
