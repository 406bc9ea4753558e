"""What can be asked of the index in words: searches, ranked lists, explanations.

It reads the query in the service thread, finds out there what names and texts mean, and has the rest done in
a worker thread, which ends when the one who asks no longer waits.
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
from app.index.search_request import Grouping, Order, SearchRequest
from app.index.term_statistics import TermStatistics, term_statistics
from app.index.text_matcher import check_patterns
from app.vault.path import NotePath

Similarity = Callable[[str, int], Awaitable[Iterable[tuple[NotePath, float]]]]
_MAX_SIMILAR_NOTES = 200
_MAX_WORDS = 64
T = TypeVar("T")


class SearchService:
    """Answers searches over the connections that `searching` lends; `resolver` says what names mean.

    `similarity`, once set, answers `similar:` with the notes closest to a text and their scores. Every
    method leaves out private notes unless `private`, and the notes in `hidden`: as if they were not there.
    """

    def __init__(
        self, searching: Callable[[], AbstractContextManager[sqlite3.Connection]], resolver: Resolver
    ) -> None:
        self._searching = searching
        self._resolver = resolver
        self.similarity: Similarity | None = None

    async def search(
        self,
        query: str,
        limit: int,
        offset: int = 0,
        *,
        order: Order = "relevance",
        group: Grouping = "",
        exact: bool = True,
        private: bool = True,
        hidden: Iterable[NotePath] = (),
    ) -> SearchPage:
        """A page of hits with the lines that show why; unless `exact`, very many hits are not counted.

        Raises:
            QueryError: the query cannot be read; `position` and `expected` say where and what.
            TimeoutExpiredError: it took longer than a search may.
        """
        if (node := parse(query)) is None:
            return SearchPage((), 0, "")
        request = await self._request(node, limit, offset, private, hidden)
        request = replace(request, order=order, group=group, exact=exact)
        return await self._run(lambda search: search.run(request))

    async def count(self, query: str) -> int:
        """How many notes match. Raises as `search`."""
        if (node := parse(query)) is None:
            return 0
        request = await self._request(node, 0, 0, True, ())
        return await self._run(lambda search: search.count(request))

    async def matching(
        self, query: str, *, private: bool = True, hidden: Iterable[NotePath] = ()
    ) -> frozenset[NotePath]:
        """Every note that matches, in no order. Raises as `search`."""
        if (node := parse(query)) is None:
            return frozenset()
        request = await self._request(node, 0, 0, private, hidden)
        return frozenset(await self._run(lambda search: search.notes(request)))

    async def ranked(
        self, text: str, limit: int, *, private: bool = True, hidden: Iterable[NotePath] = ()
    ) -> tuple[tuple[NotePath, float], ...]:
        """The notes that say any word of a plain text, best first, each with its score.

        Words that more than a third of all notes have have no weight beside rarer ones. Scores compare
        within one answer only. Raises TimeoutExpiredError as `search` does.
        """
        words = list(dict.fromkeys(tokenize(text)))[:_MAX_WORDS]
        if not words:
            return ()
        node = Or(tuple(WordTerm(word) for word in words)) if len(words) > 1 else WordTerm(words[0])
        request = await self._request(node, limit, 0, private, hidden)
        return await self._run(lambda search: search.ranked(request))

    async def term_statistics(self, text: str, best: NotePath | None) -> TermStatistics:
        """How the words of a plain text occur in the notes, and in the note at `best`."""
        entry = self._resolver.entry(best) if best is not None else None

        def read() -> TermStatistics:
            with self._searching() as connection:
                (texts,) = connection.execute("SELECT max(id) FROM notes").fetchone()
                return term_statistics(connection, "fulltext", text, texts or 0, entry.id if entry else None)

        return await asyncio.to_thread(read)

    async def lines(self, query: str, path: NotePath) -> tuple[Snippet, ...]:
        """All lines of one note that a search marks. Raises as `search`."""
        node, entry = parse(query), self._resolver.entry(path)
        if node is None or entry is None:
            return ()
        request = SearchRequest(node, 0)
        return await self._run(lambda search: search.lines(request, entry.id))

    async def explain(self, query: str) -> ExplanationNode | None:
        """What the query means, part by part, with numbers where they are quickly had. Raises as `search`."""
        if (node := parse(query)) is None:
            return None
        request = await self._request(node, 0, 0, True, ())
        return await self._run(lambda search: search.explain(request), EXPLAIN_TIMEOUT_S)

    async def suggest(
        self, text: str, cursor: int, limit: int = 12
    ) -> tuple[CompletionTarget, tuple[QuerySuggestion, ...]] | None:
        """What is being typed at a place in a search, and what it could become; None where nothing fits."""
        if (wanted := completion_target_at(text, cursor)) is None:
            return None

        def read() -> tuple[QuerySuggestion, ...]:
            with self._searching() as connection:
                return suggest(connection, wanted, limit)

        found = await asyncio.to_thread(read)
        return (wanted, found) if found else None

    async def _run(self, ask: Callable[[SearchRun], T], seconds: float | None = None) -> T:
        cancelled = threading.Event()

        def run() -> T:
            with self._searching() as connection:
                if seconds is None:
                    return ask(SearchRun(connection, cancelled))
                return ask(SearchRun(connection, cancelled, seconds))

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
            targets=self._targets(node),
            similar=await self._similar(node),
        )

    def _targets(self, node: Node) -> dict[str, int | None]:
        """What the names in `links-to:` and `linked-from:` mean."""
        found: dict[str, int | None] = {}
        for field in walk_nodes(node):
            if isinstance(field, FieldFilter) and field.name in ("links-to", "linked-from"):
                for leaf in walk_nodes(field.item):
                    if isinstance(leaf, WordTerm | PhraseTerm):
                        entry, _ = self._resolver.pick(leaf.text, None)
                        found[leaf.text] = entry.id if entry else None
        return found

    async def _similar(self, node: Node) -> dict[str, dict[int, float]]:
        found: dict[str, dict[int, float]] = {}
        for part in walk_nodes(node):
            if isinstance(part, SimilarityFilter):
                if self.similarity is None:
                    raise QueryError(
                        "similar: needs search by meaning, which is off or not ready.",
                        position=part.position,
                        expected="words, since search by meaning is off or not ready",
                    )
                near = await self.similarity(part.text, _MAX_SIMILAR_NOTES)
                entries = ((self._resolver.entry(path), score) for path, score in near)
                found[part.text] = {entry.id: score for entry, score in entries if entry is not None}
        return found
