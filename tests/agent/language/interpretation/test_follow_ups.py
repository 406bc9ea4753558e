"""Follow-ups of lists, counts and questions."""

from __future__ import annotations

import pytest

from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import PREFIX, serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.agent.transcript import Question
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import (
    answers,
    fill,
    fill_library,
    names,
    order,
    say,
    state,
    talk,
    text,
)

__all__ = ["talk"]


@pytest.mark.parametrize(
    ("request_text", "follow_up"),
    [
        ("how many instruments are there?", "list them"),
        ("how many instruments are there?", "which ones?"),
        ("wie viele Instrumente gibt es?", "welche sind das?"),
    ],
)
async def test_counted_notes_are_listed(talk, request_text, follow_up) -> None:
    counted = await say(talk, request_text)
    replies = await say(talk, follow_up)
    assert replies.last.last.action == "find" and replies.results == counted.results


async def test_conditions_narrow_the_searches_of_an_open_question(talk) -> None:
    await fill_library(talk)
    agent, conversation = talk.workspace.agent._builtin, (talk.id, "")
    rated = [
        Reading((PipelineStep("find", NoteSet(query=query)),), 1.0)
        for query in ("[rating:7] path:Library/", "[rating:7]")
    ]
    options = tuple(ClarificationOption(serialize(reading), reading) for reading in rated)
    last = Reading((PipelineStep("find", NoteSet(query="tag:none")),), 1.0)
    agent._states[conversation] = DialogState(last=last, question=Clarification("Which?", options))
    await say(talk, "only movies")
    if isinstance(talk.items[-1], Question):
        assert all("[rating:7]" in choice and "Movies" in choice for choice in choices(talk))
        await say(talk, "1")
    assert names(state(talk).results) == ["Brazil"]


async def test_an_empty_property_of_a_listed_note_is_missing(talk) -> None:
    await fill(
        talk,
        Clips__Empty="---\ntopics:\n---\nZotero.",
        Clips__None="Zotero.",
        Clips__Some="---\ntopics: [tides]\n---\nZotero.",
    )
    replies = await say(talk, "notes mentioning Zotero", "which of those still no topics?")
    assert sorted(names(replies.results)) == ["Empty", "None"]


@pytest.mark.parametrize("request_text", ["how many of those have no confidence?"])
async def test_the_lack_of_a_property_is_counted(talk, request_text) -> None:
    await fill(talk, Claims__Unsure="No confidence here.")
    await say(talk, "claims", request_text)
    assert answers(talk)[-1] == "1 note."


async def test_broken_links_are_listed_for_notes_and_sets(talk) -> None:
    await fill(
        talk, Drafts__One="[[Nowhere]] and [[H4]]", Drafts__Two="[[H4]]", Drafts__Three="[[Somewhere]]"
    )
    await say(talk, "broken links in One")
    assert answers(talk)[-1] == "1 note with unresolved links:\n\n- [[Drafts/One|One]]: [[Nowhere]]"
    await say(talk, "are there any broken links in Two?")
    assert answers(talk)[-1] == "Every link in [[Drafts/Two|Two]] resolves to a note."
    await say(talk, "any broken links?", "only in Drafts")
    assert names(state(talk).results) == ["One", "Three"] or names(state(talk).results) == ["Three", "One"]
    await say(talk, "gibt es kaputte Links in Drafts?")
    assert answers(talk)[-1].startswith("2 Notizen mit Links ins Leere:")


async def test_a_list_of_everything_says_that_it_cannot_be_limited(talk) -> None:
    await say(talk, f"{PREFIX} list_tags [@H4]")
    assert answers(talk)[-1] == "This can't be limited to some notes."


async def test_only_with_a_name_looks_for_the_name(talk) -> None:
    replies = await say(talk, "claims", "only H4")
    assert replies.last.last.target.query == 'path:Claims/ "H4"'


LISTED = {
    "Soups__Borscht": "---\nvegetarian: true\ncuisine: Polish\n---\nBeetroot.",
    "Soups__Laksa": "---\nvegetarian: false\ncuisine: Malay\n---\nBeetroot.\n- [x] buy peanuts\n",
    "Cakes__Brownie": "---\nvegetarian: true\ncuisine: Polish\n---\nChocolate.",
}


@pytest.mark.parametrize(
    ("requests", "found"),
    [
        (["the vegetarian ones"], ["Borscht"]),
        (["only the vegetarian ones", "the polish ones"], ["Borscht"]),
        (["the malay ones", "which of them are vegetarian?"], ["Laksa"]),
        (["nur die vegetarischen"], ["Borscht"]),
        (["the quick ones"], ["Borscht", "Laksa"]),
        (["the quick ones", "only the vegetarian ones"], ["Borscht"]),
        (["only the ones with tasks"], ["Laksa"]),
        (["and the ones without tags?"], ["Borscht", "Laksa"]),
        (["the ones in Soups", "only the ones about peanuts"], ["Laksa"]),
    ],
)
async def test_the_ones_of_a_description_are_listed_notes(talk, requests, found) -> None:
    await fill(talk, **LISTED)
    await say(talk, "notes mentioning beetroot", *requests)
    assert sorted(names(state(talk).results)) == found


async def test_a_list_stays_if_none_of_its_notes_matches(talk) -> None:
    await fill(talk, **LISTED)
    await say(talk, "notes mentioning beetroot", "the quick ones")
    assert answers(talk)[-1] == "None of these 2 notes match."
    assert sorted(names(state(talk).results)) == ["Borscht", "Laksa"] and state(talk).is_lost


