"""Searches that describe notes by checkboxes, dates, places and ages, which the vault gives a meaning."""

from __future__ import annotations

import pytest

from app.agent.language.meaning.notation import serialize
from app.agent.language.words.vault_words import VaultWords
from app.agent.language.words.vocabulary import Vocabulary
from app.agent.transcript import AgentText, Question
from app.index.resolver import Resolver
from app.vault.path import NotePath
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import answers, fill, names, say, state, talk, text

__all__ = ["talk"]


def note(body: str = "", **properties: object) -> str:
    """Return the text of a note with properties."""
    lines = "".join(f"{key}: {value}\n" for key, value in properties.items())
    return f"---\n{lines}---\n{body}\n"


VENDORS = {
    "Vendors__Ashdown": note(contract="true", support="true", tested="2026-02-10"),
    "Vendors__Brook": note(contract="false", support="false", tested="2025-11-02"),
    "Vendors__Corn": note(contract="false", support="true", tested="2025-10-05"),
    "Vendors__Dale": note(support="true", rating="3"),
}
CHECKBOXES = {
    "vendors with a contract": ["Ashdown"],
    "vendors without a contract": ["Brook", "Corn", "Dale"],
    "vendors without support": ["Brook"],
    "which vendors have a contract?": ["Ashdown"],
}


@pytest.mark.parametrize(("request_text", "found"), CHECKBOXES.items())
async def test_with_a_checkbox_means_that_it_is_checked(talk, request_text, found) -> None:
    await fill(talk, **VENDORS)
    replies = await say(talk, request_text)
    assert sorted(names(replies.results)) == found


@pytest.mark.parametrize(
    ("request_text", "count"),
    [("how many vendors have support?", 3), ("how many vendors have a contract?", 1)],
)
async def test_checked_checkboxes_are_counted(talk, request_text, count) -> None:
    await fill(talk, **VENDORS)
    await say(talk, request_text)
    assert answers(talk)[-1].startswith(f"{count} note")


async def test_a_checkbox_property_is_found_by_its_name(talk) -> None:
    await fill(talk, **VENDORS)
    replies = await say(talk, "vendors with a contract property")
    assert sorted(names(replies.results)) == ["Ashdown", "Brook", "Corn"]


async def test_a_folder_after_a_lacking_property_is_no_value(talk) -> None:
    await fill(talk, **VENDORS, Other=note(motto="x"))
    replies = await say(talk, "notes without a rating in Vendors")
    assert sorted(names(replies.results)) == ["Ashdown", "Brook", "Corn"]


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("vendors tested since January 2026", ["Ashdown"]),
        ("vendors tested before November 2025", ["Corn"]),
    ],
)
async def test_a_month_after_a_property_is_a_date(talk, request_text, found) -> None:
    await fill(talk, **VENDORS)
    replies = await say(talk, request_text)
    assert sorted(names(replies.results)) == found


async def test_a_deadline_before_a_year_is_in_the_past(talk) -> None:
    jobs = {"Jobs__Old": note(deadline="2019-05-01"), "Jobs__New": note(deadline="2031-05-01")}
    await fill(talk, **jobs)
    replies = await say(talk, "jobs with a deadline before 2026")
    assert names(replies.results) == ["Old"]


async def test_a_month_with_a_year_is_no_similar_name(talk) -> None:
    meetings = {
        "Meetings__Planning": note("With [[Ellie Marsh]].", date="2024-01-05"),
        "Meetings__Review": note("", date="2024-03-05"),
    }
    await fill(talk, **meetings, People__Ellie_Marsh=note())
    replies = await say(talk, "meetings in March 2024")
    if isinstance(talk.items[-1], Question):
        assert not any("Marsh" in choice for choice in choices(talk))
        replies = await say(talk, f"= {choices(talk)[0]}")
    assert names(replies.results) == ["Review"]


BOATS = {
    "Boats__Wren": note(kind="boat", built=2021, price=900),
    "Boats__Old_Faithful": note(kind="boat", built=1932, price=12000),
    "Boats__Pip": note(kind="boat", built=1999, price=300),
}


@pytest.mark.parametrize(
    ("requests", "found"),
    [
        (["which boat is the oldest?"], "Old Faithful"),
        (["the newest boat"], "Wren"),
        (["which boat is the oldest?", "and the newest?"], "Wren"),
    ],
)
async def test_the_age_of_boats_is_when_they_were_built(talk, requests, found) -> None:
    await fill(talk, **BOATS)
    replies = await say(talk, *requests)
    assert names(replies.results) == [found]


