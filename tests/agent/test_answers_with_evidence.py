"""Answers about the notes, by the built-in agent and by a model over real HTTP, are cited and checked."""

from __future__ import annotations

import asyncio
import re

import pytest

from app.agent.citations import NOT_FOUND, NOT_IN_NOTES
from app.agent.transcript import AgentText, ToolCard
from app.permissions.caller import Caller, CallerKind
from app.toolkit.call import Call as ToolCall
from app.toolkit.index_view import IndexView
from app.tools import answering
from app.vault.path import NotePath
from app.vault.reference import parse_reference
from app.vault.span_reference import find_span
from tests.agent.test_session import model, talk
from tests.support.model_server import CallTool, TextAnswer

__all__ = ["talk"]
H1 = NotePath("Instruments/H1.md")
CALLER = Caller(CallerKind.DESKTOP_AGENT, "test", uses_model=False)


def _texts(talk):
    return [item.text for item in talk.items if isinstance(item, AgentText)]


def _cited(workspace, text):
    """Return the passages that an answer links to, as they are in their notes."""
    matches = []
    for inner in re.findall(r"\[\[([^\]]*#span=[^\]]*)\]\]", text):
        link = parse_reference(f"[[{inner}]]")
        path = workspace.index.resolver.resolve(link.target, None).path
        note = workspace.store.read(path).decode()
        span = find_span(note, link.heading)
        matches.append((path, note[span.start : span.end]))
    return matches


async def test_the_built_in_agent_quotes_the_passage_with_its_exact_place(workspace, talk):
    before = workspace.store.read(H1)
    await talk.say("who made the first detent escapement?")
    (text,) = _texts(talk)
    cited = _cited(workspace, text)
    assert "made the first in 1748" in cited[0][1] and cited[0][0] == NotePath(
        "Concepts/Detent escapement.md"
    )
    assert workspace.store.read(H1) == before


async def test_passages_are_ranked_by_words_if_the_sentence_model_does_not_answer(talk, monkeypatch):
    async def wait(*_):
        await asyncio.Event().wait()

    monkeypatch.setattr(IndexView, "chunks_like", wait)
    monkeypatch.setattr(answering, "_MAX_SEMANTIC_S", 0.0)
    await talk.say("who made the first detent escapement?")
    assert "made the first in 1748" in _texts(talk)[-1]


async def test_weak_passages_are_not_shown_after_the_answer(workspace, talk):
    questions = {"who made the first detent escapement?": 1, "what was the Board of Longitude?": 2}
    for question, shown in questions.items():
        await talk.say(question)
        assert len(_cited(workspace, _texts(talk)[-1])) == shown
        outcome = await workspace.runner.run(ToolCall.of("find_passages", {"question": question}, CALLER))
        weak = [passage["weak"] for passage in outcome.result["passages"]]
        assert weak == [False] * shown + [True] * (5 - shown)


async def test_a_block_with_an_id_is_cited_by_it(workspace, talk):
    await talk.say("how many hours of arithmetic did a lunar need?")
    assert "[[Concepts/Lunar distance method#^four-hours|Lunar distance method]]" in _texts(talk)[0]


async def test_a_question_without_an_answer_in_the_notes_is_not_answered(workspace, talk):
    await talk.say("who painted the ceiling of the opera in Vienna?")
    assert _texts(talk)[0].startswith("**Not in your notes**")


async def test_passages_far_from_an_answer_are_not_shown(workspace, talk):
    await talk.say("what is the half-life of caffeine?")
    assert _texts(talk) == ["**Not in your notes**: I found no passage that answers this question."]


async def test_a_note_that_became_a_folder_is_left_out(unwatched_workspace):
    path = unwatched_workspace.root / "Concepts/Detent escapement.md"
    path.unlink()
    path.mkdir()
    question = {"question": "who made the first detent escapement?"}
    outcome = await unwatched_workspace.runner.run(ToolCall.of("find_passages", question, CALLER))
    assert outcome.success and outcome.result["passages"]
    assert "Concepts/Detent escapement.md" not in {p["path"] for p in outcome.result["passages"]}


@pytest.mark.parametrize(
    ("question", "note", "answered"),
    [
        ("what does Octant say about mirrors?", "Octant", True),
        ("what does Octant say about elephants?", "Octant", False),
        ("who wrote letters to the editor?", "Letters (private)", False),
    ],
)
async def test_a_question_about_one_note_is_answered_by_a_passage_with_all_words(
    workspace, question, note, answered
):
    (workspace.root / "Instruments" / "Octant.md").write_text("Two mirrors.\n\nA frame.\n")
    await workspace.index.scan()
    call = ToolCall.of("find_passages", {"question": question, "notes": [note]}, CALLER)
    result = (await workspace.runner.run(call)).result
    assert result["answered"] is answered
    assert {passage["path"] for passage in result["passages"]} <= {"Instruments/Octant.md"}
    if answered:
        assert [passage["text"] for passage in result["passages"]] == ["Two mirrors."]


async def test_private_notes_are_never_quoted(workspace, talk):
    await talk.say("who wrote letters to the editor?")
    assert "Drafts to the editor" not in _texts(talk)[0] and "Letters" not in _texts(talk)[0]


async def test_a_models_citations_are_verified_and_its_inventions_marked(workspace, talk):
    note = workspace.store.read(H1).decode()
    quote = "34 kg of brass with two linked balances"
    assert quote in note
    answer = (
        f'H1 was made of "{quote}" [[H1]]. It weighed "35 kg of brass" [[H1]].\n\n'
        "Harrison painted it blue. It is [[H4#span=1-20-0123456789]] fast."
    )
    calls = CallTool("find_passages", {"question": "how heavy was the first sea clock?"})
    async with model(workspace, calls, TextAnswer(answer)) as server:
        await talk.say("Tell me about the weight of the first sea clock")
    (card,) = [item for item in talk.items if isinstance(item, ToolCard)]
    assert card.state == "done" and "[[Instruments/H1#span=" in card.result
    assert "find_passages first" in str(server.requests[0]["messages"])
    (text,) = _texts(talk)
    assert _cited(workspace, text) == [(H1, quote)]
    assert text.count(NOT_FOUND) == 2 and text.count(NOT_IN_NOTES) == 1
    assert f"painted it blue. {NOT_IN_NOTES}" in text and "0123456789" not in text


async def test_a_model_that_answers_a_question_without_looking_is_marked(workspace, talk):
    async with model(workspace, TextAnswer("It was Pierre Le Roy who made it.")):
        await talk.say("who made the first detent escapement?")
    assert _texts(talk)[0].rstrip() == f"It was Pierre Le Roy who made it. {NOT_IN_NOTES}"


async def test_a_model_cannot_cite_a_private_note(workspace, talk):
    async with model(workspace, TextAnswer('It says "Drafts to the editor" [[Letters (private)]].')):
        await talk.say("hello there, friend")
    assert NOT_FOUND in _texts(talk)[0] and "[[" not in _texts(talk)[0]
