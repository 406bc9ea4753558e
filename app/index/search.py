"""Carries out a search: the notes that match, in order, with the lines that show why.

A search runs in a worker thread on a connection of its own, ends after `seconds`, and ends at once when it
is cancelled.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from app.errors import TimeoutExpiredError
from app.index.explanation import Part, explained
from app.index.fulltext import expression
from app.index.matches import Ids, Matches
from app.index.matching import terms
from app.index.query_tree import And, Node, Or, Phrase, Similar, Word, explain, walk_nodes
from app.index.ranking import Ordered, Ranking
from app.index.records import Group, SearchHit, SearchPage, Snippet
from app.index.request import Request
from app.index.snippets import MOST, find_lines, opening, snippets
from app.vault.path import NotePath

SECONDS = 5.0
EXPLAINING_SECONDS = 0.25
_STEPS = 20_000
_ALL_LINES = 2000
_FOUND = "SELECT path, title, modified FROM files JOIN notes USING (id) WHERE id = ?"


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
        with self._in_time():
            matches = Matches(self._connection, request, self._check)
            ordered = self._ordered(request, matches)
            hits = tuple(self._hits(ordered, request.node, matches))
            groups = tuple(Group(name, count) for name, count in ordered.groups)
        return SearchPage(hits, ordered.total, explain(request.node), groups, ordered.exact)

    def notes(self, request: Request) -> tuple[NotePath, ...]:
        """Every note that matches, in no order. Raises as `run`."""
        with self._in_time():
            found = self._found(request, Matches(self._connection, request, self._check))
            rows = self._connection.execute("SELECT id, path FROM files WHERE is_note = 1")
            return tuple(NotePath(path) for id, path in rows if id in found)

    def ranked(self, request: Request) -> tuple[tuple[NotePath, float], ...]:
        """The best hits with their scores, without lines. Raises as `run`."""
        with self._in_time():
            ordered = self._ordered(request, Matches(self._connection, request, self._check))
            return tuple(
                (NotePath(self._connection.execute(_FOUND, (id,)).fetchone()[0]), score)
                for id, score in ordered.page
            )

    def count(self, request: Request) -> int:
        """How many notes match. Raises as `run`."""
        with self._in_time():
            return len(self._found(request, Matches(self._connection, request, self._check)))

    def lines(self, request: Request, note: int) -> tuple[Snippet, ...]:
        """All lines of one note that the search marks. Raises as `run`."""
        with self._in_time():
            wanted = tuple(terms(request.node))
            text = Matches(self._connection, request, self._check).text(note)
            return snippets(text, wanted, _ALL_LINES, per_term=_ALL_LINES)

    def explain(self, request: Request) -> Part:
        """What the search means, part by part, with the number of notes that each part finds.

        A part whose number takes too long has none. Raises QueryError as `run` does.
        """

        def count(node: Node) -> int | None:
            try:
                with self._in_time():
                    matches = Matches(self._connection, request, self._check)
                    return len(matches.select(node) - matches.hidden)
            except TimeoutExpiredError:
                return None

        return explained(request.node, count)

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """What runs inside ends when it is cancelled or takes too long."""
        self._connection.set_progress_handler(self._too_late, _STEPS)
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                self._check()
            raise
        finally:
            self._connection.set_progress_handler(None, 0)

    def _too_late(self) -> bool:
        return self._cancelled.is_set() or time.monotonic() > self._deadline

    def _check(self) -> None:
        if self._too_late():
            raise TimeoutExpiredError("The search took too long; ask for something rarer.")

    def _found(self, request: Request, matches: Matches) -> Ids:
        return matches.select(request.node) - matches.hidden

    def _ordered(self, request: Request, matches: Matches) -> Ordered:
        wanted = tuple(terms(request.node))
        ranking = Ranking(self._connection, request, matches.hidden, wanted)
        if said := expression(request.node):
            plain = all(isinstance(part, And | Or | Word | Phrase) for part in walk_nodes(request.node))
            return ranking.of_words(said, plain=plain)
        select = partial(matches.select, request.node)
        page = ranking.newest(select)
        if page is None and not request.exact:
            page = ranking.weightiest(matches.candidates(request.node), select)
        return ranking.of_notes(self._found(request, matches)) if page is None else page

    def _hits(self, ordered: Ordered, node: Node, matches: Matches) -> Iterator[SearchHit]:
        wanted = tuple(terms(node))
        names = ordered.group_of or {}
        by_meaning = any(isinstance(part, Similar) for part in walk_nodes(node))
        for id, score in ordered.page:
            self._check()
            path, title, modified = self._connection.execute(_FOUND, (id,)).fetchone()
            text = matches.text(id) if wanted or by_meaning else ""
            found = find_lines(text, wanted)
            shown = snippets(text, wanted, MOST, found=found) or (opening(text) if by_meaning else ())
            yield SearchHit(NotePath(path), title, score, shown, len(found), names.get(id, ""), modified)
