"""Ranking and paging of search hits.

Relevance is BM25 over weighted fields (name, aliases, headings, tags, text). Scoring a note takes
microseconds, so not all hits are scored if there are more than `MAX_RANKED_HITS`. Hits with the words in
their name or an alias then come first, followed by hits with the words in headings or tags, and then the
rest. The first two tiers are ranked by relevance if they have at most `MAX_RANKED_HITS`; otherwise, like the
third, they are ranked by modification time, newest first. The same applies to phrases of very frequent words:
if testing notes one by one is faster, the first hits are found without finding all of them. Words in more
than a third of all notes and in more than `MAX_RANKED_HITS` carry no weight when combined with rarer ones.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from app.index import fts_hits
from app.index.fts_hits import ROWS, FtsHits, Ids, Ranked, RowCursor
from app.index.fulltext import any_of, leaf_expression
from app.index.normalization import segment, tokenize
from app.index.query_ast import RegexTerm
from app.index.search_request import Grouping, SearchRequest
from app.index.text_matcher import Term
from app.index.value_order import COLUMN_ORDERS, in_value_order

NAME_COLUMNS = "{name aliases}"
_SMALL_RESULT_SIZE = 60
_BROAD_QUERY_DIVISOR = 3
_MAX_SCANNED_ROWS = 1000
_GROUPS = {
    "folder": "SELECT id, rtrim(path, replace(path, '/', '')) FROM files WHERE is_note = 1 AND {}",
    "type": "SELECT id, type FROM notes WHERE {}",
    "tag": "SELECT id, coalesce(json_extract(tags, '$[0]'), '') FROM notes WHERE {}",
}


@dataclass(frozen=True, slots=True)
class RankedPage:
    """The hits of one page with their scores, the total number of hits, and their groups.

    `group_of` has each hit's group. Unless `exact`, there may be more hits than `total`, which were not
    counted.
    """

    page: Ranked
    total: int
    groups: tuple[tuple[str, int], ...] = ()
    group_of: dict[int, str] | None = None
    exact: bool = True


class Ranking:
    """Ranks the hits of one request without `hidden` notes; `terms` are the terms for scoring."""

    def __init__(
        self, connection: sqlite3.Connection, request: SearchRequest, hidden: Ids, terms: Sequence[Term]
    ) -> None:
        self._connection = connection
        self._request = request
        self._hidden = hidden
        self._hits = FtsHits(connection, hidden)
        self._terms = terms

    @property
    def is_by_column(self) -> bool:
        """True if an index gives the order: by relevance, by name or by time."""
        return self._request.order in ("relevance", *COLUMN_ORDERS)

    # Hits from the full-text index

    def rank_expression(self, fts_query: str, *, plain: bool) -> RankedPage:
        """Return the page of hits of a full-text expression.

        `plain` means that it has no fields or exclusions, so that it can run on `heads` alone.
        """
        request = self._request
        ids, estimate = Ids(), 0
        if request.group or request.order != "relevance":
            ids, estimate = self._hits.first_hits(fts_query)
        elif self._is_frequent_phrase:
            first_known = self._hits.first_ids(fts_query, _SMALL_RESULT_SIZE)
            if len(first_known) < _SMALL_RESULT_SIZE:
                return self.rank_set(set(first_known) - self._hidden)
            if plain and not request.exact and (cursor := self._phrase_cursor(fts_query, first_known)):
                page = self._in_tiers(cursor)
                if len(page) == request.limit:
                    return RankedPage(
                        page, max(_SMALL_RESULT_SIZE, request.offset + request.limit), exact=False
                    )
            ids, estimate = self._hits.first_hits(fts_query, first_known)
        elif (estimate := self._hits.estimate_count("fulltext", fts_query)) <= fts_hits.MAX_RANKED_HITS:
            total = self._hits.count("fulltext", fts_query) if self._hidden else estimate
            return self._rank_few(fts_query, total, plain=plain)
        if estimate <= fts_hits.MAX_RANKED_HITS:
            return self.rank_set(ids - self._hidden)
        if request.group or not plain:
            return self.rank_set(self._hits.ids("fulltext", fts_query))
        return self._rank_many(fts_query, estimate)

    def _rank_many(self, fts_query: str, estimate: int) -> RankedPage:
        """Return the page in the requested order if there are too many hits to score."""
        request = self._request
        if request.order == "relevance":
            page = self._in_tiers(RowCursor(fts_query, estimate, excluding=fts_query))
        else:
            page = self._hits.by_row(
                request.order, RowCursor(fts_query, estimate), request.offset, request.limit
            )
        if request.exact:
            return RankedPage(page, self._hits.count("fulltext", fts_query))
        return RankedPage(page, max(fts_hits.MAX_RANKED_HITS, request.offset + len(page)), exact=False)

    def _phrase_cursor(self, fts_query: str, first_known: Sequence[int]) -> RowCursor | None:
        """Return a cursor for a phrase if walking it is faster than finding all hits."""
        size = len(first_known) * self._hits.newest_row() // first_known[-1]
        cursor = RowCursor(fts_query, size, excluding=fts_query, notes_read=self._phrase_frequency)
        return (
            cursor if self._hits.is_walk_shorter(cursor, self._request.offset + self._request.limit) else None
        )

    def _rank_few(self, fts_query: str, total: int, *, plain: bool) -> RankedPage:
        """Return the page if every hit is scored; SQLite does all the work and returns only the page."""
        start = self._request.offset
        count = max(0, min(self._request.limit, total - start))
        scoring = self._scoring_expression()
        if len(self._terms) == 1 or (plain and scoring == any_of(self._terms)):
            return RankedPage(self._hits.best("fulltext", fts_query, start, count), total)
        page = self._hits.best("fulltext", scoring, start, count, among=fts_query) if scoring else []
        # Some hits may have none of the significant words.
        return (
            RankedPage(page, total)
            if len(page) >= count
            else self.rank_set(self._hits.ids("fulltext", fts_query))
        )

    def _in_tiers(self, cursor: RowCursor) -> Ranked:
        """Return the page in tiers if there are too many hits to score."""
        start, remaining, fts_query = self._request.offset, self._request.limit, cursor.fts_query
        name_query = f"{NAME_COLUMNS} : ({fts_query})"
        page: Ranked = []
        for expression in (name_query, f"({fts_query}) NOT ({name_query})"):
            size = self._hits.estimate_count("heads", expression)
            if self._hidden or start + remaining > fts_hits.MAX_RANKED_HITS:
                size = self._hits.count("heads", expression)
            if size <= fts_hits.MAX_RANKED_HITS:
                hits = self._hits.best("heads", expression, start, remaining) if start < size else []
            else:
                hits = self._hits.by_row("modified", RowCursor(expression, size, "heads"), start, remaining)
            page += hits
            start, remaining = max(0, start - size), remaining - len(hits)
            if remaining <= 0:
                return page
        return page + self._hits.by_row("modified", cursor, start, remaining)

    @property
    def _is_frequent_phrase(self) -> bool:
        """True if the only term is a phrase of very frequent words, which is expensive to score."""
        return self._phrase_frequency > 0

    @cached_property
    def _phrase_frequency(self) -> int:
        """The approximate maximum number of notes with all words of such a phrase; 0 if there is none."""
        if (
            len(self._terms) != 1
            or self._request.similar
            or isinstance(leaf := self._terms[0].leaf, RegexTerm)
        ):
            return 0
        words = [f'"{segment(word)}"' for word in tokenize(leaf.text)]
        fewest = min((self._hits.estimate_count("fulltext", word) for word in words), default=0)
        return fewest if len(words) > 1 and fewest > fts_hits.MAX_RANKED_HITS else 0

    # Hits without scores

    def rank_first_notes(self, select: Callable[[Ids], Ids]) -> RankedPage | None:
        """Return the page if the first notes in order are enough for it, else None.

        `select` returns the matching notes of a set. Testing notes in listing order avoids a full search
        for filters that nearly every note matches.
        """
        request = self._request
        order: str = request.order
        if order == "relevance":
            if self._terms or request.similar:
                return None
            order = "modified"
        end = request.offset + request.limit
        if (
            request.exact
            or request.group
            or end >= _MAX_SCANNED_ROWS
            or self._hits.newest_row() <= _MAX_SCANNED_ROWS
        ):
            return None
        rows = self._connection.execute(f"{ROWS[order].format('1')} LIMIT ?", (_MAX_SCANNED_ROWS,))
        ids = [row_id for (row_id,) in rows]
        matches = select(set(ids)) - self._hidden
        hits = [row_id for row_id in ids if row_id in matches][: end + 1]
        if len(hits) <= end:
            return None
        return RankedPage([(row_id, 0.0) for row_id in hits[request.offset : end]], end, exact=False)

    def best_candidates(self, candidates: Ids | None, select: Callable[[Ids], Ids]) -> RankedPage | None:
        """Return the page by testing a few candidates in order of relevance, else None.

        Candidates after the page are not tested. The result is None if the candidates are unknown or too
        many, or if the request needs another order or the exact number of hits.
        """
        request = self._request
        if request.exact or request.group or request.order != "relevance" or request.similar:
            return None
        if not self._terms or candidates is None or len(candidates) > fts_hits.MAX_RANKED_HITS:
            return None
        end = request.offset + request.limit
        ranked, tested_count, batch_size = (
            self._score(candidates - self._hidden),
            0,
            max(_SMALL_RESULT_SIZE, 2 * request.limit),
        )
        hits: Ranked = []
        while tested_count < len(ranked) and len(hits) <= end:
            matches = select({row_id for row_id, _ in ranked[tested_count : tested_count + batch_size]})
            hits += [hit for hit in ranked[tested_count : tested_count + batch_size] if hit[0] in matches]
            tested_count, batch_size = tested_count + batch_size, 2 * batch_size
        is_complete = tested_count >= len(ranked)
        total = len(hits) if is_complete else end
        return RankedPage(hits[request.offset : end], total, exact=is_complete)

    # Hits as a set

    def rank_set(self, ids: Ids) -> RankedPage:
        """Return the page of a set that contains no hidden notes."""
        request = self._request
        start, count = request.offset, request.limit
        if request.group:
            return self._group_page(self._all_in_order(ids), request.group)
        if request.order == "relevance":
            return RankedPage(self._by_relevance(ids, start, count), len(ids))
        page_ids = self._in_order(ids, start, count)
        return RankedPage([(row_id, 0.0) for row_id in page_ids], len(ids))

    def _by_relevance(self, ids: Ids, start: int, count: int) -> Ranked:
        if self._is_frequent_phrase:
            return [(row_id, 0.0) for row_id in self._by_tier(ids, start, count)]
        if len(ids) <= fts_hits.MAX_RANKED_HITS:
            return self._score(ids)[start : start + count]
        in_names = ids & self._hits.ids("heads", fts_query) if (fts_query := any_of(self._terms)) else set()
        top = self._score(in_names) if len(in_names) <= fts_hits.MAX_RANKED_HITS else []
        page = top[start : start + count]
        others = ids.difference(row_id for row_id, _ in top)
        start = max(0, start - len(top))
        return page + [
            (row_id, 0.0) for row_id in self._hits.in_order("modified", others, start, count - len(page))
        ]

    def _all_in_order(self, ids: Ids) -> Ranked:
        if self._request.order == "relevance":
            return self._by_relevance(ids, 0, len(ids))
        return [(row_id, 0.0) for row_id in self._in_order(ids, 0, len(ids))]

    def _in_order(self, ids: Ids, start: int, count: int) -> list[int]:
        if self.is_by_column:
            return self._hits.in_order(self._request.order, ids, start, count)
        ordered = in_value_order(self._connection, self._request.order, ids, self._hidden)
        return ordered[start : start + count]

    def _score(self, ids: Ids) -> Ranked:
        """Return these notes with their scores, best first; those without a score by modification time."""
        scores = dict.fromkeys(ids, 0.0)
        if self._is_frequent_phrase:
            return [(row_id, 0.0) for row_id in self._by_tier(ids, 0, len(ids))]
        if ids and (fts_query := self._scoring_expression()):
            query = "SELECT rowid, -rank FROM fulltext WHERE fulltext MATCH ? AND +rowid IN"
            # The plus keeps SQLite from restarting the search for each row; only these rows are scored.
            query += " (SELECT value FROM json_each(?))"
            scores.update(self._connection.execute(query, (fts_query, json.dumps(list(scores)))))
        for similar in self._request.similar.values():
            for row_id, score in similar.items():
                if row_id in scores:
                    scores[row_id] += score
        unscored = {row_id for row_id, score in scores.items() if not score}
        order = self._hits.in_order("modified", unscored, 0, len(unscored))
        ranked = [(row_id, scores[row_id]) for row_id in (*sorted(ids - unscored), *order)]
        return sorted(ranked, key=lambda hit: -hit[1])

    def _by_tier(self, ids: Ids, start: int, count: int) -> list[int]:
        """Return notes with a term in the name or aliases first, then in headings or tags, then in text."""
        fts_query = any_of(self._terms)
        in_heads = ids & self._hits.ids("heads", fts_query) if fts_query else set()
        in_names = (
            in_heads & self._hits.ids("heads", f"{NAME_COLUMNS} : ({fts_query})") if in_heads else set()
        )
        page: list[int] = []
        for tier in (in_names, in_heads - in_names, ids - in_heads):
            page += self._hits.in_order("modified", tier, start, count - len(page))
            start = max(0, start - len(tier))
        return page

    def _scoring_expression(self) -> str | None:
        """Return the expression for scoring: the significant terms, or all terms if none is significant."""
        if len(self._terms) < 2:
            return any_of(self._terms)
        limit = max(fts_hits.MAX_RANKED_HITS, self._hits.newest_row() // _BROAD_QUERY_DIVISOR)
        rare = [term for term in self._terms if not self._is_common(term, limit)]
        return any_of(rare) or any_of(self._terms)

    def _is_common(self, term: Term, limit: int) -> bool:
        fts_query = leaf_expression(term.leaf)
        return fts_query is not None and self._hits.estimate_count("fulltext", fts_query) > limit

    # Groups

    def _group_page(self, ranked: Ranked, group: Grouping) -> RankedPage:
        """Return the hits by group, sorted by group name; hits without a group come last."""
        ids = [row_id for row_id, _ in ranked]
        query = _GROUPS[group].format("id IN (SELECT value FROM json_each(?))")
        rows = self._connection.execute(query, (json.dumps(ids),))
        names = {row_id: name.rstrip("/") for row_id, name in rows}
        counts = Counter(names.values())
        order = sorted(counts, key=lambda name: (not name, name.casefold(), name))
        position = {name: number for number, name in enumerate(order)}
        ranked = sorted(ranked, key=lambda hit: position[names[hit[0]]])
        start, stop = self._request.offset, self._request.offset + self._request.limit
        return RankedPage(
            ranked[start:stop], len(ranked), tuple((name, counts[name]) for name in order), names
        )
