"""The paths of hidden notes, and a fast search for them in text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from app.vault.path import NOTE_SUFFIXES, NotePath, name_key

_END = re.compile("|".join(map(re.escape, sorted(NOTE_SUFFIXES, key=len, reverse=True))))
# After a letter, a digit or a slash, a match is part of another path.
_START = re.compile(r"(?<![\w/\\])(?=.)", re.DOTALL)
_MAX_ESCAPE_CHARS = 12
"""The length of an escaped character in JSON: an emoji becomes two escapes of six characters each."""


class HiddenPaths:
    """Paths of notes that must not be named; comparison ignores case and Unicode form.

    Args:
        paths: The paths.
    """

    def __init__(self, paths: Iterable[NotePath] = ()) -> None:
        self.keys = frozenset(path.key for path in paths)
        self._max_length = max(map(len, self.keys), default=0)

    def __bool__(self) -> bool:
        return bool(self.keys)

    def __contains__(self, text: str) -> bool:
        return name_key(text) in self.keys

    def in_text(self, text: str) -> set[str]:
        """Return the paths found in `text`, which may be JSON, as normalized keys.

        The time depends on the number of notes that the text names, not on the number of hidden notes.
        """
        matches: set[str] = set()
        folded = name_key(text)
        for end in _END.finditer(folded) if self.keys else ():
            window = folded[max(0, end.end() - _MAX_ESCAPE_CHARS * self._max_length) : end.end()]
            if "\\" not in window:
                window = window[-self._max_length :]
            for start in _START.finditer(window):
                name = window[start.start() :]
                matches |= self.keys & {name, _decode_json_text(name)}
        return matches


def _decode_json_text(name: str) -> str:
    """Decode the escapes in a part of a JSON string; return it unchanged if they are not valid."""
    if "\\" not in name:
        return name
    try:
        return name_key(str(json.loads(f'"{name}"')))
    except ValueError:
        return name
