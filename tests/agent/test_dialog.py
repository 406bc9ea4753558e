"""Conversations with the built-in agent: pronouns, sets in an order, and what the next request works on."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from app.vault.path import NotePath
from tests.agent.test_session import talk

__all__ = ["talk"]
OPEN = "Instruments/H1.md"


def state(talk):
    return talk.workspace.agent._builtin._states[(talk.id, "")]


async def say(talk, *requests):
    for text in requests:
        await talk.say(text, open_note=OPEN)
    return state(talk)


def names(paths):
    return [path.rpartition("/")[2].removesuffix(".md") for path in paths]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the earliest event", ["Paramore voyages"]),
        ("who are the three oldest people, by birth date?", ["Gemma Frisius", "Galileo Galilei"]),
        ("top 2 most linked-to claims", ["Timekeepers beat the Moon", "The Moon was good enough"]),
        ("show the claim with the lowest confidence", ["Everything came from H4"]),
        ("sources before 1800, newest first", ["Nautical Almanac", "Board minutes", "過洋牽星圖"]),
        ("which notes link to both H4 and John Harrison?", ["Marine chronometer"]),
    ],
)
async def test_a_set_has_the_order_and_the_size_that_are_asked_for(talk, text, wanted) -> None:
    found = await say(talk, text)
    assert set(wanted) <= set(names(found.results))
    if len(found.results) == len(wanted):
        assert names(found.results) == wanted
    assert len(found.results) <= 3


async def test_a_part_of_a_listed_set_is_what_the_next_request_works_on(talk) -> None:
    await say(talk, "hypotheses sorted by confidence, lowest first")
    listed = state(talk).results
    found = await say(talk, "just the bottom two")
    assert found.results == listed[:2]
    found = await say(talk, "claims", "only the first three please", "the newest one")
    assert len(found.results) == 1 and found.focus == found.results
    found = await say(talk, "tag it astro")
    assert found.last.last.target.notes == found.focus and len(found.changes) == 1


async def test_it_is_never_the_open_note_after_a_note_that_is_missing(talk) -> None:
    missing = ("create a note called H4 in Instruments", "notes about gyroscopes", "flurble the gronk")
    for text in missing:
        await say(talk, text)
        before = state(talk).changes
        await say(talk, "tag it navigation")
        assert state(talk).changes == before, text
        assert isinstance(talk.items[-1], Question), text
    assert b"navigation" not in talk.workspace.store.read(NotePath(OPEN))


async def test_it_is_the_note_on_the_screen_while_no_other_was_meant(talk) -> None:
    found = await say(talk, "tag it navigation")
    assert found.focus == (OPEN,) and len(found.changes) == 1
