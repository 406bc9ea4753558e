"""Expand the placeholders in note templates. Pure.

The placeholders are `{{date}}` and `{{time}}`, each with an optional format after a colon (`{{date:dddd}}`),
`{{title}}` and `{{cursor}}`; case is ignored. Unknown placeholders stay unchanged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from app.errors import InvalidParametersError
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.properties import set_property
from app.vault.markdown.scan import scan
from app.vault.markdown.tag_edits import add_tag
from app.vault.moment_format import format_moment
from app.vault.note import TAG_KEYS

DATE_FORMAT = "YYYY-MM-DD"
TIME_FORMAT = "HH:mm"
_PLACEHOLDER = re.compile(r"\{\{\s*(date|time|title|cursor)\s*(?::([^{}]*))?\}\}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ExpandedTemplate:
    """A template with placeholders filled in; `cursor` is the index of the first `{{cursor}}`, or None."""

    text: str
    cursor: int | None


def expand(
    template: str,
    title: str,
    now: datetime,
    *,
    date_format: str = DATE_FORMAT,
    time_format: str = TIME_FORMAT,
) -> ExpandedTemplate:
    """Fill in the placeholders of a template.

    Args:
        template: The text of the template.
        title: The note's name, for `{{title}}`.
        now: The time for `{{date}}` and `{{time}}`.
        date_format: The format of a `{{date}}` without one.
        time_format: The format of a `{{time}}` without one.
    """
    parts: list[str] = []
    length, copied_to = 0, 0
    cursor: int | None = None
    for match in _PLACEHOLDER.finditer(template):
        name, own_format = match[1].lower(), match[2]
        if name == "cursor":
            value = ""
        elif name == "title":
            value = title
        else:
            value = format_moment(now, own_format or (date_format if name == "date" else time_format))
        before = template[copied_to : match.start()]
        parts += (before, value)
        if name == "cursor" and cursor is None:
            cursor = length + len(before)
        length += len(before) + len(value)
        copied_to = match.end()
    parts.append(template[copied_to:])
    return ExpandedTemplate("".join(parts), cursor)


def with_properties(text: str, template: str) -> str:
    """Add a template's properties to a note; tags are merged, and the note's other values take precedence.

    Args:
        text: A note's text.
        template: The expanded text of a template; only its properties are used.

    Raises:
        InvalidParametersError: The properties of the template or the note can't be read or edited.
    """
    template_frontmatter, note_frontmatter = read_frontmatter(template), read_frontmatter(text)
    if template_frontmatter.span is None:
        return text
    if note_frontmatter.span is None:
        block = template[template_frontmatter.span.start : template_frontmatter.body_start]
        return f"{text[: note_frontmatter.body_start]}{block.rstrip()}\n{text[note_frontmatter.body_start :]}"
    if template_frontmatter.problem:
        raise InvalidParametersError(template_frontmatter.problem, problem=template_frontmatter.problem)
    note_keys = {key.casefold() for key in note_frontmatter.properties}
    for key, value in template_frontmatter.properties.items():
        if key.casefold() not in {*note_keys, *TAG_KEYS}:
            text = set_property(text, key, value)
    for tag in scan(template).tags:
        if tag.in_properties:
            text = add_tag(text, tag.name)
    return text
