"""Conversations with the built-in agent: pronouns, ordered sets, and the notes of the previous request."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from app.agent.language.interpretation.grammar_readings import GUESS_SCORE
from app.agent.language.lookups import list_orders
from app.agent.language.meaning.actions import ACTIONS
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import PREFIX, parse
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    NoteSet,
    PipelineStep,
    Reading,
    Reply,
)
from app.agent.language.words.lexicon import languages
from app.agent.language.words.vault_words import VaultWords
from app.agent.pipeline import note_lists, note_search
from app.agent.transcript import AgentText, Question, ToolCard
from app.errors import TimeoutExpiredError
from app.vault.path import NotePath
from tests.agent.test_session import SessionConversation

OPEN = "Instruments/H1.md"


@pytest.fixture
def talk(unwatched_workspace, remembered_programs):
    """Return a conversation in the sample vault, whose files nobody else changes."""
    return SessionConversation(unwatched_workspace)


def state(talk):
    return talk.workspace.agent._builtin._states.get((talk.id, ""), DialogState())


async def say(talk, *requests):
    for text in requests:
        await talk.say(text, open_note=OPEN)
    return state(talk)


async def order(talk, *requests):
    """Say the requests, and choose the first option of each open question."""
    for text in requests:
        replies = await say(talk, text)
        if replies.question is not None and talk.items[-1].choices:
            replies = await say(talk, talk.items[-1].choices[0].reply)
    return replies


def names(paths):
    return [path.rpartition("/")[2].removesuffix(".md") for path in paths]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the earliest event", ["Paramore voyages"]),
        (
            "who are the three oldest people, by birth date?",
            ["Gemma Frisius", "Mercator", "Galileo Galilei"],
        ),
        ("top 2 most linked-to claims", ["Timekeepers beat the Moon", "The Moon was good enough"]),
        ("show the claim with the lowest confidence", ["Everything came from H4"]),
        ("sources before 1800, newest first", ["Nautical Almanac", "Board minutes", "過洋牽星圖"]),
        ("which notes link to both H4 and John Harrison?", ["Marine chronometer"]),
    ],
)
async def test_a_set_has_the_order_and_the_size_that_are_asked_for(talk, text, wanted) -> None:
    replies = await say(talk, text)
    assert names(replies.results) == wanted


async def test_newest_first_is_an_order_and_no_limit(talk) -> None:
    listed = await say(talk, "show H1, H2 and H3")
    replies = await say(talk, "show me them, newest first")
    assert sorted(replies.results) == sorted(listed.results)
    assert replies.last.last.target.order == "modified"


async def test_a_later_step_works_on_the_moved_note(talk) -> None:
    reading = "move [@H4] folder=People | add_tag [@Instruments/H4] tag=archived"
    await say(talk, f"{PREFIX} {reading}")
    assert b"archived" in talk.workspace.store.read(NotePath("People/H4.md"))


async def test_a_note_that_moves_twice_is_followed(talk) -> None:
    reading = "rename [@H4] new_name=H9 | move [@H4] folder=People | add_tag [@H4] tag=archived"
    await say(talk, f"{PREFIX} {reading}")
    assert b"archived" in talk.workspace.store.read(NotePath("People/H9.md"))


async def test_a_random_note_is_opened(talk) -> None:
    replies = await say(talk, "random note please")
    assert len(replies.focus) == 1 and NotePath(replies.focus[0]) in talk.workspace.index.note_paths()


async def test_a_part_of_a_listed_set_is_what_the_next_request_works_on(talk) -> None:
    await say(talk, "hypotheses sorted by confidence, lowest first")
    listed = state(talk).results
    replies = await say(talk, "just the bottom two")
    assert replies.results == listed[:2]
    replies = await say(talk, "claims", "only the first three please", "the newest one")
    assert len(replies.results) == 1 and replies.focus == replies.results
    replies = await say(talk, "tag it astro")
    assert replies.last.last.target.notes == replies.focus and len(replies.changes) == 1


@pytest.mark.parametrize(
    ("request_", "found", "told"),
    [
        ("find [tag:instrument] order=created limit=3", "3 of 12 notes found.", "3 notes (of 12):"),
        ("find [tag:instrument] order=name limit=-2", "12 notes found.", "2 notes (of 12):"),
        ("find [tag:instrument]", "12 notes found.", "12 notes:"),
        ("find [@H4, @K1, @Gimbal & tag:instrument]", "2 of these 3 notes found.", "2 notes (of these 3):"),
        ("count [@H4, @K1] order=name", "2 of these 2 notes found.", "2 notes."),
        ("count [@H4, @K1, @Gimbal & tag:instrument]", "2 of these 3 notes found.", "2 notes (of these 3)."),
    ],
)
async def test_an_answer_counts_the_notes_as_the_search_before_it(talk, request_, found, told) -> None:
    await say(talk, f"{PREFIX} {request_}")
    cards = [item for item in talk.items if isinstance(item, ToolCard)]
    assert cards[-1].message == found
    assert answers(talk)[-1].splitlines()[0] == told


async def test_it_is_never_the_open_note_after_a_note_that_is_missing(talk) -> None:
    missing = ("create a note called H4 in Instruments", "notes about gyroscopes", "flurble the gronk")
    for text in missing:
        await say(talk, text)
        before = state(talk).changes
        await say(talk, "tag it navigation")
        assert state(talk).changes == before, text
        assert isinstance(talk.items[-1], Question), text
    assert b"navigation" not in talk.workspace.store.read(NotePath(OPEN))


async def test_it_is_the_note_on_the_screen_while_no_other_was_meant(talk) -> None:
    replies = await say(talk, "tag it navigation")
    assert replies.focus == (OPEN,) and len(replies.changes) == 1


def text(talk, path):
    return talk.workspace.store.read(NotePath(path)).decode()


def answers(talk):
    return [item.text for item in talk.items if isinstance(item, AgentText)]


async def test_a_pending_creation_takes_its_name_and_is_then_meant_by_it(talk) -> None:
    await say(talk, "make me a new note")
    replies = await say(talk, "call it Commissioners and put it in People")
    assert replies.focus == ("People/Commissioners.md",)
    await say(talk, "add a task to it: renew the passport", "put a note in there: see the museum?")
    if isinstance(talk.items[-1], Question):
        await talk.say(talk.items[-1].choices[0].reply, open_note=OPEN)
    note_text = text(talk, "People/Commissioners.md")
    assert "- [ ] renew the passport" in note_text and "see the museum?" in note_text


async def test_a_change_is_undone_by_its_name(talk) -> None:
    await say(talk, "tag H4 with brass", "set H4's confidence to 0.6", "tag H2 with wood")
    await say(talk, "undo the tag on H4")
    assert "brass" not in text(talk, "Instruments/H4.md") and "0.6" in text(talk, "Instruments/H4.md")
    assert "wood" in text(talk, "Instruments/H2.md")
    await say(talk, "undo the changes to H4")
    assert "0.6" not in text(talk, "Instruments/H4.md")
    await say(talk, "undo what you did to K1")
    assert "wood" in text(talk, "Instruments/H2.md")


async def test_a_full_request_wins_over_the_question_which_note(talk) -> None:
    missing = "tag Kronos navigation"
    await say(talk, "fasse die erste zusammen")
    assert state(talk).question is not None
    await say(talk, "wer war John Harrison?")
    assert state(talk).question is None
    await say(talk, missing, "was verlinkt auf H4?")
    assert state(talk).last.last.action == "backlinks"
    await say(talk, "tag Kronos with navigation", "H4")
    assert "navigation" in text(talk, "Instruments/H4.md")


@pytest.mark.parametrize("text", ["what did the captain do there?", "how many seconds a day?"])
async def test_a_question_without_names_is_about_the_note_in_focus(talk, text) -> None:
    await say(talk, "open Octant", text)
    assert names(state(talk).subject) == ["Octant"]
    await say(talk, "who was the captain of Resolution?")
    assert state(talk).subject == ()  # the closest passage is no answer


async def test_after_the_only_note_of_a_search_is_opened_requests_are_about_it(talk) -> None:
    after = await say(talk, f"{PREFIX} open [file:Octant]")
    assert after.last.last.target == NoteSet(notes=("Instruments/Octant.md",))


async def test_a_question_about_the_contents_knows_who_was_meant(talk) -> None:
    await say(talk, "open John Harrison", "and when was he born?")
    assert "1693-03-24" in answers(talk)[-1]
    replies = await say(talk, "what do my notes say about temperature compensation?", "open it")
    assert replies.focus == ("Concepts/Marine chronometer.md",)
    replies = await say(talk, "what do my notes say about lunars?", "which of those mention Maskelyne?")
    assert replies.last.last.action == "find"


async def test_no_after_a_change_offers_to_undo_it(talk) -> None:
    await say(talk, "lösche Octant", "nein")
    assert isinstance(talk.items[-1], Question)
    await talk.say(talk.items[-1].choices[0].reply, open_note=OPEN)
    assert "octant" in text(talk, "Instruments/Octant.md").casefold()


async def test_undo_of_nothing_says_so(talk) -> None:
    await say(talk, "revert")
    assert answers(talk)[-1] == "There is nothing to undo."


@pytest.mark.parametrize(
    ("request_text", "answer"),
    [
        ("how many words does Longitude have?", "words."),
        ("when did I create H4?", "was created on"),
        ("what is the confidence of Everything came from H4?", "confidence: 0.2"),
        ("which tags are used only once?", "#core: 1"),
    ],
)
async def test_a_fact_about_a_note_is_a_sentence(talk, request_text, answer) -> None:
    await say(talk, request_text)
    assert answer in answers(talk)[-1] and "- **" not in answers(talk)[-1]


async def test_tasks_have_notes_and_days(talk) -> None:
    await say(talk, 'add a task "call Anna on 2030-01-07" to H1', 'add a task to H2: "buy the book"')
    await say(talk, "show open tasks")
    assert "Ask the library" in answers(talk)[-1] and "observation" not in answers(talk)[-1]
    await say(talk, "open tasks in Instruments")
    assert "call Anna" in answers(talk)[-1] and "buy the book" in answers(talk)[-1]
    await say(talk, "tasks due on 2030-01-07")
    assert "call Anna" in answers(talk)[-1] and "buy the book" not in answers(talk)[-1]


@pytest.mark.parametrize("asked", ["due=2031-01-07", "query=zither", "[@H3]", "state=done query=zither"])
async def test_tasks_that_do_not_match_are_not_said_to_be_missing(talk, asked) -> None:
    await say(talk, f"{PREFIX} list_tasks {asked if 'state' in asked else f'{asked} state=open'}")
    state_ = "completed" if "done" in asked else "open"
    assert answers(talk)[-1] == f"No {state_} task matches."


async def test_german_requests_are_ordered_continued_and_answered_in_german(talk) -> None:
    replies = await say(talk, "das früheste Ereignis")
    assert names(replies.results) == ["Paramore voyages"] and answers(talk)[-1].startswith("1 Notiz (von ")
    replies = await say(talk, "was ist die am besten vernetzte Notiz?")
    assert len(replies.results) == 1
    replies = await say(talk, "Notizen mit dem Tag claim", "nur die ersten drei")
    assert len(replies.results) == 3 and answers(talk)[-1].startswith("3 Notizen (von diesen ")
    await say(talk, "öffne das Tagebuch vom 16. März", "wie viele Wörter hat es?")
    assert re.fullmatch(r"\[\[Journal/2026-03-16\|2026-03-16\]\] hat \d+ Wörter\.", answers(talk)[-1])
    await say(talk, "tagge H4 mit messing", "nimm das wieder zurück")
    assert "messing" not in text(talk, "Instruments/H4.md")
    await say(talk, "zeig mir die offenen Aufgaben")
    assert "offene Aufgaben:" in answers(talk)[-1]
    await say(talk, "fasse die erste zusammen", "Hallo")
    assert answers(talk)[-1].startswith("Hallo! Sag mir")


async def test_a_value_that_says_a_day_is_written_as_a_date(talk) -> None:
    await say(talk, "set year to tomorrow in Nautical Almanac")
    note_text = text(talk, "Sources/Nautical Almanac.md")
    assert re.search(r"year: '?\d{4}-\d\d-\d\d", note_text)


@pytest.mark.parametrize(("answer", "left"), [("the second", 1), ("both", 0)])
async def test_text_that_occurs_twice_is_replaced_where_the_user_says(talk, answer, left) -> None:
    before = text(talk, "Instruments/Chip log.md")
    assert before.count("knots") == 2
    await say(talk, 'replace "knots" with "kn" in Chip log')
    assert isinstance(talk.items[-1], Question) and len(talk.items[-1].choices) == 3
    await say(talk, answer)
    after = text(talk, "Instruments/Chip log.md")
    assert after.count("knots") == left
    if left:
        assert after.index("knots") == before.index("knots")


async def test_a_removal_is_offered_once_and_takes_the_whole_list_item(talk) -> None:
    await say(talk, "pls create a note called Shopping list with milk, eggs and bread")
    await say(talk, "actually remove the milk from it")
    question = talk.items[-1]
    choices = [choice.reply for choice in question.choices] if isinstance(question, Question) else []
    removals = [choice for choice in choices if "old=milk" in choice]
    assert len(removals) == (1 if choices else 0)
    if removals:
        await talk.say(removals[0], open_note=OPEN)
    assert text(talk, "Shopping list.md").split() == ["-", "eggs", "-", "bread"]


async def test_words_are_removed_after_a_letter_that_casefolding_makes_longer(talk) -> None:
    await say(talk, 'append "Die Straße nach Kew führt am Fluss entlang" to Chip log')
    await say(talk, f"{PREFIX} remove_text [@Chip log] old=KEW")
    assert "Die Straße nach  führt am Fluss entlang" in text(talk, "Instruments/Chip log.md")


async def test_a_typed_action_without_its_value_changes_nothing_and_says_so(talk) -> None:
    before = text(talk, "Instruments/Chip log.md")
    await say(talk, f"{PREFIX} append [@Chip log]")
    assert "“append” needs a value for “text”" in talk.items[-1].text
    assert text(talk, "Instruments/Chip log.md") == before


async def test_a_new_name_is_written_as_it_is_said(talk) -> None:
    await say(talk, "rename the tag instrument to instruments")
    if isinstance(talk.items[-1], Question):
        await talk.say(talk.items[-1].choices[0].reply, open_note=OPEN)
    assert "instruments" in text(talk, "Instruments/H4.md")


async def test_a_new_note_after_a_list_is_no_addition_to_the_list(talk) -> None:
    replies = await say(talk, "list the claims", 'add a note "Groceries" with eggs, milk and bread')
    assert replies.focus == ("Groceries.md",)
    assert "milk" in text(talk, "Groceries.md")


async def test_a_search_after_a_change_does_not_repeat_the_change(talk) -> None:
    await say(talk, "tag H4 with masterpiece", "notes about H1")
    assert "masterpiece" not in text(talk, "Instruments/H1.md")
    await say(talk, "rename H4 to Sea watch", "and H1")
    assert "Instruments/H1.md" in {str(path) for path in talk.workspace.index.note_paths()}


async def test_a_new_note_is_not_named_after_a_request(talk) -> None:
    replies = await say(talk, "mach eine neue Notiz", "nenn sie Kommissare und leg sie in People")
    assert replies.focus == ("People/Kommissare.md",)
    await say(talk, "make me a new note", "frobnicate the knots")
    await say(talk, "make me a new note", "show the knots again please")
    created = {str(path) for path in talk.workspace.index.note_paths()}
    assert not any("show the" in path for path in created)


@pytest.mark.parametrize(
    ("requests", "count"),
    [
        (("everyone born in the 17th century", "who of them died after 1750?"), 3),
        (("which notes point to Greenwich?", "just the people among them"), 2),
        (("zeig mir alle Notizen im Ordner Events", "Und welche davon sind nach 1750 datiert?"), 2),
    ],
)
async def test_a_condition_on_the_listed_notes_narrows_them(talk, requests, count) -> None:
    replies = await say(talk, *requests)
    assert len(replies.results) == count


async def test_what_supports_a_claim_is_not_what_contradicts_it(talk) -> None:
    await say(talk, "what supports The Moon was good enough?", "what contradicts The Moon was good enough?")
    supports, contradicts = answers(talk)[-2:]
    assert supports.startswith("What supports") and contradicts.startswith("What contradicts")
    assert "Few ships had chronometers" in supports and "Few ships had chronometers" not in contradicts


async def test_listed_mentions_become_links_that_one_undo_takes_back(talk) -> None:
    await say(talk, "unlinked mentions of Greenwich")
    mentioning = [line for line in answers(talk)[-1].splitlines() if line.startswith("- [[")]
    assert mentioning
    found = await say(talk, "link them")
    assert "Linked the mentions of [[Greenwich]]" in answers(talk)[-1] and len(found.changes) == 1
    await say(talk, "unlinked mentions of Greenwich")
    assert answers(talk)[-1] == "Every mention of [[Concepts/Greenwich|Greenwich]] is already a link."
    await say(talk, "undo that", "verlinke die Erwähnungen von Greenwich", "ja")
    assert "sind jetzt Links" in answers(talk)[-1]


async def test_help_is_in_german_after_a_german_request(talk) -> None:
    await talk.say("Hilfe", open_note=OPEN)
    text = answers(talk)[-1]
    assert text.startswith("Ich arbeite ohne Sprachmodell") and "**Find**" not in text and "You " not in text
    await talk.say("übersetze das ins Englische", open_note=OPEN)
    question = talk.items[-1]
    assert isinstance(question, Question) and question.text.startswith("Übersetzen braucht ein Sprachmodell")


async def test_a_count_is_one_search(talk) -> None:
    await say(talk, "how many claims are there?")
    cards = [item for item in talk.items if isinstance(item, ToolCard)]
    assert len(cards) == 1 and len(state(talk).results) > 1


async def test_a_task_is_completed_and_reopened_by_its_words(talk) -> None:
    replies = await say(talk, f'{PREFIX} complete_task query="ask the library"')
    assert "- [x] Ask the library" in text(talk, "Journal/2026-03-02.md")
    assert replies.focus == ("Journal/2026-03-02.md",) and len(replies.changes) == 1
    await say(talk, f"{PREFIX} reopen_task [@2026-03-02] query=library")
    assert "- [ ] Ask the library" in text(talk, "Journal/2026-03-02.md")
    await say(talk, "undo both")
    assert "- [ ] Ask the library" in text(talk, "Journal/2026-03-02.md") and not state(talk).changes


async def test_a_task_is_moved_to_another_day(talk) -> None:
    journal, sextant = "Journal/2026-03-02.md", "Instruments/Sextant.md"
    await say(talk, "postpone the ask the library task to March 25")
    assert re.search(r"- \[ \] Ask the library .*📅 \d{4}-03-25\n", text(talk, journal))
    await say(talk, "undo that")
    assert "03-25" not in text(talk, journal)
    await say(
        talk, f'{PREFIX} append [@Sextant] text="- [ ] Grind the mirror (due: 2026-03-20), see 2025-01-01"'
    )
    await say(talk, f"{PREFIX} reschedule_task [@Sextant] due=2026-04-02")
    assert "- [ ] Grind the mirror (due: 2026-04-02), see 2025-01-01" in text(talk, sextant)
    await say(talk, f"{PREFIX} reschedule_task [@Octant] due=2026-04-02")
    assert answers(talk)[-1] == "There is no open task."
    await say(talk, f"{PREFIX} reschedule_task [@Sextant] due=tomorrow")
    assert answers(talk)[-1] == "“tomorrow” is not a date such as 2026-03-25. Nothing was changed."


async def test_a_task_without_words_is_moved_only_if_it_is_the_only_one(talk) -> None:
    await say(talk, f'{PREFIX} append [@Sextant] text="- [ ] Buy paint"')
    await say(talk, f"{PREFIX} reschedule_task [@Sextant] due=2026-04-02")
    assert "- [ ] Buy paint 📅 2026-04-02" in text(talk, "Instruments/Sextant.md")
    await say(talk, f'{PREFIX} append [@Sextant] text="- [ ] Paint the wall"')
    await say(talk, f"{PREFIX} reschedule_task [@Sextant] due=2026-05-01")
    question = talk.items[-1]
    assert isinstance(question, Question) and len(question.choices) == 2
    assert "2026-05-01" not in text(talk, "Instruments/Sextant.md")


async def test_no_task_is_completed_without_words(talk) -> None:
    await say(talk, f'{PREFIX} append [@Sextant] text="- [ ] Grind the mirror 📅 2026-03-20"')
    await say(talk, f'{PREFIX} complete_task [@Sextant] query=""')
    assert answers(talk)[-1] == "There is no open task that matches “”."
    assert "- [ ] Grind" in text(talk, "Instruments/Sextant.md")


@pytest.mark.parametrize(
    ("request_text", "day"),
    [
        ("reschedule buy paint for March 25", "03-25"),
        ("reschedule buy paint on March 25", "03-25"),
        ("schieb die Aufgabe buy paint auf 25. März", "03-25"),
        ("schiebe buy paint auf den 27.", "27"),
        ("verschiebe buy paint auf den 27.", "27"),
    ],
)
async def test_a_task_is_moved_in_other_words(talk, request_text, day) -> None:
    await say(talk, f'{PREFIX} append [@Sextant] text="- [ ] Buy paint"', request_text)
    assert re.search(rf"- \[ \] Buy paint 📅 \d{{4}}-.*{day}\n", text(talk, "Instruments/Sextant.md"))


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("tick off the second one", "- [x] Paint the wall 📅 2026-03-19"),
        ("hake die erste ab", "- [x] Buy paint"),
    ],
)
async def test_an_ordinal_after_a_list_of_tasks_means_a_task(talk, request_text, line) -> None:
    for task in ("Buy paint", "Paint the wall 📅 2026-03-19"):
        await say(talk, f'{PREFIX} append [@Sextant] text="- [ ] {task}"')
    await say(talk, "open tasks in Sextant", request_text)
    assert f"{line}\n" in text(talk, "Instruments/Sextant.md")


async def test_a_note_with_listed_tasks_is_opened_by_its_ordinal(talk) -> None:
    await say(talk, f'{PREFIX} append [@Sextant] text="- [ ] Buy paint"')
    replies = await say(talk, "open tasks in Sextant", "open the first one")
    assert replies.last.last == PipelineStep("open", NoteSet(notes=("Instruments/Sextant.md",)))


async def test_words_of_several_tasks_are_asked_about_and_of_none_refused(talk) -> None:
    before = text(talk, "🧭 Start here.md")
    await say(talk, f'{PREFIX} append [@Sextant] text="- [ ] Read the tables"')
    await say(talk, f'{PREFIX} append [@Octant] text="- [ ] Read the tables"')
    await say(talk, f'{PREFIX} complete_task query="read the tables"')
    question = talk.items[-1]
    assert isinstance(question, Question) and len(question.choices) == 2
    await talk.say(question.choices[1].reply, open_note=OPEN)
    checked = [
        path
        for path in ("Instruments/Sextant.md", "Instruments/Octant.md")
        if "- [x] Read" in text(talk, path)
    ]
    assert len(checked) == 1
    await say(talk, f'{PREFIX} complete_task query="water the plants"')
    assert answers(talk)[-1] == "There is no open task that matches “water the plants”."
    await talk.say(f'{PREFIX} reopen_task query="water the plants"', open_note=OPEN)
    assert answers(talk)[-1] == "There is no completed task that matches “water the plants”."
    assert text(talk, "🧭 Start here.md") == before


@pytest.mark.parametrize("words", ["(", ")", "a OR", "library?"])
async def test_tasks_are_listed_by_any_words(talk, words) -> None:
    await say(talk, f'{PREFIX} list_tasks query="{words}"')
    assert re.match(r"\d+ tasks?:|No task matches", answers(talk)[-1])


async def test_a_property_whose_values_are_links_is_set_to_a_link(talk) -> None:
    await say(talk, f'{PREFIX} set_property [@Sextant] key=maker value="[[George Graham]]"')
    await say(talk, "set maker of Octant to george graham")
    assert '"[[George Graham]]"' in text(talk, "Instruments/Octant.md"), "spelled as the other value"
    await say(talk, "set maker of Quadrant to Tompion")
    assert '"[[Tompion]]"' in text(talk, "Instruments/Quadrant.md")
    await say(talk, f"{PREFIX} set_property [@Quadrant] key=status value=kept")
    assert "status: kept" in text(talk, "Instruments/Quadrant.md")


async def test_all_pages_of_a_search_for_tasks_are_read(talk, monkeypatch) -> None:
    await say(talk, f"{PREFIX} list_tasks state=open")
    monkeypatch.setattr(note_search, "_MAX_SEARCH_HITS", 1)
    await say(talk, f"{PREFIX} list_tasks state=open")
    assert answers(talk)[-1] == answers(talk)[-2] and len(state(talk).results) > 1
    await say(talk, f'{PREFIX} complete_task query="ask the library"')
    assert "- [x] Ask the library" in text(talk, "Journal/2026-03-02.md")


@pytest.mark.parametrize("line", ["> - [ ] Order new charts", "-  [ ] Order new charts"])
async def test_a_task_in_a_quotation_or_with_more_spaces_is_completed(talk, line) -> None:
    await say(talk, f'{PREFIX} append [@Sextant] text="{line}"')
    await say(talk, f'{PREFIX} complete_task query="order new charts"')
    assert line.replace("[ ]", "[x]") in text(talk, "Instruments/Sextant.md")


@pytest.mark.parametrize("choice", [0, 1])
async def test_one_of_several_equal_tasks_of_a_note_can_be_chosen(talk, choice) -> None:
    for _ in range(2):
        await say(talk, f'{PREFIX} append [@Sextant] text="- [ ] Order new charts"')
    await say(talk, f'{PREFIX} complete_task query="order new charts"')
    question = talk.items[-1]
    assert isinstance(question, Question) and len({one.label for one in question.choices}) == 2
    await talk.say(question.choices[choice].reply, open_note=OPEN)
    boxes = [line[:5] for line in text(talk, "Instruments/Sextant.md").splitlines() if "Order new" in line]
    assert boxes == (["- [x]", "- [ ]"], ["- [ ]", "- [x]"])[choice]
    assert state(talk).question is None


async def test_an_offered_answer_is_labeled_in_words_although_it_ends_like_a_path(talk) -> None:
    for note in ("Sextant", "Quadrant"):
        await say(talk, f'{PREFIX} append [@{note}] text="- [ ] Plan.md"')
    await say(talk, f"{PREFIX} complete_task query=Plan.md")
    question = talk.items[-1]
    assert isinstance(question, Question)
    labels = [choice.label for choice in question.choices]
    assert labels == [f"complete task · {note} · task: Plan.md" for note in ("Quadrant", "Sextant")]


async def test_a_task_whose_line_begins_an_earlier_task_is_completed(talk) -> None:
    for task in ("Call Bob", "Call"):
        await say(talk, f'{PREFIX} append [@Sextant] text="- [ ] {task}"')
    await say(talk, f"{PREFIX} complete_task query=call")
    lines = text(talk, "Instruments/Sextant.md").splitlines()
    assert "- [ ] Call Bob" in lines and "- [x] Call" in lines


def option(text, share=0.0):
    steps = (PipelineStep("find", NoteSet(query=text)),)
    return ClarificationOption(text, Reading(steps, 1.0), share)


async def test_a_question_offers_each_set_of_notes_once(talk) -> None:
    agent = talk.workspace.agent._builtin
    offered = tuple(map(option, ("tag:person", "path:People/", "[born]", "type:source")))
    question = Clarification("What do you mean?", offered, spare=(option("tag:source"), option("orphan:")))
    merged = await agent.compare_with_vault(question, "people", state(talk))
    assert isinstance(merged, Clarification) and not merged.spare
    assert [one.label for one in merged.options] == ["tag:person", "[born]", "type:source", "orphan:"]


def line_option(talk, line):
    resolve = talk.workspace.agent._builtin._requests.vocabulary_of(VaultWords())(languages()[0]).notes
    reading = parse(line, resolve, ACTIONS)
    assert reading is not None
    return ClarificationOption(line, reading)


@pytest.mark.parametrize(
    ("text", "lines", "wanted"),
    [
        (
            "halley?",
            ("properties_of [@Halley] about=confidence", "properties_of [@Halley] about=born"),
            (1, 0),
        ),
        (
            "the fittest",
            ("find [path:People/] order=year limit=1", "find [path:People/] order=born limit=1"),
            (1, 0),
        ),
        ("less", ("remove_property [@Halley] key=year", "remove_property [@Halley] key=born"), (1,)),
        (
            "halley 0.5",
            ("set_confidence [@Halley] confidence=0.5", 'append [@Halley] text="0.5"'),
            (1,),
        ),
        (
            "set its confidence to 0.5",
            ("set_confidence [@Halley] confidence=0.5", 'append [@Halley] text="0.5"'),
            (0, 1),
        ),
        (
            "halley 5",
            ("set_property [@Halley] key=born value=5.5", "set_property [@Halley] key=died value=1742-01-14"),
            (1,),
        ),
        ("not that", ("undo", "undo scope=last", "open [@Halley]"), (0, 2)),
        (
            "people",
            (
                "find [path:People/] order=name",
                "find [path:People/] order=-name",
                "find [path:People/] order=words",
            ),
            (0, 2, 1),
        ),
        (
            "note that",
            ('append [@Halley] text="a comet."', 'append [@Halley] text="a comet"', "help"),
            (0, 2),
        ),
    ],
)
async def test_options_without_an_effect_come_last_and_such_changes_are_left_out(
    talk, text, lines, wanted
) -> None:
    agent = talk.workspace.agent._builtin
    lines = [line.replace("@Halley", "@People/Edmond Halley") for line in lines]
    options = tuple(line_option(talk, line) for line in lines)
    asked = await agent.compare_with_vault(Clarification("What do you mean?", options), text, state(talk))
    assert isinstance(asked, Clarification)
    assert [one.label for one in asked.options] == [lines[at] for at in wanted]


async def test_moving_a_note_without_tasks_offers_its_date_properties(talk) -> None:
    agent = talk.workspace.agent._builtin
    moved = line_option(talk, "reschedule_task [@People/Edmond Halley] due=2026-03-28").reading
    asked = await agent.compare_with_vault(moved, "move died, to March 28", state(talk))
    assert isinstance(asked, Clarification)
    changes = [one.reading.last for one in asked.options]
    assert [step.action for step in changes] == ["set_property", "set_property"]
    assert [step.arguments["key"] for step in changes] == ["died", "born"]
    assert {step.arguments["value"] for step in changes} == {"2026-03-28"}
    both = Clarification("Which?", (ClarificationOption("", moved), option("tag:person")))
    merged = await agent.compare_with_vault(both, "March 28", state(talk))
    assert [one.reading.last.action for one in merged.options] == ["set_property", "set_property", "find"]
    await say(talk, f'{PREFIX} append [@People/Edmond Halley] text="- [ ] Read his letters"')
    with_task = await agent.compare_with_vault(moved, "move died, to March 28", state(talk))
    assert isinstance(with_task, Reading)
    assert with_task.last.arguments == {"key": "died", "value": "2026-03-28"}
    assert await agent.compare_with_vault(moved, "move the task to March 28", state(talk)) == moved


async def test_a_note_without_days_and_tasks_stays_as_it_is(talk) -> None:
    agent = talk.workspace.agent._builtin
    moved = line_option(talk, "reschedule_task [@Sextant] due=2026-03-28").reading
    assert await agent.compare_with_vault(moved, "move it to March 28", state(talk)) == moved


async def test_a_question_is_asked_as_it_is_if_its_searches_take_too_long(talk, monkeypatch) -> None:
    agent = talk.workspace.agent._builtin

    async def take_too_long(_: str) -> frozenset[NotePath]:
        raise TimeoutExpiredError("The search took too long.", limit=1.0)

    monkeypatch.setattr(agent._found, "_find_notes", take_too_long)
    question = Clarification("What do you mean?", (option("tag:person"), option("path:People/")))
    assert await agent.compare_with_vault(question, "people", state(talk)) == question


async def test_likely_searches_for_the_same_notes_are_run_without_a_question(talk) -> None:
    agent = talk.workspace.agent._builtin
    offered = (option("tag:person", 0.5), option("path:People/", 0.3), option("type:source", 0.1))
    found = await agent.compare_with_vault(Clarification("What do you mean?", offered), "people", state(talk))
    assert found == offered[0].reading
    deletions = tuple(
        ClarificationOption(
            one.label, Reading((PipelineStep("delete", one.reading.last.target),), 1.0), one.share
        )
        for one in offered
    )
    asked = await agent.compare_with_vault(
        Clarification("What do you mean?", deletions), "delete people", state(talk)
    )
    assert isinstance(asked, Clarification) and len(asked.options) == 2


async def test_only_a_guess_that_finds_nothing_is_not_understood(talk) -> None:
    agent = talk.workspace.agent._builtin
    search = Reading((PipelineStep("find", NoteSet(query="qxzvw")),), GUESS_SCORE)
    found = await agent.compare_with_vault(search, "qxzvw", state(talk))
    assert isinstance(found, Reply) and not found.understood
    unlikely = replace(search, score=GUESS_SCORE - 0.1)
    assert await agent.compare_with_vault(unlikely, "qxzvw", state(talk)) == unlikely


async def test_an_invalid_search_stays_an_answer(talk) -> None:
    agent = talk.workspace.agent._builtin
    question = Clarification(
        "What do you mean?", (option("tag:person"), option("/(/"), option("path:People/"))
    )
    merged = await agent.compare_with_vault(question, "people", state(talk))
    assert [one.label for one in merged.options] == ["tag:person", "/(/"]


async def test_many_tasks_are_counted_and_the_rest_is_announced(talk) -> None:
    content = "".join(f"- [ ] step {number}\n" for number in range(40))
    for name in ("Packing", "Sailing"):
        (talk.workspace.root / f"{name}.md").write_text(content)
    await talk.workspace.index.scan()
    await say(talk, f"{PREFIX} list_tasks [@Packing, @Sailing] state=open")
    assert answers(talk)[-1].startswith("80 open tasks") and answers(talk)[-1].endswith("… and 30 more.")


async def test_a_plural_means_the_notes_of_a_category_and_not_its_hub(talk) -> None:
    root = talk.workspace.root
    (root / "Movies.md").write_text("A list of movies.\n")
    for name in ("Alien", "Brazil"):
        (root / f"{name}.md").write_text('---\ncategories:\n  - "[[Movies]]"\n---\nGood.\n')
    await talk.workspace.index.scan()
    assert set(names((await say(talk, "show me all my movies")).results)) == {"Alien", "Brazil"}
    await say(talk, "how many movies do I have?")
    assert answers(talk)[-1] == "2 notes."
    await say(talk, "tag all movies with cinema")
    for path in ("Alien.md", "Brazil.md"):
        assert "cinema" in text(talk, path)
    assert "cinema" not in text(talk, "Movies.md")
    assert (await say(talk, "open Movies")).focus == ("Movies.md",)


async def fill(talk, **notes):
    """Write notes into the vault: `Movies__Alien` is the path `Movies/Alien.md`."""
    for name, content in notes.items():
        file = talk.workspace.root / f"{name.replace('__', '/').replace('_', ' ')}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
    await talk.workspace.index.scan()


def properties(**values):
    """Return a note's text with properties; the names in a list become links."""
    lines = [
        f"{key}: {value}"
        if not isinstance(value, list)
        else f"{key}:\n" + "\n".join(f'  - "[[{name}]]"' for name in value)
        for key, value in values.items()
    ]
    return "---\n" + "\n".join(lines) + "\n---\n"