async def test_the_only_listed_note_does_not_match(talk) -> None:
    await fill(talk, **LISTED)
    await say(talk, "notes mentioning beetroot", "the malay ones", "the vegetarian ones")
    assert answers(talk)[-1] == "[[Soups/Laksa|Laksa]] does not match."


async def test_that_is_the_note_of_the_shown_passage(talk) -> None:
    replies = await say(talk, "who built H4?", "open that")
    assert replies.focus == ("People/John Harrison.md",)


async def test_a_change_after_an_answer_asks_which_note_is_meant(talk) -> None:
    await say(talk, "who built H4?")
    for request_text in ("tag it clockmaker", "tag that note clockmaker"):
        await say(talk, request_text)
        offered = " ".join(choices(talk))
        assert "People/John Harrison" in offered and "Instruments/H4" in offered, request_text
        await say(talk, "no", "who built H4?")
    assert not state(talk).changes


async def test_the_next_question_is_about_the_note_of_the_last_one(talk) -> None:
    await say(talk, "who built H4?", "how accurate was it?")
    assert "H4" in state(talk).asked and state(talk).subject == ("Instruments/H4.md",)


@pytest.mark.parametrize(
    ("requests", "found"),
    [
        (["the vegetarian ones", "show me the others"], ["Laksa"]),
        (["nur die vegetarischen", "und die anderen?"], ["Laksa"]),
        (["open the first one", "show me the others"], ["Laksa"]),
        (["open the first one", "zeig mir die anderen"], ["Laksa"]),
    ],
)
async def test_the_others_are_the_rest_of_the_list(talk, requests, found) -> None:
    await fill(talk, **LISTED)
    await say(talk, f'{PREFIX} find [beetroot] order="name"', *requests)
    assert names(state(talk).results) == found


async def test_without_a_part_of_the_list_there_are_no_others(talk) -> None:
    await fill(talk, **LISTED)
    await say(talk, "notes mentioning beetroot", "show me the others")
    assert sorted(names(state(talk).results)) == ["Borscht", "Laksa"] and not state(talk).changes


@pytest.mark.parametrize(
    ("requests", "path", "text"),
    [
        (["öffne H4", "die soll auch das Tag favorit kriegen"], "Instruments/H4.md", "favorit"),
        (["tagge H4 mit favorit", "und K1 auch"], "Instruments/K1.md", "favorit"),
        (["häng an H4 an: Öl wechseln"], "Instruments/H4.md", "Öl wechseln"),
    ],
)
async def test_german_changes_of_one_note(talk, requests, path, text) -> None:
    await say(talk, *requests)
    assert text in talk.workspace.store.root.joinpath(path).read_text()


@pytest.mark.parametrize(
    "request_text", ["top two only", "only the top two", "nur die ersten zwei", "the first two only"]
)
async def test_the_first_notes_of_a_list_keep_its_order(talk, request_text) -> None:
    listed = await say(talk, "show me the five shortest notes")
    replies = await say(talk, request_text)
    assert replies.results == listed.results[:2]


@pytest.mark.parametrize("follow_up", ["how many of those are gronks?", "wie viele davon sind Gronke?"])
async def test_a_condition_that_is_unknown_is_not_left_out_of_a_count(talk, follow_up) -> None:
    await say(talk, "notes mentioning longitude")
    count = f"{len(state(talk).results)} note"
    await say(talk, follow_up)
    if isinstance(talk.items[-1], Question):
        assert "count [longitude]" not in choices(talk)
    else:
        assert not answers(talk)[-1].startswith(count)


@pytest.mark.parametrize(
    ("follow_up", "kept"),
    [
        ("not the books, just movies and shows", ["Alien", "Brazil", "Futurama"]),
        ("no: only movies and shows", ["Alien", "Brazil", "Futurama"]),
        ("only movies and shows, without Alien", ["Brazil", "Futurama"]),
        ("nicht die Books, nur Movies und Shows", ["Alien", "Brazil", "Futurama"]),
    ],
)
async def test_one_follow_up_leaves_out_some_notes_and_keeps_others(talk, follow_up, kept) -> None:
    await fill_library(talk)
    replies = await say(talk, "= find [path:Library/]", follow_up)
    assert sorted(names(replies.results)) == kept


@pytest.mark.parametrize("request_text", ["the same for H2", "do the same with H2", "ditto H2"])
async def test_the_same_repeats_all_changes_of_the_last_request(talk, request_text) -> None:
    await order(talk, "set maker of H4 to unsure and year to 1759", request_text)
    changed = text(talk, "Instruments/H2.md")
    assert "unsure" in changed and "1759" in changed


async def test_put_a_note_there_repeats_the_last_move(talk) -> None:
    await say(talk, "move H4 to Clocks", "tag it brass", "put H2 there as well")
    assert isinstance(talk.items[-1], Question) and "brass" not in text(talk, "Instruments/H2.md")
    assert any(choice.startswith("move [@") and "H2] folder=Clocks" in choice for choice in choices(talk))


@pytest.mark.parametrize("request_text", ["how many notes do I have?", "Wie viele Notizen habe ich?"])
async def test_all_notes_are_counted_after_a_list(talk, request_text) -> None:
    replies = await say(talk, "notes in Instruments", request_text)
    assert replies.last.last.action == "count" and replies.last.last.target.is_everything
