"""Sorting of notes by a count, a size, a time, the name or a property's value, in either direction.

The largest number and the latest date come first, text is ordered A to Z; a leading `-` reverses both.
Numbers and dates precede text, and notes without a value come last. The order `dated` uses the date that a
note states in its properties or at the start of its name, or the time of creation if no note states one.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Collection, Iterable
from datetime import date

from app.errors import InvalidParametersError
from app.vault.path import name_key

COLUMN_ORDERS = ("name", "modified", "created")
_LINKED = "SELECT {own}, count(DISTINCT {other}) FROM links WHERE {other} <> {own}"
_LINKED += " AND {own} IN (SELECT value FROM json_each(:ids))"
_LINKED += " AND {other} NOT IN (SELECT value FROM json_each(:hidden)) GROUP BY {own}"
_QUERIES = {
    "words": "SELECT id, words FROM notes WHERE id IN (SELECT value FROM json_each(:ids))",
    "size": "SELECT id, size FROM files WHERE id IN (SELECT value FROM json_each(:ids))",
    "name": "SELECT id, name_key FROM notes WHERE id IN (SELECT value FROM json_each(:ids))",
    "modified": "SELECT id, modified FROM files WHERE id IN (SELECT value FROM json_each(:ids))",
    "created": "SELECT id, created FROM files WHERE id IN (SELECT value FROM json_each(:ids))",
    "backlinks": _LINKED.format(own="target_id", other="source"),
    "outgoing": _LINKED.format(own="source", other="target_id"),
}
_PROPERTY = (
    "SELECT note, value FROM properties WHERE key = :key AND note IN (SELECT value FROM json_each(:ids))"
)
_HAS_PROPERTY = (
    "SELECT 1 FROM properties WHERE key = :key AND note NOT IN (SELECT value FROM json_each(:hidden)) LIMIT 1"
)
AGE_PROPERTIES = ("born", "built", "founded")
"""Properties that say how old the subject of a note is."""
_DATED = ("date", *AGE_PROPERTIES, "year", "published", "released", "start")
_DATE = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d))?(?:[T ].*)?")
_NAMED_DAY = re.compile(r"(\d{4})([-_. ])(\d\d)\2(\d\d)(?!\d)")
_BUILT_IN = (*_QUERIES, "links", "dated")


def property_of(order: str) -> str:
    """Return the property that an order reads, or an empty string for a built-in order."""
    name = order.removeprefix("-")
    return "" if name in _BUILT_IN else name


def in_value_order(
    connection: sqlite3.Connection, order: str, ids: Collection[int], hidden: Iterable[int]
) -> list[int]:
    """Return notes sorted by their values; links of `hidden` notes do not count.

    Args:
        connection: The index.
        order: `links`, `backlinks`, `outgoing`, `size`, `words`, `name`, `modified`, `created`, `dated` or
            the name of a property, with a leading `-` to reverse it.
        ids: The notes.
        hidden: Notes that the caller may not see.

    Raises:
        InvalidParametersError: no visible note has the property.
    """
    key = order.removeprefix("-")
    values = {"ids": json.dumps(list(ids)), "hidden": json.dumps(list(hidden)), "key": name_key(key)}
    sort_keys: dict[int, float | str] = {}
    if key in ("links", "backlinks", "outgoing"):
        counts = dict.fromkeys(ids, 0)
        for direction in ("backlinks", "outgoing") if key == "links" else (key,):
            for row_id, count in connection.execute(_QUERIES[direction], values):
                counts[row_id] += count
        sort_keys.update(counts)
    elif key in _QUERIES:
        sort_keys.update(connection.execute(_QUERIES[key], values).fetchall())
    elif key == "dated":
        for row_id, name in connection.execute(_QUERIES["name"], values):
            match = _NAMED_DAY.match(name)
            day = _sort_key(f"{match[1]}-{match[3]}-{match[4]}") if match else None
            if isinstance(day, float):
                sort_keys[row_id] = day
        # A date in the properties precedes the one in the name.
        for name in reversed(_DATED):
            rows = connection.execute(_PROPERTY, {**values, "key": name})
            days = {row_id: _sort_key(json.loads(text)) for row_id, text in rows}
            sort_keys.update({row_id: day for row_id, day in days.items() if isinstance(day, int | float)})
        if not sort_keys:
            sort_keys.update(connection.execute(_QUERIES["created"], values).fetchall())
    else:
        if connection.execute(_HAS_PROPERTY, values).fetchone() is None:
            raise InvalidParametersError(f"No note has the property “{key}”, so notes can't be sorted by it.")
        for row_id, text in connection.execute(_PROPERTY, values):
            if (value := _sort_key(json.loads(text))) is not None:
                sort_keys[row_id] = value
    is_reversed = order.startswith("-")
    numbers = sorted(row_id for row_id in sort_keys if isinstance(sort_keys[row_id], int | float))
    numbers.sort(key=lambda row_id: float(sort_keys[row_id]), reverse=not is_reversed)
    texts = sorted(row_id for row_id in sort_keys if isinstance(sort_keys[row_id], str))
    texts.sort(key=lambda row_id: str(sort_keys[row_id]), reverse=is_reversed)
    return [*numbers, *texts, *sorted(set(ids) - set(sort_keys))]


def _sort_key(value: object) -> float | str | None:
    """Return a number for a number or a date, folded text for text, and None for an empty value."""
    if isinstance(value, list):
        value = next(iter(value), None)
    if isinstance(value, bool | int | float):
        return float(value)
    if not isinstance(value, str) or not value.strip():
        return None
    if match := _DATE.fullmatch(value.strip()):
        try:
            day = date(int(match[1]), int(match[2]), int(match[3] or 1))
        except ValueError:
            return name_key(value)
        # A year alone is a number, so that years and dates can be sorted together.
        return day.year + (day.timetuple().tm_yday - 1) / 366
    try:
        return float(value)
    except ValueError:
        return name_key(value)
