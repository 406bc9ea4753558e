"""Full-text index of the saved conversations, in the same database as their items."""

from __future__ import annotations

import sqlite3

from app.agent.transcript import ITEM_ADAPTER, AgentText, AnyItem, UserText
from app.index.normalization import segment, tokenize
from app.toolkit.memory_service import ConversationHit, ConversationQuery

_SCHEMA = (
    """create table if not exists said (
        id integer primary key, conversation text not null, position integer not null, role text not null,
        at real not null, by_model integer not null, text text not null, unique (conversation, position))""",
    """create virtual table if not exists said_words using fts5 (
        words, tokenize = "unicode61 remove_diacritics 2")""",
)


class ConversationIndex:
    """Indexes the items of a conversation store; the caller holds the transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        exists = db.execute("select count(*) from sqlite_master where name = 'said'").fetchone()[0]
        for statement in _SCHEMA:
            db.execute(statement)
        if not exists:
            self._index_all()

    def _index_all(self) -> None:
        """Index the messages that were saved before the index existed."""
        rows = self._db.execute("select conversation, position, body from items").fetchall()
        for conversation, position, body in rows:
            self.put(conversation, position, ITEM_ADAPTER.validate_json(body))

    def put(self, conversation: str, position: int, item: AnyItem) -> None:
        """Replace the index entry for a position; only messages from the user and the agent are indexed."""
        self._delete("conversation = ? and position = ?", (conversation, position))
        if not isinstance(item, UserText | AgentText):
            return
        by_model = isinstance(item, UserText) or item.by_model
        cursor = self._db.execute(
            "insert into said (conversation, position, role, at, by_model, text) values (?, ?, ?, ?, ?, ?)",
            (conversation, position, item.kind, item.at, by_model, item.text),
        )
        self._db.execute(
            "insert into said_words (rowid, words) values (?, ?)", (cursor.lastrowid, segment(item.text))
        )

    def delete_from(self, conversation: str, position: int = 0) -> None:
        """Remove a conversation from the index, starting at a position."""
        self._delete("conversation = ? and position >= ?", (conversation, position))

    def _delete(self, condition: str, values: tuple[object, ...]) -> None:
        for (conversation_id,) in self._db.execute(
            f"select id from said where {condition}", values
        ).fetchall():
            self._db.execute("delete from said_words where rowid = ?", (conversation_id,))
            self._db.execute("delete from said where id = ?", (conversation_id,))

    def search(self, query: ConversationQuery) -> tuple[ConversationHit, ...]:
        """Return the messages that contain any word of the query and pass its filters, best match first."""
        words = [segment(word).replace("\0", " ").replace('"', " ").strip() for word in tokenize(query.words)]
        if not any(words):
            return ()
        rows = self._db.execute(
            "select conversation, title, position, role, at, text, -bm25(said_words) from said_words "
            "join said on said.id = said_words.rowid join conversations c on c.id = conversation "
            "where said_words match ? and (? = '' or role = ?) and at >= ? and at < ? and by_model >= ? "
            "order by bm25(said_words), at desc limit ?",
            (
                " OR ".join(f'"{word}"' for word in words if word),
                query.role,
                query.role,
                query.since or 0.0,
                query.until or 1e18,
                int(query.shown_to_model),
                query.limit,
            ),
        )
        return tuple(ConversationHit(*row) for row in rows)