async def fill_library(talk):
    await fill(
        talk,
        Library__Alien=properties(categories=["Movies"], director=["Ridley Scott"], year=1999, rating=8),
        Library__Brazil=properties(categories=["Movies"], director=["Terry Gilliam"], year=1985, rating=7),
        Library__Futurama=properties(categories=["Shows"], published="2004-01-01"),
        Library__Inventing=properties(categories=["Books"], author=["Kevin Kelly"], published="2016-05-01"),
        Library__Machines=properties(categories=["Books"], author=["Ada Lane"], published="2021-03-01"),
        Library__Well_Made=properties(categories=["Podcasts"], guests=["Kevin Kelly"]),
        People__Kevin_Kelly=properties(categories=["People"]),
        Places__Shrine=properties(categories=["Places"], loc=["Kyoto"]),
        Templates__Movie_Template=properties(categories=["Movies"], year="", rating=""),
        Templates__Book_Template=properties(categories=["Books"], author=""),
    )


@pytest.mark.parametrize(
    "asked",
    ["rename the note Plugging to Extensions", "tag Plugging with tool", "benenne Plugging in Werkzeuge um"],
)
async def test_a_question_about_a_note_takes_no_other_request_as_its_answer(talk, asked) -> None:
    await fill(talk, Plugin_notes="A list.\n", Notes_about_plugs="Another one.\n")
    await say(talk, asked)
    assert isinstance(talk.items[-1], Question)
    replies = await say(talk, "notes about plugins")
    assert replies.question is None and replies.last.last.action == "find" and not replies.changes
    for unrelated in ("claims about the moon", "people born in England", "Quellen vor 1800"):
        await say(talk, asked, unrelated)
        last = talk.items[-1]
        offered = [choice.reply for choice in last.choices] if isinstance(last, Question) else []
        assert not any("rename" in reply or "add_tag" in reply for reply in offered), unrelated
        assert not state(talk).changes


