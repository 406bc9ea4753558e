"""Queries on the full-text index: counts, ids, the best hits, and the first hits in the order of a column."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

# Up to this number, hits are counted exactly and scored one by one.
MAX_RANKED_HITS = 4000
# The cost of testing whether one note is a hit, relative to reading the id of one hit.
_QUERY_COST = 27
ROWS = {
    "name": "SELECT id FROM notes WHERE {} ORDER BY name_key, id",
    "modified": "SELECT id FROM files WHERE is_note = 1 AND {} ORDER BY modified DESC, id",
    "created": "SELECT id FROM files WHERE is_note = 1 AND {} ORDER BY created DESC, id",
}
Ids = set[int]
Ranked = list[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class RowCursor:
    """A large result of about `size` hits: the matches of an FTS query minus those of another.

    `fts_query` runs on `table`, `excluding` on `heads`. `notes_read` is the number of notes to read to find
    all hits, if larger than `size`: a phrase is searched for in each note that has all its words.
    """

    fts_query: str
    size: int
    table: str = "fulltext"
    excluding: str = ""
    notes_read: int = 0


class FtsHits:
    """Runs full-text expressions; a `table` is `fulltext` or `heads`.

    Results exclude `hidden` notes, except those of `first_hits`, `first_ids` and `estimate_count`.
    """

    def __init__(self, connection: sqlite3.Connection, hidden: Ids) -> None:
        self._connection = connection
        self._hidden = hidden
        self._hidden_json = json.dumps(sorted(hidden))

    # Counts and rows

    def first_hits(self, fts_query: str, first_known: Sequence[int] = ()) -> tuple[Ids, int]:
        """Return the first hits, at most `MAX_RANKED_HITS` + 1, and an estimate of the total.

        `first_known` are the first hits if already known from `first_ids`.
        """
        ids = {
            *first_known,
            *self._next_ids(
                fts_query, MAX_RANKED_HITS + 1 - len(first_known), first_known[-1] if first_known else 0
            ),
        }
        count = len(ids)
        return ids, count if count <= MAX_RANKED_HITS else max(count, count * self.newest_row() // max(ids))

    def first_ids(self, fts_query: str, limit: int) -> list[int]:
        """Return the first hits in the order of their ids, at most `limit`."""
        return self._next_ids(fts_query, limit, 0)

    def _next_ids(self, fts_query: str, limit: int, after: int) -> list[int]:
        query = "SELECT rowid FROM fulltext WHERE fulltext MATCH ? AND rowid > ? ORDER BY rowid LIMIT ?"
        return [row_id for (row_id,) in self._connection.execute(query, (fts_query, after, limit))]

    def estimate_count(self, table: str, fts_query: str) -> int:
        """Return the number of hits: exact up to `MAX_RANKED_HITS`, else estimated from the first ones."""
        query = f"SELECT count(*), max(rowid) FROM (SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT ?)"
        count, last = self._connection.execute(query, (fts_query, MAX_RANKED_HITS + 1)).fetchone()
        return (
            int(count) if count <= MAX_RANKED_HITS else max(count, count * self.newest_row() // max(1, last))
        )

    def newest_row(self) -> int:
        """Return the highest note id, which approximates the number of notes."""
        return int(self._connection.execute("SELECT max(id) FROM notes").fetchone()[0] or 0)

    def count(self, table: str, fts_query: str) -> int:
        """Return the number of hits, excluding hidden ones."""
        query = f"SELECT count(*) FROM {table} WHERE {table} MATCH ?{self._hidden_condition('+rowid')}"
        values = (fts_query, self._hidden_json) if self._hidden else (fts_query,)
        return int(self._connection.execute(query, values).fetchone()[0])

    def _hidden_condition(self, column: str) -> str:
        return f" AND {column} NOT IN (SELECT value FROM json_each(?))" if self._hidden else ""

    def ids(self, table: str, fts_query: str) -> Ids:
        """Return all hits, excluding hidden ones."""
        rows = self._connection.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH ?", (fts_query,))
        return {row_id for (row_id,) in rows} - self._hidden

    # In order

    def best(self, table: str, fts_query: str, start: int, count: int, among: str = "") -> Ranked:
        """Return a page of hits with their scores, best first; ties are in the order of indexing.

        With `among`, return only hits that also match this expression; `fts_query` determines the scores.
        """
        query, values = f"SELECT rowid, -rank FROM {table} WHERE {table} MATCH ?", [fts_query]
        if among:
            # The plus keeps SQLite from restarting the search for each row.
            query += f" AND +rowid IN (SELECT rowid FROM {table} WHERE {table} MATCH ?)"
            values.append(among)
        if self._hidden:
            query, values = query + self._hidden_condition("+rowid"), [*values, self._hidden_json]
        query += " ORDER BY rank, rowid LIMIT ? OFFSET ?"
        return self._connection.execute(query, (*values, count, start)).fetchall()

    def by_row(self, order: str, cursor: RowCursor, start: int, count: int) -> Ranked:
        """Return a page of many hits in the order of a column, by walking the column if that is cheaper.

        Hits have no scores.
        """
        end = start + count
        if self.is_walk_shorter(cursor, end):
            max_rows = 4 * end * self.newest_row() // cursor.size + MAX_RANKED_HITS // 4
            page = self._scan_order(order, cursor, start, count, max_rows)
            if page is not None:
                return page
        ids = self.ids(cursor.table, cursor.fts_query)
        if cursor.excluding:
            ids -= self.ids("heads", cursor.excluding)
        return [(row_id, 0.0) for row_id in self.walk_order(order, ids, start, count)]

    def is_walk_shorter(self, cursor: RowCursor, end: int) -> bool:
        """Return whether testing notes one by one finds `end` hits sooner than finding all hits."""
        return cursor.size * max(cursor.size, cursor.notes_read) > _QUERY_COST * end * self.newest_row()

    def _scan_order(
        self, order: str, cursor: RowCursor, start: int, count: int, max_rows: int
    ) -> Ranked | None:
        """Return the page by testing up to `max_rows` notes in order, or None if they have too few hits."""
        test = "EXISTS (SELECT 1 FROM {0} WHERE {0} MATCH ? AND rowid = first.id)"
        condition, values = test.format(cursor.table), [cursor.fts_query]
        if cursor.excluding:
            condition, values = f"{condition} AND NOT {test.format('heads')}", [*values, cursor.excluding]
        if self._hidden:
            condition, values = condition + self._hidden_condition("id"), [*values, self._hidden_json]
        query = f"SELECT id FROM ({ROWS[order].format('1')} LIMIT {max_rows}) AS first WHERE {condition}"
        rows = self._connection.execute(f"{query} LIMIT ? OFFSET ?", (*values, count, start))
        page = [(row_id, 0.0) for (row_id,) in rows]
        return page if len(page) >= count or max_rows >= self.newest_row() else None

    def in_order(self, order: str, ids: Ids, start: int, count: int) -> list[int]:
        """Return a page of a set of notes in the order of a column, a key of `ROWS`."""
        if count <= 0 or not ids:
            return []
        # Compare the cost of walking the column with that of looking up each id.
        if (start + count) * self.newest_row() < len(ids) * MAX_RANKED_HITS:
            return self.walk_order(order, ids, start, count)
        condition = "id IN (SELECT value FROM json_each(?))"
        rows = self._connection.execute(
            f"{ROWS[order].format(condition)} LIMIT ? OFFSET ?", (json.dumps(list(ids)), count, start)
        )
        return [row_id for (row_id,) in rows]

    def walk_order(self, order: str, ids: Ids, start: int, count: int) -> list[int]:
        """Return the same page as `in_order`, by walking the column."""
        rows = self._connection.execute(ROWS[order].format("1"))
        return list(islice((row_id for (row_id,) in rows if row_id in ids), start, start + count))
