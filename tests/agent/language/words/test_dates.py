"""Days in digits are read in the order of the language."""

from __future__ import annotations

from datetime import datetime

import pytest

from app.agent.language.words.dates import DateParser
from app.agent.language.words.lexicon import languages
from app.agent.language.words.tokens import tokenize

NOW = datetime(2026, 11, 29, 12)


@pytest.mark.parametrize(
    ("code", "words", "day"),
    [
        ("en", "1.3.2027", "2027-03-01"),
        ("de", "1.3.2027", "2027-03-01"),
        ("en", "3.12.26", "2026-12-03"),
        ("en", "05.12.", "2026-12-05"),
        ("de", "am 3.12.", "2026-12-03"),
        ("de", "28.11.", "2027-11-28"),
        ("de", "29.2.", "2028-02-29"),
        ("en", "1/3/2027", "2027-01-03"),
        ("de", "1/3/2027", "2027-03-01"),
        ("en", "13/1/2027", "2027-01-13"),
        ("en", "3.12", None),
        ("de", "31.2.", None),
    ],
)
def test_a_day_in_digits(code, words, day) -> None:
    language = next(own for own in languages() if own.code == code)
    dates = DateParser(language, NOW)
    assert dates.days_ahead(tokenize(words, language.contractions)) == day


def test_a_past_day_in_digits_is_the_latest_one() -> None:
    dates = DateParser(languages()[0], NOW)
    assert str(dates.numeric_day("3.12.", ahead=False)) == "2025-12-03"
    assert str(dates.numeric_day("3.12.89", ahead=False)) == "1989-12-03"


@pytest.mark.parametrize(
    ("code", "words", "day"),
    [
        # The current day is a Sunday.
        ("en", "Thursday next week", "2026-12-03"),
        ("en", "by Sunday next week", "2026-12-06"),
        ("en", "next week on Monday", "2026-11-30"),
        ("en", "the Friday of next week", "2026-12-04"),
        ("en", "next week", "2026-12-06"),
        ("en", "next Thursday", "2026-12-03"),
        ("de", "Donnerstag nächster Woche", "2026-12-03"),
        ("de", "nächste Woche am Samstag", "2026-12-05"),
    ],
)
def test_a_day_of_the_next_week(code, words, day) -> None:
    language = next(own for own in languages() if own.code == code)
    dates = DateParser(language, NOW)
    assert (dates.due_days(tokenize(words, language.contractions)) or "").rpartition("..")[2] == day


def test_a_day_of_the_next_week_is_not_the_next_one() -> None:
    dates = DateParser(languages()[0], datetime(2026, 12, 1, 12))  # a Tuesday
    days = [
        dates.due_days(tokenize(words, {})) for words in ("Friday next week", "Friday this week", "Friday")
    ]
    assert days == ["2026-12-11", "2026-12-04", "2026-12-04"]


@pytest.mark.parametrize(
    ("code", "words", "days"),
    [
        ("en", "before May", "2026-11-29..2027-04-30"),
        ("en", "by May", "2026-11-29..2027-05-31"),
        ("en", "before next week", "2026-11-29"),
        ("en", "before next month", "2026-11-29..2026-11-30"),
        ("en", "before Friday", "2026-11-29..2026-12-04"),
        ("de", "bis Mai", "2026-11-29..2027-05-31"),
    ],
)
def test_days_before_a_period_end_before_it(code, words, days) -> None:
    language = next(own for own in languages() if own.code == code)
    assert DateParser(language, NOW).days_ahead(tokenize(words, language.contractions)) == days


@pytest.mark.parametrize(
    ("words", "first", "last"),
    [
        ("last October", "2026-10-01", "2026-10-31"),
        ("since last March", "2026-03-01", "None"),
        ("before last June", "None", "2026-05-31"),
        ("last month", "2026-10-01", "2026-10-31"),
    ],
)
def test_the_last_month_of_a_name(words, first, last) -> None:
    language = languages()[0]
    span = DateParser(language, NOW).parse_span(tokenize(words, language.contractions), 0)
    assert span is not None and (str(span.first), str(span.last)) == (first, last)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("en", "last night"),
        ("en", "yesterday evening"),
        ("en", "yesterday"),
        ("de", "gestern Abend"),
        ("de", "letzte Nacht"),
    ],
)
def test_last_night_is_yesterday(code, words) -> None:
    language = next(own for own in languages() if own.code == code)
    dates = DateParser(language, NOW)
    tokens = tokenize(words, language.contractions)
    span = dates.parse_span(tokens, 0)
    assert dates.days_ahead(tokens) == "2026-11-28"
    assert span is not None and span.note_name == "2026-11-28" and span.end == len(tokens)


@pytest.mark.parametrize(
    ("code", "words", "days"),
    [
        ("en", "from 2 to 9 May", "2027-05-02..2027-05-09"),
        ("en", "from the 2nd to 9 May", "2027-05-02..2027-05-09"),
        ("de", "vom 2. bis 9. Mai", "2027-05-02..2027-05-09"),
        ("en", "from 12 to 9 May", None),
    ],
)
def test_the_first_day_of_a_period_may_lack_its_month(code, words, days) -> None:
    language = next(own for own in languages() if own.code == code)
    dates = DateParser(language, NOW)
    assert dates.days_ahead(tokenize(words, language.contractions)) == days
