"""Find what a day in a request may mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from app.agent.language.changes.property_lines import stated_lines
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import PipelineStep, Reading
from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.task_texts import OPEN_TASK, task_line
from app.agent.language.words.tokens import Token
from app.vault.markdown.tasks import task_facts
from app.vault.path import name_key

_MONTH_DAYS = 28
_MAX_DAY_TOKENS = 3
_SUNDAY = 6
_MAX_NEAR = timedelta(days=366)
"""The largest distance of the present day from today at which a new day without a year needs no question."""


def other_order(request: Request, step: PipelineStep) -> list[PipelineStep]:
    """Return the change with the other day that "1/3/2027" may mean; none for other days."""
    for token in request.tokens:
        day = request.dates.numeric_day(token.value) if token.is_word else None
        other = request.dates.other_numeric_day(token.value) if day is not None else None
        if day is None or other is None:
            continue
        changed = {
            role: str(value).replace(day.isoformat(), other.isoformat())
            for role, value in step.arguments.items()
            if role in ("text", "due", "value") and day.isoformat() in str(value)
        }
        if changed:
            return [replace(step, arguments={**step.arguments, **changed})]
        if dated := _undated_task(request, step, token.value, other):
            return [dated]
    return []


def with_nearest_year(
    request: Request, step: PipelineStep, old_values: Sequence[object]
) -> list[PipelineStep]:
    """Return the change with the day nearest to the present one if the request gives a month and no year.

    A day to come stays one, and a due date is never moved to the past. The day as it was read comes second if
    the present day is years ago: "birthday is Aug 24". Return none for other days.
    """
    text = str(step.arguments["value"])
    old = next((str(value)[:10] for value in old_values if ISO_DAY.fullmatch(str(value)[:10])), "")
    if not old or not ISO_DAY.fullmatch(text) or text[:4] in request.text:
        return []
    if not names_month(request):
        return []
    present, today = date.fromisoformat(old), request.dates.today
    is_due = name_key(str(step.arguments["key"])) in request.language.words("due_properties")
    days = [day for year in range(-1, 2) if (day := in_year(date.fromisoformat(text), present.year + year))]
    if is_due or present >= today:
        days = [day for day in days if day >= today]
    nearest = min(days, key=lambda day: abs(day - present), default=None)
    if nearest is None or nearest.isoformat() == text:
        return []
    dated = step.with_argument("value", nearest.isoformat())
    if abs(today - present) <= _MAX_NEAR:
        return [dated]
    is_set = "set_property" in request.actions_at(request.tokens, 0) or bool(stated_lines(request))
    return [dated, step] if is_set else []  # "move it to March 28" is in the future


def in_year(day: date, year: int) -> date | None:
    """Return the same day of another year; None for 29 February in most of them."""
    try:
        return day.replace(year=year)
    except ValueError:
        return None


def _undated_task(request: Request, step: PipelineStep, text: str, day: date) -> PipelineStep | None:
    """Return a task with the day that its text means if the other day is in the past: "by 3/12/26"."""
    task = str(step.arguments.get("text", ""))
    if not task.startswith(OPEN_TASK) or not task.endswith(text):
        return None
    words = f"{task.removeprefix(OPEN_TASK).removesuffix(text)}{day.isoformat()}"
    line = task_line(words, request.language, request.dates)
    return step.with_argument("text", line) if task_facts(line.removeprefix(OPEN_TASK)).due else None


def next_weekend(request: Request, step: PipelineStep) -> list[PipelineStep]:
    """Return a task for the next weekend if a request on a Sunday says "at the weekend"."""
    today, tokens = request.dates.today, request.tokens
    text = str(step.arguments.get("text", ""))
    is_task = text.startswith(OPEN_TASK) and task_facts(text.removeprefix(OPEN_TASK)).due == today
    if not is_task or today.weekday() != _SUNDAY or "\n" in text:
        return []
    positions = range(len(tokens))
    if not any(request.language.match_prefix(tokens, at, "dates", "weekend") > at for at in positions):
        return []
    next_sunday = (today + timedelta(weeks=1)).isoformat()
    return [step.with_argument("text", text.replace(today.isoformat(), next_sunday))]


def weekday_of_next_week(request: Request, step: PipelineStep) -> list[PipelineStep]:
    """Return a change with "next Friday" in the week after this one, in which a Friday is still to come."""
    today, tokens, language = request.dates.today, request.tokens, request.language
    for at, token in enumerate(tokens[:-1]):
        day = request.dates.parse_day((tokens[at + 1],))
        is_weekday = day is not None and not tokens[at + 1].key[0].isdigit()
        if token.key not in language.table("dates")["weekday_leads"] or day is None or not is_weekday:
            continue
        if not today < day or day.isocalendar()[:2] != today.isocalendar()[:2]:
            continue
        later = (day + timedelta(weeks=1)).isoformat()
        changed = {
            role: str(value).replace(day.isoformat(), later)
            for role, value in step.arguments.items()
            if role in ("text", "due", "value") and day.isoformat() in str(value)
        }
        if changed:
            return [replace(step, arguments={**step.arguments, **changed})]
    return []


def gives_only_day(request: Request, reading: Reading) -> bool:
    """Return whether a request gives the new day of a task by its number alone: "move it to the 25th"."""
    tokens = request.tokens
    if all(step.action != "reschedule_task" for step in reading.steps):
        return False
    if names_month(request):
        return False
    ends = range(1, len(tokens) + 1)
    spans = (tokens[start:end] for end in ends for start in range(max(0, end - _MAX_DAY_TOKENS), end))
    return any(request.dates.parse_latest_day(span) is not None for span in spans)


def names_month(request: Request) -> bool:
    """Return whether a request names a month."""
    return any(_is_month(request, token) for token in request.tokens)


def _is_month(request: Request, token: Token) -> bool:
    if token.key not in request.language.table("dates")["words"]:
        return False
    span = request.dates.parse_ahead((token,))
    if span is None or span.first is None or span.last is None:
        return False
    return (span.last - span.first).days + 1 >= _MONTH_DAYS


def in_month_of(present: date, day: date, today: date) -> date | None:
    """Return a day moved to the month of a present due date; None if it stays, or would be in the past."""
    try:
        moved = present.replace(day=day.day)
    except ValueError:
        return None
    return moved if moved != day and moved >= today else None
