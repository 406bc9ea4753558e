"""Parse the text of tasks, and check or uncheck their boxes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from app.errors import ConflictError

_BOX = re.compile(r"^([ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[)(.)(\](?=\s|$))")
_PUNCTUATION = (",", ".", ";", ":", "!", "?", ")")
LIST_MARK = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(?!\[.\]\s)")
"""The mark of a list item that is no task."""
_DAY = r"(\d{4}-\d{2}-\d{2})"
# Due dates: an Obsidian Tasks emoji, a Dataview field, or `due` or `@` before a date.
_DUE = re.compile(
    rf"(?:📅\ufe0f?|⏳\ufe0f?|[\[(]?\bdue::?|@due\(?|@)\s*(?:\[\[)?{_DAY}(?:\]\])?[\])]?", re.IGNORECASE
)
# Dates that are not due: in a link or an address, or after another emoji or field of a task.
_OTHER_DATE = re.compile(rf"\[\[.*?\]\]|\]\(.*?\)|\w+://\S+|(?:[➕🛫✅❌]\ufe0f?|\w+::)\s*{_DAY}")
_PLAIN_DATE = re.compile(rf"(?<![\w/-]){_DAY}(?![\w/-])")
_BLOCK_ID = re.compile(r"[ \t]+\^[A-Za-z0-9-]+$")
_TAG = re.compile(r"(?:^|(?<=\s))#([\w\-/]*[^\W\d][\w\-/]*)")


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """The due date and tags of a task, and its text without the due date."""

    text: str
    due: date | None
    tags: tuple[str, ...]


def task_facts(text: str) -> TaskFacts:
    """Parse a task's text, which follows its box."""
    due, visible_text = None, text
    # An invalid date, such as February 31, stays in the text.
    if (match := _due_date(text)) is not None and (due := _parse_day(match[1])) is not None:
        visible_text = f"{text[: match.start()].rstrip()} {text[match.end() :].lstrip()}".strip()
    return TaskFacts(visible_text, due, tuple(match[1] for match in _TAG.finditer(text)))


def with_due_date(task: str, due: date) -> str:
    """Return a task's line with another due date, written as before; a task without one gets `📅`.

    A plain date counts as due if it is the only one. A block id stays at the end of the line.
    """
    match = _due_date(task)
    if match is None:
        rest = _OTHER_DATE.sub(lambda other: " " * len(other[0]), task)
        dates = list(_PLAIN_DATE.finditer(rest))
        match = dates[0] if len(dates) == 1 else None
    if match is not None:
        start, end = match.span(1)
        return f"{task[:start]}{due}{task[end:]}"
    text = task.rstrip()
    block_id = _BLOCK_ID.search(text)
    end = block_id.start() if block_id else len(text)
    return f"{text[:end]} 📅 {due}{text[end:]}"


def without_due_date(task: str) -> str:
    """Return a task's line without its due date; a plain date stays, as it may be part of the text."""
    match = _due_date(task)
    if match is None:
        return task
    rest = task[match.end() :].lstrip()
    space = "" if rest[:1] in _PUNCTUATION else " "
    return f"{task[: match.start()].rstrip()}{space}{rest}".rstrip()


def _due_date(text: str) -> re.Match[str] | None:
    """Return the due date in a task: preferably a valid one, and none after ⏳, which means "scheduled"."""
    matches = sorted(
        _DUE.finditer(text), key=lambda match: (_parse_day(match[1]) is None, match[0].startswith("⏳"))
    )
    return matches[0] if matches else None


def _parse_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def set_task_done(text: str, line: int, task: str, *, done: bool) -> str:
    """Return `text` with one box checked or unchecked; no other character changes.

    Args:
        text: A note's text.
        line: The task's line number, starting at 1.
        task: The text after the box, used to find the task if it has moved.
        done: Whether to check the box.

    Raises:
        ConflictError: the note no longer contains this task.
    """
    lines = re.split(r"(?<=\n)", text)
    order = [line - 1, *sorted(range(len(lines)), key=lambda n: abs(n - line + 1))]
    for number in order:
        if not 0 <= number < len(lines):
            continue
        match = _BOX.match(lines[number])
        if match and lines[number][match.end() :].strip() == task.strip():
            box = "x" if done else " "
            lines[number] = f"{match[1]}{box}{lines[number][match.end(2) :]}"
            return "".join(lines)
    raise ConflictError("The note no longer contains this task.", line=line)
