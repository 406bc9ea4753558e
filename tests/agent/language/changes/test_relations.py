"""Requests that relate several notes; each relation is one change."""

from __future__ import annotations

import pytest

from app.agent.language.meaning.notation import serialize
from app.agent.transcript import Question
from tests.agent.language.meaning.test_dialog import OPEN, answers, order, say, talk, text

__all__ = ["talk"]
H1, H2, H3 = (f"Instruments/H{number}.md" for number in (1, 2, 3))


@pytest.mark.parametrize(
    ("before", "request_text", "relations"),
    [
        ("open H3", "link it to George Graham and James Cook", {H3: ("George Graham", "James Cook")}),
        ("open H3", "verlinke sie mit George Graham und James Cook", {H3: ("George Graham", "James Cook")}),
        ("open H3", "connect this note with H2, H3 and K1", {H1: ("H2", "H3", "K1")}),
        (
            "open H3",
            "link Octant to George Graham and to James Cook",
            {"Instruments/Octant.md": ("George Graham", "James Cook")},
        ),
        ("open H3", "relate H1 and H2 to James Cook as well", {H1: ("James Cook",), H2: ("James Cook",)}),
        ("show H1 and H2", "link them to James Cook", {H1: ("James Cook",), H2: ("James Cook",)}),
    ],
)
async def test_several_notes_are_related(talk, before, request_text, relations) -> None:
    await say(talk, before)
    changed = await say(talk, request_text)
    for path, names in relations.items():
        for name in names:
            assert f"- relates_to [[{name}]]" in text(talk, path)
    assert len(changed.changes) == sum(map(len, relations.values()))


async def test_several_notes_are_not_linked_to_each_other_without_a_first_one(talk) -> None:
    await say(talk, "link to George Graham and James Cook")
    assert all(f"- relates_to [[{name}]]" in text(talk, H1) for name in ("George Graham", "James Cook"))


@pytest.mark.parametrize(
    "request_text",
    [
        "link H1 and H2 to each other as related",
        "tag H1 and H2 mobile and link them to each other as related",
        "verbinde H1 und H2 miteinander",
    ],
)
async def test_two_notes_are_related_to_each_other(talk, request_text) -> None:
    await order(talk, request_text)
    assert "- relates_to [[H2]]" in text(talk, H1)


@pytest.mark.parametrize("request_text", ["link H1 to H1 and H2", "link it to H1 and H2"])
async def test_a_note_is_not_related_to_itself(talk, request_text) -> None:
    before = text(talk, H1)
    await say(talk, f"= open [@{H1.removesuffix('.md')}]", request_text)
    assert isinstance(talk.items[-1], Question)
    assert text(talk, OPEN) == before


async def test_unknown_words_are_not_left_out(talk) -> None:
    before = text(talk, H1)
    await say(talk, "link H1 to H2 and the flurble", "connect H1 with H2 to K1")
    assert text(talk, H1) == before


@pytest.mark.parametrize(
    ("before", "request_text"),
    [
        ("open H3", "link it from H2"),
        ("open H3", "add a link to it in H2"),
        ("open H1", "link H3 from H2"),
        ("show H3 and H1", "link the first one from H2"),
        ("öffne H3", "verlinke sie von H2 aus"),
        ("öffne H3", "setz einen Link auf H3 in H2"),
    ],
)
async def test_a_link_from_another_note_is_one_of_that_note(talk, before, request_text) -> None:
    known = text(talk, H3)
    await order(talk, before, request_text)
    assert "- relates_to [[H3]]" in text(talk, H2) and text(talk, H3) == known


async def test_a_note_without_another_one_is_never_related_to_itself(talk) -> None:
    known = text(talk, H3)
    await say(talk, "open H3", "link it")
    assert isinstance(talk.items[-1], Question)
    assert talk.items[-1].text == "Which note should it be linked to?"
    await say(talk, "H2")
    assert "- relates_to [[H2]]" in text(talk, H3) != known


@pytest.mark.parametrize(
    ("request_text", "target"),
    [
        ("is H3 linked from H2?", '[@Instruments/H3 & linked-from:"Instruments/H2"]'),
        ("is the first one linked from H2?", '[@Instruments/H3 & linked-from:"Instruments/H2"]'),
        (
            "are any of them linked from H2?",
            '[@Instruments/H3, @Instruments/H1 & linked-from:"Instruments/H2"]',
        ),
        ("are any of them linked anywhere?", '[@Instruments/H3, @Instruments/H1 & backlinks:""]'),
        ("does H3 link to H2?", '[@Instruments/H3 & links-to:"Instruments/H2"]'),
        ("ist H3 von H2 aus verlinkt?", '[@Instruments/H3 & linked-from:"Instruments/H2"]'),
        ("ist H3 irgendwo verlinkt?", '[@Instruments/H3 & backlinks:""]'),
        ("verweist H3 auf H2?", '[@Instruments/H3 & links-to:"Instruments/H2"]'),
    ],
)
async def test_a_question_about_a_link_is_about_these_notes(talk, request_text, target) -> None:
    await say(talk, "= find [@H3, @H1]")
    replies = await say(talk, request_text)
    assert serialize(replies.last) == f"find {target}"


async def test_a_link_that_is_missing_is_denied(talk) -> None:
    await say(talk, "is James Cook linked from H2?")
    assert answers(talk)[-1].endswith("|James Cook]] does not match.")


@pytest.mark.parametrize("request_text", ["add a link to H2 there", "add a link to H2 to it"])
async def test_a_link_there_may_be_a_text_or_a_relation(talk, request_text) -> None:
    await say(talk, "open H3", request_text)
    question = talk.items[-1]
    assert isinstance(question, Question)
    await say(talk, question.choices[0].reply)
    assert text(talk, H3).endswith("[[H2]]\n") and "relates_to [[H2]]" not in text(talk, H3)
