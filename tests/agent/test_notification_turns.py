"""Notifications that start a turn, with a real feed, a real model server and a whole vault."""

from __future__ import annotations

import asyncio
import json

import pytest

from app.agent.notifications import NotificationTrigger
from app.agent.transcript import AgentText, Notice, TurnFinished, UserText
from app.agent.turn import UserPrompt
from app.settings import AnswerByBuiltIn, AnswerByModel, ModelSettings
from app.sources.config import FeedConfig
from tests.sources.feed_server import FeedServer, rss
from tests.support.model_server import ModelServer, TextAnswer


@pytest.fixture
def server():
    with FeedServer() as made:
        yield made


@pytest.fixture
async def notification_trigger(workspace, server):
    """Replace the trigger with one without delays; the feed may be on this machine."""
    await workspace._notification_trigger.close()
    workspace.sources._fetcher = server.fetcher()
    trigger = NotificationTrigger(
        workspace.sources,
        workspace.agent,
        lambda: workspace.settings,
        workspace.events,
        debounce_s=0.0,
        min_interval_s=0.0,
    )
    yield trigger
    await trigger.close()


async def add_feed(workspace, server, *, starts_turn: bool):
    config = FeedConfig(id="feed", name="Clocks", url=server.url, starts_turn=starts_turn)
    await workspace.sources.add(config)
    await checked(workspace)


async def checked(workspace):
    """Fetch the feed now, like its button."""
    await workspace.sources.check_feed("feed")


def use_model(workspace, model):
    workspace.settings.agent.answering = AnswerByModel()
    workspace.settings.model = ModelSettings(
        provider="openai-compatible", base_url=model.address, model="scripted", request_timeout=60
    )


async def test_a_new_entry_starts_a_turn_that_is_given_it_as_data(workspace, server, notification_trigger):
    finished = asyncio.Queue[TurnFinished]()
    workspace.events.subscribe(TurnFinished, finished.put_nowait)
    with ModelServer(TextAnswer("It is about [[H4]].")) as model:
        use_model(workspace, model)
        await add_feed(workspace, server, starts_turn=True)
        server.body, server.etag = rss("two", "one"), '"2"'
        await checked(workspace)
        over = await asyncio.wait_for(finished.get(), 200)
        assert over.state == "done"
        told = json.dumps(model.requests[0]["messages"])
    assert "<news" in told and "two" in told and '\\"one\\"' not in told
    (conversation,) = workspace.agent.store.list_conversations()
    assert conversation.title == "News: Clocks"
    items = workspace.agent.store.items(conversation.id)
    (given,) = [item for item in items if isinstance(item, Notice)]
    assert given.untrusted and "1 news item from Clocks" in given.text
    assert "There is news from Clocks" in next(item.text for item in items if isinstance(item, UserText))
    assert any("H4" in item.text for item in items if isinstance(item, AgentText))


async def test_without_permission_or_a_model_no_turn_starts_and_notifications_wait(
    workspace, server, notification_trigger
):
    await add_feed(workspace, server, starts_turn=False)
    with ModelServer(TextAnswer("Here.")) as model:
        use_model(workspace, model)
        server.body, server.etag = rss("two", "one"), '"2"'
        await checked(workspace)
        assert notification_trigger._task is None and not workspace.agent.store.list_conversations()
        # They are delivered with the user's next message.
        talk = workspace.agent.create().id
        finished = asyncio.Queue[TurnFinished]()
        workspace.events.subscribe(TurnFinished, finished.put_nowait)
        workspace.agent.start(talk, UserPrompt("hello"))
        await asyncio.wait_for(finished.get(), 200)
        assert "<news" in json.dumps(model.requests[0]["messages"])
    workspace.settings.agent.answering = AnswerByBuiltIn()
    config = workspace.sources.get("feed").config
    await workspace.sources.change(config.model_copy(update={"starts_turn": True}))
    server.body, server.etag = rss("three", "two", "one"), '"3"'
    await checked(workspace)
    assert notification_trigger._task is None and len(workspace.agent.store.list_conversations()) == 1
