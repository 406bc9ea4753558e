"""Filters on table rows of the index: names, tags, types, relations, links and properties.

`among` restricts a filter to a set of notes; if the set is small, only its rows are read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from typing import TypeVar

from app.errors import QueryError
from app.index.database import CachingConnection
from app.index.names import link_key
from app.index.property_match import make_prefilter, property_matches
from app.index.query_ast import DateFilter, Leaf, PhraseTerm, PropertyFilter, RegexTerm, WordTerm
from app.index.search_request import SearchRequest
from app.index.text_matcher import compile_pattern
from app.vault.markdown.relations import relation_type
from app.vault.path import NOTE_SUFFIXES, name_key

Ids = set[int]
Cached = TypeVar("Cached")
_END = "\0"
_MAX_DIRECT_NOTES = 4000


class RowFilters:
    """Evaluates filters on the index's rows; links to and from `hidden` notes are ignored.

    Hidden notes themselves may be in the results: the caller removes them.
    """

    def __init__(self, connection: sqlite3.Connection, request: SearchRequest, hidden: Ids) -> None:
        self._connection = connection
        self._targets = request.targets
        self._hidden = hidden

    def named(self, leaf: Leaf, *, whole_path: bool, cased: bool, among: Ids | None) -> Ids:
        """Return the notes with the leaf's text in the file name or, if `whole_path`, in the path."""
        if not (cased or isinstance(leaf, RegexTerm)):
            return self._keys_with(name_key(leaf.text), whole_path, among)
        find: Callable[[str], object]
        find = (
            compile_pattern(leaf, cased).search
            if isinstance(leaf, RegexTerm)
            else lambda text: leaf.text in text
        )
        rows = self._rows("SELECT id, path FROM files WHERE is_note = 1", "id", among)
        return {row_id for row_id, path in rows if find(path if whole_path else path.rpartition("/")[2])}

    def _keys_with(self, text: str, whole_path: bool, among: Ids | None) -> Ids:
        """Return the notes whose name keys or, if `whole_path`, path keys contain `text`."""
        if among is not None and len(among) <= _MAX_DIRECT_NOTES:
            rows = self._rows("SELECT id, key FROM files WHERE 1", "id", among)
            return {row_id for row_id, key in rows if _is_named(key, text, whole_path)}
        matching_keys: list[str] = []
        keys = self._get_cached("keys", self._keys)
        index = keys.find(text)
        while index >= 0:
            end = keys.find(_END, index)
            key = keys[keys.rfind(_END, 0, index) + 1 : end]
            if _is_named(key, text, whole_path):
                matching_keys.append(key)
            index = keys.find(text, end + 1) if end < len(keys) - 1 else -1
        query = "SELECT id FROM files WHERE key IN (SELECT value FROM json_each(?))"
        return intersect(self._ids(query, json.dumps(matching_keys)), among)

    def _keys(self) -> str:
        """Return the keys of all files joined with separators, which can be searched quickly."""
        query = "SELECT group_concat(key, char(0)) FROM files INDEXED BY files_by_key WHERE key <> ''"
        return f"{self._connection.execute(query).fetchone()[0] or ''}{_END}"

    def tagged(self, leaf: Leaf, among: Ids | None) -> Ids:
        """Return the notes with this tag or one nested in it."""
        if isinstance(leaf, RegexTerm):
            return self._match_keys("SELECT note, name FROM tags WHERE 1", "note", leaf, name_key, among)
        key = name_key(leaf.text.strip().lstrip("#").rstrip("/"))
        if isinstance(leaf, WordTerm) and leaf.prefix:
            rows = self._connection.execute(
                "SELECT note FROM tags WHERE key >= ? AND key < ?", _prefix_bounds(key)
            )
        else:
            rows = self._connection.execute("SELECT note FROM tags WHERE key = ?", (key,))
        return intersect({row_id for (row_id,) in rows}, among)

    def typed(self, leaf: Leaf, among: Ids | None) -> Ids:
        """Return the notes of this type."""
        return self._match_keys("SELECT id, type FROM notes WHERE 1", "id", leaf, name_key, among)

    def relating(self, leaf: Leaf, among: Ids | None) -> Ids:
        """Return the notes with a relation of this type."""
        query = "SELECT source, type FROM links WHERE type <> 'LINKS_TO'"
        return self._match_keys(query, "source", leaf, relation_type, among)

    def backlinked(self, leaf: Leaf, among: Ids | None) -> Ids:
        """Return the notes that another visible note links to, by a relation of this type.

        An empty leaf matches every link.
        """
        query = (
            "SELECT target_id, links.type FROM links JOIN notes ON notes.id = target_id"
            " WHERE source <> target_id AND source NOT IN (SELECT value FROM json_each(?))"
        )
        hidden = json.dumps(sorted(self._hidden))
        if isinstance(leaf, PhraseTerm) and not leaf.text.strip():
            return {row_id for row_id, _ in self._rows(query, "target_id", among, hidden)}
        query += " AND links.type <> 'LINKS_TO'"
        return self._match_keys(query, "target_id", leaf, relation_type, among, hidden)

    def linking_to(self, leaf: Leaf, among: Ids | None) -> Ids:
        """Return the notes with a link to the file with this name, or to this unresolved name."""
        target = self._target(leaf, "links-to")
        if target is not None and target not in self._hidden:
            return intersect(self._ids("SELECT source FROM links WHERE target_id = ?", target), among)
        # A link to a hidden note looks unresolved: only its exact text finds it.
        key = name_key("" if isinstance(leaf, RegexTerm) else leaf.text.strip())
        query = (
            "SELECT source FROM links WHERE link_key = ? AND target_key = ?"
            " AND (target_id IS NULL OR target_id = ?)"
        )
        return intersect(self._ids(query, link_key(key), key, target), among)

    def linked_from(self, leaf: Leaf, among: Ids | None) -> Ids:
        """Return the notes that the note with this name links to."""
        source = self._target(leaf, "linked-from")
        if source is None or source in self._hidden:
            return set()
        query = "SELECT target_id FROM links JOIN notes ON notes.id = target_id WHERE source = ?"
        return intersect(self._ids(query, source), among)

    def orphans(self, among: Ids | None) -> Ids:
        """Return the notes without links to or from other visible notes."""
        if self._hidden:
            return intersect(self._find_orphans(), among)
        if among is not None and len(among) <= _MAX_DIRECT_NOTES:
            return self._ids(
                "SELECT value FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM links JOIN notes"
                " ON notes.id = target_id WHERE source = value AND target_id <> value)"
                " AND NOT EXISTS (SELECT 1 FROM links WHERE target_id = value AND source <> value)",
                json.dumps(list(among)),
            )
        return intersect(self._get_cached("orphans", self._find_orphans), among)

    def _find_orphans(self) -> Ids:
        link_condition = "source <> target_id"
        if self._hidden:
            link_condition += " AND source NOT IN hidden AND target_id NOT IN hidden"
        return self._ids(
            "WITH hidden AS MATERIALIZED (SELECT value FROM json_each(?)) SELECT id FROM notes"
            f" WHERE id NOT IN (SELECT source FROM links WHERE {link_condition}"
            " AND target_id NOT IN (SELECT id FROM files WHERE is_note = 0))"
            f" AND id NOT IN (SELECT target_id FROM links WHERE target_id IS NOT NULL AND {link_condition})",
            json.dumps(sorted(self._hidden)),
        )

    def unresolved(self, among: Ids | None) -> Ids:
        """Return the notes with an unresolved link; a link to a hidden note counts as unresolved."""
        query = "SELECT source FROM links WHERE target_id IS NULL"
        if self._hidden:
            query += " OR target_id IN (SELECT value FROM json_each(?))"
            return intersect(self._ids(query, json.dumps(sorted(self._hidden))), among)
        return intersect(self._ids(query), among)

    def untagged(self, among: Ids | None) -> Ids:
        """Return the notes without a tag."""
        return intersect(self._ids("SELECT id FROM notes WHERE id NOT IN (SELECT note FROM tags)"), among)

    def timed(self, date_filter: DateFilter, among: Ids | None) -> Ids:
        """Return the notes modified or created in a period."""
        query = (
            f"SELECT id FROM files WHERE is_note = 1 AND {date_filter.name} >= ? AND {date_filter.name} < ?"
        )
        start = 0.0 if date_filter.start is None else date_filter.start
        end = float("inf") if date_filter.end is None else date_filter.end
        return intersect(self._ids(query, start, end), among)

    def _get_cached(self, name: str, find: Callable[[], Cached]) -> Cached:
        """Return the result cached on this connection, unless the index has changed since."""
        if not isinstance(self._connection, CachingConnection):
            return find()
        version = self._connection.execute("PRAGMA data_version").fetchone()[0]
        cached = self._connection.cache.get(name)
        if cached is None or cached[0] != version:
            cached = self._connection.cache[name] = version, find()
        value: Cached = cached[1]
        return value

    def with_property(self, property_filter: PropertyFilter, among: Ids | None) -> Ids:
        """Return the notes with this property and a matching value."""
        query = "SELECT note, value FROM properties WHERE key = ?"
        rows = self._rows(query, "note", among, name_key(property_filter.name))
        if property_filter.value is None and not property_filter.empty:
            return {row_id for row_id, _ in rows}
        may_match = make_prefilter(property_filter)
        matches_by_value: dict[str, bool] = {}  # Many notes share a value.
        ids = set()
        for row_id, value in rows:
            if (matches := matches_by_value.get(value)) is None:
                matches = matches_by_value[value] = may_match(value) and property_matches(
                    property_filter, json.loads(value)
                )
            if matches:
                ids.add(row_id)
        return ids

    def _target(self, leaf: Leaf, name: str) -> int | None:
        if isinstance(leaf, RegexTerm):
            raise QueryError(f"{name}: takes a name.", position=leaf.position, expected="the name of a note")
        return self._targets.get(leaf.text)

    def _match_keys(
        self,
        query: str,
        column: str,
        leaf: Leaf,
        key: Callable[[str], str],
        among: Ids | None,
        *values: object,
    ) -> Ids:
        """Return the notes whose value in the query's second column matches the leaf."""
        if isinstance(leaf, RegexTerm):
            pattern = compile_pattern(leaf)
            matches: Callable[[str], object] = pattern.search
        else:
            wanted_key = key(leaf.text.strip())
            prefix = isinstance(leaf, WordTerm) and leaf.prefix
            matches = lambda text: key(text).startswith(wanted_key) if prefix else key(text) == wanted_key  # noqa: E731
        matches_by_value: dict[str, bool] = {}  # Many rows share a few distinct values.
        ids = set()
        for row_id, text in self._rows(query, column, among, *values):
            if text not in matches_by_value:
                matches_by_value[text] = bool(matches(text))
            if matches_by_value[text]:
                ids.add(row_id)
        return ids

    def _rows(self, query: str, column: str, among: Ids | None, *values: object) -> Iterable[tuple[int, str]]:
        """Return the rows of a query with a WHERE clause, restricted to `among`."""
        if among is None or len(among) > _MAX_DIRECT_NOTES:
            rows = self._connection.execute(query, values)
            return rows if among is None else (row for row in rows if row[0] in among)
        query += f" AND {column} IN (SELECT value FROM json_each(?))"
        return self._connection.execute(query, (*values, json.dumps(list(among))))

    def _ids(self, query: str, *values: object) -> Ids:
        return {row_id for (row_id,) in self._connection.execute(query, values)}


def _is_named(key: str, text: str, whole_path: bool) -> bool:
    return key.endswith(NOTE_SUFFIXES) and text in (key if whole_path else key.rpartition("/")[2])


def _prefix_bounds(prefix: str) -> tuple[str, str]:
    """Return bounds for all keys with the prefix: the prefix itself, and a key after all of them."""
    return prefix, f"{prefix}\U0010ffff"


def intersect(ids: Ids, among: Ids | None) -> Ids:
    """Return the ids that are also in `among`, if that is not None."""
    return ids if among is None else ids & among
