"""The language in which a request is answered."""

from __future__ import annotations

import pytest

from app.agent.transcript import AgentText, Question
from tests.agent.language.meaning.test_dialog import fill, say, talk

__all__ = ["talk"]
GERMAN = ("Schlagwort", "meinst", "rückgängig", "Notiz")


@pytest.mark.parametrize("request_", ["tag H4 spring", "person Ada Lovelace"])
async def test_a_word_that_both_languages_have_does_not_change_the_language(talk, request_) -> None:
    await say(talk, request_)
    said = [item.text for item in talk.items if isinstance(item, AgentText | Question)]
    assert not any(word in text for text in said for word in GERMAN)


@pytest.mark.parametrize("request_", ["bought the kayak", "sold the oars"])
async def test_a_statement_is_not_read_in_a_language_that_knows_none_of_its_words(talk, request_) -> None:
    tasks = "- [ ] Buy another kayak\n- [ ] Sell the oars\n"
    await fill(talk, Boats=tasks, Tent="---\nbought: 2020-01-01\nsold: true\n---\n")
    await say(talk, "open tasks in Boats", request_)
    said = [item.text for item in talk.items if isinstance(item, AgentText | Question)]
    assert not any(word in text for text in said for word in GERMAN)
    offered = [choice.label for item in talk.items if isinstance(item, Question) for choice in item.choices]
    assert not any("Eigenschaft" in label for label in offered)


async def test_a_german_request_is_answered_in_german(talk) -> None:
    await say(talk, "verschlagworte H4 mit spring")
    said = [item.text for item in talk.items if isinstance(item, AgentText | Question)]
    assert any(word in text for text in said for word in GERMAN)
