"""Texts before their place: the start or end of a note, or a heading."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.meaning.test_dialog import fill, say, talk, text

__all__ = ["talk"]
BODY = "Rain.\n\n## What we know\nLittle.\n\n## Tools\n- rope\n"


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ('add "Dry again." at the end', f"{BODY}\nDry again.\n"),
        ('write "Dry again." at the very top', f"Dry again.\n{BODY}"),
        ('add "Dry again." at the end of Barn', f"{BODY}\nDry again.\n"),
        ("add a remark at the end: Dry again.", f"{BODY}\nDry again.\n"),
        ('add "Much." under What we know', BODY.replace("Little.\n", "Little.\nMuch.\n")),
        ("add 2 wet ladders to the tools section", BODY.replace("rope\n", "rope\n- 2 wet ladders\n")),
        ("put lamp oil in the tools section of Barn", BODY.replace("rope\n", "rope\n- lamp oil\n")),
        ("add - swept at 3", f"{BODY}- swept at 3\n"),
        ('Füge "Trocken." ganz am Ende hinzu', f"{BODY}\nTrocken.\n"),
    ],
)
async def test_a_text_stands_before_its_place(talk, request_text, expected) -> None:
    await fill(talk, Barn=BODY)
    await say(talk, "open Barn", request_text)
    assert text(talk, "Barn.md").replace("\n\n", "\n") == expected.replace("\n\n", "\n")


@pytest.mark.parametrize(
    "request_text", ["add a link to H1 at the end", "add a line at the end", "add tag x"]
)
async def test_a_noun_is_no_text(talk, request_text) -> None:
    await fill(talk, Barn=BODY)
    await say(talk, "open Barn", request_text)
    assert text(talk, "Barn.md").endswith(BODY)


async def test_a_new_heading_is_not_taken_for_a_name(talk) -> None:
    await say(talk, 'write "ask Joe" in the H4 note under a new heading Questions')
    assert isinstance(talk.items[-1], Question)


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        ("write: the crew meets at five", "the crew meets at five"),
        ("add a line: the crew meets at five", "the crew meets at five"),
        ('add "the crew meets at five" to it', "the crew meets at five"),
        ("schreib dazu: die Crew kommt um fünf", "die Crew kommt um fünf"),
        ("add: varnish the oars", "- [ ] varnish the oars"),
    ],
)
async def test_a_remark_below_tasks_is_no_task(talk, request_, line) -> None:
    await fill(talk, Boat="# Boat\n\n- [ ] mend the sail\n- [ ] paint the hull\n- [ ] buy rope\n")
    await say(talk, "open Boat", request_)
    assert line in text(talk, "Boat.md").splitlines()


@pytest.mark.parametrize(
    "request_text",
    [
        "add pegs at the top of the tools section",
        'add "pegs" at the top of the tools section',
        "schreib Seile an den Anfang des Abschnitts Tools",
    ],
)
async def test_a_text_for_the_start_of_a_section_is_not_added_to_its_end(talk, request_text) -> None:
    await fill(talk, Barn=BODY)
    await say(talk, "open Barn", request_text)
    assert text(talk, "Barn.md") == BODY
    question = talk.items[-1]
    offered = [choice.reply for choice in question.choices] if isinstance(question, Question) else []
    assert not any("append" in reply and "tools" in reply.casefold() for reply in offered[:1]), offered
