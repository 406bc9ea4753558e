"""Parse dates in requests ("last week", "since March 3", "in the last 3 days") as spans for a search."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Literal, Protocol

from app.agent.language.words.lexicon import Language
from app.agent.language.words.tokens import Token

_MAX_DATE_TOKENS = 5
_MAX_DAY_NAMES = 40
_LOOKS_LIKE_DATE = re.compile(
    r"\d{4}(-\d\d?(-\d\d?)?)?|\d{1,2}[./]\d{1,2}[./](\d{2}|\d{4})?|\d{4}-W\d\d|\d{1,2}(st|nd|rd|th)?"
)
_DAY_OF_MONTH = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")
ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SHIFT = re.compile(r"(?P<count>[+-]\d{1,4}) (?P<unit>day|week|month|year)")
_BARE_NUMBER = re.compile(r"\d{1,3}(st|nd|rd|th)?")
_NUMERIC_DAY = re.compile(r"(\d{1,2})(?P<separator>[./])(\d{1,2})(?P=separator)(\d{4}|\d{2})?")
_MAX_YEARS_AHEAD = 50

Days = tuple[date | None, date | None]
"""The first and last day of a period; None leaves a side open."""


@dataclass(frozen=True, slots=True)
class DateSpan:
    """Days from `first` to `last`, inclusive; None leaves a side open. `end` is the next token's index."""

    first: date | None
    last: date | None
    end: int

    @property
    def note_name(self) -> str:
        """The name of a periodic note: `2026-03-18`, `2026-W12`, `2026-03` or `2026`; else empty."""
        first, last = self.first, self.last
        if first is None or last is None:
            return ""
        if first == last:
            return first.isoformat()
        if first.weekday() == 0 and last - first == timedelta(days=6):
            return f"{first:%G-W%V}"
        if first.day == 1 and last == first.replace(day=monthrange(first.year, first.month)[1]):
            return f"{first:%Y-%m}"
        is_year = (first.month, first.day) == (1, 1) and last == first.replace(month=12, day=31)
        return f"{first:%Y}" if is_year else ""

    def query(self, name: str) -> str:
        """Return the search filter for `name` ("modified" or "created")."""
        if self.first is not None and self.first == self.last:
            return f"{name}:{self.first.isoformat()}"
        parts = [f"{name}:>={self.first.isoformat()}"] if self.first else []
        parts += [f"{name}:<={self.last.isoformat()}"] if self.last else []
        return " ".join(parts)


def bounded_days(days: Days, sign: str) -> Days:
    """Return the days that a comparison with a period means: those before it for `<`, from it on for `>=`.

    For `=`, return the period.
    """
    first, last = days
    match sign:
        case "<" if first is not None:
            return None, first - timedelta(days=1)
        case "<=":
            return None, last
        case ">" if last is not None:
            return last + timedelta(days=1), None
        case ">=":
            return first, None
    return days


def day_name_conditions(first: date | None, last: date | None, separator: str = "-") -> str:
    """Return the search for file names with a day of a period: `(file:2026-02 OR file:2026-03-01)`.

    `separator` separates the parts of a date in the names. Return an empty text if the period has an open
    side, or if the search would need too many names.
    """
    if first is None or last is None:
        return ""
    names: list[str] = []
    day: date | None = first
    while day is not None and day <= last:
        end_of_month = day.replace(day=monthrange(day.year, day.month)[1])
        if (day.month, day.day) == (1, 1) and last >= day.replace(month=12, day=31):
            names.append(f"{day.year}")
            day = day.replace(month=12, day=31)
        elif day.day == 1 and last >= end_of_month:
            names.append(f"{day.year}-{day.month:02}")
            day = end_of_month
        else:
            names.append(day.isoformat())
        day = day + timedelta(days=1) if day < last else None
    if len(names) > _MAX_DAY_NAMES:
        return ""
    conditions = " OR ".join(f"file:{name.replace('-', separator)}" for name in names)
    return f"({conditions})" if len(names) > 1 else conditions