async def test_a_question_takes_the_name_of_a_note_as_its_answer(talk) -> None:
    replies = await say(talk, "tag Kronos with navigation", "the note on marine chronometers")
    assert replies.question is None or replies.question.partial is not None
    await say(talk, "tag Kronos with navigation", "Marine chronometer")
    assert "navigation" in text(talk, "Concepts/Marine chronometer.md")


async def test_a_request_after_an_unanswered_question_is_about_the_list_before_it(talk) -> None:
    listed = set((await say(talk, "notes in Claims")).results)
    await say(talk, "rename Foobar to Baz")
    assert state(talk).question is not None
    replies = await say(talk, "only the ones about the moon")
    assert replies.results and set(replies.results) < listed


async def test_a_follow_up_after_an_unanswered_question_repeats_no_change(talk) -> None:
    await say(talk, "tag H4 with masterpiece", "rename Foobar to Baz", "and K1")
    assert len(state(talk).changes) == 1
    assert "masterpiece" not in text(talk, "Instruments/K1.md")


async def test_a_request_in_another_mode_ends_the_question(talk) -> None:
    await say(talk, "rename Foobar to Baz", "help")
    assert state(talk).question is None


async def test_a_listed_task_is_completed_by_a_pronoun(talk) -> None:
    await fill(talk, Shopping="- [ ] buy milk\n", Errands="- [ ] buy rope\n- [ ] call Anna\n")
    await say(talk, "open tasks in Shopping", "mark that as done")
    assert "- [x] buy milk" in text(talk, "Shopping.md")
    await say(talk, "uncheck it")
    assert "- [ ] buy milk" in text(talk, "Shopping.md")
    await say(talk, "tick it off", 'mark "buy milk" as open', 'mark "buy milk" as done')
    assert "- [x] buy milk" in text(talk, "Shopping.md")
    await say(talk, "open tasks in Errands", "check it off")
    question = talk.items[-1]
    assert isinstance(question, Question) and len(question.choices) == 2
    await say(talk, "offene Aufgaben in Errands", "hake die zweite ab")
    assert text(talk, "Errands.md") == "- [ ] buy rope\n- [x] call Anna\n"
    await say(talk, "open tasks in Errands", "check them off")
    assert text(talk, "Errands.md") == "- [x] buy rope\n- [x] call Anna\n"


