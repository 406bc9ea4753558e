"""Parse comparisons of properties: "with confidence under 0.5", "born in the 17th century"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from app.agent.language.grammar.note_references import CUED_FIT
from app.agent.language.words.dates import DateParser, bounded_days
from app.agent.language.words.lexicon import Filter, Language
from app.agent.language.words.tokens import Token
from app.agent.language.words.vocabulary import Vocabulary
from app.index.query_serializer import quote_text
from app.vault.path import name_key

_PLAIN = re.compile(r"[\w][\w-]*")
_NUMBER = re.compile(r"-?(?:\d+(?:[.,]\d+)?|\.\d+)%?")
_WHOLE_NUMBER = re.compile(r"\d{1,4}")
_MIN_NUMBERS = 0.5
"""Minimum share of numbers among the values of a property that a number before its name means."""
_YEAR = re.compile(r"1\d\d\d|20\d\d")
_CENTURY = re.compile(r"(\d\d?)(?:st|nd|rd|th|\.)?")
_DECADE = re.compile(r"(1\d\d0|20\d0)'?s")
_FIRST_YEAR_OF_CHANGES = 2004
"""A year before Markdown existed is read as a date in a property, a later one as the time of a change."""
EVENT_PROPERTIES = ("year", "date", "published", "issued", "start")
DATE_PROPERTIES = (*EVENT_PROPERTIES, "born", "died")


@dataclass(frozen=True, slots=True)
class QueryPart:
    """A part of a query.

    Args:
        query: The part, in the search language.
        end: The position after its words.
        fit: How well the words fit, from 0 to 1.
        filter: The filter that the words name, if any.
        is_topic: Whether the part consists of words to search for rather than a condition.
        day_names: The search for daily notes of the same days, for a date without a word for the change.
    """

    query: str
    end: int
    fit: float = CUED_FIT
    filter: Filter | None = None
    is_topic: bool = False
    day_names: str = ""


class PropertyConditionParser:
    """Parse comparisons of properties.

    Args:
        language: The lexicon of the language.
        vocabulary: The names in the vault.
        dates: The date parser.
    """

    def __init__(self, language: Language, vocabulary: Vocabulary, dates: DateParser) -> None:
        self._language = language
        self._vocabulary = vocabulary
        self._dates = dates

    def parse(self, tokens: Sequence[Token], position: int) -> QueryPart | None:
        """Parse a comparison of a property: "with confidence under 0.5", "status is done"."""
        language = self._language
        start = position
        position = language.match_prefix(tokens, position, "property_leads")
        if position >= len(tokens):
            return None
        name = self.property_name(tokens[position])
        if name is None:
            return self._comparison_first(tokens, position)
        is_plural = name_key(name) != tokens[position].key
        if position == start and is_plural and self._vocabulary.find_folder(tokens[position].value):
            return None  # "which stories are urgent?", with the property "story" and the folder "Stories"
        after = position + 1
        for sign in ("<=", ">=", "<", ">", "="):
            sign_at = after if sign == "=" else language.match_prefix(tokens, after, "comparisons", "=")
            value_at = language.match_prefix(tokens, sign_at, "comparisons", sign)
            if value_at == sign_at:
                value_at = language.match_prefix(tokens, after, "comparisons", sign)
                sign_at = after
            if value_at > sign_at and value_at < len(tokens) and not self._begins_place(tokens, after):
                if period := self._named_period(name, tokens, value_at, sign):
                    return period
                value, end = self._property_value(tokens, value_at)
                if value:
                    return QueryPart(f"[{name}:{sign if sign != '=' else ''}{value}]", end)
        value, end = self._property_value(tokens, after) if after < len(tokens) else ("", after)
        if value and (_NUMBER.fullmatch(tokens[after].value) or tokens[after].kind == "quoted"):
            return QueryPart(f"[{name}:{value}]", end)
        if position > start:
            if period := self.parse_years(tokens, position):
                return period  # "were published between 2021 and 2022"
            copulas = language.table("property_values")["copulas"]
            named = self._vocabulary.find_value(tokens[position].value)
            is_one = tokens[position - 1].key in language.words("determiners") and any(
                token.key in copulas for token in tokens[start:position]
            )
            is_other = tokens[position - 1].key in copulas and name_key(name) != tokens[position].key
            if named and (is_one or is_other):
                return QueryPart(named, after)  # "who are authors", "who is a supervisor"
            is_absent = any(token.key in language.words("lacking") for token in tokens[start:position])
            if not is_absent and (period := self._period_ahead(name, tokens, after)):
                return period
            stated = f"-[{name}]" if is_absent else self.term_condition(name, tokens)
            is_noun = after < len(tokens) and tokens[after].key in language.words("introduces_property")
            return QueryPart(stated or f"[{name}]", after + is_noun)
        return None

    def parse_lacking(self, tokens: Sequence[Token], position: int) -> QueryPart | None:
        """Parse "no topics" or "without a description property" as the lack of a property.

        A word that the vault does not have as a property is one only before such a noun. Return None before
        a value of the property.
        """
        language = self._language
        if tokens[position].key not in language.words("lacking"):
            return None
        at = position + 1
        at = language.after_determiners(tokens, at)
        if at >= len(tokens) or not tokens[at].is_word:
            return None
        end = at + 1
        is_stated = end < len(tokens) and tokens[end].key in language.words("introduces_property")
        name = self.property_name(tokens[at]) or (tokens[at].value if is_stated else None)
        end += is_stated
        is_last = end == len(tokens) or tokens[end].kind == "mark"
        is_last = is_last or any(language.match_prefix(tokens, end, word) > end for word in ("and", "or"))
        return QueryPart(f"-[{name}]", end) if name and is_last else None

    def _begins_place(self, tokens: Sequence[Token], position: int) -> bool:
        """Return whether a folder follows: "without a rating in Notes"."""
        after = self._language.match_prefix(tokens, position, "task_changes", "in")
        is_place = position < after < len(tokens)
        return is_place and self._vocabulary.find_folder(tokens[after].value) is not None

    def term_condition(self, name: str, tokens: Sequence[Token]) -> str | None:
        """Return the condition that a term has ended or has not ended, if the request says so.

        An "expired warranty" has ended before today; what is "still under warranty" ends today or later.
        """
        if name.casefold() not in self._language.table("terms").get("properties", ()):
            return None
        lengths = {
            sign: max(
                (self._language.match_prefix(tokens, at, "terms", kind) - at for at in range(len(tokens))),
                default=0,
            )
            for kind, sign in (("over", "<"), ("running", ">="))
        }
        # "Not expired" contains "expired".
        sign = max(lengths, key=lambda sign: lengths[sign])
        return f"[{name}:{sign}{self._dates.today}]" if lengths[sign] else None

    def _named_period(self, name: str, tokens: Sequence[Token], position: int, sign: str) -> QueryPart | None:
        """Return the condition on a period that begins with a word: "sown in march"; None for other words."""
        span = self._dates.parse_span(tokens, position) if tokens[position].key.isalpha() else None
        if span is None or span.first is None or span.last is None:
            return None
        if sign == ">" and tokens[position - 1].key not in self._language.table("years").get("exclusive", ()):
            sign = ">="
        first, last = bounded_days((span.first, span.last), sign)
        limits = ((">=", first), ("<=", last))
        query = " ".join(f"[{name}:{limit}{day}]" for limit, day in limits if day is not None)
        return QueryPart(query, span.end)

    def _period_ahead(self, name: str, tokens: Sequence[Token], position: int) -> QueryPart | None:
        """Return the condition that a due date is in the period that ends a phrase: "are due this week"."""
        is_due = name_key(name) in self._language.words("due_properties")
        ahead = self._dates.days_ahead(tokens[position:]) if is_due and position < len(tokens) else None
        if ahead is None:
            return None
        first, _, last = ahead.partition("..")
        return QueryPart(f"[{name}:>={first}] [{name}:<={last or first}]", len(tokens))

    def _comparison_first(self, tokens: Sequence[Token], position: int) -> QueryPart | None:
        """Parse a comparison before its property: "at least 0.8 confidence"."""
        sign, value_at = self._comparison(tokens, position)
        if position < value_at < len(tokens) - 1 and _NUMBER.fullmatch(tokens[value_at].value):
            value, end = self._property_value(tokens, value_at)
            if end < len(tokens) and (name := self.property_name(tokens[end])):
                return QueryPart(f"[{name}:{sign}{value}]", end + 1)
        return self._number_of(tokens, position)

    def _number_of(self, tokens: Sequence[Token], position: int) -> QueryPart | None:
        """Parse a number before the name of a property of numbers: "5 stars"."""
        number = tokens[position].value
        if position + 1 >= len(tokens) or not _WHOLE_NUMBER.fullmatch(number):
            return None
        name = self.property_name(tokens[position + 1])
        shares = (field.numbers for field in self._vocabulary.fields if field.name == name)
        is_number = next(shares, 0.0) > _MIN_NUMBERS
        return QueryPart(f"[{name}:{number}]", position + 2) if is_number else None

    def property_name(self, token: Token) -> str | None:
        """Return the property that a word names, or None."""
        if not token.is_word:
            return None
        if name := self._language.property_name(token.key, self._vocabulary.find_property):
            return name
        known = self._vocabulary.find_property(token.key)
        return known if known != "tags" else None

    def parse_unset_flag(self, tokens: Sequence[Token], position: int) -> QueryPart | None:
        """Parse a negated checkbox: "unread" is `[read:false]`."""
        token = tokens[position]
        for prefix in self._language.data.get("negating_prefixes", ()):
            if token.is_word and token.key.startswith(prefix):
                rest = token.key.removeprefix(prefix)
                name = self.property_name(replace(token, key=rest, value=rest))
                if name and (self._vocabulary.is_checkbox(name) or not self._vocabulary.find_property(name)):
                    return QueryPart(f"[{name}:false]", position + 1)
        return None

    def parse_years(
        self, tokens: Sequence[Token], position: int, *, is_stated: bool = False
    ) -> QueryPart | None:
        """Parse a comparison of historical dates: "before 1710", "born in the 17th century".

        If `is_stated`, even a recent year is one that the notes state: "movies from 1999". Nor is something
        that is "from before 2010" changed then.
        """
        name = self._date_property(tokens[position])
        position += name is not None
        lead = self._language.match_prefix(tokens, position, "dates", "span")
        if name is None and position < lead < self._comparison(tokens, lead)[1]:
            is_stated, position = True, lead
        if part := self._year_range(tokens, position, name):
            return part
        sign, value_at = self._comparison(tokens, position)
        if value_at == position:
            value_at = lead
            if value_at == position and name is None:
                return None
        years = self._years(tokens, self._language.after_determiners(tokens, value_at, len(tokens) - 1))
        if years is None:
            return None
        first, last, end = years
        is_recent = first == last and first >= _FIRST_YEAR_OF_CHANGES
        if name is None and is_recent and not (is_stated and self._vocabulary.find_property("year")):
            return None
        if name is None and end < len(tokens) and (following := self._date_property(tokens[end])):
            name, end = following, end + 1
        if name is not None:
            end = self._language.after_determiners(tokens, end)
        limits = [f"{'' if sign == '=' else sign}{last if sign in ('<=', '>') else first}"]
        if sign == "=" and first != last:
            limits = [f">={first}", f"<={last}-12-31"]
        names = [name] if name is not None else self._event_properties
        parts = [" ".join(f"[{own}:{limit}]" for limit in limits) for own in names]
        query = parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"
        return QueryPart(query, end) if parts else None

    def _comparison(self, tokens: Sequence[Token], position: int) -> tuple[str, int]:
        """Return the sign of the longest comparison at a position, and its end; "=" if there is none."""
        ends = {
            sign: self._language.match_prefix(tokens, position, "comparisons", sign)
            for sign in ("<=", ">=", "<", ">")
        }
        sign = max(ends, key=lambda sign: ends[sign])
        return (sign, ends[sign]) if ends[sign] > position else ("=", position)

    def _years(self, tokens: Sequence[Token], position: int) -> tuple[int, int, int] | None:
        """Return the first and the last year of a year, a decade or a century, and its end; else None."""
        if position >= len(tokens):
            return None
        text, end = tokens[position].value, position + 1
        if _YEAR.fullmatch(text):
            return int(text), int(text), end
        if decade := _DECADE.fullmatch(text):
            return int(decade[1]), int(decade[1]) + 9, end
        is_century = end < len(tokens) and tokens[end].key in self._language.words("century_nouns")
        if is_century and (century := _CENTURY.fullmatch(text)):
            return (int(century[1]) - 1) * 100, int(century[1]) * 100 - 1, end + 1
        return None

    def _year_range(self, tokens: Sequence[Token], position: int, name: str | None) -> QueryPart | None:
        """Parse "between 1740 and 1760" as a range of the property `name`, or of any date."""
        low_at = self._language.match_prefix(tokens, position, "dates", "between")
        if low_at == position or low_at + 2 >= len(tokens):
            return None
        high_at = self._language.match_prefix(tokens, low_at + 1, "and")
        if high_at == low_at + 1 or high_at >= len(tokens):
            return None
        first, last = tokens[low_at].value, tokens[high_at].value
        if not (_YEAR.fullmatch(first) and _YEAR.fullmatch(last)):
            return None
        if not name and int(last) >= _FIRST_YEAR_OF_CHANGES:
            return None
        names = [name] if name else self._event_properties
        parts = [f"([{prop}:>={first}] [{prop}:<={last}])" for prop in names]
        query = parts[0].strip("()") if len(parts) == 1 else f"({' OR '.join(parts)})"
        return QueryPart(query, high_at + 1) if parts else None

    @cached_property
    def _event_properties(self) -> list[str]:
        """The vault's properties that a date without a property may refer to."""
        return [name for name in EVENT_PROPERTIES if self._vocabulary.find_property(name)]

    def _date_property(self, token: Token) -> str | None:
        if not token.is_word:
            return None
        known = self._vocabulary.find_property(token.key)
        name = known if known in DATE_PROPERTIES else self.property_name(token)
        return name if name in DATE_PROPERTIES else None

    def _property_value(self, tokens: Sequence[Token], position: int) -> tuple[str, int]:
        position = self._language.after_determiners(tokens, position)
        if position >= len(tokens):
            return "", position
        token = tokens[position]
        if token.kind == "quoted":
            return quote_text(token.value), position + 1
        if not token.is_word:
            return "", position
        if _NUMBER.fullmatch(token.value):
            return self._language.plain_number(token.value) or token.value, position + 1
        if token.key in self._language.words("fillers"):
            return "", position
        following = tokens[position + 1].key if position + 1 < len(tokens) else ""
        is_ordinal = token.key in self._language.table("ordinals")
        if is_ordinal and following in self._language.words("result_pronouns"):
            return "", position  # "in which room is the third one?"
        return (token.value if _PLAIN.fullmatch(token.value) else quote_text(token.value)), position + 1
