"""Which notes match a search, as sets: words, then rows, then what only the texts can say.

Each node of the query becomes the set of notes that match it. In an AND the cheap parts come first, so
that reading texts is left for few notes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from app.errors import QueryError
from app.index.folding import unsegmented
from app.index.fulltext import expression, leaf_expression, necessary
from app.index.matching import Chunk, Term, compiled, predicate
from app.index.property_match import may_match, property_matches
from app.index.query_tree import (
    And,
    Field,
    FieldName,
    Leaf,
    Node,
    Not,
    Or,
    Orphan,
    Phrase,
    Property,
    Regex,
    Similar,
    Word,
)
from app.index.request import Request
from app.vault.path import name_key

Ids = set[int]
_CHUNKED = ("line", "block", "section", "task", "task-todo", "task-done")
_BY_KEY = ("tag", "type", "rel", "links-to", "linked-from")
_FEW = 5000
_ONE_BY_ONE = 2000


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a word is looked for, and whether in exactly its letters."""

    field: FieldName | None = None
    cased: bool = False


_ANYWHERE = Scope()


class Matches:
    """The sets of notes that match the nodes of one search; `check` raises when it takes too long."""

    def __init__(
        self, connection: sqlite3.Connection, request: Request, check: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._similar = request.similar
        self._targets = request.targets
        self._check = check

    def select(self, node: Node, among: Ids | None = None, scope: Scope = _ANYWHERE) -> Ids:
        """The notes (of `among`, None for all) that match the node."""
        self._check()
        if not (scope.field or scope.cased) and (said := expression(node)):
            return self._matching(said, among)
        match node:
            case And(items):
                first, *rest = sorted(items, key=_cost)
                found = self.select(first, among, scope)
                for item in rest:
                    found = self.select(item, found, scope) if found else found
                return found
            case Or(items):
                return {id for item in items for id in self.select(item, among, scope)}
            case Not(item):
                base = self._all() if among is None else among
                return base - self.select(item, base, scope)
            case Field(name, item):
                return self._in_field(name, item, among, scope)
            case Property():
                return _within(self._with_property(node), among)
            case Orphan():
                return _within(self._orphans(), among)
            case Similar(text):
                return _within(set(self._similar.get(text, ())), among)
            case Word() | Phrase() | Regex():
                return self._leaf(node, among, scope)
            case _:
                raise QueryError("A comparison stands outside a property.", position=0, expected="[name:<5]")

    def _in_field(self, name: FieldName, item: Node, among: Ids | None, scope: Scope) -> Ids:
        if name in ("match-case", "ignore-case"):
            return self.select(item, among, replace(scope, cased=name == "match-case"))
        if name not in _CHUNKED:
            return self.select(item, among, replace(scope, field=name))
        test = predicate(item, scope.cased)
        said = necessary(item)
        candidates = self._matching(said, among) if said else among
        if name.startswith("task"):
            return self._with_task(name, test, candidates)
        pieces = {"line": _lines, "block": _blocks, "section": self._sections}[name]
        found = set()
        for id, text in self._texts(candidates):
            if any(test(Chunk(piece)) for piece in pieces(id, text)):
                found.add(id)
        return found

    def _leaf(self, leaf: Leaf, among: Ids | None, scope: Scope) -> Ids:
        match scope.field:
            case None | "content":
                return self._in_texts(leaf, among, scope)
            case "file" | "path":
                return _within(self._named(leaf, scope), among)
            case "tag":
                return _within(self._tagged(leaf), among)
            case "type":
                return _within(self._keyed("SELECT id, type FROM notes", leaf, name_key), among)
            case "rel":
                query = "SELECT DISTINCT source, type FROM links WHERE type <> 'LINKS_TO'"
                return _within(self._keyed(query, leaf, relation_key), among)
            case "links-to" | "linked-from":
                return _within(self._linked(leaf, scope.field), among)
            case _:
                raise QueryError(f"{scope.field}: stands in another filter.", position=0, expected="words")

    # Words in texts

    def _matching(self, said: str, among: Ids | None) -> Ids:
        query = "SELECT rowid FROM fulltext WHERE fulltext MATCH ?"
        if among is not None and len(among) < _FEW:
            query += " AND +rowid IN (SELECT value FROM json_each(?))"
            return self.ids(query, said, json.dumps(list(among)))
        return _within(self.ids(query, said), among)

    def _in_texts(self, leaf: Leaf, among: Ids | None, scope: Scope) -> Ids:
        """What the word index cannot say: patterns, signs without letters, exact letters."""
        if isinstance(leaf, Phrase) and not leaf.text.strip():
            return self._all() if among is None else among
        said = leaf_expression(leaf)
        if said and not scope.cased:
            return self._matching(said if scope.field is None else f"{{text}} : ({said})", among)
        candidates = self._matching(said, among) if said else among
        term = Term(leaf, scope.cased)
        names = scope.field is None
        found = set()
        for id, text in self._texts(candidates):
            if term.finds(Chunk(text)) or (names and term.finds(Chunk(self._name(id)))):
                found.add(id)
        return found

    def text(self, id: int) -> str:
        """The note's text."""
        row = self._connection.execute("SELECT text FROM fulltext WHERE rowid = ?", (id,)).fetchone()
        return unsegmented(row[0]) if row else ""

    def _name(self, id: int) -> str:
        row = self._connection.execute("SELECT name FROM fulltext WHERE rowid = ?", (id,)).fetchone()
        return unsegmented(row[0]) if row else ""

    def _texts(self, among: Ids | None) -> Iterator[tuple[int, str]]:
        if among is None or len(among) > _ONE_BY_ONE:
            rows = self._connection.execute("SELECT rowid, text FROM fulltext")
            for id, text in rows:
                self._check()
                if among is None or id in among:
                    yield id, unsegmented(text)
            return
        for id in sorted(among):
            self._check()
            yield id, self.text(id)

    def _sections(self, id: int, text: str) -> Iterator[str]:
        """From each heading to the next; what stands before the first is one too."""
        lines = text.split("\n")
        query = "SELECT line FROM headings WHERE note = ? ORDER BY line"
        starts = [0, *(line - 1 for (line,) in self._connection.execute(query, (id,)) if line > 1)]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            yield "\n".join(lines[start:end])

    def _with_task(self, name: str, test: Callable[[Chunk], bool], among: Ids | None) -> Ids:
        states = {"task": (0, 1), "task-todo": (0,), "task-done": (1,)}[name]
        found: Ids = set()
        for id, done, text in self._connection.execute("SELECT note, done, text FROM tasks"):
            if id not in found and done in states and (among is None or id in among) and test(Chunk(text)):
                found.add(id)
        return found

    # Names, tags, types, links, properties

    def ids(self, query: str, *values: object) -> Ids:
        """What a query for ids finds."""
        return {id for (id,) in self._connection.execute(query, values)}

    def _all(self) -> Ids:
        return self.ids("SELECT id FROM notes")

    def _named(self, leaf: Leaf, scope: Scope) -> Ids:
        found = set()
        pattern = compiled(leaf, scope.cased) if isinstance(leaf, Regex) else None
        wanted = "" if isinstance(leaf, Regex) else leaf.text if scope.cased else name_key(leaf.text)
        if scope.cased or pattern:
            rows = self._connection.execute("SELECT id, path FROM files WHERE is_note = 1")
        else:
            query = "SELECT id, key FROM files WHERE is_note = 1 AND instr(key, ?)"
            rows = self._connection.execute(query, (wanted,))
        for id, path in rows:
            text = path if scope.field == "path" else path.rpartition("/")[2]
            if pattern.search(text) if pattern else wanted in text:
                found.add(id)
        return found

    def _tagged(self, leaf: Leaf) -> Ids:
        if isinstance(leaf, Regex):
            return self._keyed("SELECT note, name FROM tags", leaf, name_key)
        key = name_key(leaf.text.strip().lstrip("#").rstrip("/"))
        if isinstance(leaf, Word) and leaf.prefix:
            return self.ids("SELECT note FROM tags WHERE substr(key, 1, ?) = ?", len(key), key)
        return self.ids("SELECT note FROM tags WHERE key = ?", key)

    def _keyed(self, query: str, leaf: Leaf, key: Callable[[str], str]) -> Ids:
        """Notes where the second column of the query's rows is what the leaf says."""
        rows = self._connection.execute(query)
        if isinstance(leaf, Regex):
            pattern = compiled(leaf)
            return {id for id, text in rows if pattern.search(text)}
        wanted = key(leaf.text.strip())
        if isinstance(leaf, Word) and leaf.prefix:
            return {id for id, text in rows if key(text).startswith(wanted)}
        return {id for id, text in rows if key(text) == wanted}

    def _linked(self, leaf: Leaf, direction: str) -> Ids:
        if isinstance(leaf, Regex):
            raise QueryError(
                f"{direction}: takes a name.", position=leaf.position, expected="the name of a note"
            )
        target = self._targets.get(leaf.text)
        if direction == "linked-from":
            return self.ids(
                "SELECT DISTINCT notes.id FROM links JOIN notes ON notes.id = target_id WHERE source = ?",
                target,
            )
        if target is not None:
            return self.ids("SELECT DISTINCT source FROM links WHERE target_id = ?", target)
        key = name_key(leaf.text.strip())
        query = "SELECT DISTINCT source FROM links WHERE target_key = ? AND target_id IS NULL"
        return self.ids(query, key)

    def _orphans(self) -> Ids:
        return self.ids(
            "SELECT id FROM notes EXCEPT SELECT source FROM links JOIN notes ON notes.id = target_id"
            " WHERE source <> target_id EXCEPT SELECT target_id FROM links WHERE source <> target_id"
        )

    def _with_property(self, wanted: Property) -> Ids:
        rows = self._connection.execute(
            "SELECT note, value FROM properties WHERE key = ?", (name_key(wanted.name),)
        )
        if wanted.value is None and not wanted.empty:
            return {id for id, _ in rows}
        may = may_match(wanted)
        return {id for id, value in rows if may(value) and property_matches(wanted, json.loads(value))}


def relation_key(text: str) -> str:
    """A relation's type in the form of the index: UPPER_SNAKE."""
    return "_".join(text.replace("-", " ").replace("_", " ").upper().split())


def _within(found: Ids, among: Ids | None) -> Ids:
    return found if among is None else found & among


def _lines(_: int, text: str) -> Iterable[str]:
    return text.split("\n")


def _blocks(_: int, text: str) -> Iterator[str]:
    """Runs of lines between empty ones."""
    block: list[str] = []
    for line in text.split("\n"):
        if line.strip():
            block.append(line)
        elif block:
            yield "\n".join(block)
            block = []
    if block:
        yield "\n".join(block)


def _cost(node: Node) -> int:
    """How dear it is to carry out: rows by a key, words, what must be taken from a set, then texts."""
    if expression(node):
        return 1
    match node:
        case Not(item):
            return max(2, _cost(item))
        case Regex() | Word() | Phrase():
            return 5
        case Field(name, item):
            if name in _CHUNKED:
                return 4 if necessary(item) else 6
            return 4 if name == "match-case" else 0 if name in _BY_KEY else 1
        case And(items) | Or(items):
            return max(_cost(item) for item in items)
        case _:
            return 1
