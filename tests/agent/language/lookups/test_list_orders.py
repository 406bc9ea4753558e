"""Lists in the order of a property."""

from __future__ import annotations

import pytest

from app.agent.language.lookups.list_orders import asks_for_age, by_age
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from tests.agent.language.meaning.test_dialog import fill, names, order, say, state, talk, text

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


@pytest.mark.parametrize(
    ("properties", "request_text", "found"),
    [
        ("km", "the longest one?", "Tarn"),
        ("km", "and the shortest?", "Quay"),
        ("distance", "which of them was the longest", "Tarn"),
        ("strecke", "welche davon ist die längste?", "Tarn"),
        ("km minutes", "the longest one?", "Tarn"),  # the list was searched by it
        ("wind", "the longest one?", "Quay"),
    ],
)
async def test_the_longest_run_has_the_longest_distance(talk, properties, request_text, found) -> None:
    name, *other = properties.split()
    for run, distance in {"Quay": 8, "Ridge": 14, "Tarn": 21}.items():
        minutes = f"{other[0]}: {90 - distance}\n" if other else ""
        own_text = f"---\n{name}: {distance}\n{minutes}---\n{'x ' * (40 - distance)}"
        await fill(talk, **{f"Runs__{run}": own_text})
    await say(talk, f"= find [path:Runs/{f' [{name}:>5]' if name != 'wind' else ''}]")
    assert names((await order(talk, request_text)).results)[0] == found


async def test_the_oldest_person_has_the_highest_age(talk) -> None:
    for name, age in {"Ada": 44, "Ben": 310, "Cleo": 90}.items():
        await fill(talk, **{f"People__{name}": f"---\ntype: hero\nage: {age}\n---\n"})
    replies = await say(talk, "who is the oldest hero?")
    assert names(replies.results) == ["Ben"]


@pytest.mark.parametrize(
    ("request_text", "order", "found"),
    [
        ("which one is the oldest of these", "value", "Nord"),
        ("the oldest of these", "built", "Nord"),
        ("which of them is the youngest", "value", "Kite"),
        ("welches davon ist das älteste?", "value", "Nord"),
        ("the oldest of these by value", "value", "Bear"),
    ],
)
async def test_the_oldest_boat_is_the_one_built_first(talk, request_text, order, found) -> None:
    boats = {"Nord": (1990, 12000), "Bear": (2001, 9500), "Kite": (2015, 11000)}
    texts = {name: f"---\nbuilt: {built}\nvalue: {value}\n---\n" for name, (built, value) in boats.items()}
    await fill(talk, **{f"Boats__{name}": text for name, text in texts.items()})
    await say(talk, "= find [path:Boats/ [value:>9000]]")
    request = talk.workspace.agent._builtin._requests.request_of(request_text, state(talk))
    notes = tuple(f"Boats/{name}.md" for name in boats)
    target = NoteSet(notes=notes, order="-value" if "by value" in request_text else order, limit=1)
    reading = Reading((PipelineStep("find", target),), 1.0)
    properties_of = {
        path: {"built": built, "value": value}
        for path, (built, value) in zip(notes, boats.values(), strict=True)
    }
    if asks_for_age(request, reading):
        reading = by_age(request, reading, notes, properties_of.__getitem__)
    replies = await say(talk, f"= {serialize(reading)}")
    assert names(replies.results) == [found]


@pytest.mark.parametrize("property_name", ["bought", "made"])
async def test_the_oldest_tool_was_bought_or_made_first(talk, property_name) -> None:
    for tool, year in {"Adze": 2012, "Plane": 1999, "Vise": 2020}.items():
        await fill(talk, **{f"Tools__{tool}": f"---\n{property_name}: {year}\nprice: {year - 1000}\n---\n"})
    await say(talk, "= find [path:Tools/ [price:>5]] order=price")
    assert names((await order(talk, "which of these is the oldest?")).results)[0] == "Plane"


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
