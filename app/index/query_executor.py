"""Execution of queries as sets of notes, with the full-text index, table rows and, if necessary, texts.

Each node of the query becomes the set of notes that match it. In an AND, cheap parts come first, so that few
texts must be read.
"""

from __future__ import annotations

import json
import re
import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, pairwise

from app.errors import QueryError
from app.index.fulltext import expression, leaf_expression, necessary_expression
from app.index.normalization import unsegment
from app.index.query_ast import (
    And,
    DateFilter,
    FieldFilter,
    FieldName,
    Leaf,
    Node,
    Not,
    Or,
    OrphanFilter,
    PhraseTerm,
    PropertyFilter,
    RegexTerm,
    SimilarityFilter,
    UnresolvedFilter,
    UntaggedFilter,
    WordTerm,
    walk_nodes,
)
from app.index.record_queries import HIDDEN_IDS
from app.index.row_matches import RowFilters, intersect
from app.index.search_request import SearchRequest
from app.index.text_matcher import FoldedText, Term, predicate, required_literals

Ids = set[int]
_RANGE_FIELDS = ("line", "block", "section", "task", "task-todo", "task-done")
_TEXT_FIELDS = ("line", "block", "section", "match-case")
_KEYED_FIELDS = ("tag", "links-to", "linked-from")
_MAX_FILTERED_NOTES = 5000
_MAX_SINGLE_LOOKUPS = 2000
_GAP = re.compile(r"(?:\A|\n)(?:[^\S\n]*\n)+")


@dataclass(frozen=True, slots=True)
class MatchScope:
    """The part of a note to search for a word, and the case sensitivity."""

    field: FieldName | None = None
    cased: bool = False


_ANYWHERE = MatchScope()


