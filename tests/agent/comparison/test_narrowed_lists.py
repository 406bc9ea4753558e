"""Requests that narrow the list just shown, or sort it by a property of its notes."""

from __future__ import annotations

from datetime import datetime

import pytest

from app.agent.transcript import Question
from tests.agent.language.meaning.test_dialog import fill, names, say, state, talk
from tests.agent.language.test_described_notes import note

__all__ = ["talk"]
NOW = datetime(2026, 3, 18, 12)
NOTES = {
    "Walks__Ridge": note(minutes="150", stars="3", serves="4", year="2012", mood="calm"),
    "Walks__Shore": note(minutes="40", stars="5", serves="2", year="2019", mood="calm"),
    "Walks__Marsh": note(minutes="55", stars="4", serves="6", year="2008", mood="wild"),
    "Walks__Mill": note(minutes="90", stars="4", serves="3", year="2021", mood="wild"),
    "Tours__City": note(minutes="20", stars="4", year="2001", mood="calm"),
    "Tours__Castle": note(minutes="200", stars="4", year="2024", mood="wild"),
}


async def first(talk, *requests: str) -> list[str]:
    """Return the notes that the last of some requests finds, with the first option if it is a question."""
    talk.workspace.agent._builtin._requests.now = lambda: NOW
    await fill(talk, **NOTES)
    replies = await say(talk, *requests)
    if isinstance(talk.items[-1], Question):
        replies = await say(talk, talk.items[-1].choices[0].reply)
    return sorted(names(replies.results))


@pytest.mark.parametrize(
    ("request_text", "wanted"),
    [
        ("from before 2015?", ["Marsh", "Ridge"]),
        ("only those from before 2015", ["Marsh", "Ridge"]),
        ("the ones after 2015", ["Mill", "Shore"]),
        ("which of them is the oldest", ["Marsh"]),
        ("and the newest?", ["Mill"]),
        ("which of them takes the longest", ["Ridge"]),
        ("which of them were calm", ["Ridge", "Shore"]),
    ],
)
async def test_a_list_is_narrowed_by_its_own_properties(talk, request_text, wanted) -> None:
    assert await first(talk, "= find [path:Walks/]", request_text) == wanted


async def test_a_new_question_is_not_about_the_list(talk) -> None:
    await first(talk, "= find [path:Walks/]", "what is the oldest note in the vault")
    last = state(talk).last
    assert last is not None
    assert last.last.target is not None
    assert last.last.target.source != "previous"
    assert not last.last.target.notes
