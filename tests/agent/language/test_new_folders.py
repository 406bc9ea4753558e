"""Requests that create a folder for notes, and short requests for a note of some kind."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.test_dialog import say, talk, text

__all__ = ["talk"]


@pytest.mark.parametrize(
    "request_",
    [
        "create a folder Old clocks and move H4 into it",
        "make a new folder called Old clocks and put H4 there",
        "erstelle einen Ordner Old clocks und verschiebe H4 hinein",
    ],
)
async def test_a_note_moves_into_a_new_folder(talk, request_) -> None:
    await say(talk, "open K1", request_)
    assert text(talk, "Old clocks/H4.md")


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ("new instrument: Tide gauge", "Instruments/Tide gauge.md"),
        ("new instrument Tide gauge: measures the tide", "Instruments/Tide gauge.md"),
        ("new person: Inga Solberg, lecturer at the university", "People/Inga Solberg.md"),
    ],
)
async def test_a_note_of_a_kind_is_created_in_its_folder(talk, request_, path) -> None:
    await say(talk, request_)
    question = talk.items[-1]
    if isinstance(question, Question):
        await say(talk, question.choices[0].reply)
    assert text(talk, path)


async def test_a_pronoun_is_no_name_of_a_new_note(talk) -> None:
    done = await say(talk, "open H4", "create her in People with the person template")
    assert not done.changes


async def test_another_note_moves_to_the_folder_of_the_last_move(talk) -> None:
    await say(talk, "create a folder Old clocks and move H4 into it", "move K1 there as well")
    assert text(talk, "Old clocks/K1.md")
