"""A line is added to the note in focus; without its text, the agent asks for it."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.test_dialog import OPEN, order, say, talk, text

__all__ = ["talk"]


@pytest.mark.parametrize(
    ("request_text", "question"),
    [
        ("add a line at the end", "Which text?"),
        ("add another line to the end of this note", "Which text?"),
        ("füge am Ende eine Zeile hinzu", "Welcher Text?"),
    ],
)
async def test_the_text_of_a_line_is_asked_for(talk, request_text, question) -> None:
    known = text(talk, OPEN)
    await say(talk, request_text)
    assert isinstance(talk.items[-1], Question) and talk.items[-1].text == question
    await say(talk, "The end of the story")
    assert text(talk, OPEN).startswith(known.rstrip("\n")) and "The end of the story" in text(talk, OPEN)


@pytest.mark.parametrize(
    "request_text",
    [
        "add a line at the end: Needs review before release",
        "add a new line: Needs review before release",
        "füge unten eine Zeile an: Needs review before release",
    ],
)
async def test_the_text_follows_a_colon(talk, request_text) -> None:
    known = text(talk, OPEN)
    await order(talk, request_text)
    added = text(talk, OPEN).removeprefix(known.rstrip("\n"))
    assert "Needs review before release" in added and "end" not in added


async def test_a_line_at_the_top_is_the_first_one(talk) -> None:
    await say(talk, "add a line at the top: Needs review")
    assert text(talk, OPEN).index("Needs review") < text(talk, OPEN).index("# H1")


@pytest.mark.parametrize(
    "request_text", ["add a line at the end of H3", "füge eine Zeile am Ende von H3 hinzu"]
)
async def test_a_line_is_added_to_the_named_note(talk, request_text) -> None:
    known = text(talk, OPEN)
    await say(talk, request_text, "Seventeen years of work")
    assert "Seventeen years of work" in text(talk, "Instruments/H3.md") and text(talk, OPEN) == known
