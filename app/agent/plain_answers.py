"""The result of any tool in words, from its fields alone: for tools without words of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.vault.path import NOTE_SUFFIXES, NotePath

_MOST = 20
_LONGEST = 200
_TITLES = ("path", "name", "label", "title", "id", "tool", "pending_operation_id", "url")


def details(result: Mapping[str, Any], message: str) -> str:
    """What a result holds beside its message, as Markdown: texts as paragraphs, lists as lists."""
    parts = [part for name, value in result.items() if (part := _part(name, value)) and part != message]
    return "\n\n".join(parts)


def _part(name: str, value: object) -> str:
    if isinstance(value, str) and len(value.split()) > 3:
        return value
    if not isinstance(value, list) or not value:
        return ""
    lines = [f"- {_line(item)}" for item in value[:_MOST]]
    more = [f"- … and {len(value) - _MOST} more"] if len(value) > _MOST else []
    return "\n".join([f"**{name.replace('_', ' ').capitalize()}**", "", *lines, *more])


def _line(item: object) -> str:
    """One thing of a list: what it is called, then its other short fields."""
    if not isinstance(item, Mapping):
        return _called(str(item))
    title = next((str(item[key]) for key in _TITLES if item.get(key)), "")
    rest = ", ".join(_fields(item, title))
    return f"{_called(title)}: {rest}" if title and rest else _called(title) or rest


def _fields(item: Mapping[str, Any], title: str) -> Iterator[str]:
    for name, value in item.items():
        if value in (None, "", [], {}, False) or str(value) == title or isinstance(value, list | Mapping):
            continue
        if isinstance(value, float):
            value = round(value, 2)
        elif value is True:
            value = "yes"
        yield f"{name.replace('_', ' ')} {_short(str(value))}"


def _called(title: str) -> str:
    """A name; the path of a note as a link that shows its name."""
    if not title.lower().endswith(NOTE_SUFFIXES):
        return _short(title)
    note = NotePath.on_disk(title)
    return f"[[{note.stem_path}|{note.name}]]" if note.folder else f"[[{note.name}]]"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