class DateParser:
    """Parse dates in one language.

    Args:
        language: The words around dates.
        now: The time that relative dates refer to.
    """

    def __init__(self, language: Language, now: datetime) -> None:
        self._language = language
        self._now = now
        words = language.table("dates")
        self._date_words = frozenset(words.get("words", ()))
        self._connectors = frozenset(words.get("joints", ()))
        self._ahead_words = frozenset(words.get("ahead_words", ()))
        self._next_words = frozenset(words.get("next_words", ()))
        self._day_articles = frozenset(words.get("day_articles", ()))
        self._parsed_texts: dict[tuple[str, bool], tuple[date, date] | None] = {}

    def parse_span(self, tokens: Sequence[Token], position: int) -> DateSpan | None:
        """Parse the span that starts at the token `position`, with its preposition; None if there is none."""
        language = self._language
        after = language.match_prefix(tokens, position, "dates", "between")
        if after > position and (span := self._between(tokens, after)):
            return span
        after = language.match_prefix(tokens, position, "dates", "since")
        if after > position and (span := self._period(tokens, after)):
            return DateSpan(span.first, None, span.end)
        after = language.match_prefix(tokens, position, "dates", "before")
        if after > position and (span := self._period(tokens, after)):
            return DateSpan(None, span.first - timedelta(days=1) if span.first else None, span.end)
        if span := self._last_units(tokens, position):
            return span
        after = language.match_prefix(tokens, position, "dates", "span")
        return (self._period(tokens, after) if after > position else None) or self._period(tokens, position)

    def parse_period(self, tokens: Sequence[Token]) -> DateSpan | None:
        """Parse all tokens as a period: "from February" means that month, not the time since then."""
        days = self.parse_span(tokens, 0)
        after = self._language.match_prefix(tokens, 0, "dates", "span")
        if days is not None and days.last is None and after:
            days = self.parse_span(tokens, after)
        return days if days is not None and days.end == len(tokens) else None

    def _between(self, tokens: Sequence[Token], position: int) -> DateSpan | None:
        position = self._language.after_determiners(tokens, position, len(tokens) - 1)
        first = self._period(tokens, position)
        end = first.end if first is not None else position + 1
        after = self._language.match_prefix(tokens, end, "dates", "and") if end < len(tokens) else end
        second = self._period(tokens, after) if after > end else None
        if second is None or second.first is None or second.last is None:
            return None
        if first is not None:
            return DateSpan(first.first, second.last, second.end)
        day = _earlier_in_month(tokens[position], second)
        return DateSpan(day, second.last, second.end) if day is not None else None

    def _period(self, tokens: Sequence[Token], position: int) -> DateSpan | None:
        return self._last_units(tokens, position) or self._parse_absolute(tokens, position)

    def _last_units(self, tokens: Sequence[Token], position: int) -> DateSpan | None:
        """Parse units counted back from now: "the last 3 days", "this month", "last week"."""
        language = self._language
        today = self._now.date()
        after = language.match_prefix(tokens, position, "dates", "this")
        if after > position and after < len(tokens) and (unit := self._unit(tokens[after].key)):
            return DateSpan(_period_start(today, unit), today, after + 1)
        after = language.match_prefix(tokens, position, "dates", "within")
        if after > position and after < len(tokens) and (unit := self._unit(tokens[after].key)):
            return DateSpan(_subtract_units(today, unit, 1), today, after + 1)
        after = language.match_prefix(tokens, position, "dates", "last")
        if after == position or after >= len(tokens):
            return None
        if unit := self._unit(tokens[after].key):
            first = _period_start(today, unit)
            return DateSpan(_subtract_units(first, unit, 1), first - timedelta(days=1), after + 1)
        month = self._parse_absolute(tokens, after) if self._is_month(tokens[after].key) else None
        if (
            month is not None
            and month.end == after + 1
            and month.first != month.last
            and (month.last or today) < today
        ):
            return month  # "last October"
        count = self.parse_number(tokens[after].key)
        if count is None and after + 2 < len(tokens):
            return None
        if count is not None and after + 1 < len(tokens) and (unit := self._unit(tokens[after + 1].key)):
            return DateSpan(_subtract_units(today, unit, count), today, after + 2)
        return None

    def parse_ahead(self, tokens: Sequence[Token]) -> DateSpan | None:
        """Parse the first tokens as days, in the future if they leave it open: "tomorrow", "March 20"."""
        language, today = self._language, self._now.date()
        after = language.match_prefix(tokens, 0, "dates", "until")
        if after > 0 and (span := self._days_ahead(tokens, after)):
            last = span.last
            is_exclusive = language.match_prefix(tokens, 0, "comparisons", "<") == after
            if is_exclusive and span.first is not None and span.first != last:
                last = span.first - timedelta(days=1)  # "before May"
            return DateSpan(today, last, span.end) if last is not None and last >= today else None
        return self._between_days(tokens) or self._days_ahead(tokens, 0)

    def days_ahead(self, tokens: Sequence[Token]) -> str | None:
        """Parse all tokens as days in the future: an ISO date or `first..last`; None for other words."""
        span = self.parse_ahead(tokens)
        if span is None or span.end != len(tokens) or span.first is None or span.last is None:
            return None
        first, last = span.first.isoformat(), span.last.isoformat()
        return first if first == last else f"{first}..{last}"

    def due_days(self, tokens: Sequence[Token]) -> str | None:
        """Parse all tokens as a new due date or period; "until Monday" is that day. None for other words."""
        days = self.days_ahead(tokens)
        is_until = self._language.match_prefix(tokens, 0, "dates", "until") > 0
        return days.rpartition("..")[2] if days is not None and is_until else days

    def _between_days(self, tokens: Sequence[Token]) -> DateSpan | None:
        """Parse "between now and Sunday", "from Monday to Friday" or "from 2 to 9 May"; else None."""
        language = self._language
        after = language.match_prefix(tokens, 0, "dates", "between")
        first = self._days_ahead(tokens, after) if after > 0 else None
        start = language.after_determiners(tokens, after, len(tokens) - 1)
        next_at = start + 1 + any(token.key == "." for token in tokens[start + 1 : start + 2])  # "vom 2. bis"
        rest = language.match_prefix(tokens, next_at, "dates", "and") if after else 0
        end = self._days_ahead(tokens, rest) if rest > next_at else None
        if end is not None and (day := _earlier_in_month(tokens[start], end)) is not None:
            return DateSpan(day, end.last, end.end)
        joint = language.match_prefix(tokens, first.end, "dates", "and") if first is not None else 0
        if first is None or first.first is None or joint == first.end:
            return None
        second = self._days_ahead(tokens, joint)
        if second is None or second.last is None:
            return None
        last = second.last
        if last < first.first <= self._now.date() + timedelta(days=6):
            last += timedelta(weeks=1)  # on a Wednesday, Monday is after Friday
        return DateSpan(first.first, last, second.end) if first.first <= last else None

    def _days_ahead(self, tokens: Sequence[Token], position: int) -> DateSpan | None:
        """Parse one day or one unit in the future."""
        language, today = self._language, self._now.date()
        if day := self._day_of_week(tokens, position):
            return day
        after = language.match_prefix(tokens, position, "dates", "end_of")
        if after > position and after < len(tokens):
            if unit := self._unit(tokens[after].key):
                end = _subtract_units(_period_start(today, unit), unit, -1) - timedelta(days=1)
                return DateSpan(end, end, after + 1)
            whole = self._days_ahead(tokens, after)
            return DateSpan(whole.last, whole.last, whole.end) if whole is not None else None
        for unit in ("month", "year"):
            after = language.match_prefix(tokens, position, "years", f"end_of_{unit}")
            if after > position:  # "month's end"
                end = _subtract_units(_period_start(today, unit), unit, -1) - timedelta(days=1)
                return DateSpan(end, end, after)
        for name, weeks in (("weekend", 0), ("weekend_after", 1)):
            after = language.match_prefix(tokens, position, "dates", name)
            if after > position:
                sunday = _period_start(today, "week") + timedelta(days=6, weeks=weeks)
                return DateSpan(max(today, sunday - timedelta(days=1)), sunday, after)
        for name, count in (("this", 0), ("next", -1)):
            after = language.match_prefix(tokens, position, "dates", name)
            if after == position or after >= len(tokens):
                continue
            if unit := self._unit(tokens[after].key):
                first = _subtract_units(_period_start(today, unit), unit, count)
                return DateSpan(first, _subtract_units(first, unit, -1) - timedelta(days=1), after + 1)
            number = self.parse_number(tokens[after].key)
            unit = self._unit(tokens[after + 1].key) if after + 1 < len(tokens) else None
            if name == "next" and number and unit:
                return DateSpan(today, _subtract_units(today, unit, -number), after + 2)
        start = max(position, language.match_prefix(tokens, position, "dates", "on"))
        return (
            self._day_after_next(tokens, start)
            or self._parse_absolute(tokens, start, ahead=True)
            or self._parse_day_of_month(tokens, start)
        )

    def _day_of_week(self, tokens: Sequence[Token], position: int) -> DateSpan | None:
        """Parse a day of this or the next week: "Thursday next week", "nächste Woche Donnerstag"."""
        start = self._language.match_prefix(tokens, position, "dates", "on")
        for lead in (start, self._language.match_prefix(tokens, start, "dates", "week_joints")):
            if (week := self._week(tokens, lead)) is not None:
                joint = self._language.match_prefix(tokens, week.end, "dates", "on")
                joint = self._language.match_prefix(tokens, joint, "dates", "week_joints")
                day = self._weekday(tokens, joint)
                return _in_week(week, day, joint + 1) if day is not None else None
        start = self._language.after_determiners(tokens, start, len(tokens) - 1)
        day = self._weekday(tokens, start)
        joint = self._language.match_prefix(tokens, start + 1, "dates", "week_joints")
        week = self._week(tokens, joint) if day is not None else None
        return _in_week(week, day, week.end) if week is not None and day is not None else None

    def _week(self, tokens: Sequence[Token], position: int) -> DateSpan | None:
        """Parse "this week" or "next week"."""
        monday = _period_start(self.today, "week")
        for name, weeks in (("this", 0), ("next", 1)):
            after = self._language.match_prefix(tokens, position, "dates", name)
            if position < after < len(tokens) and self._unit(tokens[after].key) == "week":
                first = monday + timedelta(weeks=weeks)
                return DateSpan(first, first + timedelta(days=6), after + 1)
        return None

    def _weekday(self, tokens: Sequence[Token], position: int) -> date | None:
        """Return the coming day that a weekday names; None for other words."""
        key = tokens[position].key if position < len(tokens) else ""
        if key not in self._date_words:
            return None
        coming, past = self._parse_text(key, ahead=True), self._parse_text(key)
        days = (coming[0] - past[0]).days if coming and past and coming[0] == coming[1] else 0
        return coming[0] if coming and days in (7, 14) else None

    def _day_after_next(self, tokens: Sequence[Token], position: int) -> DateSpan | None:
        """Parse a day of the week after the coming one: "Friday after next", "übernächsten Freitag"."""
        position = self._language.after_determiners(tokens, position)
        lead = self._language.match_prefix(tokens, position, "dates", "second_next")
        day = self._parse_absolute(tokens[: lead + 1], lead, ahead=True)
        if day is None or day.first is None or day.last is None or day.first != day.last:
            return None
        end = (
            day.end
            if lead > position
            else self._language.match_prefix(tokens, day.end, "dates", "after_next")
        )
        if lead == position and end == day.end:
            return None
        return DateSpan(day.first + timedelta(weeks=1), day.last + timedelta(weeks=1), end)

    def is_date_word(self, key: str) -> bool:
        """Return whether a word is one of a date, such as "monday"."""
        return key in self._date_words

    def parse_latest_day(self, tokens: Sequence[Token]) -> date | None:
        """Parse all tokens as the latest day with a number: "the 6th"; None for other words."""
        span = self._parse_day_of_month(tokens, 0, step=-1)
        return span.first if span is not None and span.end == len(tokens) else None

    def _parse_day_of_month(
        self, tokens: Sequence[Token], position: int, *, step: Literal[1, -1] = 1
    ) -> DateSpan | None:
        """Parse "the 27th" or "den 27." as the next day with this number, or the latest if `step` is -1."""
        position = self._language.after_determiners(tokens, position)
        if position >= len(tokens):
            return None
        key, end = tokens[position].key, position + 1
        match = _DAY_OF_MONTH.fullmatch(key)
        number = match[1] if match else ""
        # The period of "den 27." is a separate mark, which may be missing at the end of a request.
        rest = tokens[end:]
        if position and tokens[position - 1].key in self._day_articles and re.fullmatch(r"\d{1,2}", key):
            number = key if all(token.kind == "mark" for token in rest) else ""
            end = len(tokens)
        if not number or not 1 <= int(number) <= 31:
            return None
        day = self._now.date()
        while day.day != int(number):
            day += timedelta(days=step)
        return DateSpan(day, day, end)

    def numeric_day(self, text: str, *, ahead: bool = True) -> date | None:
        """Parse a day in digits: "3.12.", "1.3.2027", "1/3/2027"; None for other text.

        With dots, the day is before the month; with slashes, the order is that of the language, unless it
        fits no day. Without a year, the day is the next one, or the latest if `ahead` is False.
        """
        match = _NUMERIC_DAY.fullmatch(text)
        if match is None:
            return None
        first, second, year = int(match[1]), int(match[3]), match[4] or ""
        if match["separator"] == "/" and self._language.code == "en":
            first, second = second, first
        day, month = (first, second) if second <= 12 else (second, first)
        today = self._now.date()
        if len(year) == 2:
            is_past = int(year) + 2000 > today.year + _MAX_YEARS_AHEAD
            year = str(int(year) + (1900 if is_past else 2000))
        steps = range(5) if ahead else range(0, -5, -1)
        for known_year in [int(year)] if year else [today.year + step for step in steps]:
            try:
                found = date(known_year, month, day)
            except ValueError:
                continue
            if year or (found >= today if ahead else found <= today):
                return found
        return None

    def other_numeric_day(self, text: str) -> date | None:
        """Return the other day that a day with slashes may mean: 3 January or 1 March for "1/3/2027"."""
        day = self.numeric_day(text) if "/" in text else None
        if day is None or day.day > 12 or day.day == day.month:
            return None
        return day.replace(month=day.day, day=day.month)

    def parse_day(self, tokens: Sequence[Token]) -> date | None:
        """Parse all tokens as a day such as "tomorrow"; None for a number, a period or other text."""
        words = [token for token in tokens if token.kind != "mark"]
        if not words or any(token.kind != "word" for token in words):
            return None
        if len(words) == 1 and not words[0].key[0].isalpha():
            return None  # a number, or a day that is a date already
        span = self.parse_ahead(words)
        return span.first if span and span.end == len(words) and span.first == span.last else None

    def parse_shift(self, tokens: Sequence[Token]) -> tuple[str, int] | None:
        """Parse all tokens as a shift of an earlier date: its unit, and a signed number of units.

        "One week later" is `("week", 1)`, "the two days before that" is `("day", -2)`. Return None for other
        text.
        """
        language = self._language
        words = [token for token in tokens if token.kind != "mark"]
        start = language.match_prefix(words, 0, "dates", "on")
        start = language.after_determiners(words, start)
        for name, sign in (("earlier", -1), ("later", 1)):
            position = language.match_prefix(words, start, "dates", name)
            is_leading = position > start
            number = self.parse_number(words[position].key) if position < len(words) else None
            position += number is not None
            unit = self._unit(words[position].key) if position < len(words) else None
            end = position + 1 if is_leading else language.match_prefix(words, position + 1, "dates", name)
            if unit and end == len(words) and (is_leading or end > position + 1):
                return unit, sign * (number or 1)
        return None

    def parse_duration(self, tokens: Sequence[Token]) -> tuple[str, int] | None:
        """Parse all tokens as a unit with its number: "a week" is `("week", 1)`; None for other text."""
        words = [token for token in tokens if token.kind != "mark"]
        start = 0
        start = self._language.after_determiners(words, start)
        number = self.parse_number(words[start].key) if start < len(words) else None
        start += number is not None
        unit = self._unit(words[start].key) if start == len(words) - 1 else None
        return (unit, number or 1) if unit else None

    def shift(self, first: date, last: date, unit: str, count: int) -> tuple[date, date]:
        """Return a span of days shifted by a number of units.

        A span from the start of a unit to a day in it, for example this month until today, becomes a whole
        unit. Dates stay unchanged if the shift exceeds the calendar.
        """
        try:
            if (
                first != last
                and first == _period_start(first, unit)
                and last < _subtract_units(first, unit, -1)
            ):
                start = _subtract_units(first, unit, -count)
                return start, _subtract_units(start, unit, -1) - timedelta(days=1)
            return _subtract_units(first, unit, -count), _subtract_units(last, unit, -count)
        except OverflowError:
            return first, last

    @property
    def today(self) -> date:
        """The current day."""
        return self._now.date()

    def parse_number(self, key: str) -> int | None:
        """Parse an integer of at most five digits, or in words; return None for other text."""
        if key.isdecimal() and len(key) < 6:
            return int(key)
        value = self._language.table("numbers").get(key)
        return int(value) if value is not None else None

    def _unit(self, key: str) -> str | None:
        units: dict[str, list[str]] = self._language.table("dates").get("units", {})
        return next((unit for unit, words in units.items() if key in words), None)

    def _parse_absolute(
        self, tokens: Sequence[Token], position: int, *, ahead: bool = False
    ) -> DateSpan | None:
        """Parse the longest absolute or relative date that `dateparser` accepts, or "last night"."""
        after = self._language.match_prefix(tokens, position, "dates", "last_night")
        if after > position:
            yesterday = self.today - timedelta(days=1)
            return DateSpan(yesterday, yesterday, after)
        for end in range(min(len(tokens), position + _MAX_DATE_TOKENS), position, -1):
            part = tokens[position:end]
            if not all(token.kind in ("word", "mark") for token in part) or part[-1].kind == "mark":
                continue
            words = [token.key for token in part if token.kind == "word"]
            known = self._date_words | self._ahead_words if ahead else self._date_words
            if not all(
                word in known or word in self._connectors or _LOOKS_LIKE_DATE.fullmatch(word)
                for word in words
            ):
                continue
            if not any(word in known or _LOOKS_LIKE_DATE.fullmatch(word) for word in words):
                continue
            if all(_BARE_NUMBER.fullmatch(word) or word in self._connectors for word in words):
                continue
            articles = self._language.words("determiners")
            start = next(
                (index for index, word in enumerate(words) if word not in articles or word in known), 0
            )
            texts = dict.fromkeys((" ".join(words), " ".join(words[start:])))
            if days := next((days for text in texts if (days := self._parse_text(text, ahead=ahead))), None):
                return DateSpan(*days, end)
        return None

    def _is_month(self, text: str) -> bool:
        """Return whether the text of a period names a month without its year: "March", "in March"."""
        words = text.split()
        is_shifted = any(word in self._next_words or self._unit(word) for word in words)
        is_single = sum(word in self._date_words for word in words) == 1
        return is_single and not is_shifted and not re.search(r"\d", text)

    def _parse_text(self, text: str, *, ahead: bool = False) -> tuple[date, date] | None:
        # Overlapping parts of a request have the same words.
        if (text, ahead) not in self._parsed_texts:
            self._parsed_texts[text, ahead] = self._read_text(text, ahead=ahead)
        return self._parsed_texts[text, ahead]

    def _read_text(self, text: str, *, ahead: bool) -> tuple[date, date] | None:
        if re.fullmatch(r"\d{4}", text):
            year = int(text)
            return (date(year, 1, 1), date(year, 12, 31)) if 1990 <= year <= 2100 else None
        if re.fullmatch(r"\d{4}-\d\d", text):
            if not 1 <= int(text[5:]) <= 12:
                return None  # the winter of 2025-26
            first = datetime.strptime(text, "%Y-%m").date()
            return first, first.replace(day=monthrange(first.year, first.month)[1])
        numeric = [word for word in text.split() if _NUMERIC_DAY.fullmatch(word)]
        if len(numeric) == 1 and len(re.findall(r"\d+", text)) == len(re.findall(r"\d+", numeric[0])):
            known_day = self.numeric_day(numeric[0], ahead=ahead)
            return (known_day, known_day) if known_day is not None else None
        # `dateparser` does not know "next", but prefers future dates here anyway.
        text_without_next = (
            " ".join(word for word in text.split() if word not in self._next_words) if ahead else text
        )
        result = _parser(self._language.code, self._now, ahead).get_date_data(text_without_next)
        if result.date_obj is None:
            return None
        day = result.date_obj.date()
        is_month = ahead and result.period == "month" and self._is_month(text)
        if is_month and (day.year, day.month) == (self._now.year + 1, self._now.month):
            day = self._now.date()  # the month that has begun
        if result.period == "month" and (rest := text.partition(" ")[2]):
            of_rest = self._parse_text(rest, ahead=ahead)
            if of_rest is not None and of_rest[0] == of_rest[1]:
                return None  # "one Friday"
        if result.period in ("week", "month", "year") and not re.search(r"\d", text):
            first = _period_start(day, result.period)
            return first, _subtract_units(first, result.period, -1) - timedelta(days=1)
        if result.period == "month":
            first = day.replace(day=1)
            return first, first.replace(day=monthrange(first.year, first.month)[1])
        return day, day


