"""Queries for links: outgoing links, backlinks, unresolved links and unlinked mentions."""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from itertools import islice
from operator import itemgetter
from typing import Any

from app.index.fulltext import leaf_expression
from app.index.names import stored_path
from app.index.normalization import tokenize, unsegment
from app.index.query_ast import PhraseTerm
from app.index.records import LinkRecord, Mention, UnresolvedName
from app.index.text_matcher import Term, find_marks, shorten
from app.vault.markdown.inline import unlinkable_spans
from app.vault.path import NotePath

_COLUMNS = (
    "source.path, target.path, links.target, type, confidence, note, embed, ambiguous, line, context"
    " FROM links JOIN files AS source ON source.id = links.source"
    " LEFT JOIN files AS target ON target.id = links.target_id"
)
_SELECT = f"SELECT {_COLUMNS}"
_SELECT_WITH_ID = f"SELECT links.id, {_COLUMNS}"
_ID_OF = "(SELECT id FROM files WHERE path = ?)"
_PAGE_SIZE = 1000
"""The number of links read at a time."""
_MAX_MENTION_CHARS = 200
_MAX_MENTIONS = 500
_MIN_MENTION_CHARS = 3


def outgoing(connection: sqlite3.Connection, path: NotePath) -> tuple[LinkRecord, ...]:
    """Return the links in a note, in order, including those to the note itself."""
    return _records(connection, "source.path = ? ORDER BY links.start, type", stored_path(path))


def backlinks(connection: sqlite3.Connection, path: NotePath) -> tuple[LinkRecord, ...]:
    """Return the links in other notes to this file, by note and line."""
    condition = (
        "links.target_id = (SELECT id FROM files WHERE path = ?) AND links.source <> links.target_id"
        " ORDER BY source.key, links.start, type"
    )
    return _records(connection, condition, stored_path(path))


def links_concerning(
    open_connection: Callable[[], AbstractContextManager[sqlite3.Connection]],
    paths: Iterable[NotePath],
    link_keys: Iterable[str],
) -> tuple[LinkRecord, ...]:
    """Return the links that are in one of these files, point to one, or have one of these link keys.

    Of several links with the same text in one line, only one is returned. They are read in pages, so that
    other readers never wait long for the connection.
    """
    stored_paths = [stored_path(path) for path in paths]
    conditions = [(f"links.source = {_ID_OF}", path) for path in stored_paths]
    conditions += [(f"links.target_id = {_ID_OF}", path) for path in stored_paths]
    conditions += [("links.link_key = ?", key) for key in link_keys]
    links: dict[tuple[str, int, str], LinkRecord] = {}
    # A few files have most of the links, so each path is created once.
    path_of = cache(NotePath)
    for condition, value in conditions:
        last_id = 0
        while last_id >= 0:
            with open_connection() as connection:
                rows = connection.execute(
                    f"{_SELECT_WITH_ID} WHERE {condition} AND links.id > ? ORDER BY links.id LIMIT ?",
                    (value, last_id, _PAGE_SIZE),
                ).fetchall()
            for row in rows:
                record = _record(row[1:], path_of)
                links[record.source.text, record.line, record.target_text] = record
            last_id = rows[-1][0] if len(rows) == _PAGE_SIZE else -1
    return tuple(links[key] for key in sorted(links))


def _records(connection: sqlite3.Connection, condition: str, *values: str | None) -> tuple[LinkRecord, ...]:
    rows = connection.execute(f"{_SELECT} WHERE {condition}", values)
    return tuple(map(_record, rows))


def _record(row: Sequence[Any], path_of: Callable[[str], NotePath] = NotePath) -> LinkRecord:
    source, target, text, type_, confidence, note, embed, ambiguous, line, context = row
    return LinkRecord(
        path_of(source),
        path_of(target) if target else None,
        text,
        type_,
        confidence,
        note,
        bool(embed),
        bool(ambiguous),
        line,
        context,
    )


