"""Questions are recognized by their words, in every language."""

from __future__ import annotations

import pytest

from app.agent.language.grammar.questions import question_language, with_topic_of
from app.agent.language.words.lexicon import languages
from app.agent.transcript import Question
from tests.agent.language.meaning.test_dialog import answers, fill, names, say, state, talk

__all__ = ["talk"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("what is latitude sailing?", "en"),
        ("Wer war John Harrison", "de"),
        ("H4 was made by whom?", "en"),
        ("until when did France keep Paris?", "en"),
        ("by when is the hull due", "en"),
        ("bis wann muss das weg", "de"),
        ("by Friday please", ""),
        ("tag H4 with clock", ""),
        ("tag H4 with clock?", ""),
        ("", ""),
    ],
)
def test_the_language_of_a_question(text: str, code: str) -> None:
    found = question_language(text, languages())
    assert (found.code if found else "") == code


@pytest.mark.parametrize(
    ("previous", "text", "complete"),
    [
        ("who made K1?", "and when?", "when made K1?"),
        ("wer hat K1 gebaut?", "und wann?", "wann hat K1 gebaut?"),
        ("who made K1?", "when was H4 tried?", "when was H4 tried?"),
        ("", "and when?", "and when?"),
    ],
)
def test_a_question_without_a_topic_continues_the_previous_one(previous, text, complete) -> None:
    assert with_topic_of(text, previous, languages()) == complete


@pytest.mark.parametrize(
    "text",
    ["what are backlinks?", "what is a daily note?", "was sind Backlinks?", "was ist eine Daily Note?"],
)
async def test_what_something_is_is_looked_up_in_the_notes(talk, text) -> None:
    await say(talk, text)
    assert state(talk).asked == text


async def test_the_backlinks_are_still_those_of_the_note(talk) -> None:
    replies = await say(talk, "what are the backlinks?")
    assert replies.last.last.action == "backlinks"


@pytest.mark.parametrize(("knows", "is_told"), [(True, True), (False, False)])
async def test_the_multilingual_model_is_suggested_for_a_foreign_question(talk, knows, is_told) -> None:
    talk.workspace.agent._builtin._answers._is_english_only = lambda: knows
    await say(talk, "wer hat das Dach des Rathauses in Ulm gedeckt?")
    assert answers(talk)[-1].startswith("**Nicht in deinen Notizen**")
    assert ("mehrsprachige Modell" in answers(talk)[-1]) == is_told
    await say(talk, "who roofed the town hall of Ulm?")
    assert "multilingual" not in answers(talk)[-1]


@pytest.mark.parametrize(
    ("before", "question", "note"),
    [
        ("open Boat", "in the glossary, what does it say about oars?", "Glossary"),
        ("öffne Boat", "im Glossary, was steht da über oars?", "Glossary"),
        ("= find [@Boat, @Glossary]", "what does the second one say about oars?", "Glossary"),
        ("open Boat", "what does it say about oars?", "Boat"),
    ],
)
async def test_a_question_about_one_note_is_answered_from_it_alone(talk, before, question, note) -> None:
    await fill(talk, Boat="The boat has two oars.\n", Glossary="Oars are made of ash wood.\n")
    await say(talk, before)
    replies = await say(talk, question)
    assert replies.subject == (f"{note}.md",)
    assert f"|{note}]]" in answers(talk)[-1]


async def test_a_note_without_an_answer_is_named(talk) -> None:
    await fill(talk, Glossary="Oars are made of ash wood.\n")
    await say(talk, "in the glossary, what does it say about elephants?")
    assert "not in [[Glossary]]**" in answers(talk)[-1].casefold().replace("glossary", "Glossary")


async def test_a_question_about_listed_notes_is_answered_from_them_alone(talk) -> None:
    await say(talk, "list people", "who of them came to London?")
    assert "Came to London in 1763" in answers(talk)[-1] and names(state(talk).results) == [
        "Ferdinand Berthoud"
    ]
    await say(talk, "list instruments", "which of them were English?")
    assert answers(talk)[-1].startswith("**Not in these notes**")


@pytest.mark.parametrize("text", ["who is Kevin Kelly?", "wer ist Kevin Kelly?"])
async def test_a_note_without_prose_is_described_by_its_properties(talk, text) -> None:
    await fill(
        talk,
        **{
            "People__Kevin Kelly": "---\ntype: author\n---\n![[Books.base]]\n",
            "Episode 145 Kevin Kelly": "---\nshow: Well Made\n---\n",
        },
    )
    await say(talk, text)
    assert "**type**: author" in answers(talk)[-1]


@pytest.mark.parametrize("request_text", ["does it push to the workshop too?", "Does it push the deadline?"])
async def test_a_question_with_a_verb_for_orders_is_no_order(talk, request_text) -> None:
    await say(talk, "open H4", request_text)
    assert not isinstance(talk.items[-1], Question)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("how many months did it take?", "how many months did H1 take?"),
        ("when is the market and what does it cost?", "when is the market and what does it cost?"),
        ("wann ist der Markt und was kostet er?", "wann ist der Markt und was kostet er?"),
    ],
)
async def test_a_pronoun_is_the_note_on_the_screen_unless_a_noun_comes_before_it(talk, text, asked) -> None:
    await say(talk, text)
    assert state(talk).asked == asked
