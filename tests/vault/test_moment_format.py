"""Dates by the format strings of moment.js; the expected texts come from moment.js 2.30."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.vault.moment_format import format_moment

MOMENT = datetime(2026, 3, 1, 14, 5, 9, 123456, timezone(timedelta(hours=5, minutes=30)))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("YYYY-MM-DD", "2026-03-01"),
        ("dddd, MMMM Do YYYY", "Sunday, March 1st 2026"),
        ("YY/M/D ddd dd d", "26/3/1 Sun Su 0"),
        ("[Week] W [of] GGGG, E", "Week 9 of 2026, 7"),
        ("gggg-[W]ww wo", "2026-W10 10th"),
        ("DDD DDDo DDDD Q Qo", "60 60th 060 1 1st"),
        ("HH:mm:ss.SSS Z ZZ", "14:05:09.123 +05:30 +0530"),
        ("h:mm a, hh A, k", "2:05 pm, 02 PM, 14"),
        ("YYYY/MM-MMMM/YYYY-MM-DD-dddd", "2026/03-March/2026-03-01-Sunday"),
        ("L LT", "03/01/2026 2:05 PM"),
        ("LLLL", "Sunday, March 1, 2026 2:05 PM"),
        ("[[literal] YYYY]", "[literal 2026]"),
        ("X", str(int(MOMENT.timestamp()))),
    ],
)
def test_each_token_formats_as_in_moment(pattern: str, text: str) -> None:
    assert format_moment(MOMENT, pattern) == text


def test_the_last_days_of_december_may_belong_to_the_next_year() -> None:
    day = datetime(2024, 12, 31, tzinfo=UTC)
    assert format_moment(day, "GGGG-[W]WW gggg-[w]ww YYYY") == "2025-W01 2025-w01 2024"
    assert format_moment(datetime(2023, 1, 1, tzinfo=UTC), "GGGG-[W]WW gggg-[w]ww") == "2022-W52 2023-w01"


@given(st.datetimes(min_value=datetime(1000, 1, 1), max_value=datetime(9999, 12, 30)))
def test_a_date_can_be_read_back(moment: datetime) -> None:
    text = format_moment(moment, "YYYY-MM-DD[T]HH:mm:ss.SSSSSS")
    assert datetime.fromisoformat(text) == moment
    assert format_moment(moment, "GGGG WW E").split() == [
        f"{moment.isocalendar()[0]:04d}",
        f"{moment.isocalendar()[1]:02d}",
        str(moment.isoweekday()),
    ]
