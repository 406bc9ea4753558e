"""A list of notes that name or state dates is continued for another period."""

from __future__ import annotations

import os

import pytest

from tests.agent.language.meaning.test_dialog import answers, fill, fill_library, names, say, state, talk

__all__ = ["talk"]


async def fill_journals(talk) -> None:
    days = ("2020-10-01", "2021-03-01", "2021-03-08", "2021-04-19")
    await fill(talk, **{f"Journal__{day}": "A day." for day in days})


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("and in 2020?", ["2020-10-01"]),
        ("and in 2020-10?", ["2020-10-01"]),
        ("only March", ["2021-03-01", "2021-03-08"]),
        ("only the ones from March please", ["2021-03-01", "2021-03-08"]),
        ("what about April instead?", ["2021-04-19"]),
        ("und 2020?", ["2020-10-01"]),
        ("nur März", ["2021-03-01", "2021-03-08"]),
    ],
)
async def test_another_period_replaces_that_of_the_names(talk, request_text, found) -> None:
    await fill_journals(talk)
    replies = await say(talk, "list the journal entries of 2021", request_text)
    assert sorted(names(replies.results)) == found


async def test_a_list_is_continued_after_its_notes_were_counted(talk) -> None:
    await fill_journals(talk)
    replies = await say(talk, "list the journal entries of 2021", "how many are there?", "and in 2020?")
    assert names(replies.results) == ["2020-10-01"]


async def test_a_year_replaces_that_of_a_property(talk) -> None:
    await fill_library(talk)
    await say(talk, "movies from 1999")
    assert names(state(talk).results) == ["Alien"]
    replies = await say(talk, "and 1985?")
    assert names(replies.results) == ["Brazil"]


async def test_another_period_of_a_change_is_one_of_changes(talk) -> None:
    replies = await say(talk, "notes changed in March 2021", "and in April 2021?")
    assert replies.last.last.target.query == "modified:>=2021-04-01 modified:<=2021-04-30"


@pytest.mark.parametrize(
    ("requests", "found"),
    [
        (["only those from 2016"], ["Inventing"]),
        (["only those from May 2016"], ["Inventing"]),
        (["only those from 1990", "only those by Ada Lane"], ["Machines"]),
    ],
)
async def test_a_list_is_narrowed_by_the_dates_that_its_notes_state(talk, requests, found) -> None:
    await fill_library(talk)
    replies = await say(talk, "list the books", *requests)
    assert names(replies.results) == found


async def test_a_word_for_a_change_means_the_time_of_the_change(talk) -> None:
    await fill_library(talk)
    replies = await say(talk, "list the books", "only those changed in 2016")
    assert answers(talk)[-1] == "None of these 2 notes match." and len(replies.results) == 2


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("list the books and the movies", ["Alien", "Brazil", "Inventing", "Machines"]),
        ("list books and movies", ["Alien", "Brazil", "Inventing", "Machines"]),
        ("zeig die Filme und die Podcasts", ["Alien", "Brazil", "Well Made"]),
    ],
)
async def test_two_kinds_joined_by_and_are_the_notes_of_both(talk, request_text, found) -> None:
    await fill_library(talk)
    replies = await say(talk, request_text)
    assert sorted(names(replies.results)) == found


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("what did I write in March 2021?", ["2021-03-01", "2021-03-08"]),
        ("was habe ich im März 2021 geschrieben?", ["2021-03-01", "2021-03-08"]),
        ("notes from 2021-04-19", ["2021-04-19"]),
        ("notes changed in March 2021", []),
        ("notes created in March 2021", []),
    ],
)
async def test_notes_are_found_by_the_days_in_their_names_if_none_was_changed_then(
    talk, request_text, found
) -> None:
    await fill_journals(talk)
    replies = await say(talk, request_text)
    assert sorted(names(replies.results)) == found


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("the latest journal entry", ["2026-03-16"]),
        ("my last two journal entries", ["2026-03-16", "2026-03-09"]),
        ("the most recently changed journal entry", ["2020-10-01"]),
    ],
)
async def test_the_latest_daily_note_has_the_latest_day(talk, request_text, found) -> None:
    await fill_journals(talk)
    path = talk.workspace.root / "Journal" / "2020-10-01.md"
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime + 60))
    await talk.workspace.index.scan()
    replies = await say(talk, request_text)
    assert names(replies.results) == found


async def test_the_daily_notes_of_a_year_may_have_their_own_folder(talk) -> None:
    days = [f"2020-10-{day:02}" for day in range(1, 7)]  # more than in the folder Journal
    await fill(talk, **{"Days__2021-03-01": "A day.", "Days__Zebra": "No day."})
    (talk.workspace.root / "Days" / "2020").mkdir()
    for day in days:
        (talk.workspace.root / "Days" / "2020" / f"{day}.md").write_text("A day.")
    await talk.workspace.index.scan()
    replies = await say(talk, "the latest note in the folder Days")
    assert names(replies.results) == ["2021-03-01"]


async def test_a_day_that_does_not_exist_is_no_period(talk) -> None:
    await say(talk, "find notes modified:2024-02-30")
    assert answers(talk)[-1] == "No notes match."
