"""Match property values against the filter `[name:value]`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from app.index.normalization import fold
from app.index.query_ast import (
    And,
    Node,
    Not,
    Or,
    PhraseTerm,
    PropertyFilter,
    RegexTerm,
    ValueComparison,
    WordTerm,
)
from app.index.text_matcher import compile_pattern
from app.vault.path import name_key

_OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_YEAR = re.compile(r"\d{4}")
_DATE = re.compile(r"\d{4}-\d\d(-\d\d)?([T ][\d:.]+.*)?$")


def property_matches(property_filter: PropertyFilter, value: object) -> bool:
    """Return whether the value, or any item of a list or mapping, matches; `null` matches an empty value."""
    if property_filter.empty:
        return value is None or value in ("", [], {})
    return property_filter.value is None or _matches(property_filter.value, list(_items(value)))


def make_prefilter(property_filter: PropertyFilter) -> Callable[[str], bool]:
    """Return a quick test of a value's JSON, which fails only for values that do not match."""
    text = (
        property_filter.value.text.lower() if isinstance(property_filter.value, WordTerm | PhraseTerm) else ""
    )
    # Numbers have several spellings, and JSON escapes quotes, backslashes, line breaks and accents.
    is_plain = text.isascii() and text.isprintable() and '"' not in text and "\\" not in text
    if not is_plain or _to_number(text) is not None:
        return lambda value: True
    return lambda value: text in value.lower() or "\\u" in value


def _items(value: object) -> Iterable[object]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _items(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _items(item)
    else:
        yield value


def _matches(node: Node, items: list[object]) -> bool:
    match node:
        case And(nodes):
            return all(_matches(inner, items) for inner in nodes)
        case Or(nodes):
            return any(_matches(inner, items) for inner in nodes)
        case Not(inner):
            return not _matches(inner, items)
        case RegexTerm():
            pattern = compile_pattern(node)
            return any(pattern.search(_to_text(item)) for item in items)
        case ValueComparison(sign, value):
            return any(_matches_comparison(item, sign, value) for item in items)
        case WordTerm(text) | PhraseTerm(text):
            return any(_equals(item, text) for item in items)
        case _:
            return False


def _equals(item: object, expected: str) -> bool:
    """Return whether the item equals the expected text, ignoring case, or contains it as whole words."""
    number, other = _to_number(item), _to_number(expected)
    if number is not None and other is not None:
        return number == other
    text = fold(_to_text(item))
    return name_key(_to_text(item)) == name_key(expected) or bool(_word_pattern(expected).search(text))


@lru_cache(maxsize=256)
def _word_pattern(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(fold(word))}(?!\w)" if word.strip() else r"(?!)")


def _matches_comparison(item: object, sign: str, expected: str) -> bool:
    number, other = _to_number(item), _to_number(expected)
    if number is not None and other is not None:
        return bool(_OPERATORS[sign](number, other))
    text = _to_text(item)
    # ISO dates sort as text; a value more precise than the expected one is cut to its precision.
    if _DATE.match(text) and (_DATE.match(expected) or _YEAR.fullmatch(expected)):
        return bool(_OPERATORS[sign](text[: len(expected)], expected))
    return False


def _to_number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _to_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
