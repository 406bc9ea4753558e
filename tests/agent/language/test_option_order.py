"""The options of a question: none that overwrites itself, and no change of 0 notes."""

from __future__ import annotations

import pytest

from app.agent.language.actions import ACTIONS
from app.agent.language.notation import parse
from app.agent.language.option_order import overwrites_itself
from app.agent.transcript import Question
from tests.agent.language.test_dialog import fill, say, talk

__all__ = ["talk"]


@pytest.mark.parametrize(
    ("notation", "overwrites"),
    [
        ("set_property [@H3] key=author value=Tom | set_property [@H3] key=author value=Jerry", True),
        ("set_property [@H3] key=author value=Tom | set_property [@H4] key=author value=Jerry", False),
        ("set_property [@H3] key=author value=Tom | set_property [@H3] key=editor value=Tom", False),
        ("move [@H3] folder=Events | move [@H3] folder=Claims", True),
        ("append [@H3] text=a | append [@H3] text=b", False),
        ("append [@H3] text=a | append [@H3] text=a", True),
        ("undo what=rename | undo what=rename", False),
    ],
)
def test_a_step_that_another_one_overwrites_is_found(notation, overwrites) -> None:
    reading = parse(notation, lambda name: (f"{name}.md",), ACTIONS)
    assert reading is not None and overwrites_itself(reading) is overwrites


@pytest.mark.parametrize(
    "request_text",
    [
        "set author to Tom and Jerry on Dune",
        "set rating to 5 and author to Frank and Herbert on Dune",
        "undo [rating:Dune]",
        "rename [status]",
    ],
)
async def test_no_option_is_pointless(talk, approver, request_text) -> None:
    await fill(talk, Dune="# Dune\n")
    await say(talk, request_text)
    assert isinstance(talk.items[-1], Question) and not approver.asked
    assert not any("· 0 notes" in choice.label for choice in talk.items[-1].choices)
    readings = [parse(choice.reply, lambda name: (name,), ACTIONS) for choice in talk.items[-1].choices]
    assert not any(map(overwrites_itself, readings))