class QueryExecutor:
    """Executes one query; `check` raises if it takes too long.

    `hidden` contains the notes that must not appear in results. Callers remove them from the returned sets;
    their contents and links never make another note match.
    """

    def __init__(
        self, connection: sqlite3.Connection, request: SearchRequest, check: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._similar = request.similar
        self._check = check
        self.hidden = _hidden_ids(connection, request)
        self._rows = RowFilters(connection, request, self.hidden)

    def candidates(self, node: Node) -> Ids | None:
        """Return the notes with all necessary words if the query must read texts, else None.

        Also return None if no words are necessary.
        """
        fts_query = (
            necessary_expression(node) if any(_reads_texts(part) for part in walk_nodes(node)) else None
        )
        return self._match_expression(fts_query, None) if fts_query else None

    def select(self, node: Node, among: Ids | None = None, scope: MatchScope = _ANYWHERE) -> Ids:
        """Return the notes in `among` (all notes if None) that match the node.

        Raises:
            QueryError: a pattern is invalid, or a filter is in the wrong place.
        """
        self._check()
        if not (scope.field or scope.cased) and (fts_query := expression(node)):
            return self._match_expression(fts_query, among)
        match node:
            case And(items):
                first, *rest = sorted(_merge_word_terms(items, scope), key=_cost)
                ids = self.select(first, among, scope)
                for item in rest:
                    ids = self.select(item, ids, scope) if ids else ids
                return ids
            case Or(items):
                return {row_id for item in items for row_id in self.select(item, among, scope)}
            case Not(item):
                base = self._all_ids() if among is None else among
                return base - self.select(item, base, scope)
            case FieldFilter(name, item):
                return self._select_in_field(name, item, among, scope)
            case PropertyFilter():
                return self._rows.with_property(node, among)
            case OrphanFilter():
                return self._rows.orphans(among)
            case UnresolvedFilter():
                return self._rows.unresolved(among)
            case UntaggedFilter():
                return self._rows.untagged(among)
            case DateFilter():
                return self._rows.timed(node, among)
            case SimilarityFilter(text):
                return intersect(set(self._similar.get(text, ())), among)
            case WordTerm() | PhraseTerm() | RegexTerm():
                return self._select_leaf(node, among, scope)
            case _:
                raise QueryError("A comparison must be inside a property.", position=0, expected="[name:<5]")

    def _select_in_field(self, name: FieldName, item: Node, among: Ids | None, scope: MatchScope) -> Ids:
        if name in ("match-case", "ignore-case"):
            return self.select(item, among, replace(scope, cased=name == "match-case"))
        if name not in _RANGE_FIELDS:
            return self.select(item, among, replace(scope, field=name))
        test = predicate(item, scope.cased)
        fts_query, literals = necessary_expression(item), required_literals(item)
        if name.startswith("task"):
            return self._select_by_task(name, literals, test, fts_query, among)
        candidates = self._match_expression(fts_query, among) if fts_query else among
        ids = set()
        for row_id, text in self._texts(candidates):
            pieces = (
                _TextLines(text) if name == "line" else _TextRanges(partial(self._ranges, name, row_id, text))
            )
            if any(test(piece) for piece in _pieces_with(literals, text, pieces)):
                ids.add(row_id)
        return ids

    def _ranges(self, name: FieldName, row_id: int, text: str) -> Iterable[tuple[int, int]]:
        return _blocks(text) if name == "block" else self._sections(row_id, text)

    def _select_leaf(self, leaf: Leaf, among: Ids | None, scope: MatchScope) -> Ids:
        match scope.field:
            case None | "content":
                return self._search_texts(leaf, among, scope)
            case "file" | "path":
                whole_path = scope.field == "path"
                return self._rows.named(leaf, whole_path=whole_path, cased=scope.cased, among=among)
            case "tag":
                return self._rows.tagged(leaf, among)
            case "type":
                return self._rows.typed(leaf, among)
            case "rel":
                return self._rows.relating(leaf, among)
            case "backlinks":
                return self._rows.backlinked(leaf, among)
            case "links-to":
                return self._rows.linking_to(leaf, among)
            case "linked-from":
                return self._rows.linked_from(leaf, among)
            case _:
                raise QueryError(
                    f"{scope.field}: can't be inside another filter.", position=0, expected="words"
                )

    # Words in texts

    def _match_expression(self, fts_query: str, among: Ids | None) -> Ids:
        query = "SELECT rowid FROM fulltext WHERE fulltext MATCH ?"
        if among is None or len(among) >= _MAX_FILTERED_NOTES:
            return intersect({row_id for (row_id,) in self._connection.execute(query, (fts_query,))}, among)
        # The plus keeps SQLite from restarting the search for each row.
        query += " AND +rowid IN (SELECT value FROM json_each(?))"
        return {row_id for (row_id,) in self._connection.execute(query, (fts_query, json.dumps(list(among))))}

    def _search_texts(self, leaf: Leaf, among: Ids | None, scope: MatchScope) -> Ids:
        """Return the notes whose texts or, outside `content:`, names contain the leaf.

        Texts are read for what the full-text index can't match: patterns, symbols and case.
        """
        if isinstance(leaf, PhraseTerm) and not leaf.text.strip():
            return self._all_ids() if among is None else among
        fts_query = leaf_expression(leaf)
        if fts_query and not scope.cased:
            return self._match_expression(
                fts_query if scope.field is None else f"{{text}} : ({fts_query})", among
            )
        candidates = self._match_expression(fts_query, among) if fts_query else among
        term = Term(leaf, scope.cased)
        searches_names = scope.field is None
        ids = set()
        for row_id, text in self._texts(candidates):
            if term.is_found_in(FoldedText(text)) or (
                searches_names and term.is_found_in(FoldedText(self._name(row_id)))
            ):
                ids.add(row_id)
        return ids

    def text(self, row_id: int) -> str:
        """Return the note's text."""
        row = self._connection.execute("SELECT text FROM fulltext WHERE rowid = ?", (row_id,)).fetchone()
        return unsegment(row[0]) if row else ""

    def _name(self, row_id: int) -> str:
        row = self._connection.execute("SELECT name FROM fulltext WHERE rowid = ?", (row_id,)).fetchone()
        return unsegment(row[0]) if row else ""

    def _texts(self, among: Ids | None) -> Iterator[tuple[int, str]]:
        if among is None or len(among) > _MAX_SINGLE_LOOKUPS:
            rows = self._connection.execute("SELECT rowid, text FROM fulltext")
            for row_id, text in rows:
                self._check()
                if among is None or row_id in among:
                    yield row_id, unsegment(text)
            return
        for row_id in sorted(among):
            self._check()
            yield row_id, self.text(row_id)

    def _sections(self, row_id: int, text: str) -> Iterator[tuple[int, int]]:
        """Return the range before the first heading, and that of each section from its heading on."""
        query = "SELECT line FROM headings WHERE note = ? ORDER BY line"
        heading_lines = [line for (line,) in self._connection.execute(query, (row_id,)) if line > 1]
        lengths = [len(line) + 1 for line in text.split("\n", heading_lines[-1])] if heading_lines else []
        # The first character of each heading's line.
        starts = [0, *accumulate(sum(lengths[a - 1 : b - 1]) for a, b in pairwise([1, *heading_lines]))]
        return zip(starts, [*(start - 1 for start in starts[1:]), len(text)], strict=True)

    def _select_by_task(
        self,
        name: str,
        literals: Sequence[str] | None,
        test: Callable[[FoldedText], bool],
        fts_query: str | None,
        among: Ids | None,
    ) -> Ids:
        query, values = "SELECT note, text FROM tasks WHERE 1", list[str]()
        if name != "task":
            query += f" AND done = {int(name == 'task-done')}"
        if literals is not None:
            # Text beyond ASCII may have other forms, which SQLite can't compare.
            query += " AND (length(text) < length(CAST(text AS BLOB))"
            query += " OR instr(lower(text), ?)" * len(literals) + ")"
            values += literals
        if among is not None:
            query += " AND note IN (SELECT value FROM json_each(?))"
            values.append(json.dumps(sorted(among)))
        elif fts_query:
            query += " AND note IN (SELECT rowid FROM fulltext WHERE fulltext MATCH ?)"
            values.append(fts_query)
        ids: Ids = set()
        for row_id, text in self._connection.execute(query, values):
            if row_id not in ids and test(FoldedText(text)):
                ids.add(row_id)
        return ids

    def task_lines(self, task: FieldFilter, row_id: int, cased: bool) -> list[int]:
        """Return the line numbers of a note's tasks that match a task filter."""
        test = predicate(task.item, cased)
        rows = self._connection.execute(
            "SELECT line, text, done FROM tasks WHERE note = ? ORDER BY line", (row_id,)
        )
        return [
            line
            for line, text, done in rows
            if (task.name == "task" or bool(done) == (task.name == "task-done")) and test(FoldedText(text))
        ]

    def _all_ids(self) -> Ids:
        return {row_id for (row_id,) in self._connection.execute("SELECT id FROM notes")}


def _merge_word_terms(items: Sequence[Node], scope: MatchScope) -> Sequence[Node]:
    """Return the items of an AND, merging those that one full-text query can answer."""
    if scope.field or scope.cased:
        return items
    words = tuple(item for item in items if expression(item))
    excluded = tuple(item for item in items if isinstance(item, Not) and expression(item.item))
    merged = (*words, *excluded) if words else ()
    if len(merged) < 2:
        return items
    return (And(merged), *(item for item in items if item not in merged))


def _hidden_ids(connection: sqlite3.Connection, request: SearchRequest) -> Ids:
    """Return the notes that the request must not reveal."""
    private = () if request.private else connection.execute(HIDDEN_IDS)
    return set(request.hidden).union(row_id for (row_id,) in private)


class _TextLines:
    """Finds the lines of a text by offset."""

    def __init__(self, text: str) -> None:
        self._text = text

    def range_at(self, offset: int) -> tuple[int, int] | None:
        """Return the range at or after an offset, or None after the last one."""
        if offset > len(self._text):
            return None
        end = self._text.find("\n", offset)
        return self._text.rfind("\n", 0, offset) + 1, end if end >= 0 else len(self._text)


class _TextRanges:
    """Finds the ranges of a text by offset; `find` returns them in order and is called lazily."""

    def __init__(self, find: Callable[[], Iterable[tuple[int, int]]]) -> None:
        self._find = find
        self._known: list[tuple[int, int]] | None = None

    def range_at(self, offset: int) -> tuple[int, int] | None:
        """Return the range at or after an offset, or None after the last one."""
        if self._known is None:
            self._known = list(self._find())
        index = bisect_left(self._known, offset, key=lambda piece: piece[1])
        return self._known[index] if index < len(self._known) else None


def _pieces_with(
    literals: Sequence[str] | None, text: str, pieces: _TextLines | _TextRanges
) -> Iterator[FoldedText]:
    """Yield the pieces of a text that contain one of the literals, or all pieces if `literals` is None."""
    folded_text = FoldedText(text)
    folded = folded_text.folded if literals is not None else ""
    offset = _next_offset(literals, folded, 0)
    while offset is not None and (piece := pieces.range_at(offset)):
        yield folded_text.slice(*piece)
        offset = _next_offset(literals, folded, piece[1] + 1)


def _next_offset(literals: Sequence[str] | None, folded: str, offset: int) -> int | None:
    """Return the first offset, from `offset` on, of one of the literals."""
    if literals is None:
        return offset
    offsets = [at for head in literals if (at := folded.find(head, offset)) >= 0]
    return min(offsets, default=None)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the runs of lines between empty ones."""
    start = 0
    for gap in _GAP.finditer(text):
        yield start, gap.start()
        start = gap.end()
    yield start, len(text)


def _reads_texts(node: Node) -> bool:
    return isinstance(node, RegexTerm) or (isinstance(node, FieldFilter) and node.name in _TEXT_FIELDS)


def _cost(node: Node) -> int:
    """Return the relative cost: rows by key, words, scanned rows, then texts."""
    if expression(node):
        return 1
    match node:
        case Not(item):
            return max(4, _cost(item))
        case RegexTerm() | WordTerm() | PhraseTerm():
            return 6
        case FieldFilter(name, item):
            if name in _RANGE_FIELDS:
                return 5 if necessary_expression(item) else 7
            return 5 if name == "match-case" else 0 if name in _KEYED_FIELDS else 3
        case And(items) | Or(items):
            return max(_cost(item) for item in items)
        case PropertyFilter():
            return 2
        case _:
            return 3
