"""Text of a model that can't be encoded as UTF-8 (halves of surrogate pairs) in its messages and calls."""

from __future__ import annotations

import pytest

from app.agent.transcript import AgentText
from app.toolkit.call import Call as ToolCall
from app.vault.path import NotePath
from tests.agent.test_session import SessionConversation, model
from tests.support.model_server import CallTool, TextAnswer


@pytest.fixture
def talk(workspace):
    return SessionConversation(workspace)


async def test_lone_surrogates_of_a_model_end_no_turn_and_hold_nothing_up(workspace, talk):
    async with model(
        workspace,
        CallTool("read_note", {"name": "H4 \ud800", "\udfff": ["\udc00"]}, text="Let me \ud83d look."),
        CallTool("add_tag", {"name": "H4", "tag": "odd\ud800"}),
        CallTool("\ud800", {}),
        TextAnswer("Half of a pair: \udc00."),
        TextAnswer("And on."),
    ):
        finished = await talk.say("Do odd things \udc80")
        assert finished.state == "done", finished
        assert (await talk.say("Go on")).state == "done"
    text = " ".join(item.text for item in talk.items if isinstance(item, AgentText))
    assert "Let me \ufffd look." in text and "Half of a pair: \ufffd." in text and "And on." in text
    saved = await workspace.runner.run(ToolCall.save(NotePath("New.md"), None, b"new\n"))
    assert saved.success and saved.entry > 0 and workspace.audit.verify().ok