async def test_no_change_leaves_out_a_condition_of_its_notes(talk) -> None:
    await fill(talk, Daily__Monday="", Daily__Tuesday="Rain.\n")
    await say(talk, "delete the boring notes in Daily", "delete notes in Daily that are boring")
    await say(talk, "notes in Daily", "delete the ones I don't like")
    offered = [choice.reply for item in talk.items if isinstance(item, Question) for choice in item.choices]
    assert not {"= delete [path:Daily/]", "= delete [@Daily/Monday, @Daily/Tuesday]"} & set(offered)
    assert not state(talk).changes
    await say(talk, "claims", "delete the empty notes in Daily")
    if isinstance(talk.items[-1], Question):
        (choice,) = (choice for choice in talk.items[-1].choices if choice.reply.startswith("= delete"))
        await talk.say(choice.reply, open_note=OPEN)
    left = {str(path) for path in talk.workspace.index.note_paths()}
    assert "Daily/Tuesday.md" in left and "Daily/Monday.md" not in left


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("what did Kevin Kelly write?", {"Inventing"}),
        ("was hat Kevin Kelly geschrieben?", {"Inventing"}),
        ("books by Kevin Kelly", {"Inventing"}),
        ("podcasts by Kevin Kelly", {"Well Made"}),
        ("everything by Kevin Kelly", {"Inventing", "Well Made"}),
        ("which movies did Ridley Scott direct?", {"Alien"}),
        ("movies directed by Ridley Scott", {"Alien"}),
        ("movies and shows", {"Alien", "Brazil", "Futurama"}),
        ("movies from 1999", {"Alien"}),
        ("all movies", {"Alien", "Brazil"}),
    ],
)
async def test_notes_of_a_kind_are_found_by_people_and_years(talk, request_text, found) -> None:
    await fill_library(talk)
    assert set(names((await say(talk, request_text)).results)) == found


