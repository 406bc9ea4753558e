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

from app.encoding import escaped
from app.toolkit.outcome import ToolOutcome
from app.toolkit.sight import Sight
from app.vault.path import NotePath, name_key

HIDDEN_NAME = "(a file that is not shown)"

# Fields that hold nothing but the path of a file: one that is hidden is left out.
_PATHS = frozenset(
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
_EXPLANATIONS = frozenset(["message", "left_out", "said", "output", "errors"])


def disclosed(outcome: ToolOutcome, sight: Sight, given: Mapping[str, object]) -> ToolOutcome:
    """The outcome as its caller may be told of it.

    Args:
        outcome: What the call came to.
        sight: What the call may see.
        given: The arguments of the call.
    """
    names = _HiddenNames(sight.hidden_names(), given)
    error = outcome.error
    return replace(
        outcome,
        result={key: names.clean(value, key) for key, value in outcome.result.items()},
        message=names.explain(outcome.message),
        error=error and {key: names.clean(value, key, explains=True) for key, value in error.items()},
        words=escaped(outcome.words),
    )


class _HiddenNames:
    """The paths of hidden files, folded, less those whose names a caller has said itself."""

    def __init__(self, folded: frozenset[str], given: Mapping[str, object]) -> None:
        self._folded = folded
        self._given = given

    @cached_property
    def _said(self) -> str:
        return name_key(json.dumps(self._given, ensure_ascii=False, default=str))

    def clean(self, value: object, key: str, *, explains: bool = False) -> object:
        """A field of a result, or of an error (`explains`), without these names."""
        if isinstance(value, str):
            if explains or key in _EXPLANATIONS:
                return self.explain(value)
            return HIDDEN_NAME if key in _PATHS and self._is_hidden(value) else escaped(value)
        if isinstance(value, Mapping):
            return {
                escaped(str(name)): self.clean(one, str(name), explains=explains)
                for name, one in value.items()
            }
        if isinstance(value, list | tuple):
            shown = (one for one in value if not self._is_about_hidden(one, key))
            return [self.clean(one, key, explains=explains) for one in shown]
        return value

    def explain(self, text: str) -> str:
        """A sentence with a mark in place of each such name."""
        text = escaped(text)
        folded = name_key(text)
        for name in self._folded:
            if name in folded and not self._is_said(name):
                text = re.sub(rf"(?<![\w/\\]){re.escape(name)}", HIDDEN_NAME, text, flags=re.IGNORECASE)
        return text

    def _is_about_hidden(self, item: object, key: str) -> bool:
        if isinstance(item, Mapping):
            path = item.get("path")
            return isinstance(path, str) and self._is_hidden(path)
        return isinstance(item, str) and key in _PATHS and self._is_hidden(item)

    def _is_hidden(self, text: str) -> bool:
        folded = name_key(text)
        return folded in self._folded and not self._is_said(folded)

    def _is_said(self, folded: str) -> bool:
        return NotePath(folded).name in self._said
