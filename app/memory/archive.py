"""The archive of memory entries, searched by words and by meaning. Only commits write entries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import JsonValue

from app.index.normalization import segment, tokenize
from app.index.term_statistics import TermStatistics, term_statistics
from app.memory.database import MemoryDatabase

_MAX_VECTOR_BATCH = 512


@dataclass(frozen=True, slots=True)
class ArchiveHit:
    """An entry, found or listed; `score` is that of the search, `created` is in ISO 8601."""

    number: int
    entry: str
    owner: str
    created: str
    text: str
    metadata: Mapping[str, JsonValue]
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A time range from `since` to `until` (exclusive), as prefixes of ISO 8601 times; empty for no bound."""

    since: str = ""
    until: str = ""


ANY_TIME = TimeRange()


class Archive:
    """All agents' entries in a vault."""

    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database

    def count(self, agent: str) -> int:
        """Return the number of the agent's entries."""
        with self._database.transaction() as db:
            return int(db.execute("SELECT count(*) FROM entries WHERE owner = ?", (agent,)).fetchone()[0])

    def newest(self, agent: str, limit: int) -> tuple[ArchiveHit, ...]:
        """Return the agent's newest entries, newest first, at most `limit`."""
        with self._database.transaction() as db:
            rows = db.execute(
                f"SELECT {_COLUMNS} FROM entries WHERE owner = ? ORDER BY entry DESC LIMIT ?",
                (agent, limit),
            ).fetchall()
        return tuple(_to_hit(row) for row in rows)

    def search_text(
        self, agent: str, query: str, limit: int, time_range: TimeRange = ANY_TIME
    ) -> list[tuple[int, float]]:
        """Return the numbers and BM25 scores of the agent's entries that contain a query word, best first."""
        words = tokenize(query)
        if not words:
            return []
        quoted = (segment(word).replace("\0", " ").replace('"', " ").strip() for word in words)
        expression = " OR ".join(f'"{word}"' for word in quoted if word)
        with self._database.transaction() as db:
            rows = db.execute(
                "SELECT entries.id, -bm25(entry_words) FROM entry_words JOIN entries ON entries.id = "
                f"entry_words.rowid WHERE entry_words MATCH ? AND owner = ? {_SPAN} "
                "ORDER BY bm25(entry_words), entries.id DESC LIMIT ?",
                (
                    expression,
                    agent,
                    time_range.since,
                    time_range.since,
                    time_range.until,
                    time_range.until,
                    limit,
                ),
            ).fetchall()
        return [(int(number), float(score)) for number, score in rows]

    def term_statistics(self, query: str, best: int | None) -> TermStatistics:
        """Return statistics on the query's words in all agents' entries, and in the entry numbered `best`."""
        with self._database.transaction() as db:
            (texts,) = db.execute("SELECT max(id) FROM entries").fetchone()
            return term_statistics(db, "entry_words", query, texts or 0, best)

    def missing_vectors(self, agent: str, model: str) -> list[tuple[int, str]]:
        """Return the numbers and texts of the agent's entries without a vector from this model, newest first.

        At most `_MAX_VECTOR_BATCH` are returned.
        """
        with self._database.transaction() as db:
            rows = db.execute(
                "SELECT id, text FROM entries e WHERE owner = ? AND NOT EXISTS (SELECT 1 FROM "
                "entry_vectors v WHERE v.id = e.id AND model = ?) ORDER BY entry DESC LIMIT ?",
                (agent, model, _MAX_VECTOR_BATCH),
            ).fetchall()
        return [(int(number), str(text)) for number, text in rows]

    def save_vectors(self, model: str, vectors: Sequence[tuple[int, np.ndarray]]) -> None:
        """Store vectors of entries; those of deleted entries are skipped."""
        rows = [(number, model, vector.astype(np.float32).tobytes(), number) for number, vector in vectors]
        with self._database.transaction(write=True) as db:
            db.executemany(
                "INSERT OR REPLACE INTO entry_vectors SELECT ?, ?, ? FROM entries WHERE id = ?", rows
            )

    def search_vectors(
        self, agent: str, model: str, vector: np.ndarray, limit: int, time_range: TimeRange = ANY_TIME
    ) -> list[tuple[int, float]]:
        """Return the numbers and cosines of the agent's entries closest to a unit vector, best first."""
        with self._database.transaction() as db:
            rows = db.execute(
                "SELECT entries.id, vector FROM entry_vectors JOIN entries ON entries.id = entry_vectors.id "
                f"WHERE model = ? AND owner = ? {_SPAN}",
                (model, agent, time_range.since, time_range.since, time_range.until, time_range.until),
            ).fetchall()
        if not rows:
            return []
        matrix = np.frombuffer(b"".join(data for _, data in rows), np.float32).reshape(len(rows), -1)
        cosines = matrix @ vector.astype(np.float32)
        best = np.argsort(-cosines, kind="stable")[:limit]
        return [(int(rows[index][0]), float(cosines[index])) for index in best]

    def get(self, scores: Sequence[tuple[int, float]]) -> tuple[ArchiveHit, ...]:
        """Return the entries with these numbers, in this order, each with its score; skip missing ones."""
        with self._database.transaction() as db:
            rows = {
                number: _to_hit(row, score)
                for number, score in scores
                if (row := db.execute(f"SELECT {_COLUMNS} FROM entries WHERE id = ?", (number,)).fetchone())
            }
        return tuple(rows[number] for number, _ in scores if number in rows)


_COLUMNS = "id, entry, owner, created, text, metadata"
_SPAN = "AND (? = '' OR created >= ?) AND (? = '' OR created < ?)"


def _to_hit(row: tuple[int, str, str, str, str, str], score: float = 0.0) -> ArchiveHit:
    number, entry, owner, created, text, metadata = row
    return ArchiveHit(number, entry, owner, created, text, json.loads(metadata), score)
