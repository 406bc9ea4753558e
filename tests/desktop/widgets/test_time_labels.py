from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from app.desktop.widgets.time_labels import (
    date_and_time,
    date_label,
    duration_label,
    exact_time,
    time_ago,
    time_left,
    time_or_date,
)


def test_a_time_of_today_is_shown_without_the_date() -> None:
    now = datetime.now()
    timestamp = now.timestamp()
    assert time_or_date(timestamp) == f"{now:%H:%M}"
    assert time_or_date(timestamp, with_seconds=True) == exact_time(timestamp) == f"{now:%H:%M:%S}"
    assert date_and_time(timestamp) == f"{now:%Y-%m-%d %H:%M}"


def test_a_time_of_another_day_is_shown_with_the_date() -> None:
    timestamp = datetime(2024, 3, 5, 16, 7, 9).timestamp()
    assert time_or_date(timestamp) == time_or_date(timestamp, with_seconds=True) == "5 Mar 2024"
    assert date_label(timestamp) == "5 Mar 2024"
    assert exact_time(timestamp) == "2024-03-05 16:07:09"
    assert date_and_time(timestamp) == "2024-03-05 16:07"


def test_a_date_of_this_year_is_shown_without_the_year() -> None:
    now = datetime.now()
    other = now.replace(month=3 if now.month != 3 else 5, day=4)
    assert time_or_date(other.timestamp()) == f"4 {other:%b}"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(20, "just now"), (90, "1 min ago"), (7300, "2 h ago"), (86400, "1 day ago"), (86400 * 3, "3 days ago")],
)
def test_times_are_shown_relative_to_now(seconds: float, text: str) -> None:
    assert time_ago(1_000_000.0, now=1_000_000.0 + seconds) == text


def test_a_time_long_ago_is_shown_as_a_date() -> None:
    moment = datetime(2024, 3, 5, 16, 7)
    assert time_ago(moment.timestamp(), now=(moment + timedelta(days=61)).timestamp()) == "5 Mar 2024"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "0:01"), (245, "4:05"), (7199, "119:59"), (7200, "2 h"), (86_400, "24 h")]
)
def test_the_time_left_to_answer(seconds: float, words: str) -> None:
    assert time_left(seconds) == words


@pytest.mark.parametrize(("milliseconds", "words"), [(7.4, "7 ms"), (1500, "1.5 s")])
def test_a_duration_is_in_milliseconds_or_seconds(milliseconds: float, words: str) -> None:
    assert duration_label(milliseconds) == words
