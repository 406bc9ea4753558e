"""A vault's saved conversations: the items that the user saw, and the models' message histories.

They are stored in SQLite in the user's data folder, outside the vault. Text is saved when it is complete, and
a tool call when it starts and when it ends, so a crash loses at most the text that is being streamed.
"""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.agent.conversation_search import ConversationIndex
from app.agent.transcript import ITEM_ADAPTER, AnyItem, ToolCard, UserText
from app.storage.sqlite import Database, Schema
from app.toolkit.memory_service import ConversationHit, ConversationQuery

_MAX_TITLE_CHARS = 60


def m001_conversations(db: sqlite3.Connection) -> None:
    """Create the tables for conversations, their items and the models' message histories."""
    for statement in (
        """create table if not exists conversations (
            id text primary key, title text not null, created real not null, updated real not null,
            history blob)""",
        """create table if not exists items (
            conversation text not null references conversations(id) on delete cascade,
            position integer not null, body text not null, primary key (conversation, position))""",
        """create table if not exists agent_histories (
            conversation text not null references conversations(id) on delete cascade,
            agent text not null, history blob not null, primary key (conversation, agent))""",
    ):
        db.execute(statement)


def m002_cards_by_commit(db: sqlite3.Connection) -> None:
    """Create the index that finds the cards of a commit, to mark them as undone."""
    db.execute(
        "create index items_by_commit on items (json_extract(body, '$.commit')) "
        "where json_extract(body, '$.commit') is not null"
    )


