"""Find what a day in a request may mean."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from app.agent.language.readings import PipelineStep, Reading
from app.agent.language.request import Request
from app.agent.language.task_texts import OPEN_TASK, task_line
from app.agent.language.tokens import Token
from app.vault.markdown.tasks import task_facts

_MONTH_DAYS = 28
_MAX_DAY_TOKENS = 3
_SUNDAY = 6


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


def gives_only_day(request: Request, reading: Reading) -> bool:
    """Return whether a request gives the new day of a task by its number alone: "move it to the 25th"."""
    tokens = request.tokens
    if all(step.action != "reschedule_task" for step in reading.steps):
        return False
    if any(_is_month(request, token) for token in tokens):
        return False
    ends = range(1, len(tokens) + 1)
    spans = (tokens[start:end] for end in ends for start in range(max(0, end - _MAX_DAY_TOKENS), end))
    return any(request.dates.parse_latest_day(span) is not None for span in spans)


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
