"""Format dates with moment.js format strings, as in Obsidian's daily notes and templates.

Names, weeks and localized formats follow US English conventions. `[text]` is literal. Source:
https://momentjs.com/docs/#/displaying/format/.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta

_TOKEN = re.compile(
    r"\[([^\]]*)\]|(Mo|MM?M?M?|Qo?|Do|DDDo|DD?D?D?|do|dd?d?d?|wo|ww?|Wo|WW?|e|E|YYYYYY|YYYY|YY|Y|gg(?:ggg?)?"
    r"|GG(?:GGG?)?|a|A|HH?|hh?|kk?|mm?|ss?|S{1,9}|ZZ?|X|x|LTS|LT|LL?L?L?|l{1,4}|.)",
    re.DOTALL,
)
# The names in the `calendar` module depend on the process's locale.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_LOCALIZED_FORMATS = {
    "LT": "h:mm A",
    "LTS": "h:mm:ss A",
    "L": "MM/DD/YYYY",
    "LL": "MMMM D, YYYY",
    "LLL": "MMMM D, YYYY h:mm A",
    "LLLL": "dddd, MMMM D, YYYY h:mm A",
    "l": "M/D/YYYY",
    "ll": "MMM D, YYYY",
    "lll": "MMM D, YYYY h:mm A",
    "llll": "ddd, MMM D, YYYY h:mm A",
}


def format_moment(moment: datetime, pattern: str) -> str:
    """Format `moment` with `pattern`, in the time zone of `moment`.

    Args:
        moment: The time; local time if it has no zone.
        pattern: Tokens such as `YYYY-MM-DD` or `dddd`; all other text is literal.
    """
    return _TOKEN.sub(lambda match: _format_token(moment, match), pattern)


def _format_token(moment: datetime, match: re.Match[str]) -> str:
    token = match[2]
    if token is None:
        return match[1]
    if token in _LOCALIZED_FORMATS:
        return format_moment(moment, _LOCALIZED_FORMATS[token])
    if token[0] == "S":
        return f"{moment.microsecond:06d}000"[: len(token)]
    formatter = _TOKENS.get(token)
    return token if formatter is None else formatter(moment)


def _ordinal(number: int) -> str:
    is_teen = 10 < number % 100 < 14
    return f"{number}{'th' if is_teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _weekday(moment: datetime) -> int:
    """Return the day of the week; Sunday is 0."""
    return moment.isoweekday() % 7


def _local_week(moment: datetime) -> tuple[int, int]:
    """Return the year and number of the week, which starts on Sunday; the first week contains January 1."""
    saturday = moment.date() + timedelta(days=6 - _weekday(moment))
    first = date(saturday.year, 1, 1)
    return saturday.year, (saturday - first).days // 7 + 1


def _utc_offset(moment: datetime, colon: str) -> str:
    offset = (moment if moment.tzinfo else moment.astimezone()).utcoffset() or timedelta()
    minutes = round(offset.total_seconds() / 60)
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02d}{colon}{rest:02d}"


def _day_of_year(moment: datetime) -> int:
    return moment.timetuple().tm_yday


def _quarter(moment: datetime) -> int:
    return (moment.month + 2) // 3


_TOKENS: dict[str, Callable[[datetime], str]] = {
    "YYYYYY": lambda m: f"+{m.year:06d}",
    "YYYY": lambda m: f"{m.year:04d}",
    "YY": lambda m: f"{m.year % 100:02d}",
    "Y": lambda m: str(m.year),
    "Q": lambda m: str(_quarter(m)),
    "Qo": lambda m: _ordinal(_quarter(m)),
    "M": lambda m: str(m.month),
    "Mo": lambda m: _ordinal(m.month),
    "MM": lambda m: f"{m.month:02d}",
    "MMM": lambda m: _MONTHS[m.month - 1][:3],
    "MMMM": lambda m: _MONTHS[m.month - 1],
    "D": lambda m: str(m.day),
    "Do": lambda m: _ordinal(m.day),
    "DD": lambda m: f"{m.day:02d}",
    "DDD": lambda m: str(_day_of_year(m)),
    "DDDo": lambda m: _ordinal(_day_of_year(m)),
    "DDDD": lambda m: f"{_day_of_year(m):03d}",
    "d": lambda m: str(_weekday(m)),
    "do": lambda m: _ordinal(_weekday(m)),
    "dd": lambda m: _DAYS[_weekday(m)][:2],
    "ddd": lambda m: _DAYS[_weekday(m)][:3],
    "dddd": lambda m: _DAYS[_weekday(m)],
    "e": lambda m: str(_weekday(m)),
    "E": lambda m: str(m.isoweekday()),
    "w": lambda m: str(_local_week(m)[1]),
    "wo": lambda m: _ordinal(_local_week(m)[1]),
    "ww": lambda m: f"{_local_week(m)[1]:02d}",
    "W": lambda m: str(m.isocalendar()[1]),
    "Wo": lambda m: _ordinal(m.isocalendar()[1]),
    "WW": lambda m: f"{m.isocalendar()[1]:02d}",
    "gg": lambda m: f"{_local_week(m)[0] % 100:02d}",
    "gggg": lambda m: f"{_local_week(m)[0]:04d}",
    "GG": lambda m: f"{m.isocalendar()[0] % 100:02d}",
    "GGGG": lambda m: f"{m.isocalendar()[0]:04d}",
    "A": lambda m: "AM" if m.hour < 12 else "PM",
    "a": lambda m: "am" if m.hour < 12 else "pm",
    "H": lambda m: str(m.hour),
    "HH": lambda m: f"{m.hour:02d}",
    "h": lambda m: str((m.hour + 11) % 12 + 1),
    "hh": lambda m: f"{(m.hour + 11) % 12 + 1:02d}",
    "k": lambda m: str(m.hour or 24),
    "kk": lambda m: f"{m.hour or 24:02d}",
    "m": lambda m: str(m.minute),
    "mm": lambda m: f"{m.minute:02d}",
    "s": lambda m: str(m.second),
    "ss": lambda m: f"{m.second:02d}",
    "Z": lambda m: _utc_offset(m, ":"),
    "ZZ": lambda m: _utc_offset(m, ""),
    "X": lambda m: str(int(m.timestamp())),
    "x": lambda m: str(int(m.timestamp() * 1000)),
}
