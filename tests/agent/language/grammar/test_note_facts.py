"""A question about one note is answered by the only property that it can mean."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.agent.language.grammar.joined_facts import join_facts, split_questions
from app.agent.language.grammar.note_facts import NoteFact, find_fact, may_answer
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.words.lexicon import languages
from app.agent.transcript import Question
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import fill, say, talk
from tests.agent.language.model.test_program import request

__all__ = ["talk"]

PROPERTIES = {
    "warranty": "2027-11-12",
    "price": 649,
    "room": "[[Kitchen]]",
    "last-serviced": "2025-09-20",
    "tags": ["clock"],
    "empty": None,
}


def fact(text: str, *, focus: str = "Sextant.md", language: int = 0) -> NoteFact | None:
    """Return the fact that a question asks for, with a note in focus that has `PROPERTIES`."""
    asked = request(text, DialogState(focus=(focus,) if focus else ()), languages()[language])
    return find_fact(asked, lambda path: PROPERTIES if path == "Sextant.md" else {})


@pytest.mark.parametrize(
    ("text", "name", "is_named"),
    [
        ("warranty?", "warranty", True),
        ("warrnty", "warranty", True),
        ("what is the price of the Sextant", "price", True),
        ("how much was it?", "price", False),
        ("where is it?", "room", False),
        ("when was it serviced", "last-serviced", True),
    ],
)
def test_a_question_means_the_only_fitting_property(text: str, name: str, is_named: bool) -> None:
    found = fact(text)
    assert found is not None and found.is_named is is_named
    assert found.reading.last.target is not None and found.reading.last.target.notes == ("Sextant.md",)
    assert found.reading.last.arguments == {"about": name}


def test_german_questions_are_read_with_german_words() -> None:
    found = fact("was kostet der Sextant?", language=1)
    assert found is not None and found.reading.last.arguments == {"about": "price"}


@pytest.mark.parametrize(
    "text",
    [
        "when?",  # two properties are dates
        "why is the price so high?",
        "what are its tags?",
        "is it empty?",
        "how much did the owner of the museum in Greenwich pay the carpenters?",
        "warranty of H4",  # a note without this property
    ],
)
def test_a_question_without_one_answer_has_no_fact(text: str) -> None:
    assert fact(text) is None


def test_a_pronoun_needs_a_note() -> None:
    assert fact("how much was it?", focus="") is None


def test_a_fact_needs_the_tool_that_shows_it() -> None:
    asked = request("warranty?", DialogState(focus=("Sextant.md",)))
    allowed = {name: action for name, action in asked.allowed.items() if name != "properties_of"}
    assert find_fact(replace(asked, allowed=allowed), lambda _: PROPERTIES) is None


@pytest.mark.parametrize(
    ("text", "properties", "is_found"),
    [
        ("sow?", {"sown": "2026-03-01"}, True),
        ("count?", {"country": "Peru"}, False),
        ("art?", {"artist": "Miles Davis"}, False),
    ],
)
def test_another_form_of_a_property_names_it(text: str, properties: dict[str, str], is_found: bool) -> None:
    found = find_fact(request(text, DialogState(focus=("Sextant.md",))), lambda _: properties)
    assert (found is not None) is is_found


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("what is the price of the Sextant and where is it?", ["price", "room"]),
        ("how much was it and when was it serviced?", ["price", "last-serviced"]),
        ("what is the price and the warranty of the Sextant?", ["price", "warranty"]),
        ("what is the price and is it sunny?", []),
    ],
)
def test_two_questions_are_answered_in_their_order(text: str, names: list[str]) -> None:
    dialog = DialogState(focus=("Sextant.md",))
    asked = request(text, dialog, languages()[0])
    joined = next(
        (
            found
            for parts in split_questions(asked)
            if (
                found := join_facts(
                    tuple(request(part, dialog, languages()[0]) for part in parts),
                    lambda path: PROPERTIES if path == "Sextant.md" else {},
                    dialog,
                )
            )
        ),
        None,
    )
    assert [step.arguments["about"] for step in (joined.steps if joined else ())] == names


@pytest.mark.parametrize(
    ("question", "name", "value", "fits"),
    [
        ("how long does it bake?", "words", None, False),
        ("how long is it?", "words", None, True),
        ("how long does it take?", "minutes", 30, True),
        ("where did he publish that?", "published", "2023-01-08", False),
        ("when did he publish that?", "published", "2023-01-08", True),
        ("where did he publish that?", "guests", None, False),
        ("what is the warranty?", "warranty", "2027-11-12", True),
    ],
)
def test_a_property_is_offered_only_if_it_may_be_the_answer(question, name, value, fits) -> None:
    assert may_answer(request(question, DialogState(), languages()[0]), name, value) is fits


@pytest.mark.parametrize("question", ["when was I there?", "wann war ich dort?"])
async def test_a_question_word_alone_is_no_search(talk, question) -> None:
    await fill(talk, Kyoto="---\nlast: 2023-09-20\nguests: Ann\n---\nA city.\n")
    await say(talk, "open Kyoto")
    replies = await say(talk, question)
    assert replies.last.last.action != "find"
    if isinstance(talk.items[-1], Question):
        assert not any("about=guests" in choice for choice in choices(talk))
