"""Summaries of a given length: "summarize it in three lines"."""

from __future__ import annotations

import json

import pytest

from app.agent.language.meaning.notation import serialize
from app.agent.transcript import ToolCard
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import answers, fill, order, say, state, talk

__all__ = ["talk"]
TEXT = " ".join(
    f"The harbour of {name} is deep and quiet, and its pilots know every shoal of the coast."
    for name in ("Ayr", "Brest", "Cork", "Dover", "Esbjerg", "Faro")
)


@pytest.mark.parametrize(
    ("requests", "arguments", "lines"),
    [
        (["summarize Harbours in 3 lines"], {"style": "bullets", "max_sentences": 3}, 3),
        (["summarise Harbours in two bullet points please"], {"style": "bullets", "max_sentences": 2}, 2),
        (["give me a summary of Harbours in one sentence"], {"max_sentences": 1}, 1),
        (["summarize Harbours", "in two lines"], {"style": "bullets", "max_sentences": 2}, 2),
        (["summarize Harbours as bullets"], {"style": "bullets", "max_sentences": 5}, 5),
        (["fass Harbours in zwei Stichpunkten zusammen"], {"style": "bullets", "max_sentences": 2}, 2),
    ],
)
async def test_a_summary_has_the_length_that_is_asked_for(talk, requests, arguments, lines) -> None:
    await fill(talk, Harbours=TEXT)
    replies = await say(talk, *requests)
    assert replies.last.last.arguments == arguments and replies.focus == ("Harbours.md",)
    _, summary, *rest = answers(talk)[-1].split("\n\n")
    assert len(summary.splitlines()) == lines
    assert "harbour" not in "".join(rest)


async def test_a_summary_has_at_most_as_many_words_as_are_asked_for(talk) -> None:
    await fill(talk, Harbours=TEXT)
    await say(talk, "summarize Harbours in 20 words")
    assert 0 < len(answers(talk)[-1].split("\n\n")[1].split()) <= 20


async def test_other_requests_may_end_like_a_length(talk) -> None:
    await fill(talk, Poem="A sonnet in three lines.")
    await say(talk, "notes that mention a sonnet in three lines")
    assert serialize(state(talk).last) == "find [sonnet]"
    assert not any(choice.startswith("summarize") for choice in choices(talk))


@pytest.mark.parametrize(
    ("request_text", "arguments"),
    [
        ("summarize clock in two sentences", {"max_sentences": 2}),
        ("fasse clock in drei Zeilen zusammen", {"style": "bullets", "max_sentences": 3}),
    ],
)
async def test_a_summary_of_an_ambiguous_name_has_the_length_in_each_option(
    talk, request_text, arguments
) -> None:
    await fill(talk, **{"Old__Clock": TEXT, "New__Clock": TEXT})
    await say(talk, request_text)
    options = state(talk).question.options
    assert [option.reading.last.arguments for option in options] == [arguments] * len(options)
    assert {path for option in options for path in option.reading.last.target.notes} >= {
        "Old/Clock.md",
        "New/Clock.md",
    }
    await talk.say(talk.items[-1].choices[0].reply)
    call = json.loads([item for item in talk.items if isinstance(item, ToolCard)][-1].arguments)
    assert {name: call[name] for name in arguments} == arguments


@pytest.mark.parametrize(
    "request_text",
    [
        "delete H3 and summarize Harbours in two sentences",
        "lösche H3 und fasse Harbours in zwei Sätzen zusammen",
    ],
)
async def test_a_summary_with_a_length_may_follow_a_change(talk, request_text) -> None:
    await fill(talk, Harbours=TEXT)
    replies = await order(talk, request_text)
    assert [step.action for step in replies.last.steps] == ["delete", "summarize"]
    assert [str(value) for value in replies.last.last.arguments.values()] == ["2"]