async def test_a_pronoun_means_the_person_whose_notes_are_wanted(talk) -> None:
    await fill_library(talk)
    replies = await say(talk, "open Kevin Kelly", "what did he write?")
    assert names(replies.results) == ["Inventing"]


@pytest.mark.parametrize(
    ("request_text", "answer"),
    [
        ("who directed Alien?", "director: [[Ridley Scott]]"),
        ("where is Shrine?", "loc: [[Kyoto]]"),
        ("wo liegt Shrine?", "loc: [[Kyoto]]"),
        ("how many movies from 1985 do I have?", "1 note."),
        ("how many movies do I have?", "2 notes."),
    ],
)
async def test_a_question_about_a_property_is_answered_by_its_value(talk, request_text, answer) -> None:
    await fill_library(talk)
    await say(talk, request_text)
    assert answer in answers(talk)[-1]


async def test_a_list_keeps_the_date_by_which_it_is_sorted(talk) -> None:
    await fill_library(talk)
    replies = await say(talk, "books by published", "and the newest?")
    assert names(replies.results) == ["Machines"]
    replies = await say(talk, "the oldest?")
    assert names(replies.results) == ["Inventing"]


async def test_superlatives_follow_each_other_on_the_same_list(talk) -> None:
    await fill(talk, Lists__One="a\n", Lists__Two="b b b b\n", Lists__Three="c c\n")
    replies = await say(talk, "notes in Lists", "the shortest")
    assert names(replies.results) == ["One"]
    replies = await say(talk, "the longest")
    assert names(replies.results) == ["Two"]


