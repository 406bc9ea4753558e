"""Helpers for edits by a `QTextCursor`: lines of a selection, and grouped undo steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtGui import QTextBlock, QTextCursor

from app.desktop.widgets.utf16 import to_utf16_offset, utf16_length
from app.vault.common_ends import common_prefix_length, common_suffix_length

KEEP_ANCHOR = QTextCursor.MoveMode.KeepAnchor


@contextmanager
def one_undo_step(cursor: QTextCursor) -> Iterator[None]:
    """Group all edits into one undo step."""
    cursor.beginEditBlock()
    try:
        yield
    finally:
        cursor.endEditBlock()


def selected_blocks(cursor: QTextCursor) -> list[QTextBlock]:
    """Return the selected lines; a line of which only the start is reached does not count."""
    document = cursor.document()
    block = document.findBlock(cursor.selectionStart())
    last = document.findBlock(cursor.selectionEnd())
    if last.position() == cursor.selectionEnd() and last != block:
        last = last.previous()
    blocks = [block]
    while block != last and block.next().isValid():
        block = block.next()
        blocks.append(block)
    return blocks


def replace_in_line(block: QTextBlock, start: int, end: int, text: str) -> None:
    """Replace the columns `start` to `end` of a line (in Python characters)."""
    line = block.text()
    replace(QTextCursor(block), _position(block, line, start), _position(block, line, end), text)


def replace(cursor: QTextCursor, start: int, end: int, text: str) -> None:
    """Replace a range of the document by a text."""
    cursor.setPosition(start)
    cursor.setPosition(end, KEEP_ANCHOR)
    cursor.insertText(text)


def select(cursor: QTextCursor, start: int, end: int) -> None:
    """Select a range of the document."""
    cursor.setPosition(start)
    cursor.setPosition(end, KEEP_ANCHOR)


def position_in(block: QTextBlock, column: int) -> int:
    """Return the document position of a column of a line."""
    return _position(block, block.text(), column)


def difference(old: str, new: str) -> tuple[int, int, str]:
    """Return the range of `old` that differs from `new`, and its replacement."""
    if old == new:
        return len(old), len(old), ""
    start = common_prefix_length(old, new)
    end = common_suffix_length(old, new, start)
    return start, len(old) - end, new[start : len(new) - end]


def replace_document(cursor: QTextCursor, old: str, new: str) -> None:
    """Change the document's text `old` to `new` by the smallest edit, as one undo step."""
    start, end, fresh = difference(old, new)
    if start != end or fresh:
        first = utf16_length(old[:start])
        replace(cursor, first, first + utf16_length(old[start:end]), fresh)


def _position(block: QTextBlock, line: str, column: int) -> int:
    return block.position() + to_utf16_offset(line, column)
