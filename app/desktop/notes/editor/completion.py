"""Completion while typing: detect the request, and list dates and commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

_BLOCK = re.compile(r"(!?)\[\[([^\[\]|#^\n]*)(#?)\^([^\[\]|#^\n]{0,80})$")
_HEADING = re.compile(r"(!?)\[\[([^\[\]|#^\n]*)#([^\[\]|^\n]{0,80})$")
_NOTE = re.compile(r"(!?)\[\[([^\[\]|#^\n]{0,80})$")
_TAG = re.compile(r"(?:^|(?<=[\s(,]))#([\w\-/]{1,60})$|(?<=[^#\s][ \t])#()$")
_DATE = re.compile(r"(?:^|(?<=[\s(]))@([\w-]{0,20})$")
_COMMAND = re.compile(r"(?:^[ \t>]*|(?<=\s))/([\w ]{0,24})$")


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """The text before the cursor that can be completed.

    Attributes:
        kind: "note", "embed", "heading", "block", "tag", "date" or "command".
        word: The typed part.
        note: For a heading or block, the note that contains it; empty for the edited note.
        missing: The text that belongs before the `^` of a block and was not typed.
    """

    kind: str
    word: str
    note: str = ""
    missing: str = ""


@dataclass(frozen=True, slots=True)
class CompletionItem:
    """A completion: its label, and the text that replaces the typed part."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A slash command; one without `run` is a snippet or an editor command."""

    id: str
    title: str
    run: Callable[[], None] | None = None


def find_request(before: str, *, is_in_code: bool = False) -> CompletionRequest | None:
    """Return the completion request at the end of the text before the cursor; None if there is none.

    Args:
        before: The line up to the cursor.
        is_in_code: Whether the line is in code, where nothing is completed.
    """
    if is_in_code or before.count("`") % 2:
        return None
    if match := _BLOCK.search(before):
        return CompletionRequest("block", match[4], match[2], "" if match[3] else "#")
    if match := _HEADING.search(before):
        return CompletionRequest("heading", match[3], match[2])
    if match := _NOTE.search(before):
        return CompletionRequest("embed" if match[1] else "note", match[2])
    if match := _TAG.search(before):
        return CompletionRequest("tag", match[1] or "")
    if match := _DATE.search(before):
        return CompletionRequest("date", match[1])
    if match := _COMMAND.search(before):
        return CompletionRequest("command", match[1])
    return None


def date_items(word: str, today: date) -> list[CompletionItem]:
    """Return the days whose name or date starts with the word after "@", as ISO dates."""
    days = {"today": 0, "tomorrow": 1, "yesterday": -1}
    for days_ahead in range(2, 8):
        days[f"next {today + timedelta(days=days_ahead):%A}".lower()] = days_ahead
    query = word.casefold()
    items = []
    for name, days_ahead in days.items():
        day = (today + timedelta(days=days_ahead)).isoformat()
        if name.removeprefix("next ").startswith(query) or name.startswith(query) or day.startswith(query):
            items.append(CompletionItem(f"{name.title()}   {day}", day))
    return items


def command_items(word: str, commands: Sequence[SlashCommand]) -> list[CompletionItem]:
    """Return the commands whose title, or a word in it, starts with the typed text."""
    query = word.casefold()
    return [
        CompletionItem(command.title, command.id)
        for command in commands
        if any(
            part.startswith(query) for part in (command.title.casefold(), *command.title.casefold().split())
        )
    ]
