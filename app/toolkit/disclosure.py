"""Filters every outcome before it leaves the app: no name of a hidden note, no text that can't be encoded.

The views keep hidden notes from the tools. This filter takes their names from errors, from explanations and
from what other programs print. A name that the caller gave itself stays, whether the note exists or not:
removing it would tell that the note exists. Text of notes stays for the same reason.
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

# Fields that hold nothing but the path of a file: one that is hidden is left out.
_PATH_FIELDS = frozenset(
    [
        *("path", "paths", "new_path", "notes", "files", "candidates", "suggestions", "backlinks"),
        *(
            "forward_links",
            "rewritten",
            "changed",
            "source",
            "target",
            "from_id",
            "to_id",
            "node_id",
            "storage_id",
        ),
    ]
)
# Fields that hold sentences of the app, or what other programs print.
_JSON = json.JSONEncoder(ensure_ascii=False, default=str)
_EXPLANATION_FIELDS = frozenset(["message", "left_out", "said", "output", "errors"])


def filter_outcome(outcome: ToolOutcome, sight: CallVisibility, given: Mapping[str, object]) -> ToolOutcome:
    """The outcome as its caller may be told of it.

    Args:
        outcome: What the call came to.
        sight: What the call may see.
        given: The arguments of the call.
    """
    if not _needs_cleaning(outcome, hidden := sight.hidden_paths()):
        return outcome
    names = _HiddenNames(hidden, given)
    error = outcome.error
    return replace(
        outcome,
        result={escape_unencodable(key): names.clean(value, key) for key, value in outcome.result.items()},
        message=names.explain(outcome.message),
        error=error
        and {escape_unencodable(key): names.clean(value, key, explains=True) for key, value in error.items()},
        words=escape_unencodable(outcome.words),
    )


def _needs_cleaning(outcome: ToolOutcome, hidden: HiddenPaths) -> bool:
    """Return whether the outcome names a hidden file or can't be encoded; quick, since nearly none does."""
    told = (outcome.result, outcome.message, outcome.error, outcome.words)
    text = _JSON.encode(told)
    return not is_encodable(text) or (bool(hidden) and bool(hidden.in_text(text)))


class _HiddenNames:
    """The paths of hidden files, less those whose names a caller has said itself."""

    def __init__(self, hidden: HiddenPaths, given: Mapping[str, object]) -> None:
        self._hidden = hidden
        self._given = given

    @cached_property
    def _given_text(self) -> str:
        return name_key(_JSON.encode(self._given))

    def clean(self, value: object, key: str, *, explains: bool = False) -> object:
        """A field of a result, or of an error (`explains`), without these names."""
        if isinstance(value, str):
            if explains or key in _EXPLANATION_FIELDS:
                return self.explain(value)
            return (
                HIDDEN_PLACEHOLDER
                if key in _PATH_FIELDS and self._is_hidden(value)
                else escape_unencodable(value)
            )
        if isinstance(value, Mapping):
            return {
                escape_unencodable(str(name)): self.clean(one, str(name), explains=explains)
                for name, one in value.items()
            }
        if isinstance(value, list | tuple):
            shown = (one for one in value if not self._is_about_hidden(one, key))
            return [self.clean(one, key, explains=explains) for one in shown]
        return value

    def explain(self, text: str) -> str:
        """A sentence with a mark in place of each such name."""
        text = escape_unencodable(text)
        # The longest first: one path may be the end of another.
        for key in sorted(self._hidden.in_text(text), key=len, reverse=True):
            if not self._is_said(key):
                text = _redact_path(text, key)
        return text

    def _is_about_hidden(self, item: object, key: str) -> bool:
        if isinstance(item, Mapping):
            path = item.get("path")
            return isinstance(path, str) and self._is_hidden(path)
        return isinstance(item, str) and key in _PATH_FIELDS and self._is_hidden(item)

    def _is_hidden(self, text: str) -> bool:
        return text in self._hidden and not self._is_said(name_key(text))

    def _is_said(self, key: str) -> bool:
        return NotePath(key).name in self._given_text


def _redact_path(text: str, key: str) -> str:
    """The text with a mark in place of the path that compares as `key`."""
    # A path after a slash is another one, in another folder.
    pattern = re.compile(rf"(?<![\w/\\]){re.escape(key)}", re.IGNORECASE)
    cleaned = pattern.sub(HIDDEN_PLACEHOLDER, text)
    folded = name_key(cleaned)
    # Another Unicode form, or letters that fold into several: only the folded text shows the name.
    return pattern.sub(HIDDEN_PLACEHOLDER, folded) if pattern.search(folded) else cleaned