@pytest.mark.parametrize(
    ("before", "request_text", "found"),
    [
        ("most expensive", "and the cheapest?", "Pip"),
        ("cheapest", "and the most expensive one?", "Old Faithful"),
        ("most expensive", "und das billigste?", "Pip"),
    ],
)
async def test_the_other_end_of_an_order_is_another_note(talk, before, request_text, found) -> None:
    await fill(talk, **BOATS)
    order = "price" if before == "most expensive" else "-price"
    await say(talk, f"= find [path:Boats/] order={order} limit=1", request_text)
    assert names(state(talk).results) == [found]


@pytest.mark.parametrize("request_text", ["and the cheapest?", "und das billigste?"])
async def test_the_end_of_another_order_is_that_of_all_notes(talk, request_text) -> None:
    await fill(talk, **BOATS)
    await say(talk, "= find [path:Boats/] order=built limit=1", request_text)
    assert names(state(talk).results) == ["Pip"]


async def test_an_exact_tag_wins_over_a_similar_folder(talk) -> None:
    plants = {"Plants__Rose": note(tags="[pot]"), "Plants__Oak": note(tags="[tree]")}
    await fill(talk, **plants, Pets__Miso=note())
    replies = await say(talk, "list my plants in pots")
    assert names(replies.results) == ["Rose"]
    replies = await say(talk, "notes in the pests folder")
    assert names(replies.results) == ["Miso"]


async def test_a_statement_about_an_empty_thing_is_no_search_for_empty_notes(talk) -> None:
    await say(talk, "and the hall tin is empty")
    assert not any("content" in choice for choice in choices(talk))


@pytest.mark.parametrize("request_text", ["my tasks for next week?", "meine Aufgaben für nächste Woche"])
async def test_tasks_for_a_week_are_those_due_in_it(talk, request_text) -> None:
    await say(talk, request_text)
    step = state(talk).last.last
    assert step.action == "list_tasks" and ".." in step.arguments["due"] and "query" not in step.arguments


@pytest.mark.parametrize(
    "request_text",
    [
        "add to today's note: dentist at four",
        "add to my daily note: dentist at four",
        "füge zur heutigen Notiz hinzu: dentist at four",
        "füge zu meiner Tagesnotiz hinzu: dentist at four",
    ],
)
async def test_a_missing_daily_note_is_created_after_a_question(talk, request_text) -> None:
    await say(talk, request_text)
    (choice,) = choices(talk)
    await say(talk, f"= {choice}")
    created = state(talk).changes[-1].notes[0]
    assert created.startswith("Journal/20") and text(talk, created) == "dentist at four\n"


@pytest.mark.parametrize(
    ("name", "is_day"), [("2026-11-29", True), ("2026-11", False), ("2026_11_29", False)]
)
def test_a_day_is_named_as_the_daily_notes(name, is_day) -> None:
    resolver = Resolver()
    assert not Vocabulary(resolver, VaultWords()).names_day(name)
    resolver.add(NotePath("Daily/2020-01-05.md"))
    assert Vocabulary(resolver, VaultWords()).names_day(name) is is_day


STORIES = {
    "Stories__Quarry": note(due="2031-03-20", story="urgent"),
    "Stories__Ferry": note(due="2031-05-02"),
    "Claims__Dust": note(due="2031-03-21", story="due"),
}


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("which stories are due in March 2031?", ["Quarry"]),
        ("which stories are due on 2 May 2031?", ["Ferry"]),
        ("which stories are due?", ["Ferry", "Quarry"]),
    ],
)
async def test_what_is_due_in_a_period_has_a_due_date_in_it(talk, request_text, found) -> None:
    await fill(talk, **STORIES)
    replies = await say(talk, request_text)
    assert sorted(names(replies.results)) == found


async def test_a_kind_is_not_the_property_of_the_same_name(talk) -> None:
    await fill(talk, **STORIES)
    replies = await say(talk, "which stories are urgent?")
    assert names(replies.results) == ["Quarry"]


async def test_a_note_is_not_the_value_that_begins_its_name(talk) -> None:
    notes = {
        "Places__Saltfleet_Marsh": note(),
        "Sightings__One": note(place='"[[Saltfleet Marsh]]"'),
        "Sightings__Two": note(place='"[[Hallow Moor]]"'),
        "People__Joan": note(town="Saltfleet"),
        "People__Tobias": note(town="Saltfleet"),
    }
    await fill(talk, **notes, Places__Hallow_Moor=note())
    await say(talk, "sightings at Saltfleet Marsh")
    assert serialize(state(talk).last) == 'find [path:Sightings/ [place:"Saltfleet Marsh"]]'
    assert isinstance(talk.items[-1], AgentText)
