"""Conversations can be searched, including those older than the index, but not deleted ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.agent.conversations import ConversationStore
from app.agent.transcript import AgentText, Reasoning, UserText
from app.toolkit.memory_service import ConversationQuery


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ConversationStore]:
    new_store = ConversationStore(tmp_path)
    yield new_store
    new_store.close()


def search(store: ConversationStore, words: str = "tide", **more) -> list[str]:
    return [one.text for one in store.search(ConversationQuery(words, 10, **more))]


def talk(store: ConversationStore) -> str:
    conversation_id = store.create().id
    store.put(conversation_id, 0, UserText(turn="t", at=100.0, text="When is high tide?"))
    store.put(conversation_id, 1, Reasoning(turn="t", at=150.0, text="tide tables"))
    store.put(conversation_id, 2, AgentText(turn="t", at=200.0, text="The tide turns at six.", by_model=True))
    store.put(conversation_id, 3, AgentText(turn="t", at=300.0, text="Your private note on the tide."))
    return conversation_id


def test_searches_filter_by_role_time_and_visibility(store: ConversationStore) -> None:
    talk(store)
    assert len(search(store)) == 3
    assert search(store, role="user") == ["When is high tide?"]
    assert search(store, since=150.0, until=250.0) == ["The tide turns at six."]
    assert sorted(search(store, shown_to_model=True)) == ["The tide turns at six.", "When is high tide?"]
    assert not search(store, '"') and not search(store, "current")


def test_it_follows_what_is_changed_cut_and_deleted(store: ConversationStore) -> None:
    conversation_id = talk(store)
    store.put(conversation_id, 2, AgentText(turn="t", at=200.0, text="I was wrong."))
    assert "The tide turns at six." not in search(store)
    store.append(conversation_id, UserText(turn="u", at=400.0, text="And the moon?"), from_position=3)
    assert search(store) == ["When is high tide?"]
    store.delete(conversation_id)
    assert not search(store)


def test_the_list_is_filtered_by_messages_not_by_their_stored_form(store: ConversationStore) -> None:
    conversation_id = talk(store)
    store.put(conversation_id, 4, AgentText(turn="t", at=400.0, text='The "neap" tide.'))
    assert [one.id for one in store.list_conversations('"neap" ti')] == [conversation_id]
    assert not store.list_conversations("text") and not store.list_conversations("by_model")


def test_the_list_is_filtered_without_regard_to_case(store: ConversationStore) -> None:
    conversation_id = store.create().id
    store.put(conversation_id, 0, UserText(turn="t", at=100.0, text="Warum so viel A\u0308rger?"))
    store.put(conversation_id, 1, AgentText(turn="t", at=200.0, text="Wegen der Größe 100 %."))
    for text in ("ÄRGER", "ärger", "GRÖSSE 100 %", "größe"):
        assert [one.id for one in store.list_conversations(text)] == [conversation_id], text
    assert not store.list_conversations("100_%")


def test_conversations_from_before_the_index_are_found(store: ConversationStore, tmp_path: Path) -> None:
    talk(store)
    store.close()
    with sqlite3.connect(tmp_path / "conversations.sqlite") as db:
        db.executescript("drop table said; drop table said_words;")
    db.close()
    reopened = ConversationStore(tmp_path)
    try:
        assert len(search(reopened)) == 3
    finally:
        reopened.close()
