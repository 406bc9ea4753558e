"""Functions for note texts: decoding, newlines, edits by position, and line numbers.

A note's text keeps its byte order mark and its newlines, and gets no final newline if it has none, so that
encoding it restores the file's bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from app.errors import UnreadableNoteError

BOM = "\ufeff"


def decode(content: bytes) -> str:
    """Decode a note's bytes without loss.

    Raises:
        UnreadableNoteError: they are not UTF-8, so writing them back would change them; `position` is
            the first bad byte.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"The note is not UTF-8 (byte {error.start}), so it can be read but not edited."
        raise UnreadableNoteError(message, position=error.start) from error


def decode_lossy(content: bytes) -> str:
    """Decode bytes with U+FFFD for invalid UTF-8; the result must never be written back."""
    return content.decode("utf-8", "replace")


def newline_of(text: str, near: int = 0) -> str:
    """Return the newline before the index `near`, else the next one after it, else a line feed."""
    end = text.rfind("\n", 0, near)
    if end < 0:
        end = text.find("\n", near)
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def with_newlines(text: str, newline: str) -> str:
    """Return `text` with every newline replaced with `newline`."""
    return re.sub(r"\r\n|\r|\n", newline, text)


def apply_edits(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Return `text` with the characters from each start to its end replaced; edits must not overlap."""
    pieces: list[str] = []
    position = 0
    for start, end, new in sorted(edits):
        pieces += (text[position:start], new)
        position = end
    return "".join([*pieces, text[position:]])


def line_at(text: str, position: int) -> str:
    """Return the line with the character at `position`, without its newline."""
    end = text.find("\n", position)
    return text[text.rfind("\n", 0, position) + 1 : end if end >= 0 else len(text)]


def next_line_start(text: str, position: int) -> int:
    """Return the index after the newline of the line with `position`, or the length of the text."""
    newline = text.find("\n", position)
    return newline + 1 if newline >= 0 else len(text)


class LineCounter:
    """Finds line numbers, counting from 1; fast if each offset is near the previous one."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._offset = 0
        self._number = 1

    def number(self, offset: int) -> int:
        """Return the number of the line with the character at `offset`."""
        previous_offset = self._offset
        if offset >= previous_offset:
            self._number += self._text.count("\n", previous_offset, offset)
        elif offset < previous_offset - offset:
            self._number = 1 + self._text.count("\n", 0, offset)
        else:
            self._number -= self._text.count("\n", offset, previous_offset)
        self._offset = offset
        return self._number


def bullet_list(lines: Iterable[str]) -> str:
    """Return the lines as a Markdown list."""
    return "\n".join(f"- {line}" for line in lines)
