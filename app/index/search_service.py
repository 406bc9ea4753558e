"""The search service: searches, ranked lists, explanations and completions.

It parses the query and resolves names and texts in the service thread, and runs the search in a worker
thread, which stops when the caller no longer waits.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TypeVar

from app.errors import QueryError
from app.index.explanation import ExplanationNode
from app.index.normalization import tokenize
from app.index.query import parse
from app.index.query_ast import FieldFilter, Node, Or, PhraseTerm, SimilarityFilter, WordTerm, walk_nodes
from app.index.query_completion import CompletionTarget, QuerySuggestion, completion_target_at
from app.index.query_suggestions import suggest
from app.index.records import SearchPage, Snippet
from app.index.resolver import Resolver
from app.index.search import EXPLAIN_TIMEOUT_S, SearchRun
from app.index.search_request import Grouping, SearchRequest
from app.index.term_statistics import TermStatistics, term_statistics
from app.index.text_matcher import check_patterns
from app.vault.path import NotePath

Similarity = Callable[[str, int], Awaitable[Iterable[tuple[NotePath, float]]]]
_MAX_SIMILAR_NOTES = 200
_MAX_WORDS = 64
T = TypeVar("T")


class SearchService:
    """Runs searches on the connections from `search_connection`; `resolver` resolves names.

    `similarity`, once set, returns the notes closest to a text and their scores for `similar:`; its errors
    are passed on. Notes in `hidden`, and private ones unless `private`, are treated as missing; methods
    without these parameters search all notes.
    """

    def __init__(
        self, search_connection: Callable[[], AbstractContextManager[sqlite3.Connection]], resolver: Resolver
    ) -> None:
        self._search_connection = search_connection
        self._resolver = resolver
        self.similarity: Similarity | None = None

    async def search(
        self,
        query: str,
        limit: int,
        offset: int = 0,
        *,
        order: str = "relevance",
        group: Grouping = "",
        exact: bool = True,
        private: bool = True,
        hidden: Iterable[NotePath] = (),
    ) -> SearchPage:
        """Return a page of hits with matching lines; unless `exact`, very large results are not counted.

        Raises:
            QueryError: the query can't be parsed or executed; `position` and `expected` describe the problem.
            InvalidParametersError: no visible note has the property to sort by.
            TimeoutExpiredError: the search took too long.
        """
        if (node := parse(query)) is None:
            return SearchPage((), 0)
        request = await self._request(node, limit, offset, private, hidden)
        request = replace(request, order=order, group=group, exact=exact)
        return await self._run(lambda search: search.run(request))

    async def count(self, query: str) -> int:
        """Return the number of matching notes; raises as `search` does."""
        if (node := parse(query)) is None:
            return 0
        request = await self._request(node, 0, 0, True, ())
        return await self._run(lambda search: search.count(request))

    async def matching(self, query: str, *, private: bool = True) -> frozenset[NotePath]:
        """Return every matching note, unordered; raises as `search` does."""
        if (node := parse(query)) is None:
            return frozenset()
        request = await self._request(node, 0, 0, private, ())
        return frozenset(await self._run(lambda search: search.notes(request)))

    async def ranked(
        self, text: str, limit: int, *, private: bool = True, hidden: Iterable[NotePath] = ()
    ) -> tuple[tuple[NotePath, float], ...]:
        """Return the notes that contain any word of a plain text, best first, with their scores.

        Very frequent words carry no weight next to rarer ones (see `ranking.py`). Scores are comparable only
        within one result. Raises TimeoutExpiredError as `search` does.
        """
        words = list(dict.fromkeys(tokenize(text)))[:_MAX_WORDS]
        if not words:
            return ()
        node = Or(tuple(WordTerm(word) for word in words)) if len(words) > 1 else WordTerm(words[0])
        request = await self._request(node, limit, 0, private, hidden)
        return await self._run(lambda search: search.ranked(request))

    async def term_statistics(self, text: str, best: NotePath | None) -> TermStatistics:
        """Return the frequencies of a text's words in the notes, and whether `best` has them."""
        entry = self._resolver.entry(best) if best is not None else None

        def read() -> TermStatistics:
            with self._search_connection() as connection:
                (texts,) = connection.execute("SELECT max(id) FROM notes").fetchone()
                row = entry.id if entry else None
                return term_statistics(connection, "fulltext", text, texts or 0, row, "name aliases headings")

        return await asyncio.to_thread(read)

    async def lines(self, query: str, path: NotePath) -> tuple[Snippet, ...]:
        """Return the lines of one note that match a search; raises as `search` does."""
        node, entry = parse(query), self._resolver.entry(path)
        if node is None or entry is None:
            return ()
        request = SearchRequest(node, 0)
        return await self._run(lambda search: search.lines(request, entry.id))

    async def explain(self, query: str) -> ExplanationNode | None:
        """Explain a query part by part, with counts if they are fast; None for an empty query.

        Raises QueryError as `search` does.
        """
        if (node := parse(query)) is None:
            return None
        request = await self._request(node, 0, 0, True, ())
        return await self._run(lambda search: search.explain(request), EXPLAIN_TIMEOUT_S)

    async def suggest(
        self, text: str, cursor: int, limit: int = 12
    ) -> tuple[CompletionTarget, tuple[QuerySuggestion, ...]] | None:
        """Return the name being typed at the cursor with its completions, or None if there are none."""
        if (target := completion_target_at(text, cursor)) is None:
            return None

        def read() -> tuple[QuerySuggestion, ...]:
            with self._search_connection() as connection:
                return suggest(connection, target, limit)

        suggestions = await asyncio.to_thread(read)
        return (target, suggestions) if suggestions else None

    async def _run(self, action: Callable[[SearchRun], T], seconds: float | None = None) -> T:
        cancelled = threading.Event()

        def run() -> T:
            with self._search_connection() as connection:
                if seconds is None:
                    return action(SearchRun(connection, cancelled))
                return action(SearchRun(connection, cancelled, seconds))

        try:
            return await asyncio.to_thread(run)
        finally:
            cancelled.set()

    async def _request(
        self, node: Node, limit: int, offset: int, private: bool, hidden: Iterable[NotePath]
    ) -> SearchRequest:
        check_patterns(node)
        entries = (self._resolver.entry(path) for path in hidden)
        return SearchRequest(
            node,
            max(0, limit),
            max(0, offset),
            private=private,
            hidden=frozenset(entry.id for entry in entries if entry is not None),
            targets=self._resolve_targets(node),
            similar=await self._similar(node),
        )

    def _resolve_targets(self, node: Node) -> dict[str, int | None]:
        """Resolve the names in `links-to:` and `linked-from:`."""
        targets: dict[str, int | None] = {}
        for field in walk_nodes(node):
            if isinstance(field, FieldFilter) and field.name in ("links-to", "linked-from"):
                for leaf in walk_nodes(field.item):
                    if isinstance(leaf, WordTerm | PhraseTerm):
                        entry, _ = self._resolver.pick(leaf.text, None)
                        targets[leaf.text] = entry.id if entry else None
        return targets

    async def _similar(self, node: Node) -> dict[str, dict[int, float]]:
        similar_notes: dict[str, dict[int, float]] = {}
        for part in walk_nodes(node):
            if isinstance(part, SimilarityFilter):
                if self.similarity is None:
                    raise QueryError(
                        "similar: needs semantic search, which is off or not ready.",
                        position=part.position,
                        expected="words, because semantic search is off or not ready",
                    )
                scores = await self.similarity(part.text, _MAX_SIMILAR_NOTES)
                entries = ((self._resolver.entry(path), score) for path, score in scores)
                similar_notes[part.text] = {entry.id: score for entry, score in entries if entry is not None}
        return similar_notes
