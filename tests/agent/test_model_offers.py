"""The built-in agent offers a model when it does not understand, or asks twice in a row."""

from __future__ import annotations

from app.agent.transcript import SET_UP_MODEL, Question
from tests.agent.language.meaning.test_dialog import say, talk

__all__ = ["talk"]


def last_actions(talk) -> list[str]:
    item = talk.items[-1]
    assert isinstance(item, Question)
    return [choice.action for choice in item.choices]


async def test_a_request_that_is_not_understood_offers_a_model(talk) -> None:
    await say(talk, "the moon is nice, isn't it")
    assert last_actions(talk) == [SET_UP_MODEL]


async def test_the_second_question_in_a_row_offers_a_model(talk) -> None:
    await say(talk, "set 5")
    assert SET_UP_MODEL not in last_actions(talk)
    await say(talk, "gibt 7 nicht so")
    assert last_actions(talk)[-1] == SET_UP_MODEL and len(last_actions(talk)) > 1
    assert talk.items[-1].choices[-1].label == "Modell einrichten …"


async def test_a_question_after_an_answered_one_offers_no_model(talk) -> None:
    state = await say(talk, "set 5")
    await say(talk, talk.items[-1].choices[0].reply)
    assert state.question is not None
    await say(talk, "set 6")
    assert SET_UP_MODEL not in last_actions(talk)
