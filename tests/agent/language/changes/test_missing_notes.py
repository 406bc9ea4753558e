"""Requests about a note that the vault lacks."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.meaning.test_dialog import say, talk, text

__all__ = ["talk"]


@pytest.mark.parametrize(
    ("request_", "path", "written"),
    [
        ("add milk to Shopping", "Shopping.md", "milk"),
        ("put rice and beans on the grocery list", "Grocery list.md", "- rice\n- beans"),
        ("write call the printer in my todo list", "Todo list.md", "- call the printer"),
        ('add "back in May" to Plans 2027', "Plans 2027.md", "back in May"),
        ("append pack the tent to Camping", "Camping.md", "pack the tent"),
        ("add a task to Garden: water the roses", "Garden.md", "- [ ] water the roses"),
        ("schreib Reis und Bohnen auf die Einkaufsliste", "Einkaufsliste.md", "- Reis\n- Bohnen"),
        ("füge Salz zur Einkaufsliste hinzu", "Einkaufsliste.md", "- Salz"),
    ],
)
async def test_a_missing_note_is_created_with_the_text_after_a_question(
    talk, request_, path, written
) -> None:
    await say(talk, request_)
    question = talk.items[-1]
    assert isinstance(question, Question)
    assert path.removesuffix(".md") in question.text
    await say(talk, question.choices[0].reply)
    assert text(talk, path).rstrip().endswith(written)


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ("set the status of Harbour trip to done", "Harbour trip"),
        ("add the tag blue to Harbour trip", "Harbour trip"),
    ],
)
async def test_the_note_in_focus_does_not_replace_a_missing_one(talk, request_, name) -> None:
    await say(talk, "open H4", request_)
    question = talk.items[-1]
    assert isinstance(question, Question)
    assert name in question.text
    assert not question.choices


@pytest.mark.parametrize(
    "request_",
    [
        "write a friendly letter to Carmen about the bill",
        "write me five questions on the Longitude Act for children",
        'add "stolen twice" to it',
        "add the tag blue to H1",
        "add a line to H4 that it was stolen in London",
        "put it in Instruments",
    ],
)
async def test_other_requests_create_no_note(talk, request_) -> None:
    names = {str(path) for path in talk.workspace.index.note_paths()}
    await say(talk, "open K1", request_)
    question = talk.items[-1]
    assert not (isinstance(question, Question) and "Create it?" in question.text)
    assert {str(path) for path in talk.workspace.index.note_paths()} == names


@pytest.mark.parametrize("request_", ["create the heat pump one", "make the pump one"])
async def test_words_of_a_listed_name_name_the_missing_note(talk, request_) -> None:
    await say(talk, '= append [@Instruments/H1] text="[[Heat Pump Quotes]] and [[Greenhouse]]"')
    await say(talk, "which links go nowhere", request_)
    if isinstance(question := talk.items[-1], Question):
        await say(talk, question.choices[0].reply)
    assert text(talk, "Heat Pump Quotes.md").startswith("# Heat Pump Quotes")


async def test_without_a_list_the_words_name_no_missing_note(talk) -> None:
    await say(talk, '= append [@Instruments/H1] text="[[Heat Pump Quotes]]"', "create the heat pump one")
    question = talk.items[-1]
    assert isinstance(question, Question)
    assert not any("Heat Pump Quotes" in choice.label for choice in question.choices)
