"""Noun phrases as sets of notes."""

from __future__ import annotations

import pytest

from tests.agent.language.meaning.test_dialog import answers, fill, names, order, say, state, talk

__all__ = ["talk"]


@pytest.mark.parametrize(
    "request_text", ["how many notes are in this vault, all in all?", "wie viele Notizen gibt es insgesamt?"]
)
async def test_the_whole_vault_is_counted(talk, request_text) -> None:
    total = talk.workspace.index.stats().notes
    await say(talk, request_text)
    assert answers(talk)[-1].split()[0] == str(total)


async def test_names_are_found_by_their_start(talk) -> None:
    await fill(talk, Terms__Tidal="A.", Terms__Intertidal="B.")
    replies = await say(talk, "all pages whose name starts with tidal")
    assert names(replies.results) == ["Tidal"]
    await say(talk, "how many pages have tidal in their title?")
    assert answers(talk)[-1] == "2 notes."


async def test_an_ordinary_phrase_is_no_note_of_that_name(talk) -> None:
    await fill(talk, Pages__All_pages="A list.", Pages__docs="Documents.", Pages__Draft="See [[Nowhere]].")
    await say(talk, "show me all pages of type claim")
    assert state(talk).last.last.target.query == "type:claim"
    await say(talk, "are there any broken links in the docs?")
    assert "[[Nowhere]]" in answers(talk)[-1]


async def test_a_journal_entry_is_a_daily_note(talk) -> None:
    (talk.workspace.root / "Journal").rename(talk.workspace.root / "Days")
    await talk.workspace.index.scan()
    await say(talk, "which is the oldest journal entry?")
    assert names(state(talk).results) == ["2026-03-02"]
    await say(talk, "list the daily notes")
    assert state(talk).last.last.target.query == "path:Days/"


async def test_several_days_and_excluded_days_are_names_of_daily_notes_too(talk) -> None:
    replies = await say(talk, "daily notes from 2 March 2026 or 9 March 2026")
    assert replies.last.last.target.query == "path:Journal/ (file:2026-03-02 OR file:2026-03-09)"
    replies = await say(talk, "daily notes not from 2 March 2026")
    assert replies.last.last.target.query == "path:Journal/ -file:2026-03-02"


@pytest.mark.parametrize(
    "request_text", ["pages without a volume property", "notes that have no volume field"]
)
async def test_a_property_that_no_note_has_is_missing_in_all(talk, request_text) -> None:
    replies = await say(talk, request_text)
    assert (replies.last.last.target.query, replies.last.language) == ("-[volume]", "en")


@pytest.mark.parametrize(
    "request_text", ["what did we change so far today?", "what changes did you make today?"]
)
async def test_the_changes_of_today_are_notes(talk, request_text) -> None:
    replies = await say(talk, request_text)
    assert replies.last.last.target.query.startswith("modified:")


async def test_a_list_by_deadline_begins_with_the_earliest(talk) -> None:
    await fill(talk, Bids__Fair="---\ndeadline: 2026-05-01\n---\n")
    request = talk.workspace.agent._builtin._requests.request_of("sort by deadline", state(talk))
    assert request.set_parser().order_in(request.tokens) == ("-deadline", None)


async def test_a_search_for_a_pronoun_is_one_for_the_person(talk) -> None:
    await fill(talk, Visits__Spring="With [[Ada Lane]].", Visits__Autumn="Alone.", Ada_Lane="A pilot.")
    replies = await say(talk, "open Ada Lane", "notes about her")
    assert replies.question is not None
    targets = [own.reading.last.target for own in replies.question.options]
    assert '"Ada Lane"' in [notes.query for notes in targets if notes is not None]


@pytest.mark.parametrize(
    "request_text",
    ["hypotheses that are more likely than not", "Hypothesen, die eher wahr als falsch sind"],
)
async def test_even_odds_are_a_confidence_of_one_half(talk, request_text) -> None:
    await order(talk, request_text)
    assert state(talk).last.last.target.query == "type:hypothesis [confidence:>0.5]"
