"""Completions for queries, read from the index."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable

from app.index.completion import complete
from app.index.query_completion import OPERATORS, CompletionTarget, QuerySuggestion, insertion
from app.vault.path import name_key

_MAX_VALUES = 5000
_FOLDERS = "SELECT rtrim(path, replace(path, '/', '')) AS folder, count(*) FROM files WHERE is_note = 1"


def suggest(
    connection: sqlite3.Connection, target: CompletionTarget, limit: int
) -> tuple[QuerySuggestion, ...]:
    """Return completions of `target`, best match first."""
    counts: dict[str, int | None] = dict(_names(connection, target))
    names = complete(counts, target.word.lstrip("#"), limit)
    # A name that is already complete needs no suggestion.
    offered = [name for name in names if target.kind == "note" or name != target.word]
    return tuple(QuerySuggestion(name, _suggestion_text(target, name), counts[name]) for name in offered)


def _suggestion_text(target: CompletionTarget, name: str) -> str:
    # A bare #tag is a word; `tag:` searches for the tag.
    prefix = "tag:" if target.word.startswith("#") else ""
    return prefix + insertion(target, name)


def _names(connection: sqlite3.Connection, target: CompletionTarget) -> Iterable[tuple[str, int | None]]:
    """Return the names of the requested kind with their note counts, if available."""
    match target.kind:
        case "operator":
            word = target.word.casefold()
            return [(operator, None) for operator in OPERATORS if operator.startswith(word)]
        case "tag":
            return _counts(connection, "SELECT min(name), count(*) FROM tags GROUP BY key")
        case "property":
            return _counts(connection, "SELECT min(name), count(*) FROM properties GROUP BY key")
        case "type":
            return _counts(connection, "SELECT type, count(*) FROM notes GROUP BY type")
        case "relation":
            query = "SELECT type, count(DISTINCT source) FROM links WHERE type <> 'LINKS_TO' GROUP BY type"
            return [(name.lower(), count) for name, count in _counts(connection, query)]
        case "folder":
            rows = connection.execute(f"{_FOLDERS} GROUP BY folder ORDER BY folder")
            return [(folder, count) for folder, count in rows if folder]
        case "value":
            return _property_values(connection, target.name)
        case _:
            return _notes(connection, target.word)


def _counts(connection: sqlite3.Connection, query: str) -> list[tuple[str, int | None]]:
    return connection.execute(f"{query} ORDER BY 2 DESC").fetchall()


def _notes(connection: sqlite3.Connection, word: str) -> list[tuple[str, int | None]]:
    """Return note names that contain the word, at most as many as `complete` can rank quickly."""
    query = "SELECT DISTINCT name, NULL FROM notes WHERE instr(name_key, ?) ORDER BY length(name), name"
    return connection.execute(f"{query} LIMIT ?", (name_key(word), _MAX_VALUES)).fetchall()


def _property_values(connection: sqlite3.Connection, name: str) -> list[tuple[str, int | None]]:
    query = "SELECT value, count(*) FROM properties WHERE key = ? GROUP BY value ORDER BY 2 DESC LIMIT ?"
    counts: Counter[str] = Counter()
    for value, count in connection.execute(query, (name_key(name), _MAX_VALUES)):
        parsed = json.loads(value)
        for item in parsed if isinstance(parsed, list) else [parsed]:
            if isinstance(item, bool):
                counts["true" if item else "false"] += count
            elif isinstance(item, str | int | float) and str(item).strip():
                counts[str(item)] += count
    ordered = sorted(counts, key=lambda value: (-counts[value], value))
    return [(value, counts[value]) for value in ordered]
