"""Carries out a search: the notes that match, in order of relevance, with the lines that show why.

A search runs in a worker thread on a connection of its own, ends after `seconds`, and ends at once when it
is cancelled.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator

from app.errors import TimeoutExpiredError
from app.index.fulltext import any_of, expression
from app.index.matches import Matches
from app.index.matching import Term, terms
from app.index.query_tree import explain
from app.index.records import SearchHit, SearchPage
from app.index.request import Request
from app.index.snippets import snippets
from app.vault.path import NotePath

SECONDS = 5.0
MANY = 5000
_PRIVATE = "SELECT id FROM notes WHERE private = 1"
_NAMES = "{name aliases headings tags}"
_STEPS = 20_000
Ranked = list[tuple[int, float]]


class Search:
    """One run of one search over `connection`, which nothing else uses meanwhile."""

    def __init__(
        self, connection: sqlite3.Connection, cancelled: threading.Event, seconds: float = SECONDS
    ) -> None:
        self._connection = connection
        self._cancelled = cancelled
        self._deadline = time.monotonic() + seconds

    def run(self, request: Request) -> SearchPage:
        """The page of hits.

        Raises:
            QueryError: a pattern cannot be read, or a filter stands where it cannot.
            TimeoutExpiredError: it took too long.
        """
        matches = Matches(self._connection, request, self._check)
        self._connection.set_progress_handler(self._too_late, _STEPS)
        try:
            pure = expression(request.node)
            ranked, total = self._ranked_by_words(pure, request) if pure else self._ranked(request, matches)
            hits = tuple(self._hits(ranked, tuple(terms(request.node)), matches))
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                self._check()
            raise
        finally:
            self._connection.set_progress_handler(None, 0)
        return SearchPage(hits, total, explain(request.node))

    def _too_late(self) -> bool:
        return self._cancelled.is_set() or time.monotonic() > self._deadline

    def _check(self) -> None:
        if self._too_late():
            raise TimeoutExpiredError("The search took too long; ask for something rarer.")

    # Order

    def _ranked_by_words(self, pure: str, request: Request) -> tuple[Ranked, int]:
        seen = "" if request.private else f" AND rowid NOT IN ({_PRIVATE})"
        found = f"FROM fulltext WHERE fulltext MATCH ?{seen}"

        def ranked(said: str) -> Ranked:
            query = f"SELECT rowid, -rank {found} ORDER BY rank, rowid LIMIT ? OFFSET ?"
            return self._connection.execute(query, (said, request.limit, request.offset)).fetchall()

        def count(said: str) -> int:
            return int(self._connection.execute(f"SELECT count(*) {found}", (said,)).fetchone()[0])

        total = count(pure)
        if total <= MANY:
            return ranked(pure), total
        # Weighing each of so many takes too long: those with the words in their names, headings or tags
        # come first, by relevance, then the others, the last indexed first.
        named = f"({_NAMES} : ({pure})) AND ({pure})"
        page = ranked(named)
        if missing := request.limit - len(page):
            rest = f"SELECT rowid, 0.0 {found} AND rowid NOT IN (SELECT rowid {found}) ORDER BY rowid DESC"
            start = max(0, request.offset - count(named))
            page += self._connection.execute(f"{rest} LIMIT ? OFFSET ?", (pure, named, missing, start))
        return page, total

    def _ranked(self, request: Request, matches: Matches) -> tuple[Ranked, int]:
        found = matches.select(request.node)
        if not request.private:
            found = found - matches.ids(_PRIVATE)
        scores = dict.fromkeys(found, 0.0)
        if said := any_of(terms(request.node)):
            # The plus keeps SQLite from starting the search anew for each row; only these rows are weighed.
            among = "SELECT value FROM json_each(?)"
            query = f"SELECT rowid, -rank FROM fulltext WHERE fulltext MATCH ? AND +rowid IN ({among})"
            scores.update(self._connection.execute(query, (said, json.dumps(list(scores)))))
        for similar in request.similar.values():
            for id, score in similar.items():
                if id in scores:
                    scores[id] += score
        newest = {}
        if len(set(scores.values())) < len(scores):
            newest = dict(self._connection.execute("SELECT id, modified FROM files WHERE is_note = 1"))
        order = sorted(scores, key=lambda id: (-scores[id], -newest.get(id, 0.0), id))
        page = order[request.offset : request.offset + request.limit]
        return [(id, scores[id]) for id in page], len(order)

    def _hits(self, ranked: Ranked, wanted: tuple[Term, ...], matches: Matches) -> Iterator[SearchHit]:
        query = "SELECT path, title FROM files JOIN notes USING (id) WHERE id = ?"
        for id, score in ranked:
            self._check()
            path, title = self._connection.execute(query, (id,)).fetchone()
            shown = snippets(matches.text(id), wanted) if wanted else ()
            yield SearchHit(NotePath(path), title, score, shown)
