"""Labels of tool calls in plain words: the category, and the arguments on one line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from app.desktop.runtime.translation import translate
from app.permissions.tool_label import argument_words
from app.vault.path import NOTE_SUFFIXES, NotePath

_MAX_VALUE_CHARS = 200
_FIRST = ("name", "query")
_UNLABELED = frozenset((*_FIRST, "names", "op", "question", "arguments", "properties"))
_OMITTED = frozenset(("limit", "offset"))


def category_label(name: str) -> str:
    """Return the label of a category of tools; `packaging/translations.py` extracts those of the app."""
    return translate("ToolCategories", name)


def arguments_label(arguments: str) -> str:
    """Return the arguments of a call, which are a JSON object, in plain words on one line.

    `name` and `query` are first, and notes are shown by their names. Long values are cut; empty ones and the
    part of a list that is read are omitted.
    """
    values: Mapping[str, object] = json.loads(arguments)
    ordered = sorted(values.items(), key=lambda pair: pair[0] not in _FIRST)
    return "  ·  ".join(part for name, value in ordered if (part := _argument_text(name, value)))


def _argument_text(name: str, value: object, *, is_property: bool = False) -> str:
    if name in _OMITTED or (name == "arguments" and isinstance(value, str)):
        return ""  # A string is the text of a call that could not be parsed.
    label = name if is_property else argument_words(name)
    if value is True:
        return label
    text = _value_label(value, has_properties=name == "properties")
    if len(text) > _MAX_VALUE_CHARS:
        text = f"{text[: _MAX_VALUE_CHARS - 1]}…"
    if not text or name in _UNLABELED or _is_note(value):
        return text
    if name == "entry":
        return translate("ToolLabels", "audit entry {0}").format(text)
    return f"{label}: {text}"


def _value_label(value: object, *, has_properties: bool = False) -> str:
    match value:
        case None | False:
            return ""
        case True:
            return translate("ToolLabels", "yes")
        case str():
            return NotePath.on_disk(value).name if _is_note(value) else " ".join(value.split())
        case Mapping():
            parts = (_argument_text(name, item, is_property=has_properties) for name, item in value.items())
            return ", ".join(filter(None, parts))
        case Sequence():
            # The calls of a batch often have the same arguments.
            return ", ".join(dict.fromkeys(part for item in value if (part := _value_label(item))))
        case _:
            return str(value)


def _is_note(value: object) -> bool:
    """Return whether a value is the path of a note."""
    return isinstance(value, str) and "\n" not in value and value.lower().endswith(NOTE_SUFFIXES)