async def test_a_superlative_after_a_list_that_was_cut_is_of_all_its_notes(talk, monkeypatch) -> None:
    for module in (note_lists, list_orders):
        monkeypatch.setattr(module, "MAX_RESULTS", 2)
    await fill(talk, Lists__One="a\n", Lists__Two="b b b b\n", Lists__Zero="\n")
    await say(talk, "notes in Lists")
    assert len(state(talk).results) == 2
    assert names((await say(talk, "the shortest")).results) == ["Zero"]


async def test_a_new_note_gets_several_properties(talk) -> None:
    await fill_library(talk)
    await say(talk, "create a note Dune with type book and rating 9")
    assert "type: book" in text(talk, "Dune.md") and "rating: 9" in text(talk, "Dune.md")
    await say(talk, "erstelle eine Notiz Solaris mit rating 8 und year 1961")
    assert "rating: 8" in text(talk, "Solaris.md") and "year: 1961" in text(talk, "Solaris.md")


async def test_daily_notes_are_found_by_the_spelling_of_their_days(talk) -> None:
    folder = talk.workspace.root / "Days"
    folder.mkdir()
    for number in range(1, 13):
        (folder / f"2020_10_{number:02}.md").write_text("Fine.\n")
    await talk.workspace.index.scan()
    assert (await say(talk, "open 2020-10-03")).focus == ("Days/2020_10_03.md",)
    assert len((await say(talk, "notes in Days from October 2020")).results) == 12


