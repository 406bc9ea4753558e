"""Templates of notes: what their placeholders stand for, and where the cursor goes. Pure.

`{{date}}`, `{{time}}`, each with a format of its own after a colon (`{{date:dddd}}`), `{{title}}` and
`{{cursor}}`. A placeholder that is not known stays as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from app.vault.moment import format_moment

DATE_FORMAT = "YYYY-MM-DD"
TIME_FORMAT = "HH:mm"
_PLACEHOLDER = re.compile(r"\{\{\s*(date|time|title|cursor)\s*(?::([^{}]*))?\}\}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Expanded:
    """A template with its placeholders filled in; `cursor` is a position in `text`, None if not given."""

    text: str
    cursor: int | None


def expand(
    template: str,
    title: str,
    now: datetime,
    *,
    date_format: str = DATE_FORMAT,
    time_format: str = TIME_FORMAT,
) -> Expanded:
    """Fill in the placeholders of a template.

    Args:
        template: The text of the template.
        title: The name of the note that it is for.
        now: What `{{date}}` and `{{time}}` stand for.
        date_format: The format of a `{{date}}` that has none.
        time_format: The format of a `{{time}}` that has none.
    """
    parts: list[str] = []
    length, done = 0, 0
    cursor: int | None = None
    for match in _PLACEHOLDER.finditer(template):
        name, own_format = match[1].lower(), match[2]
        if name == "cursor":
            value = ""
        elif name == "title":
            value = title
        else:
            value = format_moment(now, own_format or (date_format if name == "date" else time_format))
        before = template[done : match.start()]
        parts += (before, value)
        if name == "cursor" and cursor is None:
            cursor = length + len(before)
        length += len(before) + len(value)
        done = match.end()
    parts.append(template[done:])
    return Expanded("".join(parts), cursor)
