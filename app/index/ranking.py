"""In which order the hits of a search come, and which of them a page has.

By relevance: BM25 over weighted fields (name, aliases, headings, tags, text). Weighing a note costs some
microseconds, so that of more than `FEW` hits not each is weighed: those with the words in their name or an
alias come first, then those with them in headings or tags, then the others. Within each of these, up to
`FEW` are in order of relevance, more are in order of their last change, the newest first; and so are, in
their texts, the notes with a phrase of words that very many notes have: of a phrase that is in one of twenty
notes or more, the first are found without looking for all. A word that more than a third of all notes have
says so little that it has no weight beside rarer ones.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from app.index.folding import segmented, tokens
from app.index.fulltext import any_of, leaf_expression
from app.index.matching import Term
from app.index.query_tree import Regex
from app.index.request import Grouping, Request

FEW = 4000
NAMES = "{name aliases}"
# What it takes to ask of one note whether it is a hit, against reading the number of one hit.
_ASKING = 27
_FIRST = 60
_OFTEN = 20
_MANY_ARE = 3
_LOOKED_AT = 1000
_ROWS = {
    "name": "SELECT id FROM notes WHERE {} ORDER BY name_key, id",
    "modified": "SELECT id FROM files WHERE is_note = 1 AND {} ORDER BY modified DESC, id",
    "created": "SELECT id FROM files WHERE is_note = 1 AND {} ORDER BY created DESC, id",
}
_GROUPS = {
    "folder": "SELECT id, rtrim(path, replace(path, '/', '')) FROM files WHERE is_note = 1 AND {}",
    "type": "SELECT id, type FROM notes WHERE {}",
    "tag": "SELECT id, coalesce(json_extract(tags, '$[0]'), '') FROM notes WHERE {}",
}
Ids = set[int]
Ranked = list[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Ordered:
    """The hits of one page with their scores, how many hits there are in all, and in which groups.

    Unless `exact`, there are more than `total`, and nobody has counted them.
    """

    page: Ranked
    total: int
    groups: tuple[tuple[str, int], ...] = ()
    group_of: dict[int, str] | None = None
    exact: bool = True


@dataclass(frozen=True, slots=True)
class _Walk:
    """About `size` hits, very many: what `table` finds by `said`, without those whose heads say `but`."""

    said: str
    size: int
    table: str = "fulltext"
    but: str = ""


class Ranking:
    """Orders the hits of one request; `hidden` notes are left out, `wanted` is what to weigh them by."""

    def __init__(
        self, connection: sqlite3.Connection, request: Request, hidden: Ids, wanted: Sequence[Term]
    ) -> None:
        self._connection = connection
        self._request = request
        self._hidden = hidden
        self._unseen = json.dumps(sorted(hidden))
        self._wanted = wanted

    # Hits that the word index can tell by itself

    def of_words(self, said: str, *, plain: bool) -> Ordered:
        """The hits of an expression of the word index.

        `plain`: it names no field and rules nothing out, so that it can be asked of the heads alone.
        """
        request = self._request
        found, about = Ids(), 0
        if request.group or request.order != "relevance":
            found, about = self._first(said)
        elif self._is_phrase:
            if plain and not request.exact and (often := self._often(said)):
                return Ordered(self._in_tiers(said, often), _FIRST, exact=False)
            found, about = self._first(said)
        elif (about := self._about("fulltext", said)) <= FEW:
            return self._of_few(said, self._count("fulltext", said) if self._hidden else about, plain=plain)
        if about <= FEW:
            return self.of_notes(found - self._hidden)
        if request.group or not plain:
            return self.of_notes(self._ids("fulltext", said))
        return self._of_many(said, about)

    def _of_many(self, said: str, about: int) -> Ordered:
        """The page when there are too many hits to weigh each, by the order that was asked for."""
        request = self._request
        total = self._count("fulltext", said) if request.exact else FEW
        if request.order == "relevance":
            page = self._in_tiers(said, about)
        else:
            page = self._by_row(request.order, _Walk(said, about), request.offset, request.limit)
        return Ordered(page, total, exact=request.exact)

    def _first(self, said: str) -> tuple[Ids, int]:
        """The first hits, at most one more than `FEW`, and about how many there are in all."""
        query = "SELECT rowid FROM fulltext WHERE fulltext MATCH ? LIMIT ?"
        found = {id for (id,) in self._connection.execute(query, (said, FEW + 1))}
        count = len(found)
        return found, count if count <= FEW else max(count, count * self._newest_row() // max(found))

    def _often(self, said: str) -> int:
        """About how many hits there are, if that is one of `_OFTEN` notes, judged by the first; else 0."""
        count, last = self._span("fulltext", said, _FIRST)
        often = count * self._newest_row() // max(1, last)
        return often if count == _FIRST and often > max(FEW, self._newest_row() // _OFTEN) else 0

    def _of_few(self, said: str, total: int, *, plain: bool) -> Ordered:
        """The page when each hit is weighed; SQLite does it all, so that few numbers come out."""
        start = self._request.offset
        count = max(0, min(self._request.limit, total - start))
        weighing = self._weighing()
        if len(self._wanted) == 1 or (plain and weighing == any_of(self._wanted)):
            return Ordered(self._best("fulltext", said, start, count), total)
        page = self._best("fulltext", weighing, start, count, among=said) if weighing else []
        # Some may have none of the words that say something.
        return Ordered(page, total) if len(page) >= count else self.of_notes(self._ids("fulltext", said))

    def _in_tiers(self, said: str, about: int) -> Ranked:
        """The page when there are too many hits to weigh each."""
        start, missing = self._request.offset, self._request.limit
        named = f"{NAMES} : ({said})"
        page: Ranked = []
        for expression in (named, f"({said}) NOT ({named})"):
            size = self._about("heads", expression)
            if self._hidden or start + missing > FEW:
                size = self._count("heads", expression)
            if size <= FEW:
                found = self._best("heads", expression, start, missing) if start < size else []
            else:
                found = self._by_row("modified", _Walk(expression, size, "heads"), start, missing)
            page += found
            start, missing = max(0, start - size), missing - len(found)
            if missing <= 0:
                return page
        return page + self._by_row("modified", _Walk(said, about, but=said), start, missing)

    def _best(self, table: str, said: str, start: int, count: int, among: str = "") -> Ranked:
        """The best of few hits; equal ones in the order in which they were indexed.

        With `among` those of its hits, weighed by `said`.
        """
        query, values = f"SELECT rowid, -rank FROM {table} WHERE {table} MATCH ?", [said]
        if among:
            # The plus keeps SQLite from starting the search anew for each row.
            query += f" AND +rowid IN (SELECT rowid FROM {table} WHERE {table} MATCH ?)"
            values.append(among)
        if self._hidden:
            query, values = query + self._but_hidden("+rowid"), [*values, self._unseen]
        query += " ORDER BY rank, rowid LIMIT ? OFFSET ?"
        return self._connection.execute(query, (*values, count, start)).fetchall()

    def _by_row(self, order: str, walk: _Walk, start: int, count: int) -> Ranked:
        """Some of many hits in the order of a column, by walking along it until there are enough."""
        end, newest = start + count, self._newest_row()
        if walk.size * walk.size > _ASKING * end * newest:
            page = self._beside(order, walk, start, count, 4 * end * newest // walk.size + FEW // 4)
            if page is not None:
                return page
        found = self._ids(walk.table, walk.said)
        if walk.but:
            found -= self._ids("heads", walk.but)
        return [(id, 0.0) for id in self._walk(order, found, start, count)]

    def _beside(self, order: str, walk: _Walk, start: int, count: int, most: int) -> Ranked | None:
        """As `_by_row`, asking of each note whether it is a hit; None when `most` of them are not enough."""
        test = "EXISTS (SELECT 1 FROM {0} WHERE {0} MATCH ? AND rowid = first.id)"
        among, values = test.format(walk.table), [walk.said]
        if walk.but:
            among, values = f"{among} AND NOT {test.format('heads')}", [*values, walk.but]
        if self._hidden:
            among, values = among + self._but_hidden("id"), [*values, self._unseen]
        query = f"SELECT id FROM ({_ROWS[order].format('1')} LIMIT {most}) AS first WHERE {among}"
        rows = self._connection.execute(f"{query} LIMIT ? OFFSET ?", (*values, count, start))
        page = [(id, 0.0) for (id,) in rows]
        return page if len(page) >= count or most >= self._newest_row() else None

    def _about(self, table: str, said: str) -> int:
        """How many hits there are: exactly up to `FEW`, about for more, seen from the first ones."""
        count, last = self._span(table, said, FEW + 1)
        return count if count <= FEW else max(count, count * self._newest_row() // max(1, last))

    def _span(self, table: str, said: str, most: int) -> tuple[int, int]:
        """How many hits there are, at most so many, and the number of the last of these."""
        query = f"SELECT count(*), max(rowid) FROM (SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT ?)"
        count, last = self._connection.execute(query, (said, most)).fetchone()
        return int(count), int(last or 0)

    @cached_property
    def _is_phrase(self) -> bool:
        """Whether a phrase of words that very many notes have is all that is wanted.

        To weigh such a one, its places are looked for in each of them, three times over.
        """
        if len(self._wanted) != 1 or self._request.similar or isinstance(leaf := self._wanted[0].leaf, Regex):
            return False
        words = tokens(leaf.text)
        return len(words) > 1 and all(self._about("fulltext", f'"{segmented(word)}"') > FEW for word in words)

    def _newest_row(self) -> int:
        """The highest number of a note: about as many as there are."""
        return int(self._connection.execute("SELECT max(id) FROM notes").fetchone()[0] or 0)

    def _count(self, table: str, said: str) -> int:
        query = f"SELECT count(*) FROM {table} WHERE {table} MATCH ?{self._but_hidden('+rowid')}"
        values = (said, self._unseen) if self._hidden else (said,)
        return int(self._connection.execute(query, values).fetchone()[0])

    def _but_hidden(self, column: str) -> str:
        return f" AND {column} NOT IN (SELECT value FROM json_each(?))" if self._hidden else ""

    def _ids(self, table: str, said: str) -> Ids:
        rows = self._connection.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH ?", (said,))
        return {id for (id,) in rows} - self._hidden

    # Hits that nothing weighs

    def newest(self, select: Callable[[Ids], Ids]) -> Ordered | None:
        """The page, if it can be had from the first notes of the order alone; None if it can't.

        `select` says which of some notes match. The notes are looked at in the order in which hits are
        listed where no word weighs them, so that what nearly every note has needs no look at each.
        """
        request = self._request
        order: str = request.order
        if order == "relevance":
            if self._wanted or request.similar:
                return None
            order = "modified"
        needed = request.offset + request.limit
        if request.exact or request.group or needed >= _LOOKED_AT or self._newest_row() <= _LOOKED_AT:
            return None
        rows = self._connection.execute(f"{_ROWS[order].format('1')} LIMIT ?", (_LOOKED_AT,))
        ids = [id for (id,) in rows]
        found = select(set(ids)) - self._hidden
        hits = [id for id in ids if id in found][: needed + 1]
        if len(hits) <= needed:
            return None
        return Ordered([(id, 0.0) for id in hits[request.offset : needed]], needed, exact=False)

    def weightiest(self, candidates: Ids | None, select: Callable[[Ids], Ids]) -> Ordered | None:
        """The page, from the few notes that may match, asked in the order of relevance whether they do.

        So those that come after the page need no look. None where these are not few, or unknown, or where
        another order or the number of hits is wanted.
        """
        request = self._request
        if request.exact or request.group or request.order != "relevance" or request.similar:
            return None
        if not self._wanted or candidates is None or len(candidates) > FEW:
            return None
        needed = request.offset + request.limit
        ranked, at, many = self._weighed(candidates - self._hidden), 0, max(_FIRST, 2 * request.limit)
        hits: Ranked = []
        while at < len(ranked) and len(hits) <= needed:
            found = select({id for id, _ in ranked[at : at + many]})
            hits += [hit for hit in ranked[at : at + many] if hit[0] in found]
            at, many = at + many, 2 * many
        all_seen = at >= len(ranked)
        total = len(hits) if all_seen else needed
        return Ordered(hits[request.offset : needed], total, exact=all_seen)

    # Hits as a set

    def of_notes(self, found: Ids) -> Ordered:
        """The hits in a set, in which no hidden note is."""
        request = self._request
        start, count = request.offset, request.limit
        if request.group:
            return self._grouped(self._all_in_order(found), request.group)
        if request.order == "relevance":
            return Ordered(self._by_relevance(found, start, count), len(found))
        return Ordered([(id, 0.0) for id in self._in_order(request.order, found, start, count)], len(found))

    def _by_relevance(self, found: Ids, start: int, count: int) -> Ranked:
        if self._is_phrase:
            return [(id, 0.0) for id in self._by_place(found, start, count)]
        if len(found) <= FEW:
            return self._weighed(found)[start : start + count]
        named = found & self._ids("heads", said) if (said := any_of(self._wanted)) else set()
        first = self._weighed(named) if len(named) <= FEW else []
        page = first[start : start + count]
        rest = found.difference(id for id, _ in first)
        start = max(0, start - len(first))
        return page + [(id, 0.0) for id in self._in_order("modified", rest, start, count - len(page))]

    def _all_in_order(self, found: Ids) -> Ranked:
        if self._request.order == "relevance":
            return self._by_relevance(found, 0, len(found))
        return [(id, 0.0) for id in self._in_order(self._request.order, found, 0, len(found))]

    def _weighed(self, found: Ids) -> Ranked:
        """These notes with their scores, best first; those of no weight in order of their last change."""
        scores = dict.fromkeys(found, 0.0)
        if self._is_phrase:
            return [(id, 0.0) for id in self._by_place(found, 0, len(found))]
        if found and (said := self._weighing()):
            query = "SELECT rowid, -rank FROM fulltext WHERE fulltext MATCH ? AND +rowid IN"
            # The plus keeps SQLite from starting the search anew for each row; only these rows are weighed.
            query += " (SELECT value FROM json_each(?))"
            scores.update(self._connection.execute(query, (said, json.dumps(list(scores)))))
        for similar in self._request.similar.values():
            for id, score in similar.items():
                if id in scores:
                    scores[id] += score
        weightless = {id for id, score in scores.items() if not score}
        order = self._in_order("modified", weightless, 0, len(weightless))
        ranked = [(id, scores[id]) for id in (*sorted(found - weightless), *order)]
        return sorted(ranked, key=lambda hit: -hit[1])

    def _by_place(self, found: Ids, start: int, count: int) -> list[int]:
        """Those with a term in their name or an alias, then in headings or tags, then in their text."""
        said = any_of(self._wanted)
        headed = found & self._ids("heads", said) if said else set()
        named = headed & self._ids("heads", f"{NAMES} : ({said})") if headed else set()
        page: list[int] = []
        for tier in (named, headed - named, found - headed):
            page += self._in_order("modified", tier, start, count - len(page))
            start = max(0, start - len(tier))
        return page

    def _weighing(self) -> str | None:
        """What the notes are weighed by: the terms that say something, or all if none does."""
        if len(self._wanted) < 2:
            return any_of(self._wanted)
        limit = max(FEW, self._newest_row() // _MANY_ARE)
        rare = [term for term in self._wanted if not self._is_common(term, limit)]
        return any_of(rare) or any_of(self._wanted)

    def _is_common(self, term: Term, limit: int) -> bool:
        said = leaf_expression(term.leaf)
        return said is not None and self._about("fulltext", said) > limit

    def _in_order(self, order: str, found: Ids, start: int, count: int) -> list[int]:
        if count <= 0 or not found:
            return []
        # How far one walks to find so many of them, against looking each of them up.
        if (start + count) * self._newest_row() < len(found) * FEW:
            return self._walk(order, found, start, count)
        among = "id IN (SELECT value FROM json_each(?))"
        rows = self._connection.execute(
            f"{_ROWS[order].format(among)} LIMIT ? OFFSET ?", (json.dumps(list(found)), count, start)
        )
        return [id for (id,) in rows]

    def _walk(self, order: str, found: Ids, start: int, count: int) -> list[int]:
        """Those of the set at these places in the order of a column."""
        rows = self._connection.execute(_ROWS[order].format("1"))
        return list(islice((id for (id,) in rows if id in found), start, start + count))

    # Groups

    def _grouped(self, ranked: Ranked, group: Grouping) -> Ordered:
        """The hits by group, in the order of the groups' names; those in none are last."""
        ids = [id for id, _ in ranked]
        query = _GROUPS[group].format("id IN (SELECT value FROM json_each(?))")
        rows = self._connection.execute(query, (json.dumps(ids),))
        names = {id: name.rstrip("/") for id, name in rows}
        counts = Counter(names.values())
        order = sorted(counts, key=lambda name: (not name, name.casefold(), name))
        place = {name: number for number, name in enumerate(order)}
        ranked = sorted(ranked, key=lambda hit: place[names[hit[0]]])
        start, stop = self._request.offset, self._request.offset + self._request.limit
        return Ordered(ranked[start:stop], len(ranked), tuple((name, counts[name]) for name in order), names)
