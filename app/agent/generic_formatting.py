"""Format the result of any tool as text from its fields, for tools without their own format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.vault.path import NOTE_SUFFIXES, NotePath

_MAX_LIST_ITEMS = 20
_MAX_LINE_CHARS = 200
_TITLE_FIELDS = ("path", "name", "label", "title", "id", "tool", "pending_operation_id", "url")


def wikilink(path: str) -> str:
    """Return a wikilink that resolves to exactly the note at `path` and shows its name."""
    note = NotePath.on_disk(path)
    return f"[[{note.stem_path}|{note.name}]]" if note.folder else f"[[{note.name}]]"


def link_or_path(path: str) -> str:
    """Return a wikilink to a note; the path of another file unchanged."""
    return wikilink(path) if path.lower().endswith(NOTE_SUFFIXES) else path


def format_details(result: Mapping[str, Any], message: str) -> str:
    """Format the long strings and the lists of a result as Markdown.

    Its message, its subject and ids are left out.
    """
    parts = [
        part for name, value in result.items() if (part := _format_value(name, value)) and part != message
    ]
    return "\n\n".join(parts)


def _format_value(name: str, value: object) -> str:
    if isinstance(value, str) and len(value.split()) > 3:
        return "" if name in _TITLE_FIELDS or name.endswith("_id") else value
    if not isinstance(value, list) or not value:
        return ""
    lines = [f"- {_format_item(item)}" for item in value[:_MAX_LIST_ITEMS]]
    remainder = [f"- … and {len(value) - _MAX_LIST_ITEMS} more"] if len(value) > _MAX_LIST_ITEMS else []
    return "\n".join([f"**{name.replace('_', ' ').capitalize()}**", "", *lines, *remainder])


def _format_item(item: object) -> str:
    """Return a list item: its name, then its other short fields."""
    if not isinstance(item, Mapping):
        return _format_title(str(item))
    title = next((str(item[key]) for key in _TITLE_FIELDS if item.get(key)), "")
    rest = ", ".join(_format_fields(item, title))
    return f"{_format_title(title)}: {rest}" if title and rest else _format_title(title) or rest


def _format_fields(item: Mapping[str, Any], title: str) -> Iterator[str]:
    for name, value in item.items():
        if value in (None, "", [], {}, False) or str(value) == title or isinstance(value, list | Mapping):
            continue
        if isinstance(value, float):
            value = round(value, 2)
        elif value is True:
            value = "yes"
        yield f"{name.replace('_', ' ')} {_truncate(str(value))}"


def _format_title(title: str) -> str:
    """Return a name; the path of a note becomes a link that shows the note's name."""
    name = link_or_path(title)
    return _truncate(name) if name == title else name


def _truncate(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_LINE_CHARS else f"{line[: _MAX_LINE_CHARS - 1]}…"
