"""Parse the order of a set and the number of its notes: "the 3 longest", "sorted by year", "the last two"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.agent.language.dates import DateParser
from app.agent.language.lexicon import Language
from app.agent.language.property_conditions import DATE_PROPERTIES, PropertyConditionParser
from app.agent.language.tokens import Token


@dataclass(frozen=True, slots=True)
class NoteOrder:
    """An order of notes.

    Args:
        order: The order for `search_notes`; empty to keep the order of the notes.
        limit: The number of notes, negative from the end; None for all.
        end: The position after the phrase.
        is_superlative: Whether the phrase is an adjective, which selects one note before a singular.
    """

    order: str
    limit: int | None
    end: int
    is_superlative: bool = False


class OrderParser:
    """Parse orders in one language.

    Args:
        language: The lexicon of the language.
        dates: The parser of numbers.
        conditions: The parser of property names.
    """

    def __init__(self, language: Language, dates: DateParser, conditions: PropertyConditionParser) -> None:
        self._language = language
        self._dates = dates
        self._conditions = conditions

    def parse(self, tokens: Sequence[Token], position: int) -> NoteOrder | None:
        """Return the order that starts at a token, with a number before or after it."""
        leading, start = self._leading_number(tokens, position)
        found = self._ordered(tokens, start)
        if found is None:
            first = self._first(tokens, position)
            return first if first is not None and first.limit is not None else None
        limit, end = leading, found.end
        if limit is None and end < len(tokens) and (number := self._dates.parse_number(tokens[end].key)):
            limit, end = (number, end + 1) if number > 1 else (None, end)
        return replace(found, limit=limit, end=end)

    def _leading_number(self, tokens: Sequence[Token], position: int) -> tuple[int | None, int]:
        """Return the number of "3 longest" or "top 3 longest", and the position after it."""
        after = self._language.match_prefix(tokens, position, "order_words", "first")
        start = after if after > position else position
        if start + 1 < len(tokens) and (number := self._dates.parse_number(tokens[start].key)) is not None:
            return number, start + 1
        return None, position

    def _first(self, tokens: Sequence[Token], position: int) -> NoteOrder | None:
        """Parse "the first three" and "the bottom two", which keep the order of the notes."""
        for kind, sign in (("first", 1), ("last", -1)):
            after = self._language.match_prefix(tokens, position, "order_words", kind)
            if after > position and after < len(tokens):
                number = self._dates.parse_number(tokens[after].key)
                if number is not None and (number > 1 or tokens[after].key.isdecimal()):
                    return NoteOrder("", sign * number, after + 1)
        return None

    def _ordered(self, tokens: Sequence[Token], position: int) -> NoteOrder | None:
        language = self._language
        if position >= len(tokens):
            return None
        best: NoteOrder | None = None
        for order in language.table("orders"):
            after = language.match_prefix(tokens, position, "orders", order)
            if after > position and (best is None or after > best.end):
                recent = tokens[position].key in language.words("no_superlatives")
                best = NoteOrder(order, None, after, is_superlative=not recent)
        for kind, sign in (("largest", ""), ("smallest", "-")):
            after = language.match_prefix(tokens, position, "order_words", kind)
            if position < after < len(tokens) and (name := self._conditions.property_name(tokens[after])):
                best = NoteOrder(f"{sign}{name}", None, after + 1, is_superlative=True)
        by = language.match_prefix(tokens, position, "order_words", "sorted")
        bare = language.match_prefix(tokens, position, "order_words", "by")
        after = max(by, bare)
        while position < after < len(tokens) and tokens[after].key in language.words("determiners"):
            after += 1
        if (best is None or after > best.end) and position < after < len(tokens):
            name = self._conditions.property_name(tokens[after])
            end = after + 1
            while name and end < len(tokens) and tokens[end].key in language.words("date_nouns"):
                end += 1
            ends = end >= len(tokens) or tokens[end].kind == "mark"
            # "By" alone says how notes were written; before the last word it gives the order.
            if name and (by > position or ends):
                sign = "-" if name in DATE_PROPERTIES else ""
                best = NoteOrder(f"{sign}{name}", None, end)
        return self._directed(best, tokens) if best is not None else None

    def _directed(self, found: NoteOrder, tokens: Sequence[Token]) -> NoteOrder:
        """Return the order in the direction that the words after it give: ", lowest first"."""
        start = found.end
        if start < len(tokens) and tokens[start].kind == "mark":
            start += 1
        bare = found.order.removeprefix("-")
        for kind, sign in (("downward", ""), ("upward", "-")):
            after = self._language.match_prefix(tokens, start, "order_words", kind)
            if after > start:
                return replace(found, order=f"{sign}{bare}", end=after, is_superlative=False)
        after = self._language.match_prefix(tokens, start, "order_words", "on_top")
        return replace(found, end=after, is_superlative=False) if after > start else found

    def by_property(self, tokens: Sequence[Token], position: int, order: str) -> NoteOrder | None:
        """Parse the property that a superlative goes by: "the oldest people by birth date"."""
        found = self._ordered(tokens, position)
        if found is None or found.is_superlative:
            return None
        sign = "-" if order.startswith("-") else ""
        return replace(found, order=f"{sign}{found.order.removeprefix('-')}")
