"""Spans of a request's items, and the values that their words mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from app.agent.language.grammar.mentions import EntityMention
from app.agent.language.grammar.note_references import without_possessive
from app.agent.language.grammar.note_sets import NoteSetParser
from app.agent.language.grammar.request import Request
from app.agent.language.model.symbols import LITERALS, Span, Symbol
from app.agent.language.words.dates import Days
from app.agent.language.words.lexicon import Language
from app.agent.language.words.tokens import Token, span_text, written_text
from app.index.query_serializer import quote_value
from app.vault.reference import parse_reference


@dataclass(frozen=True, slots=True)
class RequestItem:
    """One item of a request: a mention, or a single word or mark."""

    tokens: tuple[Token, ...]
    mention: EntityMention


def request_items(request: Request) -> tuple[RequestItem, ...]:
    """Return the items of a request in order, including the marks."""
    mentions_by_token = {id(mention.tokens[0]): mention for mention in request.mentions(request.tokens)}
    items: list[RequestItem] = []
    position = 0
    while position < len(request.tokens):
        token = request.tokens[position]
        mention = mentions_by_token.get(id(token), EntityMention("word", (token,)))
        items.append(RequestItem(mention.tokens, mention))
        position += len(mention.tokens)
    return tuple(items)


def item_text(request: Request, items: Sequence[RequestItem], span: Span) -> str:
    """Return the text of a span without enclosing quotes or brackets and without a possessive ending."""
    tokens = tuple(token for item in items[span[0] : span[1] + 1] for token in item.tokens)
    if len(tokens) == 1 and tokens[0].kind in ("quoted", "link", "tag"):
        value = tokens[0].value
        return parse_reference(value).target if tokens[0].kind == "link" else value
    text = span_text(request.text, tokens).strip()
    return re.sub(r"['’]s$", "", text)


class ItemSpans:
    """The texts, numbers and days of a request's spans.

    Args:
        request: The request.
        items: Its items.
    """

    def __init__(self, request: Request, items: Sequence[RequestItem]) -> None:
        self._request = request
        self._items = items
        self._language: Language = request.language
        self._sets: NoteSetParser = request.set_parser()

    def property_value(self, symbol: Symbol) -> str | tuple[str, str] | None:
        """Return a symbol's value, or the first and the last day of a period; None for an invalid symbol."""
        if not isinstance(symbol, tuple):
            today = self._request.dates.today.isoformat()
            return today if symbol == "now" else symbol if symbol in LITERALS else None
        text = self.text(symbol)
        if (number := self.number(symbol)) is not None:
            return number
        if (years := self._years(self.tokens(symbol))) is not None and years[0] == years[1]:
            return str(years[0])
        days = self._request.dates.parse_span(self.tokens(symbol), 0)
        if days is not None and days.first is not None:
            last = days.last or days.first
            first = days.first.isoformat()
            return (first, last.isoformat()) if last != days.first else first
        return quote_value(text)

    def day_ahead(self, span: Span) -> str | None:
        """Return the day that a span names ("today's"), in the future if the words leave it open, or None."""
        tokens = [without_possessive(token) for token in self.tokens(span)]
        plain = [replace(token, key=token.key.removesuffix("s")) for token in tokens]
        return self._sets.days_ahead(tokens) or self._sets.days_ahead(plain)

    def number(self, span: Span) -> str | None:
        """Parse a span as a number in digits or words ("70 %", "one half", "two hours": 120), or None."""
        if (number := self._language.plain_number(self.text(span))) is not None:
            return number
        words = [token.key for token in self.tokens(span)]
        amounts = {**self._language.table("amounts"), **self._language.table("durations")}
        if (amount := amounts.get(" ".join(words))) is not None:
            return str(amount)
        multiples = {**self._language.table("multiples"), **self._language.table("time_units")}
        is_percent = len(words) == 2 and words[1] in self._language.words("percent")
        is_multiple = len(words) == 2 and words[1] in multiples
        if len(words) != 1 + is_percent + is_multiple:
            return None
        word = words[0][:-1] if re.fullmatch(r"(\d|10)s", words[0]) else words[0]  # "all 9s"
        value = self._request.dates.parse_number(word)
        if value is None:
            return None
        if is_multiple:
            return str(value * int(multiples[words[1]]))
        return f"{value / 100:g}" if is_percent else str(value)

    def has_time_unit(self, span: Span) -> bool:
        """Return whether a span is a duration with its unit ("two hours", "5s")."""
        words = [token.key for token in self.tokens(span)]
        if " ".join(words) in self._language.table("durations") or re.fullmatch(r"\d+s", words[0]):
            return True
        return len(words) == 2 and words[1] in self._language.table("time_units")

    def period(self, span: Span, name: str = "") -> Days | None:
        """Parse a span as a period: its first and last day, None for an open side; None for other text.

        Periods of a property that holds future days, such as "due", lie ahead.
        """
        tokens = self.tokens(span)
        before = self._language.match_prefix(tokens, 0, "dates", "before")
        since = self._language.match_prefix(tokens, 0, "dates", "since")
        years = self._years(tokens[max(before, since) :])
        is_before_year = before > 0 and years is not None
        if self.is_due(name) and not is_before_year and (ahead := self._sets.days_ahead(tokens)) is not None:
            days_ahead = [date.fromisoformat(day) for day in ahead.split("..")]
            return days_ahead[0], days_ahead[-1]
        if years is not None:
            first, last = date(years[0], 1, 1), date(years[1], 12, 31)
            if before:
                return None, first - timedelta(days=1)
            if since:
                is_exclusive = tokens[0].key in self._language.table("years").get("exclusive", ())
                return (last + timedelta(days=1) if is_exclusive else first), None
            return first, last
        days = self._request.dates.parse_span(tokens, 0)
        if days is None or days.end < len(tokens):
            return None
        whole = self._request.dates.parse_ahead(tokens) if name not in ("", "modified", "created") else None
        is_same = whole is not None and (whole.first, whole.end) == (days.first, days.end)
        # What ends "this year" may end after today.
        return days.first, whole.last if whole is not None and is_same else days.last

    def is_range_of_years(self, span: Span) -> bool:
        """Return whether a span means all of several years ("in the 17th century"), not only their start."""
        years = self._years(self.tokens(span))
        before = self._items[span[0] - 1].tokens[-1:] if span[0] else ()
        since = self._language.match_prefix(before, 0, "dates", "since") if before else 0
        return years is not None and years[0] < years[1] and not since

    def _years(self, tokens: Sequence[Token]) -> tuple[int, int] | None:
        """Return the first and the last year of a year, a decade or a century; None for other words."""
        words = [token.key.replace("'", "") for token in tokens if token.kind != "mark"]
        table = self._language.table("years")
        ignored = self._language.words("determiners").union(table.get("before", ()))
        while words and words[0] in ignored:
            words = words[1:]
        if len(words) == 1 and (match := re.fullmatch(r"((?:1\d|20)\d\d)[-–]((?:1\d|20)\d\d)", words[0])):
            return (int(match[1]), int(match[2])) if match[1] < match[2] else None
        if len(words) == 1 and (match := re.fullmatch(r"(1\d|20)(\d\d)(s?)", words[0])):
            first = int(match[1] + match[2])
            return first, first + (0 if not match[3] else 99 if match[2] == "00" else 9)
        decade = table.get("decades", {}).get(words[0]) if 1 <= len(words) <= 2 else None
        if decade is not None and words[1:] in ([], *([noun] for noun in table.get("year_nouns", ()))):
            return decade, decade + 9
        if len(words) == 2 and words[1] in self._language.words("century_nouns"):
            century = table.get("centuries", {}).get(words[0]) or int(re.sub(r"\D", "", words[0]) or 0)
            if 10 <= century <= 21:
                return century * 100 - 100, century * 100 - 1
        return None

    def is_due(self, key: object) -> bool:
        """Return whether a property holds future days, for example "due"."""
        return str(key).casefold() in self._language.words("due_properties")

    def tokens(self, span: Span) -> tuple[Token, ...]:
        """Return the tokens of a span of items."""
        return tuple(token for item in self._items[span[0] : span[1] + 1] for token in item.tokens)

    def mention(self, span: Span) -> EntityMention | None:
        """Return the mention that a span of one item consists of; None for several items."""
        return self._items[span[0]].mention if span[0] == span[1] else None

    def text(self, span: Span) -> str:
        """Return the text of a span as `item_text` does."""
        return item_text(self._request, self._items, span)

    def written(self, span: Span) -> str:
        """Return the text of a span, with the full stop of a final initial."""
        text, tokens = self.text(span), self.tokens(span)
        return (
            written_text(self._request.text, tokens)
            if text == span_text(self._request.text, tokens)
            else text
        )