class _DateData(Protocol):
    """The result of `dateparser`: a moment, and the unit that the text names ("week", "day")."""

    date_obj: datetime | None
    period: str


class _Parser(Protocol):
    def get_date_data(self, text: str) -> _DateData: ...


@lru_cache(maxsize=8)
def _parser(code: str, now: datetime, ahead: bool = False) -> _Parser:
    # Importing dateparser takes 0.4 s, and most requests have no date.
    from dateparser.date import DateDataParser

    settings = {
        "RELATIVE_BASE": now,
        "PREFER_DATES_FROM": "future" if ahead else "past",
        "DATE_ORDER": "DMY" if code != "en" else "MDY",
    }
    parser: _Parser = DateDataParser(languages=[code], settings=settings)
    return parser


def _earlier_in_month(token: Token, last: DateSpan) -> date | None:
    """Return the day before another one of the month: the first of "between the 10th and March 17"."""
    number = re.match(r"\d{1,2}(?!\d)", token.key)
    if number is None or last.first is None or last.first != last.last:
        return None
    is_before = 1 <= int(number[0]) < last.first.day
    return last.first.replace(day=int(number[0])) if is_before else None


def _in_week(week: DateSpan, day: date, end: int) -> DateSpan | None:
    """Return the day of a week that has the same weekday as another day."""
    if week.first is None:
        return None
    own = week.first + timedelta(days=day.weekday())
    return DateSpan(own, own, end)


def shifted_day(day: date, shift: str) -> date | None:
    """Return a day shifted by a number of units ("+1 week"); None for other text, or beyond the calendar."""
    match = _SHIFT.fullmatch(shift)
    if match is None:
        return None
    try:
        return _subtract_units(day, match["unit"], -int(match["count"]))
    except OverflowError:
        return None


def _period_start(day: date, unit: str) -> date:
    match unit:
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "year":
            return day.replace(month=1, day=1)
        case _:
            return day


def _subtract_units(day: date, unit: str, count: int) -> date:
    """Return the day `count` units earlier, or later for a negative count.

    In a shorter month, the day is the month's last. Months and years beyond the calendar leave the day
    unchanged.

    Raises:
        OverflowError: Days or weeks lead beyond the calendar.
    """
    if unit == "week":
        return day - timedelta(weeks=count)
    if unit == "day":
        return day - timedelta(days=count)
    months = day.year * 12 + day.month - 1 - count * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    for last in (day.day, 30, 29, 28):
        try:
            return date(year, month + 1, last)
        except ValueError:
            continue
    return day
