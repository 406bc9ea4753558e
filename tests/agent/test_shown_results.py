"""Results that are shown instead of a question, with the other readings below them."""

from __future__ import annotations

import pytest

from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.agent.shown_results import MIN_SHOWN_PROBABILITY, answer_first, shown_result
from app.agent.transcript import AgentText, Question, RequestReading
from tests.agent.language.meaning.test_dialog import fill, say, talk

__all__ = ["talk"]
LIKELY = MIN_SHOWN_PROBABILITY
CORE = NoteSet(query="tag:core")


def option(action="find", share=LIKELY, target=CORE, **arguments):
    return ClarificationOption("", Reading((PipelineStep(action, target, arguments),), 1.0), share)


def is_change(reading):
    return reading.last.action == "add_tag"


def test_the_other_readings_are_offered_below_the_likeliest() -> None:
    likeliest, second, third = option(), option("open", 0.2), option("add_tag", 0.2, tag="x")
    unlikely = option("open", 0.01)
    shown = shown_result(Clarification("?", (likeliest, second, third, unlikely)), is_change)
    assert shown is not None
    reading, others = shown
    assert reading == likeliest.reading
    assert others is not None
    assert others.options == (second, third)


def test_nothing_is_offered_below_the_only_reading() -> None:
    likeliest = option()
    assert shown_result(Clarification("?", (likeliest,)), is_change) == (likeliest.reading, None)


@pytest.mark.parametrize(
    "first",
    [
        option("add_tag", tag="x"),
        option(share=LIKELY - 0.01),
        option("count"),
        option(target=NoteSet(query="tag:core", order="size", limit=1)),
        option("question", target=None, query="who?"),
        option("model", target=None, query="This"),
    ],
)
def test_a_change_an_answer_or_an_unlikely_reading_is_asked_about(first) -> None:
    assert shown_result(Clarification("?", (first, option("open", 0.1))), is_change) is None


def test_a_value_that_is_missing_is_asked_for() -> None:
    question = Clarification("Which note?", (option(),), option().reading)
    assert shown_result(question, is_change) is None


async def test_another_reading_replaces_the_shown_one(talk, monkeypatch) -> None:
    agent = talk.workspace.agent._builtin
    question = Clarification("?", (option(), option(share=0.3, target=NoteSet(query="tag:star"))))

    async def ask(interpretation, text, state):
        return question if text == "the important ones" else interpretation

    monkeypatch.setattr(agent, "compare_with_vault", ask)
    await say(talk, "the important ones")
    reading, listed, offered = (
        item for item in talk.items if isinstance(item, RequestReading | AgentText | Question)
    )
    assert isinstance(reading, RequestReading)
    assert isinstance(listed, AgentText)
    assert isinstance(offered, Question)
    assert len(offered.choices) == 1
    state = await say(talk, offered.choices[0].reply)
    assert state.last.last.target.query == "tag:star"


ANSWER = option("question", target=None, query="who repairs clocks?")


@pytest.mark.parametrize(
    ("text", "options", "is_answered"),
    [
        ("who repairs clocks", (ANSWER, option()), True),
        ("wer repariert Uhren?", (ANSWER, option()), True),
        ("Ann repairs clocks", (ANSWER, option()), False),
        ("who repairs clocks?", (option(), ANSWER), False),
        ("who repairs clocks?", (ANSWER,), False),
    ],
)
def test_only_questions_are_answered_before_they_are_clarified(text, options, is_answered) -> None:
    assert (answer_first(Clarification("?", options), text) is not None) == is_answered


async def ask_about_clocks(talk, monkeypatch, note: str) -> tuple[list[str], Question]:
    """Ask who repairs clocks, in a vault with one more note; return the answers and the question."""
    await fill(talk, Workshop=note)

    async def ask(interpretation, text, state):
        return Clarification("?", (ANSWER, option()))

    monkeypatch.setattr(talk.workspace.agent._builtin, "compare_with_vault", ask)
    await say(talk, "who repairs clocks?")
    texts = [item.text for item in talk.items if isinstance(item, AgentText)]
    return texts, [item for item in talk.items if isinstance(item, Question)][-1]


async def test_an_answer_with_a_passage_is_shown_above_the_other_readings(talk, monkeypatch) -> None:
    texts, question = await ask_about_clocks(talk, monkeypatch, "Ann repairs clocks of all kinds.\n")
    assert "Ann repairs clocks" in texts[-1]
    assert [choice.reply.split()[1] for choice in question.choices] == ["find"]


async def test_without_a_passage_the_question_offers_the_answer_last(talk, monkeypatch) -> None:
    texts, question = await ask_about_clocks(talk, monkeypatch, "Nothing here.\n")
    assert not texts
    assert [choice.reply.split()[1] for choice in question.choices] == ["find", "question"]
