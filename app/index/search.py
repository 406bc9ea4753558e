"""Run searches: return the matching notes in order, with the lines that match.

A search runs in a worker thread on its own connection, times out, and stops almost immediately when it is
canceled.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from app.errors import TimeoutExpiredError
from app.index.explanation import ExplanationNode, explain_query
from app.index.fulltext import expression
from app.index.query_ast import (
    And,
    FieldFilter,
    Node,
    Not,
    Or,
    PhraseTerm,
    SimilarityFilter,
    WordTerm,
    walk_nodes,
)
from app.index.query_executor import Ids, QueryExecutor
from app.index.ranking import RankedPage, Ranking
from app.index.records import SearchGroup, SearchHit, SearchPage, Snippet
from app.index.search_request import SearchRequest
from app.index.snippets import MAX_SNIPPET_CHARS, MAX_SNIPPETS, find_lines, opening_snippet, snippets
from app.index.text_matcher import highlight_terms
from app.vault.path import NotePath

TIMEOUT_S = 5.0
EXPLAIN_TIMEOUT_S = 0.25
_PROGRESS_STEPS = 20_000
_MAX_MATCHING_LINES = 2000
_MAX_TASKS = 50
"""The maximum number of tasks shown for one note."""
_HIT_QUERY = "SELECT path, title, modified FROM files JOIN notes USING (id) WHERE id = ?"


class SearchRun:
    """Runs a search on `connection`, which nothing else may use; times out `seconds` after its creation."""

    def __init__(
        self, connection: sqlite3.Connection, cancelled: threading.Event, seconds: float = TIMEOUT_S
    ) -> None:
        self._connection = connection
        self._cancelled = cancelled
        self._deadline = time.monotonic() + seconds

    def run(self, request: SearchRequest) -> SearchPage:
        """Return a page of hits.

        Raises:
            QueryError: a pattern is invalid, or a filter is in the wrong place.
            InvalidParametersError: no visible note has the property to sort by.
            TimeoutExpiredError: it took too long or was canceled.
        """
        with self._time_limit():
            executor = QueryExecutor(self._connection, request, self._check)
            page = self._rank(request, executor)
            hits = tuple(self._hits(page, request.node, executor))
            groups = tuple(SearchGroup(name, count) for name, count in page.groups)
        return SearchPage(hits, page.total, groups, page.exact)

    def notes(self, request: SearchRequest) -> tuple[NotePath, ...]:
        """Return every matching note, unordered; raises the same errors as `run`."""
        with self._time_limit():
            ids = self._matching_ids(request, QueryExecutor(self._connection, request, self._check))
            rows = self._connection.execute("SELECT id, path FROM files WHERE is_note = 1")
            return tuple(NotePath(path) for row_id, path in rows if row_id in ids)

    def ranked(self, request: SearchRequest) -> tuple[tuple[NotePath, float], ...]:
        """Return the best hits with their scores, without lines; raises the same errors as `run`."""
        with self._time_limit():
            page = self._rank(request, QueryExecutor(self._connection, request, self._check))
            return tuple(
                (NotePath(self._connection.execute(_HIT_QUERY, (row_id,)).fetchone()[0]), score)
                for row_id, score in page.page
            )

    def count(self, request: SearchRequest) -> int:
        """Return the number of matching notes; raises the same errors as `run`."""
        with self._time_limit():
            return len(self._matching_ids(request, QueryExecutor(self._connection, request, self._check)))

    def lines(self, request: SearchRequest, note: int) -> tuple[Snippet, ...]:
        """Return at most `_MAX_MATCHING_LINES` matching lines of the note with the id `note`.

        Raises the same errors as `run`.
        """
        with self._time_limit():
            terms = tuple(highlight_terms(request.node))
            text = QueryExecutor(self._connection, request, self._check).text(note)
            return snippets(text, terms, _MAX_MATCHING_LINES, per_term=_MAX_MATCHING_LINES)

    def explain(self, request: SearchRequest) -> ExplanationNode:
        """Explain the search part by part, with the number of notes that each part finds.

        A part has no number if the search is canceled or times out before it is counted. Raises
        QueryError for the same reasons as `run`.
        """

        def count(node: Node) -> int | None:
            try:
                with self._time_limit():
                    executor = QueryExecutor(self._connection, request, self._check)
                    return len(executor.select(node) - executor.hidden)
            except TimeoutExpiredError:
                return None

        return explain_query(request.node, count)

    @contextmanager
    def _time_limit(self) -> Iterator[None]:
        """Interrupt queries inside the context when the search is canceled or times out.

        Raises:
            TimeoutExpiredError: a query was interrupted.
        """
        self._connection.set_progress_handler(self._is_expired, _PROGRESS_STEPS)
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                self._check()
            raise
        finally:
            self._connection.set_progress_handler(None, 0)

    def _is_expired(self) -> bool:
        return self._cancelled.is_set() or time.monotonic() > self._deadline

    def _check(self) -> None:
        if self._is_expired():
            raise TimeoutExpiredError("The search took too long. Make it more specific.")

    def _matching_ids(self, request: SearchRequest, executor: QueryExecutor) -> Ids:
        return executor.select(request.node) - executor.hidden

    def _rank(self, request: SearchRequest, executor: QueryExecutor) -> RankedPage:
        terms = tuple(highlight_terms(request.node))
        ranking = Ranking(self._connection, request, executor.hidden, terms)
        if not ranking.is_by_column:
            return ranking.rank_set(self._matching_ids(request, executor))
        if fts_query := expression(request.node):
            plain = all(
                isinstance(part, And | Or | WordTerm | PhraseTerm) for part in walk_nodes(request.node)
            )
            return ranking.rank_expression(fts_query, plain=plain)
        select = partial(executor.select, request.node)
        page = ranking.rank_first_notes(select)
        if page is None and not request.exact:
            page = ranking.best_candidates(executor.candidates(request.node), select)
        return ranking.rank_set(self._matching_ids(request, executor)) if page is None else page

    def _hits(self, page: RankedPage, node: Node, executor: QueryExecutor) -> Iterator[SearchHit]:
        terms = tuple(highlight_terms(node))
        names = page.group_of or {}
        uses_similarity = any(isinstance(part, SimilarityFilter) for part in walk_nodes(node))
        tasks = list(_task_filters(node))
        for row_id, score in page.page:
            self._check()
            path, title, modified = self._connection.execute(_HIT_QUERY, (row_id,)).fetchone()
            text = executor.text(row_id) if terms or uses_similarity or tasks else ""
            lines = find_lines(text, terms)
            excerpts = snippets(text, terms, MAX_SNIPPETS, lines_with_terms=lines) or (
                opening_snippet(text) if uses_similarity else ()
            )
            if tasks:
                numbers = {n for task, cased in tasks for n in executor.task_lines(task, row_id, cased)}
                excerpts = _with_tasks(excerpts, text, sorted(numbers))
            yield SearchHit(
                NotePath(path), title, score, excerpts, len(lines), names.get(row_id, ""), modified
            )


def _task_filters(node: Node, cased: bool = False) -> Iterator[tuple[FieldFilter, bool]]:
    """Yield the task filters of a query, each with its case sensitivity."""
    if isinstance(node, And | Or):
        for item in node.items:
            yield from _task_filters(item, cased)
    elif isinstance(node, Not):
        yield from _task_filters(node.item, cased)
    elif isinstance(node, FieldFilter):
        if node.name.startswith("task"):
            yield node, cased
            return
        if node.name in ("match-case", "ignore-case"):
            cased = node.name == "match-case"
        yield from _task_filters(node.item, cased)


def _with_tasks(excerpts: tuple[Snippet, ...], text: str, numbers: Sequence[int]) -> tuple[Snippet, ...]:
    """Return snippets of the lines `numbers` (at most `_MAX_TASKS`), or `excerpts` if there are none."""
    if not numbers:
        return excerpts
    excerpts_by_line = {snippet.line: snippet for snippet in excerpts}
    lines = text.split("\n")
    task_lines = (
        Snippet(number, lines[number - 1].strip()[:MAX_SNIPPET_CHARS], ()) for number in numbers[:_MAX_TASKS]
    )
    return tuple(excerpts_by_line.get(snippet.line, snippet) for snippet in task_lines)
