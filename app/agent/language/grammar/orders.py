"""Parse the order of a set and the number of its notes: "the 3 longest", "sorted by year", "the last two"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.agent.language.grammar.property_conditions import DATE_PROPERTIES, PropertyConditionParser
from app.agent.language.words.dates import DateParser
from app.agent.language.words.lexicon import Language
from app.agent.language.words.tokens import Token
from app.vault.path import name_key


@dataclass(frozen=True, slots=True)
class NoteOrder:
    """An order of notes.

    Args:
        order: The order for `search_notes`; empty to keep the order of the notes.
        limit: The number of notes, negative to count from the end; None for all.
        end: The position after the phrase.
        is_superlative: Whether the phrase is a superlative, which selects one note before a singular noun.
    """

    order: str
    limit: int | None
    end: int
    is_superlative: bool = False


class OrderParser:
    """Parse orders in one language.

    Args:
        language: The lexicon of the language.
        dates: The parser for numbers.
        conditions: The parser for property names.
    """

    def __init__(self, language: Language, dates: DateParser, conditions: PropertyConditionParser) -> None:
        self._language = language
        self._dates = dates
        self._conditions = conditions

    def parse(self, tokens: Sequence[Token], position: int) -> NoteOrder | None:
        """Parse the order or the number of notes that starts at a token: "3 longest", "the first three"."""
        leading, start = self._leading_number(tokens, position)
        order = self._parse_order(tokens, start)
        if order is None:
            return self._parse_first(tokens, position)
        limit, end = leading, order.end
        if limit is None and end < len(tokens) and (number := self._dates.parse_number(tokens[end].key)):
            limit, end = (number, end + 1) if number > 1 else (None, end)
        return replace(order, limit=limit, end=end)

    def _leading_number(self, tokens: Sequence[Token], position: int) -> tuple[int | None, int]:
        """Return the number of "3 longest" or "top 3 longest", and the position after it."""
        after = self._language.match_prefix(tokens, position, "order_words", "first")
        start = after if after > position else position
        if start + 1 < len(tokens) and (number := self._dates.parse_number(tokens[start].key)) is not None:
            return number, start + 1
        return None, position

    def _parse_first(self, tokens: Sequence[Token], position: int) -> NoteOrder | None:
        """Parse "the first three" and "the bottom two", which keep the order of the notes."""
        for kind, sign in (("first", 1), ("last", -1)):
            after = self._language.match_prefix(tokens, position, "order_words", kind)
            if after > position and after < len(tokens):
                number = self._dates.parse_number(tokens[after].key)
                if number is not None and (number > 1 or tokens[after].key.isdecimal()):
                    return NoteOrder("", sign * number, after + 1)
        return None

    def _parse_order(self, tokens: Sequence[Token], position: int) -> NoteOrder | None:
        language = self._language
        if position >= len(tokens):
            return None
        best: NoteOrder | None = None
        for order in language.table("orders"):
            after = language.match_prefix(tokens, position, "orders", order)
            if after > position and (best is None or after > best.end):
                is_superlative = tokens[position].key not in language.words("no_superlatives")
                # "Newest first" keeps all notes.
                is_superlative &= not language.matches_phrase(
                    tokens[after - 1 : after], "order_words", "on_top"
                )
                best = NoteOrder(order, None, after, is_superlative)
        for kind, sign in (("largest", ""), ("smallest", "-")):
            after = language.match_prefix(tokens, position, "order_words", kind)
            if position < after < len(tokens) and (name := self._conditions.property_name(tokens[after])):
                best = NoteOrder(f"{sign}{name}", None, after + 1, is_superlative=True)
        after_sorted = language.match_prefix(tokens, position, "order_words", "sorted")
        after_by = language.match_prefix(tokens, position, "order_words", "by")
        after = max(after_sorted, after_by)
        while position < after < len(tokens) and tokens[after].key in language.words("determiners"):
            after += 1
        if (best is None or after > best.end) and position < after < len(tokens):
            name = self._conditions.property_name(tokens[after])
            end = after + 1
            while name and end < len(tokens) and tokens[end].key in language.words("date_nouns"):
                end += 1
            is_at_end = end >= len(tokens) or tokens[end].kind == "mark"
            # "By" without "sorted" names an order only at the end of a phrase.
            if name and (after_sorted > position or is_at_end):
                is_due = name_key(name) in language.words("due_properties")
                sign = "-" if name in DATE_PROPERTIES or is_due else ""
                best = NoteOrder(f"{sign}{name}", None, end)
        return self._with_direction(best, tokens) if best is not None else None

    def _with_direction(self, order: NoteOrder, tokens: Sequence[Token]) -> NoteOrder:
        """Return the order in the direction given by the words after it: ", lowest first"."""
        start = order.end
        if start < len(tokens) and tokens[start].kind == "mark":
            start += 1
        key = order.order.removeprefix("-")
        for kind, sign in (("downward", ""), ("upward", "-")):
            after = self._language.match_prefix(tokens, start, "order_words", kind)
            if after > start:
                return replace(order, order=f"{sign}{key}", end=after, is_superlative=False)
        after = self._language.match_prefix(tokens, start, "order_words", "on_top")
        return replace(order, end=after, is_superlative=False) if after > start else order

    def parse_superlative_key(
        self, tokens: Sequence[Token], position: int, superlative: str
    ) -> NoteOrder | None:
        """Parse the property that the order `superlative` uses: "the oldest people by birth date"."""
        order = self._parse_order(tokens, position)
        if order is None or order.is_superlative:
            return None
        sign = "-" if superlative.startswith("-") else ""
        return replace(order, order=f"{sign}{order.order.removeprefix('-')}")
