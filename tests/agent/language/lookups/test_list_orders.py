"""Lists in the order of a property."""

from __future__ import annotations

import pytest

from tests.agent.language.meaning.test_dialog import fill, names, order, say, talk, text

__all__ = ["talk"]


@pytest.mark.parametrize(
    ("request_text", "found"),
    [("the best films", ["Dune", "Alien", "Brazil"]), ("the worst films", ["Brazil", "Alien", "Dune"])],
)
async def test_the_best_films_are_all_films_in_order(talk, request_text, found) -> None:
    scores = {"Alien": 8, "Brazil": 7, "Dune": 9}
    films = {f"Films__{name}": f"---\ntags: [film]\nscore: {score}\n---\n" for name, score in scores.items()}
    await fill(talk, **films, **{"Weekly - BestXTools": "Tools."})
    replies = await order(talk, request_text)
    assert names(replies.results) == found


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("which of these is the longest?", "Brazil"),
        ("which of these is the shortest?", "Dune"),
        ("welche davon ist die längste?", "Brazil"),
    ],
)
async def test_the_longest_film_has_the_most_minutes(talk, request_text, found) -> None:
    minutes = {"Alien": 117, "Brazil": 143, "Dune": 98}
    texts = {name: f"---\nminutes: {own}\n---\n{'long ' * (200 - own)}" for name, own in minutes.items()}
    await fill(talk, **{f"Films__{name}": text for name, text in texts.items()})
    await say(talk, "= find [path:Films/]")
    replies = await order(talk, request_text)
    assert names(replies.results)[0] == found


async def test_the_longest_note_without_a_stated_length_has_the_most_text(talk) -> None:
    texts = {"Alien": "---\nminutes: 117\n---\n", "Brazil": "long " * 50, "Dune": "long"}
    await fill(talk, **{f"Films__{name}": text for name, text in texts.items()})
    await say(talk, "= find [path:Films/]")
    assert names((await order(talk, "the longest")).results) == ["Brazil"]


async def test_the_newest_of_listed_daily_notes_has_the_latest_day(talk) -> None:
    replies = await say(talk, "show my journal", "open the newest")
    assert names(replies.focus) == ["2026-03-16"]


@pytest.fixture
async def films(talk):
    scores = {"Alien": 8, "Brazil": 7, "Dune": 9, "Stalker": 6}
    texts = {name: f"---\nscore: {score}\n---\n{'long ' * len(name)}" for name, score in scores.items()}
    await fill(talk, **{f"Films__{name}": text for name, text in texts.items()})
    await say(talk, "= find [path:Films/]")


@pytest.mark.parametrize(
    ("requests", "found"),
    [
        (("and the second highest score?",), "Alien"),
        (("the highest score of these?", "and the second highest score?"), "Alien"),
        (("which one has the highest score?", "not that one, the next highest score"), "Alien"),
        (("und die zweitlängste?",), "Brazil"),
    ],
)
@pytest.mark.usefixtures("films")
async def test_the_second_in_an_order_is_one_note(talk, requests, found) -> None:
    replies = await say(talk, *requests)
    assert names(replies.results)[0] == found


@pytest.mark.usefixtures("films")
async def test_all_of_them_are_the_notes_of_the_whole_list(talk) -> None:
    await say(talk, "the highest score of these?")
    await order(talk, "tag all of them howto")
    assert all("howto" in text(talk, f"Films/{name}.md") for name in ("Alien", "Brazil", "Dune", "Stalker"))