SCHEMA = Schema(
    store="The conversations file",
    migrations=(m001_conversations, m002_cards_by_commit),
    probes=(
        "select c.title, c.created, c.updated, c.history, i.body from conversations c, items i limit 1",
        "select history from agent_histories limit 1",
    ),
    synchronous="NORMAL",
    pragmas=("foreign_keys = ON",),
)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A saved conversation; times are Unix seconds."""

    id: str
    title: str
    created: float
    updated: float


class _ConversationFile(Database):
    """The database file with its full-text index; a file that replaces a damaged one gets a new index.

    Attributes:
        was_replaced: Whether a new file replaced a damaged one.
    """

    def __init__(self, folder: Path) -> None:
        self.was_replaced = False
        super().__init__(folder / "conversations.sqlite", SCHEMA)
        self._index()

    def _after_replacement(self) -> None:
        self.was_replaced = True
        self._index()

    def _index(self) -> None:
        with self.transaction(write=True) as db:
            self.search_index = ConversationIndex(db)


class ConversationStore:
    """Reads and writes the conversations of one vault.

    Methods that read or write raise StorageError if the disk failed, or if the file was damaged and has been
    replaced.

    Args:
        folder: The vault's data folder; the file in it is `conversations.sqlite`.

    Raises:
        StorageError: The file can't be opened.
    """

    def __init__(self, folder: Path) -> None:
        self._file = _ConversationFile(folder)

    @property
    def problem(self) -> str | None:
        """A message for the user about a damaged file; None if there is no damage."""
        return self._file.problem

    def on_damage(self, notify: Callable[[str], None]) -> None:
        """Call `notify`, in any thread, with a message for the user if the file proves to be damaged."""
        self._file.on_damage = notify

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def create(self, title: str = "", conversation_id: str = "") -> Conversation:
        """Create an empty conversation, with a new id unless `conversation_id` is given."""
        now = time.time()
        conversation = Conversation(conversation_id or uuid.uuid4().hex, title, now, now)
        with self._file.transaction(write=True) as db:
            db.execute(
                "insert into conversations values (?, ?, ?, ?, null)", (conversation.id, title, now, now)
            )
        return conversation

    def list_conversations(self, text: str = "") -> tuple[Conversation, ...]:
        """Return the conversations with `text` in their title or messages, most recently updated first."""
        rows = self._read(
            "select id, title, created, updated from conversations c "
            "where ?1 = '' or contains(title, ?1) or exists ("
            "select 1 from items i where i.conversation = c.id and contains(coalesce("
            "json_extract(i.body, '$.text'), json_extract(i.body, '$.message')), ?1)) "
            "order by updated desc",
            text,
        )
        return tuple(Conversation(*row) for row in rows)

    def search(self, query: ConversationQuery) -> tuple[ConversationHit, ...]:
        """Search the messages of all conversations; return the best matches first."""
        with self._file.transaction():
            return self._file.search_index.search(query)

    def items(self, conversation: str) -> tuple[AnyItem, ...]:
        """Return the items of a conversation in order; empty for an unknown id."""
        rows = self._read("select body from items where conversation = ? order by position", conversation)
        return tuple(ITEM_ADAPTER.validate_json(row[0]) for row in rows)

    def cards_of(self, commit: int) -> tuple[tuple[str, int, ToolCard], ...]:
        """Return the cards of the calls that made a commit, each with its conversation and position."""
        rows = self._read(
            "select conversation, position, body from items where json_extract(body, '$.commit') = ?", commit
        )
        items = (
            (conversation, position, ITEM_ADAPTER.validate_json(body))
            for conversation, position, body in rows
        )
        return tuple(
            (conversation, position, item)
            for conversation, position, item in items
            if isinstance(item, ToolCard)
        )

    def exists(self, conversation: str) -> bool:
        """Return whether the conversation exists."""
        return bool(self._read("select 1 from conversations where id = ?", conversation))

    def append(self, conversation: str, item: AnyItem, *, from_position: int | None = None) -> int:
        """Append `item` and return its position; the first prompt becomes the title.

        Args:
            conversation: The conversation's id.
            item: The item to save.
            from_position: First delete the items from this position on, and the models' histories (for "edit
                and resend"). If the item can't be saved, nothing is deleted.
        """
        with self._file.transaction(write=True) as db:
            if from_position is not None:
                self._truncate(db, conversation, from_position)
            ((position,),) = db.execute(
                "select coalesce(max(position) + 1, 0) from items where conversation = ?", (conversation,)
            ).fetchall()
            self._put(db, conversation, position, item)
        return int(position)

    def put(self, conversation: str, position: int, item: AnyItem) -> None:
        """Save `item` at `position`, replacing the item there; the first prompt becomes the title."""
        with self._file.transaction(write=True) as db:
            self._put(db, conversation, position, item)

    def _put(self, db: sqlite3.Connection, conversation: str, position: int, item: AnyItem) -> None:
        if self._file.was_replaced:
            # A conversation in progress while its file was replaced continues in the new file.
            now = time.time()
            db.execute(
                "insert or ignore into conversations values (?, '', ?, ?, null)", (conversation, now, now)
            )
        db.execute(
            "insert or replace into items values (?, ?, ?)", (conversation, position, item.model_dump_json())
        )
        self._file.search_index.put(conversation, position, item)
        db.execute("update conversations set updated = ? where id = ?", (time.time(), conversation))
        if isinstance(item, UserText):
            title = " ".join(item.text.split())
            short = title if len(title) <= _MAX_TITLE_CHARS else title[: _MAX_TITLE_CHARS - 1].rstrip() + "…"
            db.execute(
                "update conversations set title = ? where id = ? and title = ''", (short, conversation)
            )

    def _truncate(self, db: sqlite3.Connection, conversation: str, position: int) -> None:
        db.execute("delete from items where conversation = ? and position >= ?", (conversation, position))
        self._file.search_index.delete_from(conversation, position)
        db.execute("update conversations set history = null where id = ?", (conversation,))
        db.execute("delete from agent_histories where conversation = ?", (conversation,))

    def history(self, conversation: str, agent: str = "") -> bytes | None:
        """Return the model's history as the model layer saved it; None if there is none.

        Args:
            conversation: The conversation's id.
            agent: The team agent or program that the history belongs to; empty for the conversation's own
                agent.
        """
        if agent:
            sql = "select history from agent_histories where conversation = ? and agent = ?"
            rows = self._read(sql, conversation, agent)
        else:
            sql = "select history from conversations where id = ?"
            rows = self._read(sql, conversation)
        return rows[0][0] if rows else None

    def save_history(self, conversation: str, history: bytes, agent: str = "") -> None:
        """Save the model's history, if the conversation exists; for the arguments see `history`."""
        with self._file.transaction(write=True) as db:
            if agent:
                db.execute(
                    "insert or replace into agent_histories select id, ?, ? from conversations where id = ?",
                    (agent, history, conversation),
                )
                return
            db.execute("update conversations set history = ? where id = ?", (history, conversation))

    def rename(self, conversation: str, title: str) -> None:
        """Rename a conversation."""
        with self._file.transaction(write=True) as db:
            db.execute("update conversations set title = ? where id = ?", (title, conversation))

    def delete(self, conversation: str) -> None:
        """Delete a conversation. Its tool calls stay in the audit log."""
        with self._file.transaction(write=True) as db:
            self._file.search_index.delete_from(conversation)
            db.execute("delete from conversations where id = ?", (conversation,))

    def _read(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self._file.transaction() as db:
            return db.execute(sql, values).fetchall()
