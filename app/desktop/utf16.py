"""Places in text: Qt counts UTF-16 code units, Python counts characters. An emoji is two or one."""

from __future__ import annotations

from PySide6.QtGui import QTextCursor

_LAST_SINGLE = "\uffff"


def units(text: str) -> int:
    """How many UTF-16 code units `text` takes: its length for Qt."""
    return len(text) if text.isascii() else len(text) + sum(char > _LAST_SINGLE for char in text)


def place_in_units(text: str, place: int) -> int:
    """Where Qt sees the character at `place`, from 0."""
    return units(text[:place])


def place_in_text(text: str, place: int) -> int:
    """Which character is at Qt's `place`; inside a pair, the character after it."""
    if text.isascii():
        return min(place, len(text))
    seen = 0
    for at, char in enumerate(text):
        if seen >= place:
            return at
        seen += 2 if char > _LAST_SINGLE else 1
    return len(text)


def around(cursor: QTextCursor) -> tuple[str, str]:
    """The text of the cursor's line before it and after it."""
    line = cursor.block().text()
    at = place_in_text(line, cursor.positionInBlock())
    return line[:at], line[at:]
