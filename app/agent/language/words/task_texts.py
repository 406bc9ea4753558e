"""Parse the texts of new tasks: the due date at the end of one, and several tasks in a list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from app.agent.language.words.dates import DateParser
from app.agent.language.words.lexicon import Language
from app.agent.language.words.tokens import MAX_TOKENS, Token, ends_with_initial, tokenize
from app.vault.markdown.tasks import with_due_date

OPEN_TASK = "- [ ] "
_TASK_DATE = re.compile(r"[📅⏳🛫➕✅❌🔁]|\d{4}-\d\d-\d\d")
_IN_BRACKETS = re.compile(r"\s*\(([^()]+)\)$")
_DAY_WITHOUT_YEAR = re.compile(r"(?<![\w.])\d{1,2}\.\d{1,2}\.$")
_MARKS_BEFORE_DATE = " ,:;–-"
_MAX_WORDS_AFTER_DAY = 3


def without_full_stop(text: str) -> str:
    """Return a task's text without the full stop that ends the request; "3.12.", "Ann B." and "…" stay."""
    text = text.strip()
    if _DAY_WITHOUT_YEAR.search(text) or ends_with_initial(text.removesuffix(".")):
        return text
    return text[:-1].rstrip() if text.endswith(".") and not text.endswith("..") else text


def task_line(text: str, language: Language, dates: DateParser) -> str:
    """Return the line of a new task, with the day at the end of its text as a due date."""
    rest, day = split_due_day(text, language, dates)
    return with_due_date(f"{OPEN_TASK}{rest}", day) if day is not None else f"{OPEN_TASK}{rest}"


def with_first_due_date(line: str, day: date) -> str:
    """Return the line of a new task with a due date, unless it has a date."""
    return line if has_task_date(line) else with_due_date(line, day)


def has_task_date(text: str) -> bool:
    """Return whether a task's text contains a date or the sign of one."""
    return _TASK_DATE.search(text) is not None


def split_due_day(
    text: str, language: Language, dates: DateParser, *, needs_deadline: bool = False
) -> tuple[str, date | None]:
    """Split a task's text into its words and the due date at its end: "call Ann by Friday".

    Periods, days of the past, and tasks with another date stay as they are.

    Args:
        text: The text.
        language: The language of the text.
        dates: Parses the day.
        needs_deadline: Whether the day must follow the word of a deadline: "by", "due".
    """
    if (match := _IN_BRACKETS.search(text)) is not None:
        before = f"{text[: match.start()]}, {match[1]}"
        rest, day = split_due_day(before, language, dates, needs_deadline=needs_deadline)
        return (rest, day) if day is not None else (text, None)
    own = tokenize(text, language.contractions)
    if len(own) >= MAX_TOKENS:
        return text, None
    for start in range(len(own)):
        if own[start].kind == "mark":
            continue
        after = due_cue_end(own, start, language)
        days = dates.days_ahead(own[after:])
        if days is None:
            continue
        if own[after].key.isdigit() and dates.days_ahead(own[after + 1 :]) == days:
            continue  # "chapter 2 tomorrow"
        first, _, last = days.partition("..")
        is_until = language.match_prefix(own, after, "dates", "until") > after
        is_due = after > start or own[start].key in language.table("new_tasks")["deadlines"]
        if not needs_deadline:
            is_comma = start > 0 and own[start - 1].key in (",", ";")
            is_cue = own[start].key in language.words("due_cues")
            is_due = is_due or is_cue or is_comma or own[start].key in language.words("due_days")
        if not is_due or (last and not is_until):
            break
        day = date.fromisoformat(last or first)
        rest = text[: own[start].start].rstrip(_MARKS_BEFORE_DATE)
        is_past = day < dates.today
        if not rest or is_past or has_task_date(rest):
            break
        return rest, day
    return _split_inner_day(text, own, language, dates, needs_deadline=needs_deadline)


def _split_inner_day(
    text: str, tokens: Sequence[Token], language: Language, dates: DateParser, *, needs_deadline: bool
) -> tuple[str, date | None]:
    """Split a text whose day stands before the verb at its end: "Daten bis 15. Dezember exportieren"."""
    endings = tuple(language.table("new_tasks")["final_verb_endings"])
    if not endings or not tokens[-1].value.islower() or not tokens[-1].key.endswith(endings):
        return text, None
    for end in range(len(tokens) - 1, max(len(tokens) - 1 - _MAX_WORDS_AFTER_DAY, 1), -1):
        before = text[: tokens[end - 1].end]
        rest, day = split_due_day(before, language, dates, needs_deadline=needs_deadline)
        if day is not None:
            return f"{rest} {text[tokens[end].start :]}", day
    return text, None


def due_cue_end(tokens: Sequence[Token], start: int, language: Language) -> int:
    """Return the end of the words before a due date that start at a token ("with due date"), or `start`."""
    after = language.match_prefix(tokens, start, "new_tasks", "due")
    if after == start and tokens[start].key in language.words("due_words"):
        after = start + 1
    while start < after < len(tokens) and tokens[after].kind == "mark":
        after += 1
    return after
