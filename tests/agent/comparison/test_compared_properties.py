"""Searches by a date, an amount or a superlative whose property the vault decides: "rehearsals next week"."""

from __future__ import annotations

from datetime import datetime

import pytest

from app.agent.comparison import compared_properties
from app.agent.comparison.compared_properties import ComparedProperties
from app.agent.transcript import Notice, Question
from tests.agent.language.meaning.test_dialog import fill, names, say, talk
from tests.agent.language.test_described_notes import note

__all__ = ["talk"]
NOW = datetime(2026, 3, 18, 12)
NOTES = {
    "Rehearsals__Brass": note(date="2026-03-24", hall="North"),
    "Rehearsals__Strings": note(date="2026-03-19", hall="South"),
    "Rehearsals__Choir": note(date="2026-04-10", hall="North"),
    "Rehearsals__Winds": note(date="2026-02-03", hall="North"),
    "Loans__Harp": note(until="2026-12-01", price="900", serviced="2025-04-02"),
    "Loans__Tuba": note(until="2027-02-01", price="1200", serviced="2026-01-20"),
    "Loans__Organ": note(until="2026-01-31", price="4000"),
    "Tools__Drill": note(warranty="2026-01-15"),
    "Tools__Lathe": note(warranty="2027-06-01"),
    "Singers__Ada": note(birthday="1988-03-30"),
    "Singers__Ben": note(birthday="1990-05-04"),
}


async def found(talk, *requests: str) -> list[str]:
    """Return the names of the notes that the last of some requests finds without a question."""
    talk.workspace.agent._builtin._requests.now = lambda: NOW
    await fill(talk, **NOTES)
    replies = await say(talk, *requests)
    assert not isinstance(talk.items[-1], Question)
    return sorted(names(replies.results))


@pytest.mark.parametrize(
    ("request_text", "wanted"),
    [
        ("rehearsals next week", ["Brass"]),
        ("which rehearsals are in april?", ["Choir"]),
        ("rehearsals in february", ["Winds"]),
        ("which rehearsals are coming up?", ["Brass", "Choir", "Strings"]),
        ("loans over 1000", ["Organ", "Tuba"]),
        ("loans under a thousand", ["Harp"]),
        ("loans with a price of 1200 or more", ["Organ", "Tuba"]),
        ("loans with price 1200 or less", ["Harp", "Tuba"]),
        ("which loans are past their until date?", ["Organ"]),
        ("which tools are out of warranty?", ["Drill"]),
        ("tools out of warranty", ["Drill"]),
        ("loans not serviced this year", ["Harp", "Organ"]),
        ("whose birthday is in march?", ["Ada"]),
        ("Birthdays in may", ["Ben"]),
        ("who has birthday in march?", ["Ada"]),
        ("Geburtstage im März", ["Ada"]),
        ("which loans weren't serviced since last december?", ["Harp", "Organ"]),
        ("which loans haven't been serviced since last december?", ["Harp", "Organ"]),
        ("what else is out of warranty?", ["Drill"]),
        ("welche Loans sind im Dezember fällig?", ["Harp"]),
    ],
)
async def test_a_date_or_an_amount_is_that_of_the_notes(talk, request_text, wanted) -> None:
    assert await found(talk, request_text) == wanted


@pytest.mark.parametrize(
    ("request_text", "wanted"),
    [
        ("which loan is the cheapest?", "Harp"),
        ("the most expensive loan", "Organ"),
        ("which loan was serviced last?", "Tuba"),
        ("which loan was serviced first?", "Harp"),
    ],
)
async def test_a_superlative_reads_the_property_of_the_notes(talk, request_text, wanted) -> None:
    assert await found(talk, request_text) == [wanted]


@pytest.mark.parametrize(
    ("requests", "wanted"),
    [
        (("list the loans", "only those under 2000"), ["Harp", "Tuba"]),
        (("list the loans", "which of them were serviced this year?"), ["Tuba"]),
        (("list the rehearsals", "which are next week?"), ["Brass"]),
        (("loans over 1000", "show me the cheapest one"), ["Tuba"]),
        (("rehearsals in april", "and the ones in february?"), ["Winds"]),
        (("what was serviced this year?", "and the ones in april 2025?"), ["Harp"]),
    ],
)
async def test_a_list_is_narrowed_by_the_property_of_its_notes(talk, requests, wanted) -> None:
    assert await found(talk, *requests) == wanted


@pytest.mark.parametrize(
    "request_text",
    [
        "notes changed this week",
        "until is december 3",
        "loans in the north hall next week",
        "what was the price of the first loan?",
        "what's the price of the cheapest loan?",
        "the last loan by price",
    ],
)
async def test_other_requests_do_not_compare_properties(talk, request_text, monkeypatch) -> None:
    original, revised = ComparedProperties.with_compared_property, []

    async def record(self, interpretation, request):
        result = await original(self, interpretation, request)
        revised.append(result is not interpretation)
        return result

    monkeypatch.setattr(ComparedProperties, "with_compared_property", record)
    talk.workspace.agent._builtin._requests.now = lambda: NOW
    await fill(talk, **NOTES)
    await say(talk, request_text)
    assert revised and not any(revised)


@pytest.mark.parametrize(
    ("request_text", "wanted"),
    [
        ("list rehearsals by date", ["Winds", "Strings", "Brass", "Choir"]),
        ("rehearsals by date, newest first", ["Choir", "Brass", "Strings", "Winds"]),
    ],
)
async def test_notes_by_date_have_the_order_of_the_date_that_they_state(talk, request_text, wanted) -> None:
    await fill(talk, **NOTES)
    assert names((await say(talk, request_text)).results) == wanted


@pytest.mark.parametrize(
    ("request_text", "wanted"),
    [("what is the cheapest?", "Harp"), ("what was serviced most recently?", "Tuba")],
)
async def test_a_superlative_about_all_notes_reads_only_those_with_the_property(
    talk, monkeypatch, request_text, wanted
) -> None:
    monkeypatch.setattr(compared_properties, "_MAX_NOTES", 3)
    others = {f"Archive__Old {number}": note(hall="North") for number in range(4)}
    await fill(talk, **others)
    assert await found(talk, request_text) == [wanted]


async def test_some_notes_of_a_kind_show_the_property_of_a_comparison(talk, monkeypatch) -> None:
    monkeypatch.setattr(compared_properties, "_MAX_NOTES", 3)
    await fill(talk, **{f"Loans__Aged {number}": note(hall="North") for number in range(4)})
    assert await found(talk, "loans over 1000") == ["Organ", "Tuba"]


@pytest.mark.parametrize("request_text", ["loans past", "loans out of the", "which loans are past the"])
async def test_a_comparison_without_its_property_is_no_error(talk, request_text) -> None:
    talk.workspace.agent._builtin._requests.now = lambda: NOW
    await fill(talk, **NOTES)
    await say(talk, request_text)
    assert not any(isinstance(item, Notice) for item in talk.items)
