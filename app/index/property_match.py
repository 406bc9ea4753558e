"""Whether a property's value is what a search's `[name:value]` asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from app.index.folding import fold
from app.index.matching import compiled
from app.index.query_tree import And, Compare, Node, Not, Or, Phrase, Property, Regex, Word
from app.vault.path import name_key

_SIGNS = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}
_YEAR = re.compile(r"\d{4}")
_DATE = re.compile(r"\d{4}-\d\d(-\d\d)?([T ][\d:.]+.*)?$")


def property_matches(wanted: Property, value: object) -> bool:
    """Whether the value fits: of a list, any of its items; `null` is an empty value."""
    if wanted.empty:
        return value is None or value in ("", [], {})
    return wanted.value is None or _fits(wanted.value, list(_items(value)))


def may_match(wanted: Property) -> Callable[[str], bool]:
    """A quick look at a value's JSON that spares reading most of those that do not match."""
    text = wanted.value.text.lower() if isinstance(wanted.value, Word | Phrase) else ""
    # Numbers have several spellings, and quotes, backslashes and accents stand in JSON as escapes.
    if not text.isascii() or _number(text) is not None or '"' in text or "\\" in text:
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


def _fits(node: Node, items: list[object]) -> bool:
    match node:
        case And(nodes):
            return all(_fits(inner, items) for inner in nodes)
        case Or(nodes):
            return any(_fits(inner, items) for inner in nodes)
        case Not(inner):
            return not _fits(inner, items)
        case Regex():
            pattern = compiled(node)
            return any(pattern.search(_said(item)) for item in items)
        case Compare(sign, value):
            return any(_compares(item, sign, value) for item in items)
        case Word(text) | Phrase(text):
            return any(_is(item, text) for item in items)
        case _:
            return False


def _is(item: object, wanted: str) -> bool:
    """Equal, whatever the letters' case, or with the wanted words in it as whole words."""
    number, other = _number(item), _number(wanted)
    if number is not None and other is not None:
        return number == other
    said = fold(_said(item))
    return name_key(_said(item)) == name_key(wanted) or bool(_words(wanted).search(said))


@lru_cache(maxsize=256)
def _words(wanted: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(fold(wanted))}(?!\w)" if wanted.strip() else r"(?!)")


def _compares(item: object, sign: str, wanted: str) -> bool:
    number, other = _number(item), _number(wanted)
    if number is not None and other is not None:
        return bool(_SIGNS[sign](number, other))
    said = _said(item)
    # ISO dates are in order as texts; of a date and a year or a moment only the common part is compared.
    if _DATE.match(said) and (_DATE.match(wanted) or _YEAR.fullmatch(wanted)):
        return bool(_SIGNS[sign](said[: len(wanted)], wanted))
    return False


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