async def test_tasks_by_a_day_are_those_due_until_then(talk) -> None:
    await fill(talk, Errands="- [ ] buy rope 📅 2030-01-05\n- [x] call Anna 📅 2030-01-04\n")
    for request_text in ("tasks by January 7, 2030", "Aufgaben bis zum 7. Januar 2030"):
        await say(talk, request_text)
        assert "buy rope" in answers(talk)[-1] and "Anna" not in answers(talk)[-1], request_text


async def test_a_missing_note_is_not_mistaken_for_unrelated_notes(talk) -> None:
    await say(talk, "rename Zzyzx frobnicator to Foo")
    offered = [choice.reply for item in talk.items if isinstance(item, Question) for choice in item.choices]
    assert not any("rename [" in reply for reply in offered) and not state(talk).changes


async def test_the_templates_folder_of_the_settings_holds_no_notes_of_a_kind(talk) -> None:
    await fill(
        talk,
        Library__Alien=properties(categories=["Movies"]),
        Patterns__Film=properties(categories=["Movies"]),
    )
    assert set(names((await say(talk, "all movies")).results)) == {"Alien", "Film"}
    talk.workspace.settings.editor.templates_folder = "Patterns"
    assert set(names((await say(talk, "all movies")).results)) == {"Alien"}
    await say(talk, "how many movies do I have?", "= count [[categories:Movies]]")
    assert answers(talk)[-2:] == ["1 note.", "2 notes."]


