"""A vault of Logseq: an answer says which of its syntax is not read."""

from __future__ import annotations

import pytest

from app.agent.language.words.logseq import searched_properties
from tests.agent.language.meaning.test_dialog import answers, fill, say, state, talk

__all__ = ["talk"]
TASKS = "1 note has tasks in Logseq syntax (“- TODO”), which are not read. Write “- [ ]” or “- [x]”."
PROPERTY = (
    "1 note has “mood::” in Logseq syntax, which is not read. Write properties between “---” at the top of"
    " the note."
)


@pytest.mark.parametrize("request_text", ["open tasks in Boatyard", "tasks about the boat in Boatyard"])
async def test_a_search_for_tasks_that_finds_none_says_what_is_not_read(talk, request_text) -> None:
    await fill(talk, Boatyard="- TODO Paint the boat\n\t- DONE Buy paint\n")
    await say(talk, request_text)
    assert answers(talk)[-1] == TASKS
    await fill(talk, Real="- [ ] Paint the boat\n")
    await say(talk, "open tasks in Real")
    assert answers(talk)[-1].startswith("1 open task:")


async def test_tasks_of_another_kind_are_not_mentioned(talk) -> None:
    await fill(talk, Boatyard="TODO is a word, and\n- NOWHERE begins a line\n")
    await say(talk, "open tasks in Boatyard")
    assert answers(talk)[-1] == "No open task matches."


async def test_a_search_for_a_property_says_that_its_notes_write_it_otherwise(talk) -> None:
    await fill(talk, Boatyard="mood:: calm\n", Other="- The mood::calm\n")
    await say(talk, "= find [[mood]]", "= find [-[mood]] limit=2")
    assert answers(talk)[1] == PROPERTY and answers(talk)[3] == PROPERTY
    await fill(talk, Real="---\nmood: calm\n---\n")
    await say(talk, "= find [[mood]]")
    assert answers(talk)[-1].startswith("1 note:")


async def test_a_page_in_a_namespace_is_found_by_its_name(talk) -> None:
    (talk.workspace.root / "Tools___Saw.md").write_text("Sharp.\n")
    await talk.workspace.index.scan()
    await say(talk, "open Tools/Saw")
    assert state(talk).focus == ("Tools___Saw.md",)


def test_the_properties_of_a_search_are_found() -> None:
    query = '-[type] [author:"[[Ann]]"] ["due date"<2026] tag:x type:claim "type:" words'
    assert searched_properties(query) == ["type", "author", "due date", "type"]


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("list all pages under Board/Tool", ["Board___Tool___Pen", "Board___Tool___Saw"]),
        ("list all pages under Board", ["Board___Tool___Pen", "Board___Tool___Saw", "Board___Wood"]),
        ("list the tools under board", ["Board___Tool___Pen", "Board___Tool___Saw"]),
        ("alle Seiten unter Board/Tool", ["Board___Tool___Pen", "Board___Tool___Saw"]),
    ],
)
async def test_the_pages_in_a_namespace_are_those_under_it(talk, request_text, found) -> None:
    for name in ("Board___Tool___Saw", "Board___Tool___Pen", "Board___Wood", "Tool"):
        (talk.workspace.root / f"{name}.md").write_text("A board.\n")
    await talk.workspace.index.scan()
    replies = await say(talk, request_text)
    assert sorted(path.removesuffix(".md") for path in replies.results) == found


async def test_listed_pages_are_counted_by_their_namespace(talk) -> None:
    for name in ("Board___Tool___Saw", "Board___Wood"):
        (talk.workspace.root / f"{name}.md").write_text("Zelkova.\n")
    await talk.workspace.index.scan()
    await say(talk, "pages about zelkova", "how many of those are tools?")
    assert answers(talk)[-1] == "1 note."


async def test_a_nested_folder_is_found_by_the_end_of_its_path(talk) -> None:
    folder = talk.workspace.root / "Work" / "Plans" / "Old"
    folder.mkdir(parents=True)
    (folder / "Pier.md").write_text("A pier.\n")
    await talk.workspace.index.scan()
    replies = await say(talk, "list all notes under Plans/Old")
    assert replies.results == ("Work/Plans/Old/Pier.md",)
