"""An amount may be added to the number of a property."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.doubts.test_stated_values import fill_books
from tests.agent.language.meaning.test_dialog import fill, say, state, talk, text

__all__ = ["talk"]


@pytest.mark.parametrize("request_text", ["add 5 to Orlando", "add €50 to Orlando", "add 7 to Empty"])
async def test_an_amount_is_no_text(talk, request_text) -> None:
    await fill_books(talk)
    await say(talk, request_text)
    assert isinstance(talk.items[-1], Question) and not state(talk).changes


async def test_an_amount_of_things_is_text(talk) -> None:
    await fill_books(talk)
    await say(talk, "add 2 eggs to Orlando")
    assert text(talk, "Books/Orlando.md").rstrip().endswith("2 eggs")


async def test_money_is_added_to_the_price(talk) -> None:
    await fill(talk, Chair="---\nprice: 310\nhours: 4\n---\n")
    await say(talk, "add €50 to Chair")
    assert choices(talk)[0] == "set_property [@Chair] key=price value=360"
    await say(talk, f"= {choices(talk)[0]}")
    assert "price: 360" in text(talk, "Chair.md")