async def test_a_superlative_after_an_empty_list_is_not_about_all_notes(talk) -> None:
    replies = await say(talk, "notes about gyroscopes in Claims", "the newest?")
    assert not replies.results and not replies.focus


@pytest.mark.parametrize("objection", ["nein, egal", "nein, stopp"])
async def test_a_short_answer_is_in_the_language_of_the_request_before_it(talk, objection) -> None:
    await say(talk, "tagge H3 mit brass", objection)
    assert talk.items[-1].text == "Meinst du das?"


@pytest.mark.parametrize(
    ("question", "quotes"),
    [("who polished the zorgon lens?", False), ("who polished the zorgon lens in the template?", True)],
)
async def test_templates_are_quoted_only_if_the_question_names_one(talk, question, quotes) -> None:
    await fill(talk, Templates__Form="The zorgon lens was polished by Ada Weir.")
    await say(talk, question)
    assert any("Templates/Form" in answer for answer in answers(talk)) == quotes


async def test_a_text_is_not_added_to_a_note_that_only_comes_close_to_an_answer(talk) -> None:
    await fill(talk, Ferry="The new timetable misses the last train by six minutes.")
    before = text(talk, "Ferry.md")
    await say(talk, "when did I last interview the timetable?", "add a line there: call the lab")
    assert text(talk, "Ferry.md") == before
