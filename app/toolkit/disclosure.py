"""Redact the names of hidden notes, and escape text that can't be encoded, in every outcome.

The views hide notes from the tools. This filter removes the names of hidden notes from fields that contain
paths, from messages and errors, and from the output of other programs. A name that the caller used stays,
whether or not the note exists: removing it would reveal that the note exists. The text of notes stays for
the same reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from app.encoding import escape_unencodable, is_encodable
from app.toolkit.hidden_paths import HiddenPaths
from app.toolkit.outcome import ToolOutcome
from app.toolkit.visibility import CallVisibility
from app.vault.path import NotePath, name_key

HIDDEN_PLACEHOLDER = "(a file that is not shown)"

_JSON = json.JSONEncoder(ensure_ascii=False, default=str)
# Fields that contain only the path of a file; a hidden path is left out.
_PATH_FIELDS = frozenset(
    [
        "path",
        "paths",
        "new_path",
        "notes",
        "files",
        "candidates",
        "suggestions",
        "backlinks",
        "forward_links",
        "rewritten",
        "changed",
        "source",
        "target",
        "from_id",
        "to_id",
        "node_id",
        "storage_id",
    ]
)
# Fields that contain messages from the app or output from other programs.
_EXPLANATION_FIELDS = frozenset(["message", "left_out", "said", "output", "errors"])


def filter_outcome(
    outcome: ToolOutcome, visibility: CallVisibility, arguments: Mapping[str, object]
) -> ToolOutcome:
    """Return the outcome without the names of hidden notes, and with text that can be encoded.

    Args:
        outcome: The call's outcome.
        visibility: The call's visibility.
        arguments: The call's arguments.
    """
    if not _needs_cleaning(outcome, hidden := visibility.hidden_paths()):
        return outcome
    names = _HiddenNames(hidden, arguments)
    error = outcome.error
    return replace(
        outcome,
        result={escape_unencodable(key): names.clean(value, key) for key, value in outcome.result.items()},
        message=names.redact(outcome.message),
        error=error
        and {escape_unencodable(key): names.clean(value, key, explains=True) for key, value in error.items()},
        words=escape_unencodable(outcome.words),
    )


def _needs_cleaning(outcome: ToolOutcome, hidden: HiddenPaths) -> bool:
    """Return whether the outcome contains the name of a hidden file or text that can't be encoded."""
    parts = (outcome.result, outcome.message, outcome.error, outcome.words)
    text = _JSON.encode(parts)
    return not is_encodable(text) or (bool(hidden) and bool(hidden.in_text(text)))


class _HiddenNames:
    """The paths of hidden files, except those that the caller named itself."""

    def __init__(self, hidden: HiddenPaths, arguments: Mapping[str, object]) -> None:
        self._hidden = hidden
        self._arguments = arguments

    @cached_property
    def _arguments_text(self) -> str:
        return name_key(_JSON.encode(self._arguments))

    def clean(self, value: object, key: str, *, explains: bool = False) -> object:
        """Return the value of a field in a result, or in an error (`explains`), without these names."""
        if isinstance(value, str):
            if explains or key in _EXPLANATION_FIELDS:
                return self.redact(value)
            return (
                HIDDEN_PLACEHOLDER
                if key in _PATH_FIELDS and self._is_hidden(value)
                else escape_unencodable(value)
            )
        if isinstance(value, Mapping):
            return {
                escape_unencodable(str(name)): self.clean(item, str(name), explains=explains)
                for name, item in value.items()
            }
        if isinstance(value, list | tuple):
            shown = (item for item in value if not self._is_about_hidden(item, key))
            return [self.clean(item, key, explains=explains) for item in shown]
        return value

    def redact(self, text: str) -> str:
        """Replace each of these names in a sentence with the placeholder."""
        text = escape_unencodable(text)
        # Replace the longest first, because one path may be the end of another.
        for key in sorted(self._hidden.in_text(text), key=len, reverse=True):
            if not self._is_known_to_caller(key):
                text = _redact_path(text, key)
        return text

    def _is_about_hidden(self, item: object, key: str) -> bool:
        if isinstance(item, Mapping):
            path = item.get("path")
            return isinstance(path, str) and self._is_hidden(path)
        return isinstance(item, str) and key in _PATH_FIELDS and self._is_hidden(item)

    def _is_hidden(self, text: str) -> bool:
        return text in self._hidden and not self._is_known_to_caller(name_key(text))

    def _is_known_to_caller(self, key: str) -> bool:
        return NotePath(key).name in self._arguments_text


def _redact_path(text: str, key: str) -> str:
    """Replace the path that equals `key` after normalization with the placeholder."""
    # After a slash, the match is part of a path in another folder.
    pattern = re.compile(rf"(?<![\w/\\]){re.escape(key)}", re.IGNORECASE)
    cleaned = pattern.sub(HIDDEN_PLACEHOLDER, text)
    folded = name_key(cleaned)
    # The name has another Unicode form or letters that fold into several: search the folded text.
    return pattern.sub(HIDDEN_PLACEHOLDER, folded) if pattern.search(folded) else cleaned
