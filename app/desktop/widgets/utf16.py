"""Conversion of text offsets: Qt counts UTF-16 code units, Python counts characters."""

from __future__ import annotations

from PySide6.QtGui import QTextCursor

_MAX_BMP_CHARACTER = "\uffff"


def utf16_length(text: str) -> int:
    """Return the number of UTF-16 code units in `text`: its length in Qt."""
    return len(text) if text.isascii() else len(text) + sum(char > _MAX_BMP_CHARACTER for char in text)


def to_utf16_offset(text: str, index: int) -> int:
    """Return Qt's offset of the character at `index`."""
    return utf16_length(text[:index])


def from_utf16_offset(text: str, offset: int) -> int:
    """Return the index of the character at Qt's `offset`; inside a surrogate pair, that of the next one."""
    if text.isascii():
        return min(offset, len(text))
    units = 0
    for index, char in enumerate(text):
        if units >= offset:
            return index
        units += 2 if char > _MAX_BMP_CHARACTER else 1
    return len(text)


def text_around_cursor(cursor: QTextCursor) -> tuple[str, str]:
    """Return the text before and after the cursor in its paragraph."""
    line = cursor.block().text()
    index = from_utf16_offset(line, cursor.positionInBlock())
    return line[:index], line[index:]