def most_linked(connection: sqlite3.Connection, limit: int) -> tuple[NotePath, ...]:
    """Return the notes with the most links, incoming and outgoing together; ties are ordered by key."""
    rows = connection.execute(
        "SELECT path FROM notes JOIN files USING (id) LEFT JOIN (SELECT id, count(*) AS n FROM"
        " (SELECT source AS id FROM links UNION ALL SELECT target_id FROM links WHERE target_id IS NOT NULL)"
        " GROUP BY id) USING (id) ORDER BY ifnull(n, 0) DESC, key, path LIMIT ?",
        (limit,),
    )
    return tuple(NotePath(path) for (path,) in rows)


def unresolved(connection: sqlite3.Connection) -> tuple[UnresolvedName, ...]:
    """Return the unresolved names, the most frequent first, as the first note spells them."""
    rows = connection.execute(
        "SELECT links.target, count(*) AS n, min(files.key || char(0) || printf('%09d', links.start))"
        " FROM links JOIN files ON files.id = links.source"
        " WHERE links.target_id IS NULL AND links.target_key <> ''"
        " GROUP BY links.target_key ORDER BY n DESC, links.target_key"
    )
    return tuple(UnresolvedName(name, count) for name, count, _ in rows)


def unlinked_mentions(connection: sqlite3.Connection, path: NotePath) -> tuple[Mention, ...]:
    """Return the places where other notes mention the note without a link, by note and line.

    Names with fewer than three letters (two if one is beyond ASCII) are skipped. At most 500 mentions are
    returned. Text in properties does not count, nor text that a link would break, such as code and addresses.
    """
    row = connection.execute(
        "SELECT files.id, notes.name, title, aliases FROM files JOIN notes USING (id) WHERE path = ?",
        (stored_path(path),),
    ).fetchone()
    if row is None:
        return ()
    row_id, name, title, aliases = row
    names = dict.fromkeys(text for text in (name, title, *json.loads(aliases)) if _can_be_mentioned(text))
    mentions = _mentions(connection, row_id, [PhraseTerm(text) for text in names])
    return tuple(islice(mentions, _MAX_MENTIONS))


def _can_be_mentioned(name: str) -> bool:
    words = tokenize(name)
    letters = sum(map(len, words))
    return letters >= _MIN_MENTION_CHARS or (letters == 2 and not name.isascii())


def _overlaps(start: int, end: int, spans: list[tuple[int, int]]) -> bool:
    """Return whether a part of the text overlaps one of the spans, which are sorted and do not overlap."""
    index = bisect_left(spans, end, key=itemgetter(0)) - 1
    return index >= 0 and start < spans[index][1]


def _mentions(connection: sqlite3.Connection, row_id: int, names: list[PhraseTerm]) -> Iterator[Mention]:
    fts_query = " OR ".join(f"({expression})" for name in names if (expression := leaf_expression(name)))
    if not fts_query:
        return
    terms = [Term(name) for name in names]
    rows = connection.execute(
        "SELECT path, body_line, text FROM fulltext"
        " JOIN files ON files.id = fulltext.rowid JOIN notes ON notes.id = fulltext.rowid"
        " WHERE fulltext MATCH ? AND files.id <> ? ORDER BY files.key",
        (f"{{text}} : ({fts_query})", row_id),
    )
    for path, body_line, segmented in rows.fetchall():
        text = unsegment(segmented)
        lines = text.split("\n")
        offset = sum(len(line) + 1 for line in lines[: body_line - 1])
        spans = unlinkable_spans(text, offset)
        for number, line in enumerate(lines[body_line - 1 :], start=body_line):
            for start, end in find_marks(line, terms):
                if not _overlaps(offset + start, offset + end, spans):
                    excerpt, marks = shorten(line.rstrip("\r"), [(start, end)], _MAX_MENTION_CHARS)
                    yield Mention(NotePath(path), number, excerpt, *marks[0])
            offset += len(line) + 1
