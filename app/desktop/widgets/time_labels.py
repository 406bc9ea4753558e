"""Labels of times and durations, with the names of months from the user's locale.

Times are Unix times in seconds and are shown in local time.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QDate, QDateTime, QLocale

from app.desktop.runtime.translation import PluralText, translate


def time_or_date(timestamp: float, *, with_seconds: bool = False) -> str:
    """Return the time of day if it is today, otherwise the date, without the current year."""
    moment = _to_moment(timestamp)
    if _is_today(moment):
        return _time_of_day(moment, with_seconds)
    if moment.date().year() == QDate.currentDate().year():
        return QLocale().toString(moment, translate("Time", "d MMM"))
    return date_label(timestamp)


def exact_time(timestamp: float) -> str:
    """Return the date, unless it is today, and the time of day with seconds."""
    moment = _to_moment(timestamp)
    if _is_today(moment):
        return _time_of_day(moment, with_seconds=True)
    return QLocale().toString(moment, translate("Time", "yyyy-MM-dd HH:mm:ss"))


def date_and_time(timestamp: float) -> str:
    """Return the date and the time of day, without seconds."""
    return QLocale().toString(_to_moment(timestamp), translate("Time", "yyyy-MM-dd HH:mm"))


def date_label(timestamp: float) -> str:
    """Return the date."""
    return QLocale().toString(_to_moment(timestamp), translate("Time", "d MMM yyyy"))


def time_ago(timestamp: float, now: float | None = None) -> str:
    """Return the time since `timestamp` in a few words, or the date after 60 days."""
    minutes = ((now if now is not None else time.time()) - timestamp) / 60
    if minutes < 1:
        return translate("Time", "just now")
    if minutes < 60:
        return translate("Time", "{0} min ago").format(int(minutes))
    if (hours := minutes / 60) < 24:
        return translate("Time", "{0} h ago").format(int(hours))
    if (days := hours / 24) < 60:
        return PluralText("Time", "{0} day ago", "{0} days ago").format(int(days))
    return date_label(timestamp)


def time_left(seconds: float) -> str:
    """Return a duration as minutes and seconds, "4:05", or in hours if it is two hours or more: "23 h"."""
    total = max(0, int(seconds + 0.999))
    if total >= 2 * 3600:
        return translate("Time", "{0} h").format(total // 3600)
    return translate("Time", "{0}:{1}").format(total // 60, f"{total % 60:02d}")


def duration_label(milliseconds: float) -> str:
    """Return a duration in milliseconds or seconds."""
    if milliseconds < 1000:
        return translate("Time", "{0} ms").format(f"{milliseconds:.0f}")
    return translate("Time", "{0} s").format(f"{milliseconds / 1000:.1f}")


def _to_moment(timestamp: float) -> QDateTime:
    return QDateTime.fromSecsSinceEpoch(int(timestamp))


def _is_today(moment: QDateTime) -> bool:
    return moment.date() == QDate.currentDate()


def _time_of_day(moment: QDateTime, with_seconds: bool) -> str:
    pattern = translate("Time", "HH:mm:ss") if with_seconds else translate("Time", "HH:mm")
    return QLocale().toString(moment, pattern)
