"""What a task says of itself, and its box checked or unchecked. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from app.errors import ConflictError

_BOX = re.compile(r"^([ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[)(.)(\](?=\s|$))")
_DAY = r"(\d{4}-\d{2}-\d{2})"
# The calendar sign of Obsidian's Tasks, a field of Dataview, and a plain word or sign before a day.
_DUE = re.compile(
    rf"(?:📅\ufe0f?|⏳\ufe0f?|[\[(]?\bdue::?|@due\(?|@)\s*(?:\[\[)?{_DAY}(?:\]\])?[\])]?", re.IGNORECASE
)
_TAG = re.compile(r"(?:^|(?<=\s))#([\w\-/]*[^\W\d][\w\-/]*)")


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What a task's text says: when it is due, its tags, and the text without the due date."""

    text: str
    due: date | None
    tags: tuple[str, ...]


def task_facts(text: str) -> TaskFacts:
    """Read a task's text, which is what follows its box."""
    due, shown = None, text
    for match in _DUE.finditer(text):
        try:
            due = date.fromisoformat(match[1])
        except ValueError:
            continue  # Such as the 31st of February: it stays in the text.
        shown = f"{text[: match.start()].rstrip()} {text[match.end() :].lstrip()}".strip()
        break
    return TaskFacts(shown, due, tuple(match[1] for match in _TAG.finditer(text)))


def set_task_done(text: str, line: int, task: str, *, done: bool) -> str:
    """`text` with one box checked or unchecked; no other character changes.

    Args:
        text: A note's text.
        line: The task's line, from 1.
        task: What follows the box; where it has moved, the task is found by this.
        done: Whether it is to be checked.

    Raises:
        ConflictError: The note has no such task any more.
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
    raise ConflictError("The note does not have this task any more.", line=line)
